// The boundary between page and core, as wasm/worker defines it. Every value
// that Go made crosses as JSON text in the field `json`; the interfaces below
// say what is in it. `id` is a number above 0 that the page chooses for each
// request; every request gets exactly one final answer. A run, a verification
// and a calibration need the task workers: one of them at a time, a second one
// is refused.
//
// A worker's life: the page makes `new Worker("worker.js")`, posts Start to it,
// and, for a task worker, a MessageChannel's ends: one to the coordinator in
// Attach, one to the task worker in Serve. That may follow at once; what comes
// before the core listens is kept. A worker that is Dead, or whose onerror
// fires, is ended by the page: a task worker is reported with Lost and a fresh
// one attached under the same number (within ten seconds it counts as the same
// place in a run); with a dead coordinator all pending requests fail, and the
// page starts all workers anew.

/** Page to any worker: its first message. */
export interface Start {
  type: "start";
  module: WebAssembly.Module; // compiled once, shared by all workers
  /** samples: a coordinator that has no task workers and holds the user's samples. */
  role: "coordinator" | "task" | "samples";
  worker: number; // of a task worker: 0, 1, ...
  /** Of the module, from build-info.json; goes into reports. Coordinator only. */
  coreSha256?: string;
  /** Silence of a running task after which its worker is replaced; default 20 s. Coordinator only. */
  hangAfterMs?: number;
  /** The user's mechanism as wasm/worker/brought.go reads it, and a port to a worker in the sandbox that runs it. */
  brought?: { json: string; port: MessagePort };
}

/** Page to a worker that is for nothing else: the next bytes of the core, transferred; the last one has none. */
export interface Compile { type: "compile"; part?: Uint8Array }
/** Its one answer: the module, or why there is none. */
export interface Compiled { type: "compiled"; module?: WebAssembly.Module; reason?: string }

/** Any worker to page: its core ended. Nothing more will come from it. */
export interface Dead { type: "dead"; reason: string }

// Page to coordinator.

/** json: Plan. Answered by Checked or Refused. */
export interface Check { type: "check"; id: number; json: string }
/** json: Plan. Progress now and then, in the end Reported or Refused. */
export interface Run { type: "run"; id: number; json: string }
/** Stops what has this id. A run or a canary audit answers with its partial report, a calibration with what it has counted. */
export interface Stop { type: "stop"; id: number }
/** json: a file's text, verbatim. Answered by Reported or Refused. */
export interface Open { type: "open"; id: number; json: string }
/** json: AccountQuery. Answered by Accounted or Refused. */
export interface Account { type: "account"; id: number; json: string }
/** json: CalibrationPlan. CalibratedValue as Progress four times a second, in the end Calibrated or Refused. */
export interface Calibrate { type: "calibrate"; id: number; json: string }
/** json: CanaryRequest with a plan. CanaryProgress now and then, in the end Canaried or Refused. */
export interface RunCanaries { type: "canaries"; id: number; json: string }
/** json: the text of a canary report. Answered by Canaried or Refused. */
export interface OpenCanaries { type: "open-canaries"; id: number; json: string }
/** json: CanaryRequest with a report. CanaryProgress now and then, in the end Verified or Refused. */
export interface VerifyCanaries { type: "verify-canaries"; id: number; json: string }
/** json: a report's text. Progress now and then, in the end Verified or Refused. One of samples, in that role, is replayed with the files that are there, after ReadProgress if they are read anew. */
export interface Verify { type: "verify"; id: number; json: string }
/** json: Reading. ReadProgress now and then, in the end InspectedAnswer or Refused. Without files: about those that are there. Of the role of samples only. */
export interface ReadSamples { type: "samples"; id: number; json: string; files: File[] }
/** json: PictureRequest. Answered by Pictured or Refused, during a run too. */
export interface Picture { type: "picture"; id: number; json: string }
export interface Attach { type: "attach"; worker: number; port: MessagePort } // transfer the port
/** The page ended a worker and wants to do without it. */
export interface Detach { type: "detach"; worker: number }
/** A worker died; a fresh one will be attached with the same number. */
export interface Lost { type: "lost"; worker: number; reason: string }

