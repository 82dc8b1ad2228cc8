// The dialog that gives the code of an embed, with a preview. The page loads it
// when it is asked for.
import { readFragment } from "../page/address.js";
import { html } from "../page/element.js";
import { CHOICES, FLAGS, fragmentOf } from "./embedoptions.js";
import { choice } from "../page/field.js";
import { copyFor } from "../page/files.js";

const words = {
  controls: ["Controls", { basic: "run, stop, claim, budget", none: "none", full: "every setting" }],
  view: ["Shows", { chart: "verdict and distributions", verdict: "the verdict", all: "everything" }],
  theme: ["Colours", { auto: "as the page around it", light: "light", dark: "dark" }],
  autorun: ["Runs when it comes into view"],
  readonly: ["Settings cannot be changed"],
};
const HEIGHT = 560; // of a frame that nobody resizes
const site = new URL(".", import.meta.url).href;
const escaped = (text) => text.replace(/&/g, "&amp;").replace(/"/g, "&quot;").replace(/</g, "&lt;");
let dialog = null;

/** Opens the dialog. @param {string} fragment the audit's settings, as the page's address */
export async function open(fragment) {
  const { settings } = readFragment(fragment);
  await import(new URL("dp-audit.js", import.meta.url).href);
  dialog?.remove();
  const selects = Object.entries(CHOICES).map(([name, values]) => {
    const [label, options] = words[name], select = choice(values.filter((value) => options[value]).map((value) => ({ value, text: options[value] })));
    select.name = name;
    return html("label", { class: "field" }, label, select);
  });
  const checks = FLAGS.map((name) => html("label", { class: "check" }, html("input", { type: "checkbox", name, value: "" }), words[name][0]));
  const form = html("form", { onchange: () => show() }, html("div", { class: "grid" }, selects), html("div", {}, checks));
  const asElement = code("As an element", "A script of a few kilobytes; the rest loads on demand."), asFrame = code("As a frame", "Without a script.");
  const preview = html("div", { class: "embed-preview" });
  const show = () => {
    const chosen = Object.fromEntries([...new FormData(form)].map(([key, value]) => [key, String(value)]).filter(([key, value]) => value !== CHOICES[key]?.[0]));
    const attributes = Object.entries({ ...settings, ...chosen }).map(([key, value]) => (value === "" ? ` ${key}` : ` ${key}="${escaped(value)}"`)).join("");
    const what = escaped(`Audit of ${settings.mechanism}`);
    asElement.area.value = `<script defer src="${site}dp-audit.js"></script>\n<dp-audit${attributes}>\n  <a href="${escaped(`${site}index.html${fragmentOf(settings)}`)}">${what} with dpscope</a>\n</dp-audit>`;
    const flags = Object.fromEntries(Object.entries(chosen).map(([key, value]) => [key, value || "true"]));
    asFrame.area.value = `<iframe src="${escaped(`${site}embed.html${fragmentOf({ ...settings, ...flags })}`)}" title="${what}" width="100%" height="${HEIGHT}" loading="lazy" style="border: 0"></iframe>`;
    preview.replaceChildren(html("dp-audit", { ...settings, ...chosen }));
  };
  dialog = html("dialog", { class: "embed-code", "aria-labelledby": "embed-code-title" },
    html("h2", { id: "embed-code-title" }, "Embed this audit"),
    form, asElement.box, asFrame.box,
    html("h3", {}, "Preview"), preview,
    html("form", { method: "dialog" }, html("button", {}, "Close")));
  dialog.addEventListener("close", () => preview.replaceChildren()); // ends its workers
  document.body.append(dialog);
  show();
  dialog.showModal();
}

function code(title, hint) {
  const area = html("textarea", { rows: 5, readonly: true, spellcheck: "false", "aria-label": title });
  const button = html("button", { type: "button", onclick: async () => { if (!await copyFor(button, area.value)) area.select(); } }, "Copy");
  return { area, box: html("section", {}, html("h3", {}, title), html("p", { class: "hint" }, hint), area, html("div", { class: "actions" }, button)) };
}
