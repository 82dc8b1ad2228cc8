// The user's files in the panel of canary audits: examples or vectors for an audit,
// and scores of another program. They stay in the browser.
import { door } from "../page/doors.js";
import { byId } from "../page/element.js";
import { picker } from "../page/files.js";
import { grouped, size } from "../page/number.js";
import { Unusable } from "../page/plan.js";
import { say } from "../page/progress.js";

const MOST = { file: 16e6, scores: 4e6 }; // bytes of a file; more scores would hold up the page
export const boxes = Object.keys(MOST); // that take files of the user's
const EITHER = "either"; // box, which the file's first line tells
const OUTS = /(^|[^a-z])(out([^a-z]|$)|non|held|hold)/i; // names of files of scores of canaries that were out

/** Does a file's first line name scores and membership? */
async function scored(file) {
  const names = (await file.slice(0, 999).text()).split("\n", 1)[0].toLowerCase().split(/[^a-z]+/);
  return names.includes("score") && names.includes("member");
}

export class CanaryFiles {
  /** @type {Record<string, File[]>} */
  #files = { file: [], scores: [] };
  #on;

  /** @param {{changed(): void, audit(): void, opened(name: string, text: string): void}} on audit: the scores that are there; opened: a report */
  constructor(on) {
    this.#on = on;
    for (const box of boxes) {
      const part = (name) => byId(`k-${box}-${name}`);
      picker(`k-${box}-choose`, `k-${box}-input`, (files) => this.take(files, box));
      part("forget").addEventListener("click", () => {
        this.#give(box, []);
        part("choose").focus();
      });
    }
    byId("k-scores-swap").addEventListener("click", () => {
      this.#give("scores", this.#files.scores.reverse());
      on.audit();
    });
  }

  /** Is there one for an audit? */
  get there() { return this.#files.file.length > 0; }
  /** Are there scores? */
  get scored() { return this.#files.scores.length > 0; }
  /** Those of a box. @returns {File[]} */
  of(box) { return this.#files[box]; }

  /** Which box dropped files are meant for, if any. @param {File[]} files */
  wants(files, target) {
    if (!files.length || door() !== "training") return undefined;
    const box = boxes.find((b) => target?.closest?.(`#k-${b}-group`));
    if (box) return box;
    const named = (pattern) => files.every((f) => pattern.test(f.name));
    if (!byId("k-file-group").hidden && files.length === 1 && named(/\.(csv|tsv|txt)$/i) && !target?.closest?.("#yours")) return EITHER;
    return target?.closest?.("#canaries") && named(/\.(csv|tsv|txt|jsonl|np[yz])$/i) ? "scores" : undefined;
  }

  /** Takes files of the user's. They stay in the browser. @param {File[]} files */
  async take(files, box) {
    if (box === EITHER) box = await scored(files[0]) ? "scores" : "file";
    byId(`k-${box}-group`).open = true;
    if (files[1] && OUTS.test(files[0].name) && !OUTS.test(files[1].name)) files = [files[1], files[0]];
    try {
      const most = box === "scores" ? 2 : 1;
      if (files.length > most) throw new Unusable(box, `${files.length} files`, most > 1 ? "one file or two" : "one file");
      if (box === "scores" && /^\s*{\s*"\$schema"/.test(await files[0].slice(0, 99).text())) {
        this.#on.opened(files[0].name, await files[0].text());
        return;
      }
      for (const { name, size: bytes } of files) if (bytes > MOST[box]) throw new Unusable(box, `${name}, ${size(bytes)}`, `at most ${size(MOST[box])} here; the command line takes more`);
      this.#give(box, files);
      say(`${files.map((f) => f.name).join(" and ")}: there`);
      if (box === "scores") this.#on.audit();
    } catch (error) {
      this.fail(box, error.message);
      say(error.message);
    }
  }

  /** @param {File[]} files */
  #give(box, files) {
    this.#files[box] = files;
    this.fail(box, "");
    byId(`k-${box}-name`).textContent = files.map((f, i) => `${files[1] ? ["in: ", "; out: "][i] : ""}${f.name}, ${grouped(f.size)} bytes`).join("") || "No file.";
    byId(`k-${box}-forget`).hidden = !files.length;
    byId("k-scores-swap").hidden = !this.#files.scores[1];
    this.#on.changed();
  }

  /** Shows an error at a box. @returns {boolean} whether it is shown */
  fail(box, message, focus = false) {
    const part = (name) => byId(`k-${box}-${name}`);
    part("error").textContent = message;
    part("error").hidden = !message;
    if (message) part("group").open = true;
    if (message && focus) part("choose").focus();
    return !part("group").hidden;
  }
}
