// The colours that a picture is painted with: the custom properties of the styles.
import { html } from "./element.js";

const ROLES = ["panel", "text", "muted", "line", "field-line", "first", "second", "region", "hatch", "event", "bad", "calm", "accent", "lit", "lit-ink", "lit-soft", "forbid"]; // as scene.Role

/** @param {Element} place whose styles count @returns {{css: string, rgb: number[]}[]} by role */
export function coloursAt(place) {
  const probe = html("canvas", { width: 1, height: 1 }).getContext("2d", { willReadFrequently: true });
  // An element's, not the canvas's: that one resolves the system's colours without the forced palette.
  const swatch = html("span", { hidden: true });
  swatch.style.forcedColorAdjust = "none";
  place.append(swatch);
  const colours = ROLES.map((role) => {
    swatch.style.color = `var(--${role})`;
    const css = probe.fillStyle = getComputedStyle(swatch).color;
    probe.fillRect(0, 0, 1, 1);
    return { css, rgb: [...probe.getImageData(0, 0, 1, 1).data].slice(0, 3) };
  });
  swatch.remove();
  return colours;
}