// Coordinator to page. The one final answer to a request is Checked, Reported,
// Verified, Accounted, Calibrated, Canaried, InspectedAnswer, Pictured or Refused.

/** json: ReadyValue. */
export interface Ready { type: "ready"; json: string }
/** json: CheckedValue. */
export interface Checked { type: "checked"; id: number; json: string }
/** json: ProgressValue, at most about ten a second; of a calibration CalibratedValue, of a canary audit CanaryProgress. */
export interface Progress { type: "progress"; id: number; json: string }
/** json: ReportedValue. */
export interface Reported { type: "report"; id: number; json: string }
/** json: VerifiedValue. */
export interface Verified { type: "verified"; id: number; json: string }
/** json: AccountedValue. */
export interface Accounted { type: "accounted"; id: number; json: string }
/** json: CalibratedValue. */
export interface Calibrated { type: "calibrated"; id: number; json: string }
/** json: CanaryReported. */
export interface Canaried { type: "canaried"; id: number; json: string }
/** json: Inspected. */
export interface InspectedAnswer { type: "inspected"; id: number; json: string }
/** json: PictureValue. */
export interface Pictured { type: "pictured"; id: number; json: string }
/** json: Refusal. */
export interface Refused { type: "refused"; id: number; json: string }
/** A worker hangs: the page ends it and attaches a fresh one under its number. No Lost is needed. */
export interface Replace { type: "replace"; worker: number; reason: string }

export type ToCoordinator = Check | Run | Stop | Open | Verify | ReadSamples | Account | Calibrate | RunCanaries | OpenCanaries | VerifyCanaries | Picture | Attach | Detach | Lost;
export type FromCoordinator = Ready | Checked | Progress | Reported | Verified | Accounted | Calibrated | Canaried | InspectedAnswer | Pictured | Refused | Replace | Dead;

// Page to task worker, and back.

export interface Serve { type: "serve"; port: MessagePort } // transfer the port
export interface TaskReady { type: "ready"; worker: number }
export type FromTaskWorker = TaskReady | Dead;

// On the port between coordinator and task worker, Go on both sides:
// {type: "task", id, json: Task}, {type: "cancel", id}; back {type: "rows", id,
// rows} after every 16 ms of work, {type: "done", id, json: Result} or
// {type: "failed", id, json: Refusal}.

// Values.

/** An error. The fields after message are empty where no one field is at fault. */
export interface Refusal {
  message: string; // a whole sentence
  field: string; // the name as in Plan: "epsilon", "samples", "parameter c", "pair.first", ...
  found: string;
  want: string;
  remedy: string;
}

export interface Dataset { columns: number; values: number[] } // flat by rows
export interface Pair { label?: string; first: Dataset; second: Dataset }
export type Relation = "add-remove" | "replace" | "bounded-replace" | "l-infinity";
export interface Claim {
  kind: "pure" | "approximate" | "renyi" | "zcdp" | "gaussian-dp";
  epsilon?: number; delta?: number; alpha?: number; mu?: number; rho?: number;
}

/**
 * What to audit. Whatever is absent or zero takes its default; in a claim of
 * kind renyi, zcdp or gaussian-dp that is what the mechanism's own claim implies.
 */
export interface Plan {
  version: 1;
  mechanism: string; // "samples": the user's, in the role of samples
  parameters?: Record<string, number | string>;
  claim?: Partial<Claim>; // without a kind: pure or approximate, as delta says
  throughRenyi?: number; // an order: test a pure claim by its Rényi divergence there
  anytime?: boolean; // the bound holds whenever the run is stopped
  relation?: Relation;
  pair?: Pair;
  finder?: string;
  learner?: string;
  samples?: number;
  explore?: number;
  trials?: number;
  beta?: number;
  seed: number;
}

export interface ParamSpec {
  name: string;
  doc: string;
  default?: number; // absent: 0
  min?: number; // absent: 0
  max?: number; // absent: 0
  open?: boolean; // the lower end is not allowed
  integer?: boolean;
  choices?: string[]; // a word, the first is the default; no number then
}

