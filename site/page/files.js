// Files that are chosen, dropped or pasted; a file that is saved; text that is copied.
// Nothing leaves the browser.
import { byId, html } from "./element.js";

/** An input for files, which a button or a script presses. @param {(files: File[]) => void} take gets one at least */
export function fileInput(id, label, accept, multiple, take) {
  const input = html("input", { id, type: "file", accept, multiple, hidden: true, tabindex: -1, "aria-label": label, onchange() {
    const files = [...input.files];
    input.value = ""; // so that the same file can be chosen again
    if (files.length) take(files);
  } });
  return input;
}

/** Has a button ask for files. @param {string} button @param {Parameters<typeof fileInput>} what */
export function picker(button, ...what) {
  const input = fileInput(...what);
  byId(button).after(input);
  byId(button).addEventListener("click", () => input.click());
  return input;
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

/** Listens for files and text that come. @param {(files: File[], target?: EventTarget) => void} came target: what they were dropped on */
export function receive(came) {
  picker("open", "file", "Report file", ".json,application/json", false, came);
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
    if (files.length) came(files, event.target);
  });
  addEventListener("paste", (event) => {
    if (typing(event)) return;
    const files = [...event.clipboardData?.files ?? []];
    const text = event.clipboardData?.getData("text/plain");
    if (files.length) came(files);
    else if (text?.trim()) came([new File([text], "Pasted text")]);
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
  } catch { // as on pages without the clipboard interface (plain http)
    const area = html("textarea", { class: "unseen", readonly: true });
    area.value = text;
    document.body.append(area);
    area.select();
    const done = document.execCommand("copy");
    area.remove();
    return done;
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
