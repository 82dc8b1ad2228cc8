// Numbers for the eye. Nothing here computes a result.

/** Thousands apart by narrow spaces, which do not break. */
export function grouped(n) {
  return Number.isInteger(n) ? String(n).replace(/\B(?=(\d{3})+$)/g, "\u202f") : String(n);
}

/** How many times as likely an epsilon allows. */
export const times = (epsilon) => (epsilon > 13 ? Math.exp(epsilon).toExponential(2).replace("e+", "\u202f×\u202f10^") : grouped(Number(Math.exp(epsilon).toPrecision(epsilon < 0.05 ? 4 : 2))));

/** A share in percent, three figures. */
export function percent(part, whole) {
  if (!(whole > 0)) return "–";
  const p = (100 * part) / whole;
  return `${p === 0 || p === 100 ? p : Number(p.toPrecision(3))}\u00a0%`;
}

/** A lower bound, rounded down to three decimals. */
export const roundedDown = (x) => (Math.floor(x * 1000) / 1000).toFixed(3);

/** A p-value, rounded up to two figures. */
export function roundedUp(p) {
  if (!(p > 0)) return "0";
  const unit = 10 ** (Math.floor(Math.log10(p)) - 1);
  return short(Math.min(1, Number((Math.ceil(p / unit - 1e-9) * unit).toPrecision(2))));
}

/** Seconds as people say them. */
export function duration(seconds) {
  if (!Number.isFinite(seconds)) return "–";
  const s = Math.max(0, Math.round(seconds));
  if (s < 60) return `${s} s`;
  if (s < 3600) return `${Math.floor(s / 60)} min ${s % 60} s`;
  return `${Math.floor(s / 3600)} h ${Math.round((s % 3600) / 60)} min`;
}

/** Bytes in the unit that suits them. */
export function size(bytes) {
  return bytes < 1e5 ? `${Math.max(1, Math.round(bytes / 1e3))} kB` : `${(bytes / 1e6).toFixed(1)} MB`;
}

/** A number of a chart or table, about four figures. */
export function short(x) {
  if (x === 0) return "0";
  const a = Math.abs(x);
  const text = a >= 1e6 || a < 1e-4 ? x.toExponential(2).replace("e+", "e") : String(Number(x.toPrecision(4)));
  return text.replace("-", "−");
}

/** All digits of a number that was rounded where it was made. */
export function exact(x) {
  const a = Math.abs(x);
  return (a !== 0 && (a < 1e-4 || a >= 1e9) ? x.toExponential().replace("e+", "e") : String(x)).replace("-", "−");
}