export interface MechanismListing {
  name: string;
  title: string;
  source: string;
  fault?: string; // absent: it keeps its claim
  params: ParamSpec[];
  relations: Relation[]; // at its default parameters, as claim and truth
  claim: Claim;
  claimWords: string;
  truth: string;
  own?: true; // the user's samples, as the page lists them
}
/** byName: of a learner that is not in the portfolio. */
export interface NamedListing { name: string; title: string; source: string; byName?: boolean }

export interface ReadyValue {
  version: string;
  go: string;
}

export interface Column { name: string; kind: "real" | "symbol" | "mixed"; labels?: { value: number; text: string }[] }

export interface CheckedValue {
  plan: Required<Omit<Plan, "pair" | "throughRenyi" | "anytime">> & Pick<Plan, "pair" | "throughRenyi" | "anytime">; // every default written out
  claim: Claim;
  claimWords: string;
  relations: Relation[]; // allowed at these parameters
  notes: string[];
  columns: Column[];
  ownClaim: Claim; // what the mechanism itself claims at these parameters
  ownClaimWords: string;
  truth: string;
  cli: string;
  url: string; // "#v=1&..."
}

export interface ProgressValue {
  phase: "explore" | "certify" | "bound";
  trial: number; // trials explored so far
  trials: number; // at most so many
  rows: number; // outputs drawn so far, both sides; falls when a worker is lost
  total: number; // outputs to draw in all, both sides
  provisional?: number; // the bound so far; a certificate only where it is valid
  valid?: boolean; // of an anytime run: the bound holds if the run is stopped now
  quantity?: string; // what is bounded, in words: "epsilon", "Rényi divergence", "rho", "mu"
  claimed?: number; // of that quantity
  pairs?: number; // of an anytime run: pairs of outputs seen
  message?: string; // a worker was lost
  /** What certification has counted so far: chart and direction as in a report, rows of samples a side. */
  live?: { chart: any; claim: Claim; direction: string; rows: number; samples: number };
}

export interface ReportedValue {
  report: any; // docs/dpscope-report-v1.schema.json
  text: string; // the report in canonical form: save this
  facts: { name: string; value: string }[];
  certified: CertifiedRow[];
  published: PublishedRow[];
  curves: { tradeoff?: TradeoffCurve; renyi?: RenyiCurve };
  error: string; // of a run that failed, else ""
  newer: boolean; // an opened report of a newer version: shown as far as it is understood
}

/** A certified quantity, all in words. */
export interface CertifiedRow {
  quantity: string;
  bound: string;
  claimed: string; // "": the claim says nothing of it
  exceeds: boolean; // the bound exceeds the claim
  confidence: string;
  method: string;
  assumption: string; // "": none
}
/** A published form, for comparison; fault: why it certifies nothing. */
export interface PublishedRow { quantity: string; value: string; method: string; fault: string }

/** Error rates of a test at one threshold, with their simultaneous bounds. */
export interface TradeoffPoint { fpr: number; fprLower: number; fprUpper: number; fnr: number; fnrLower: number; fnrUpper: number }
export interface TradeoffCurve {
  points: TradeoffPoint[]; // from (0, 1) to (1, 0)
  claimed: [fpr: number, fnr: number][]; // straight in between; empty: nothing is claimed
  claimWords: string;
  confidence: string; // of the band, in words
  direction: "first-over-second" | "second-over-first";
}
export interface RenyiCurve {
  points: { alpha: number; lower: number }[]; // by alpha; they hold together
  claimed: [alpha: number, epsilon: number][]; // straight in between; beyond its ends nothing is claimed
  claimWords: string;
  confidence: string;
}

/** recomputed: the counts are the report's own, only what follows from them was checked; summary: the verdict as the replay makes it; notes: what the replay could not show. */
export interface VerifiedValue { ok: boolean; recomputed?: true; summary: string; checked: string[]; differences: string[]; notes: string[] }

