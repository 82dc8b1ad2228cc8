// The element <dp-audit>, which dp-audit.js defines, and the messages of
// embed.html, which a page may frame without the element.
//
//   <script defer src="https://SITE/dp-audit.js"></script>
//   <dp-audit mechanism="svt4" epsilon="1"><a href="...">shown without the script</a></dp-audit>
//
// Nothing but the script, a few kilobytes, is loaded before the button is
// pressed, run() is called or, with autorun, the element comes into view. All
// elements and frames of a site that a browser shows compute one after another.
// Taken out of the page, an element ends its workers and rejects what is pending
// with an AbortError; put back, it begins anew. A policy of the page around needs
// script-src and frame-src of the site.

/** A setting that cannot be used, or another error. The fields after message are there where one setting is at fault. */
export interface DPAuditProblem {
  name: string;
  message: string; // a whole sentence
  field?: string;
  found?: string;
  want?: string;
  remedy?: string;
}

/** Of a run that is under way; provisional is no certified bound unless valid. */
export interface DPAuditProgress {
  phase: string; // explore, certify, bound
  rows: number; // samples drawn, of total
  total: number;
  trial: number; // pairs explored, of trials
  trials: number;
  pairs?: number; // of outputs that certification has counted
  provisional?: number; // the bound so far
  valid?: boolean; // it holds if the run is stopped now
  claimed?: number;
  quantity?: string; // what is bounded, epsilon unless it is said
}

/** Of a canary audit that is under way; no bound of it is certified. */
export interface DPAuditCanaryProgress {
  phase: string; // explore, certify
  runs: number; // drawn, of total
  total: number;
  certified: number; // of them for certification, of planned
  planned: number;
  bounds?: { interval: string; epsilon: number }[]; // so far, where they are new
  claimed: number;
}

/** A report, of which the schema is docs/dpscope-pair-v1.schema.json; of a canary audit docs/dpscope-canary-v1.schema.json. */
export interface DPAuditReport {
  kind: "pair" | "canary";
  verdict: "violation" | "no-violation-found" | "inconclusive" | "invalid";
  headline: string;
  summary: string; // the headline, and what else there is to say
  lowerBound?: number; // on quantity
  quantity?: string;
  confidence: number;
  tables: { name: string; title: string; rows: { id: string; quantity?: string; method?: string; chosen?: boolean; estimate?: number; lowerBound?: number; claimed?: number; direction?: string; counts?: { x: number; n1: number; y: number; n0: number } }[] }[];
  [key: string]: unknown;
}

/** Settings by the keys of the page's address: mechanism, epsilon, samples, ..., p.NAME for a parameter. */
export type DPAuditSettings = Record<string, string>;

/** What save gives and restore takes; plain JSON. */
export interface DPAuditState {
  version: 1;
  fragment: string; // the settings as an address of the page: "#v=1&mechanism=svt4&..."
  report: string | null; // the text of the last report
}

export interface DPAuditEventMap {
  /** The frame is loaded; the core is not. */
  "dpaudit-ready": CustomEvent<{ settings: DPAuditSettings }>;
  "dpaudit-progress": CustomEvent<DPAuditProgress | DPAuditCanaryProgress>;
  /** A run ended, or was stopped; the report says which. */
  "dpaudit-result": CustomEvent<{ report: DPAuditReport }>;
  "dpaudit-error": CustomEvent<DPAuditProblem>;
  /** The reader changed settings; never what the host did. */
  "dpaudit-config-change": CustomEvent<{ settings: DPAuditSettings; fragment: string }>;
}

/**
 * Each property is the attribute of its name; those of PLAN keys with a dash are
 * in camel case. Parts: box, poster, recorded, picture, title, button, link, hint,
 * frame, error.
 * Custom properties: --dp-audit-accent, -accent-text, -background, -text, -muted,
 * -line (colours, which the frame takes too), -radius, -font.
 */
export interface DPAuditElement extends HTMLElement {
  // Settings, by go run ./site/build -keys:
  mechanism: string | null;
  guarantee: string | null;
  alpha: string | number | null;
  epsilon: string | number | null;
  delta: string | number | null;
  rho: string | number | null;
  mu: string | number | null;
  profile: string | number | null;
  relation: string | null;
  pair: string | number | null;
  group: string | number | null;
  finder: string | null;
  learner: string | null;
  samples: string | number | null;
  explore: string | number | null;
  trials: string | number | null;
  beta: string | number | null;
  throughRenyi: string | number | null;
  untilRefuted: boolean;
  fixed: boolean;
  seed: string | number | null;
  workers: string | number | null;
  // Of a canary audit, with view="canaries".
  source: string | null;
  design: string | null;
  n: string | number | null;
  k: string | number | null;
  m: string | number | null;
  interval: string | null;
  quantile: string | number | null;
  sequential: boolean;
  // End of settings.
  /** All of the above at once, and parameters as p.NAME; pair is the JSON of two datasets. */
  settings: DPAuditSettings;

