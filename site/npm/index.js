// The package's entry: in a browser it defines the element <dp-audit>, elsewhere, as
// where pages are made beforehand, it does nothing. The element loads its frame from the
// package's folder; where a bundler has moved this file, say with the attribute site
// where the folder is served.

/** Settled once the element is defined, or, where there are no elements, at once. */
export const defined = typeof customElements === "undefined" ? Promise.resolve() : import("../embed/dp-audit.js").then(() => {});