/** An element of a picture: its name, attributes and children; or text. */
export type SVGNode = string | [name: string, attributes: Record<string, string> | null, ...children: SVGNode[]];
/** theme and heading make a file of the picture; exact: the table with all digits. */
export interface PictureRequest {
  of: "report" | "account" | "calibration" | "canaries" | "column" | "course";
  view?: string; // of a report: "outputs", "tradeoff", "renyi"
  text: string; // JSON of what of says: a report's text, AccountedValue, CalibratedValue, the course of a canary audit, a histogram of samples, the course of a run
  choice?: string; // one of the picture's; else the first
  width: number; // px
  theme?: number[][]; // red, green and blue by role
  heading?: string;
  exact?: boolean;
}
/** A picture, its words and its table. Where there is nothing to draw there are words only. */
export interface PictureValue {
  title: string;
  words: string;
  choiceLabel: string;
  choices: { id: string; words: string }[];
  chosen: string;
  svg?: SVGNode;
  markup?: string; // of a file, instead of svg
  table: { title: string; head: string[] | null; rows: string[][] | null };
}

/** What is to be accounted; what the kind does not use is absent. */
export interface AccountQuery {
  mechanism: string; // a kind
  sigma?: number; scale?: number; p?: number; epsilon?: number; stepDelta?: number; alpha?: number; rho?: number; mu?: number;
  sensitivity?: number;
  rate?: number;
  steps?: number;
  group?: number;
  delta?: number;
  atEpsilon?: number; // asks for delta too
  orders?: number[];
}
/** One (epsilon, delta) that holds. order: of the curve, absent where there is none. */
export interface Guarantee { method: string; epsilon: number; delta: number; order?: number; exact: boolean; source: string }
export interface AccountedValue {
  query: AccountQuery; // with its defaults
  title: string;
  cli: string;
  curve: { alpha: number; divergence: number }[]; // by alpha; empty for approximate privacy
  kl?: number; // the curve at 1
  maxDivergence?: number; // and at infinity; absent: not finite
  epsilon?: number; // the least of epsilons
  epsilons: Guarantee[];
  delta?: number; // the least of deltas
  deltas?: Guarantee[]; // at epsilon = query.atEpsilon
  sigmas?: { sigma: number; words: string; source: string }[]; // noise that one step would need for both
  notes?: string[];
}

/** What is to be measured: audits by one learner of mechanisms that keep their claim. */
export interface CalibrationPlan {
  runs: number; // of each mechanism
  samples: number;
  explore: number;
  trials: number;
  beta: number; // the error that an audit is allowed
  seed: number;
  learners: string[]; // one
  mechanisms?: string[]; // absent: all
}
/** False alarms of audits. The words are those of rate and interval. */
export interface FalseAlarms {
  alarms: number; of: number;
  rate: number; lower: number; upper: number;
  rateText: string; intervalText: string;
  above?: boolean; // significantly above beta; at the end only
}
export interface CalibratedCell extends FalseAlarms {
  mechanism: string;
  claim: string;
  met: boolean; // the claim is met on a pair in reach: chance refutes it as often as it ever does
  runs: number; // to be done; "of" are
  inconclusive?: number;
  failed?: number;
  note?: string; // why the first of them failed
}
export interface CalibratedValue {
  cells: CalibratedCell[];
  all: FalseAlarms; // of all cells
  total: number; // audits to be done; all.of are
  beta: number;
  betaText: string;
  sentence: string;
  judgement?: string; // at the end, as what follows; absent without any audit
  above?: boolean; // it accuses
  stopped?: boolean;
  error?: string; // that ended it
  cli?: string; // counts the same, all of it
}