  /** none: a verdict and its progress; basic, the default: run, stop, claim and budget; full: every setting. */
  controls: "none" | "basic" | "full" | null;
  /** verdict: the answer in words; chart, the default: with the distributions, all else folded; all: everything unfolded. canaries: the audit is one with canaries. */
  view: "verdict" | "chart" | "all" | "canaries" | null;
  /** auto, the default: dark where the page's color-scheme is. */
  theme: "auto" | "light" | "dark" | null;
  /** Runs by itself once it is in view. */
  autorun: boolean;
  /** The reader may run it, and change nothing. */
  readOnly: boolean;
  /** Where embed.html is; by default beside the script. */
  site: string | null;

  /** Address of what is shown before the first run, marked as recorded: a picture, best an SVG file of dpscope audit -format svg, or a report (JSON). */
  recorded: string | null;

  /** The last report, or null. */
  readonly report: DPAuditReport | null;

  /** Rejects where a setting cannot be used, and with an AbortError if it was stopped before there was a report. */
  run(): Promise<DPAuditReport>;
  stop(): Promise<void>;
  save(): Promise<DPAuditState>;
  restore(state: DPAuditState): Promise<void>;
  /** The last report's text, or a page of it that needs no other file; null without a report. */
  exportReport(format?: "json" | "html"): Promise<string | null>;

  addEventListener<K extends keyof DPAuditEventMap>(type: K, listener: (this: DPAuditElement, event: DPAuditEventMap[K]) => unknown, options?: boolean | AddEventListenerOptions): void;
  addEventListener(type: string, listener: EventListenerOrEventListenerObject, options?: boolean | AddEventListenerOptions): void;
}

/**
 * The attributes, for markup that a compiler checks (JSX, templates). A parameter c of the
 * mechanism is the attribute p.c.
 */
export interface DPAuditAttributes {
  // Attributes, by go run ./site/build -keys:
  mechanism?: string;
  guarantee?: string;
  alpha?: string | number;
  epsilon?: string | number;
  delta?: string | number;
  rho?: string | number;
  mu?: string | number;
  profile?: string | number;
  relation?: string;
  pair?: string | number;
  group?: string | number;
  finder?: string;
  learner?: string;
  samples?: string | number;
  explore?: string | number;
  trials?: string | number;
  beta?: string | number;
  "through-renyi"?: string | number;
  "until-refuted"?: boolean;
  fixed?: boolean;
  seed?: string | number;
  workers?: string | number;
  source?: string;
  design?: string;
  n?: string | number;
  k?: string | number;
  m?: string | number;
  interval?: string;
  quantile?: string | number;
  sequential?: boolean;
  // End of attributes.
  [parameter: `p.${string}`]: string | number | undefined;
  controls?: "none" | "basic" | "full";
  view?: "verdict" | "chart" | "all" | "canaries";
  theme?: "auto" | "light" | "dark";
  autorun?: boolean;
  readonly?: boolean;
  site?: string;
  recorded?: string;
}

/** From embed.html to the page around it. */
export type DPAuditMessage = { dpaudit: 1 } & (
  | { type: "ready"; detail: { settings: DPAuditSettings } }
  | { type: "height"; detail: { height: number } } // CSS pixels of what is shown
  | { type: "theme"; detail: { theme: "light" | "dark" } }
  | { type: "progress"; detail: DPAuditProgress | DPAuditCanaryProgress }
  | { type: "result"; detail: { report: DPAuditReport; text: string } }
  | { type: "error"; detail: DPAuditProblem }
  | { type: "config-change"; detail: { settings: DPAuditSettings; fragment: string } }
  | { type: "answer"; detail: { id: number; value?: unknown; error?: DPAuditProblem } });

/** From the page around to embed.html, once that is ready; each gets one answer with its id. */
export type DPAuditCall = { dpaudit: 1; id: number } & (
  | { call: "run" | "stop" | "save" }
  | { call: "export"; value?: "json" | "html" }
  | { call: "theme"; value: "auto" | "light" | "dark" }
  | { call: "configure"; value: { texts: Record<string, string>; colours?: Record<string, string> } } // settings and options, all of them
  | { call: "restore"; value: { fragment: string; report: string | null } });

declare global {
  interface HTMLElementTagNameMap { "dp-audit": DPAuditElement }
}
