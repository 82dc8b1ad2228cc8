// Types of the package's entry, and, by it, of the element <dp-audit>.
export type * from "./dp-audit.js";

/** Settled once the element is defined, or, where there are no elements, at once. */
export declare const defined: Promise<void>;