/** file: the user's, in base64; absent if there is none. */
export interface CanaryRequest {
  plan?: any; // canary.Plan, docs/dpscope-canary-v1.schema.json
  oneRun?: any; // canary.OneRunPlan, docs/dpscope-one-run-v1.schema.json, instead of plan
  scores?: any; // canary.ScoresPlan, docs/dpscope-scores-v1.schema.json, instead of plan
  report?: string;
  file?: string;
  files?: { name: string; content: string }[]; // of scores, in base64: one, or those in and those out
}
export interface CanaryProgress {
  phase: "explore" | "certify" | "one-run" | "scores";
  runs: number; // drawn so far in all phases; falls when a worker is lost
  total: number;
  certified: number;
  planned: number; // certification runs
  diverged?: number;
  bounds?: LiveBound[]; // once, when they are new
  claimed: number;
  message?: string; // a worker was lost
}
/** The bound of an interval, had the audit been planned to end here: no certificate. */
export interface LiveBound { interval: string; epsilon: number }
export interface CoursePoint { runs: number; bounds: LiveBound[] }
export interface CanaryReported {
  report: any; // docs/dpscope-canary-v1.schema.json; also of one run or of scores, by its kind
  text: string; // the report in canonical form: save this
  facts: { name: string; value: string }[];
  intervals: CanaryIntervalRow[];
  methods: { method: string; bound: string; largest: string; valid: string; exceeds: boolean; chosen: boolean; trainings: string; assumption: string }[]; // of one run, or of scores
  course: CoursePoint[]; // of the run on its way; empty for a report that was opened
  error: string; // of a run that failed, else ""
}
/** All in words. */
export interface CanaryIntervalRow { interval: string; bound: string; largest: string; valid: string; exceeds: boolean; chosen: boolean; assumption: string }

/**
 * catalogue.json, beside core.wasm: what the core knows. library: that it runs.
 * samples: to certify, a side, where the user does not say; absent: the core's default.
 */
export interface FullCatalogue {
  mechanisms: (MechanismListing & { library?: string; samples?: number; museum?: string })[]; // museum: the page about its fault
  learners: NamedListing[];
  finders: NamedListing[];
  limits: { minSamples: number; maxSamples: number; maxTrials: number; maxSeed: number };
  accounts: AccountKind[];
  calibration: CalibrationOffer;
  canaries: CanaryOffer;
}
/** What there is to audit with canaries; of relations, designs, intervals and scales the first is the default. */
export interface CanaryOffer {
  sources: {
    name: string;
    title: string;
    params: ParamSpec[];
    relations: string[];
    designs: { name: string; vectors?: boolean }[]; // vectors: of a file, which must be given
    examples?: boolean; // a file of examples may be given
    runs: number;
    oneRun?: number; // canaries of one run, by default; absent where it cannot be audited so
    oneRunDesign?: string; // its default
  }[];
  intervals: { name: string; valid?: boolean }[]; // valid: at every number of runs
  scales: string[];
  methods: string[]; // for scores without runs, the first is the default
}
/** The plan that is offered, with the mechanisms that are chosen at first, and all that there are. */
export interface CalibrationOffer {
  plan: CalibrationPlan;
  mechanisms: { name: string; claim: string; why: string; met: boolean }[];
}
export interface AccountKind {
  kind: string;
  title: string;
  fields: { name: string; label: string; doc: string; default?: number; integer?: boolean }[]; // without a default: not asked while empty
}

/** build-info.json, beside core.wasm. */
export interface BuildInfo {
  version: string;
  build: string; // a hash of all files
  go: string;
  files: { name: string; sha256: string; bytes: number; gzip: number; brotli: number }[];
}

// The user's samples.

/** How files are read; absent: by content. */
export interface Reading { header?: "yes" | "no"; dataset?: string; outputs?: string[]; kinds?: Record<string, Column["kind"]>; nonFinite?: "refuse" | "symbol"; decimal?: "." | "," }
export interface ReadProgress { name: string; share: number } // share of all files
/** A bar: of a symbol, or of a range of numbers. */
export interface Bin { label: string; lower: number; upper: number; counts: [number, number] }
export interface Inspected {
  files: { name: string; format: string; bytes: number; sha256: string; rows: number }[]; // empty where they could not be read
  columns: { name: string; kind: Column["kind"]; role: "output" | "dataset" | "left out" | "" }[];
  head: string[][]; // the first rows
  samples?: { datasets: [string, string]; rows: [number, number]; columns: number; histograms: { column: string; bins: Bin[] }[]; notes: string[]; listing: MechanismListing };
  problem?: Refusal; // then there are no samples
  scores: boolean; // it looks like membership scores
}
