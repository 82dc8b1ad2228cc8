// Files that are chosen, dropped or pasted, told apart by what is in them: reports
// and samples; a file that is saved; text that is copied. Nothing leaves the
// browser.
import { byId, html } from "./element.js";
import { size } from "./number.js";

const MAX_BYTES = 50e6; // a report is some 20 kB

const UNNAMED = "Unnamed file";
const HEAD = 1 << 16; // bytes that tell what a file is

/** What a file is by its beginning. @param {Blob} file @returns {Promise<"empty" | "report" | "samples">} */
async function kindOf(file) {
  const head = (await file.slice(0, HEAD).text()).replace(/^\uFEFF/, "").trimStart();
  if (!head) return "empty";
  if (!head.startsWith("{")) return "samples";
  // An object of arrays, or one a line; what is neither is a report, or meant to be one.
  const rows = /^\{\s*"(?:[^"\\]|\\.)*"\s*:\s*\[/.test(head) || /^\{[^{}\n]*\}\s*\n\s*\{/.test(head);
  return rows && !/"(?:\$schema|schemaVersion)"\s*:/.test(head) ? "samples" : "report";
}

/** Has a button ask for files. @param {string} button @param {string} id of the input @param {(files: File[]) => void} take gets one at least */
export function picker(button, id, take) {
  const input = byId(id);
  byId(button).addEventListener("click", () => input.click());
  input.addEventListener("change", () => {
    const files = [...input.files];
    input.value = ""; // so that the same file can be chosen again
    if (files.length) take(files);
  });
}

/** A file's bytes in base64. @param {Blob} file @returns {Promise<string>} */
export const base64 = (file) => new Promise((resolve, reject) => {
  const reader = new FileReader();
  reader.onload = () => resolve(String(reader.result).slice(String(reader.result).indexOf(",") + 1));
  reader.onerror = () => reject(new Error(`unreadable (${reader.error?.message})`));
  reader.readAsDataURL(file);
});

/** Is the user typing, so that pasted text is his? */
// By the path, not the target: an editor that took the paste may have removed the line that it began at.
export const typing = (event) => event.composedPath().some((at) => at instanceof Element && at.matches("input, textarea, [contenteditable]"));

/**
 * Listens for reports and samples.
 * @param {(name: string, text: string) => void} opened a report
 * @param {(title: string, found: string, want: string, remedy?: string) => void} refused
 * @param {(files: File[], target: EventTarget) => boolean} taken takes dropped files that are meant for a panel
 * @param {(files: File[]) => void} sampled takes samples
 */
export function receive(opened, refused, taken, sampled) {
  const take = async (file) => {
    const name = file.name || UNNAMED;
    if (file.size > MAX_BYTES) {
      refused(`${name} was not opened`, size(file.size), `a report of at most ${size(MAX_BYTES)}`);
      return;
    }
    let text;
    try {
      text = await file.text();
    } catch (error) {
      refused(`${name} was not opened`, `unreadable (${error.message})`, "a file that this browser may read");
      return;
    }
    opened(name, text);
  };
  const route = async (files) => {
    const names = files.map((file) => file.name || UNNAMED).join(", ");
    try {
      const all = await Promise.all(files.map(kindOf));
      if (all.includes("empty")) refused(`${names} was not opened`, "empty", "a report, or a file with samples", "was it still being written?");
      else if (all.every((kind) => kind === "samples")) sampled(files);
      else if (files.length === 1) take(files[0]);
      else refused(`${files.length} files were not opened`, "a report among them", "one report, or one or two files of samples");
    } catch (error) {
      refused(`${names} was not opened`, `unreadable (${error.message})`, "a file that this browser may read");
    }
  };
  picker("open", "file", route);

  const carriesFiles = (event) => event.dataTransfer?.types.includes("Files");
  addEventListener("dragover", (event) => {
    if (!carriesFiles(event)) return;
    event.preventDefault();
    event.dataTransfer.dropEffect = "copy";
    document.body.classList.add("dropping");
  });
  addEventListener("dragleave", (event) => {
    if (!event.relatedTarget) document.body.classList.remove("dropping");
  });
  addEventListener("drop", (event) => {
    document.body.classList.remove("dropping");
    if (!carriesFiles(event)) return;
    event.preventDefault();
    const files = [...event.dataTransfer.files];
    if (taken(files, event.target)) return;
    if (files.length > 2) refused(`${files.length} files were not opened`, `${files.length} files at once`, "one report, or one or two files of samples");
    else if (files.length) route(files);
  });
  addEventListener("paste", (event) => {
    if (typing(event)) return;
    const files = [...event.clipboardData?.files ?? []];
    const text = event.clipboardData?.getData("text/plain");
    if (files.length) route(files.slice(0, 2));
    else if (/^\s*[[{]|\S\s*\n\s*\S/.test(text)) route([new File([text], "Pasted text")]);
    else if (text?.trim()) opened("Pasted text", text);
  });
}

/** Offers text, or a blob, as a file. */
export function save(name, content, type = "application/json") {
  const url = URL.createObjectURL(new Blob([content], { type }));
  html("a", { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}

/** A table as CSV, numbers with all their digits. */
export const csvOf = (head, rows) => [head, ...rows].map((row) => `${row.map(String).map((text) => (/[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text)).join(",")}\n`).join("");

/** What the names of a report's files begin with: dpscope-svt4-eps1-seed7 @param {any} report */
export function stemOf({ kind, claim: { epsilon, delta }, plan: { mechanism, source, runs, canaries, seed } }) {
  const of = { pair: mechanism, canary: "canaries" }[kind] ?? kind;
  const parts = ["dpscope", of, source, `eps${epsilon}`, kind === "pair" && delta && `delta${delta}`, runs ? `n${runs}` : canaries && `m${canaries}`, `seed${seed}`];
  return parts.filter(Boolean).join("-").replace(/[^\w.+-]+/g, "_");
}

async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return copyBySelection(text);
  }
}

/** Copies text for a button, which says so for a moment. @returns {Promise<boolean>} whether the browser let it */
export async function copyFor(button, text) {
  button.dataset.label ??= button.textContent;
  if (!await copy(text)) return false;
  button.textContent = "Copied";
  setTimeout(() => { button.textContent = button.dataset.label; }, 1500);
  return true;
}

/** For pages without the clipboard interface (plain http). */
function copyBySelection(text) {
  const area = html("textarea", { class: "unseen", readonly: true });
  area.value = text;
  document.body.append(area);
  area.select();
  const done = document.execCommand("copy");
  area.remove();
  return done;
}
