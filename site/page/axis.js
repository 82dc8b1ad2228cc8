// Axes of a chart: places of values in px, round values, and the lines and
// words at them.
import { svg } from "./element.js";
import { short, ticks } from "./number.js";

const LETTER = 7; // px, about

/**
 * @typedef {object} Scale
 * @property {(v: number) => number} at px of a value; one beyond an end of a logarithmic scale lies at that end
 * @property {(px: number) => number} value
 * @property {(count: number) => number[]} marks round values, about so many at most
 * @property {(v: number) => string} words of a mark
 */

/** @returns {Scale} of equal steps */
export function linear(lo, hi, from, to) {
  const unit = (to - from) / (hi - lo);
  return {
    at: (v) => from + (v - lo) * unit,
    value: (px) => lo + (px - from) / unit,
    marks: (count) => ticks(lo, hi, count),
    words: (v) => short(Number(v.toPrecision(10))),
  };
}

/** @returns {Scale} of equal ratios; lo > 0 */
export function logarithmic(lo, hi, from, to) {
  const unit = (to - from) / Math.log(hi / lo);
  const inside = (v) => v >= lo * 0.999 && v <= hi * 1.001;
  return {
    at: (v) => from + Math.log(Math.min(hi, Math.max(lo, v)) / lo) * unit,
    value: (px) => lo * Math.exp((px - from) / unit),
    marks(count) {
      const low = Math.floor(Math.log10(lo)), high = Math.ceil(Math.log10(hi));
      const out = [];
      const skip = Math.max(1, Math.ceil((high - low) / count));
      for (let k = low; k <= high; k++) {
        for (const m of 2 * (high - low) <= count ? [1, 2, 5] : [1]) {
          if (inside(m * 10 ** k) && (high - k) % skip === 0) out.push(Number(`${m}e${k}`));
        }
      }
      return out;
    },
    words: power,
  };
}

/** A number; a power of ten far from 1 as such. */
function power(v) {
  const k = Math.round(Math.log10(v));
  if (Math.abs(k) < 3 || Math.abs(v / 10 ** k - 1) > 1e-9) return short(v);
  return `10${[...String(k)].map((c) => "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"["-0123456789".indexOf(c)]).join("")}`;
}

/** Room for the words at the left of an axis. */
export const roomFor = (words) => 14 + LETTER * Math.max(0, ...words.map((w) => w.length));

/** Horizontal lines at the marks of an upright axis, words at their left. */
export const across = (marks, y, { left, right }, words) => marks.map((v) => [
  svg("line", { class: v ? "grid-line" : "axis", x1: left, x2: right, y1: y(v), y2: y(v) }),
  svg("text", { class: "tick", x: left - 6, y: y(v) + 4, "text-anchor": "end" }, words(v))]);

/** Upright lines at the marks of a level axis, words below them. */
export const upright = (marks, x, { top, bottom, right = Infinity }, words) => marks.map((v) => [
  svg("line", { class: v ? "grid-line" : "axis", x1: x(v), x2: x(v), y1: top, y2: bottom }),
  svg("text", { class: "tick", x: Math.min(right - (LETTER * words(v).length) / 2, x(v)), y: bottom + 16, "text-anchor": "middle" }, words(v))]);

/** Short strokes at the marks of a level axis; words below where they are free. */
export const strokes = (marks, x, { bottom, right }, words, free) => marks.map((v) => {
  const at = x(v), text = words(v), half = (LETTER * text.length) / 2;
  return [svg("line", { class: "axis", x1: at, x2: at, y1: bottom, y2: bottom + 4 }),
    free(at - half, at + half) && svg("text", { class: "tick", x: Math.min(right - half, at), y: bottom + 17, "text-anchor": "middle" }, text)];
});

/** Width of words, about. */
export const widthOf = (text) => LETTER * text.length;
