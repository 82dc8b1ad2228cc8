// The picture's document: starts the program in view.wasm, whose package comment
// is the contract, hands on what the page sends and what the hand does, and shows
// as text, table and labels what the program says. Nothing here computes.
import "wasm_exec.js";
import { byId, fetched, html, tableRows } from "../page/element.js";
import { csvOf, save } from "../page/files.js";
import { coloursAt } from "../page/roles.js";

const FONT = 'system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif';
const FRAME = 50; // px of a step of a pan by key
const DRAG = 4; // px from which a press is a drag

const stage = byId("stage"), labels = byId("labels"), ink = labels.getContext("2d");
const all = byId("all"), LOADING = byId("status").textContent;
const scale = devicePixelRatio || 1;
let handle = null; // the program's
let waiting = []; // messages of the page that came before it listened
let summary = ""; // of what is shown
let asked = null; // resolves to the picture's pixels
let page = null; // the page's port, to which it is said whether the picture is painted
let told = ""; // that the browser took the picture away, until the hand does something

// The program's library owns document.body: it fills it with its canvas. Here
// that is the stage.
Object.defineProperty(document, "body", { configurable: true, get: () => stage });

// The library asks for frame after frame even when nothing is to be drawn. It gets
// one when the program has something to draw, and the first few.
const frame = requestAnimationFrame.bind(window);
let due = 10; // frames
let held = null; // what waits for one
globalThis.requestAnimationFrame = (callback) => {
  if (due > 0) {
    due--;
    return frame(callback);
  }
  held = callback;
  return 0;
};

/** What the program last said, whether there is WebGL, and the picture's pixels; tests read them, too. */
const last = globalThis.dpscopeView = { laid: {}, read: {}, facts: {}, webgl: Boolean(document.createElement("canvas").getContext("webgl2")), pixels };

const fontOf = (bold) => `${bold ? "bold " : ""}12px ${FONT}`;

globalThis.dpscopeViewShell = {
  webgl: last.webgl, scale,
  measure(words) {
    ink.font = fontOf(false);
    return ink.measureText(words).width;
  },
  listen(handler) {
    handle = handler;
    theme();
    handle("size", stage.clientWidth);
    for (const text of waiting.splice(0)) take(text);
  },
  wake() {
    if (!last.webgl) return;
    due = 2;
    const callback = held;
    held = null;
    if (callback) requestAnimationFrame(callback);
  },
  post(what, text) { heard[what](what === "failed" ? text : JSON.parse(text)); },
  pixels(bytes, width, height) {
    asked?.(new ImageData(bytes, width, height));
    asked = null;
  },
};

const heard = {
  laid(said) {
    last.laid = said;
    stage.setAttribute("aria-label", `Picture: ${byId("words").textContent}`);
    stage.style.height = `${Math.ceil(last.laid.Height)}px`;
    byId("whole").disabled = byId("out").disabled = last.laid.Whole;
    byId("in").disabled = !last.laid.ZoomsX && !last.laid.ZoomsY;
    labels.width = Math.round(stage.clientWidth * scale);
    labels.height = Math.round(last.laid.Height * scale);
    label(ink, 0, 0);
  },
  read(said) {
    last.read = said;
    byId("reading").textContent = said.Words;
  },
  facts(said) {
    last.facts = said;
    const { View, Views, Choices, Table } = said;
    byId("status").hidden = Boolean(View) && last.webgl && !told;
    byId("status").textContent = told || (View ? "This browser has no WebGL 2, or it is switched off: there is no picture, but the table holds its numbers." : "There is nothing to draw: no outputs were counted for a picture.");
    for (const id of ["bar", "keys", "facts"]) byId(id).hidden = !View;
    stage.hidden = byId("keys").hidden = !View || !last.webgl;
    byId("tools").querySelectorAll("button:not(#csv)").forEach((b) => b.toggleAttribute("hidden", !last.webgl));
    byId("words").textContent = said.Words;
    keepFocus(byId("views"), () => byId("views").replaceChildren(...(Views?.length > 1 ? Views : []).map((v) =>
      html("button", { type: "button", "data-id": v.id, "aria-pressed": String(v.id === View), onclick: () => handle("show", v.id) }, v.words))));
    byId("choice-field").hidden = !(Choices?.length > 1);
    byId("choice-label").textContent = said.ChoiceLabel;
    byId("choice").replaceChildren(...(Choices ?? []).map((c) => html("option", { value: c.id, selected: c.id === said.Chosen }, c.words)));
    byId("facts-title").textContent = Table?.title ?? "";
    fill();
    if (View) handle("size", stage.clientWidth); // it may have been hidden
    page?.postMessage(Boolean(View) && last.webgl);
  },
  failed(text) {
    byId("status").hidden = false;
    byId("status").textContent = text;
    page?.postMessage(false);
  },
};

/** Hands on what the page shows. @param {string} text JSON */
const take = (text) => handle("data", text);

// The browser may take WebGL away at any time: a driver that ended, or too many pictures.
// The program's library then loads this document anew, to which the page sends its report.
// A browser that goes on taking gets no picture to take.
const LOST = "The browser discarded the picture's graphics context", ANEW = `${LOST}. The picture is redrawn.`;
stage.addEventListener("webglcontextlost", (event) => {
  const now = Date.now(), lost = [...history.state?.lost ?? [], now].filter((at) => now - at < 60_000), often = lost.length > 3;
  drag = null;
  told = often ? `${LOST}, again and again: there is no picture, but the table holds its numbers.` : ANEW;
  history.replaceState(often ? null : { lost, anew: true }, "");
  if (often) {
    event.stopImmediatePropagation();
    last.webgl = false;
    if (last.facts.View) heard.facts(last.facts);
  }
  heard.failed(told);
}, true);
for (const kind of ["pointerdown", "keydown"]) addEventListener(kind, () => {
  if (!told || !last.webgl) return;
  told = "";
  byId("status").hidden = true;
}, true);

/** Fills the table, where it is open. */
function fill() {
  const { Table } = last.facts;
  byId("table").replaceChildren(...(Table && byId("facts").open ? tableRows(Table.head, Table.rows ?? []) : []));
}
byId("facts").addEventListener("toggle", fill);

/** Keeps the focus at the button of the same id while buttons are made anew. */
function keepFocus(group, change) {
  const id = group.contains(document.activeElement) && /** @type {HTMLElement} */ (document.activeElement).dataset.id;
  change();
  if (id) group.querySelector(`[data-id="${CSS.escape(id)}"]`)?.focus({ preventScroll: true });
}

/** Writes the picture's labels. */
function label(on, x, y) {
  on.scale(scale, scale);
  for (const l of last.laid.Labels ?? []) {
    on.font = fontOf(l.Bold);
    on.textAlign = ["left", "center", "right"][l.Align];
    on.fillStyle = colours[l.Role];
    on.fillText(l.Words, l.X + x, l.Y + y);
  }
  on.setTransform(1, 0, 0, 1, 0, 0);
  on.textAlign = "left";
  on.fillStyle = colours[1];
}

let colours = [];

/** Tells the program the colours of the styles. */
function theme() {
  const all = coloursAt(document.body);
  colours = all.map((colour) => colour.css);
  handle("theme", JSON.stringify(all.map((colour) => colour.rgb)));
}

function pixels() {
  return new Promise((resolve) => {
    asked = resolve;
    handle("picture");
  });
}

// Files

const nameOf = (ending) => `dpscope-${last.facts.View}.${ending}`;

byId("png").addEventListener("click", async () => {
  const picture = await pixels(), margin = 14 * scale, head = 2.5 * margin;
  const canvas = html("canvas", { width: picture.width + 2 * margin, height: picture.height + head + margin });
  const on = canvas.getContext("2d");
  on.fillStyle = colours[0];
  on.fillRect(0, 0, canvas.width, canvas.height);
  on.putImageData(picture, margin, head);
  label(on, margin / scale, head / scale);
  on.font = `bold ${13 * scale}px ${FONT}`;
  on.fillText(summary, margin, 1.6 * margin, picture.width);
  canvas.toBlob((blob) => save(nameOf("png"), blob, "image/png"));
});
byId("csv").addEventListener("click", () => {
  const { head, rows } = last.facts.Table;
  save(nameOf("csv"), csvOf(head, rows), "text/csv");
});

// The hand

byId("in").addEventListener("click", () => handle("closer", 1 / 1.5));
byId("out").addEventListener("click", () => handle("closer", 1.5));
byId("whole").addEventListener("click", () => handle("reset"));
byId("choice").addEventListener("change", () => handle("choose", byId("choice").value));

let drag = null; // {x, y, moved} of the pointer that is down
const placeOf = (event) => {
  const box = stage.getBoundingClientRect();
  return [event.clientX - box.left, event.clientY - box.top];
};
stage.addEventListener("pointerdown", (event) => {
  if (event.button === 0) drag = { x: event.clientX, y: event.clientY, moved: false };
});
stage.addEventListener("pointermove", (event) => {
  if (drag && (drag.moved || Math.hypot(event.clientX - drag.x, event.clientY - drag.y) > DRAG)) {
    if (!drag.moved) stage.setPointerCapture(event.pointerId);
    handle?.("pan", event.clientX - drag.x, event.clientY - drag.y);
    drag = { x: event.clientX, y: event.clientY, moved: true };
  } else if (!drag) handle?.("point", ...placeOf(event));
});
stage.addEventListener("pointerup", (event) => {
  if (drag && !drag.moved) handle?.("point", ...placeOf(event));
  drag = null;
});
stage.addEventListener("pointercancel", () => { drag = null; });
stage.addEventListener("pointerleave", (event) => {
  if (event.pointerType === "mouse" && !drag && document.activeElement !== stage) handle?.("leave");
});
// The page scrolls, unless the picture has the focus and there is something to zoom.
stage.addEventListener("wheel", (event) => {
  if (document.activeElement !== stage || event.ctrlKey) return;
  if (handle?.("zoom", Math.exp(Math.sign(event.deltaY) * Math.min(0.4, Math.abs(event.deltaY) / 300)), ...placeOf(event))) event.preventDefault();
}, { passive: false });

const keys = {
  ArrowRight: () => handle("step", 1), ArrowDown: () => handle("step", 1),
  ArrowLeft: () => handle("step", -1), ArrowUp: () => handle("step", -1),
  PageDown: () => handle("pan", -FRAME, -FRAME), PageUp: () => handle("pan", FRAME, FRAME),
  "+": () => handle("closer", 1 / 1.5), "=": () => handle("closer", 1 / 1.5), "-": () => handle("closer", 1.5),
  0: () => handle("reset"),
  Escape() {
    const opener = frameElement && /** @type {HTMLElement} */ (parent.document.querySelector(`.picture-open[aria-controls="${frameElement.parentElement.id}"]`));
    if (last.read.Item >= 0) {
      handle("leave");
      return;
    }
    stage.blur();
    if (opener?.checkVisibility()) {
      opener.focus({ preventScroll: true });
      opener.click(); // which goes back to what it opened in place of
    } else parent.focus();
  },
};
stage.addEventListener("keydown", (event) => {
  if (!handle || event.ctrlKey || event.metaKey || event.altKey || !Object.hasOwn(keys, event.key)) return;
  event.preventDefault();
  keys[event.key]();
});

// A file that is dropped here is the page's.
for (const kind of ["dragover", "drop"]) {
  addEventListener(kind, (event) => {
    event.preventDefault();
    if (kind === "drop" && parent !== window) parent.document.body.dispatchEvent(new /** @type {any} */ (parent).DragEvent("drop", { dataTransfer: /** @type {DragEvent} */ (event).dataTransfer, bubbles: true, cancelable: true }));
  });
}

// Size and colours

new ResizeObserver(() => {
  if (frameElement) /** @type {HTMLElement} */ (frameElement).style.height = `${all.offsetHeight}px`;
}).observe(all);
let width = 0, height = 0;
new ResizeObserver(() => {
  const changed = stage.clientWidth !== width;
  if (!stage.clientWidth || (!changed && stage.clientHeight === height)) return;
  width = stage.clientWidth;
  height = stage.clientHeight;
  if (changed) handle?.("size", width);
  dispatchEvent(new Event("resize")); // the program's library looks at the stage's size then
}).observe(stage);

function dress() {
  const { theme: chosen } = parent.document.documentElement.dataset;
  if (chosen) document.documentElement.dataset.theme = chosen;
  else delete document.documentElement.dataset.theme;
  if (!handle) return;
  theme();
}
/** Takes on pixels of another size: the page sends its report to whatever is loaded here. */
function sharpen() {
  if ((devicePixelRatio || 1) !== scale) location.reload();
}
matchMedia(`(resolution: ${scale}dppx)`).addEventListener("change", sharpen);
for (const kind of ["pointerenter", "pointermove"]) document.documentElement.addEventListener(kind, sharpen); // of a change that the browser did not tell
for (const query of ["(prefers-color-scheme: dark)", "(forced-colors: active)"]) matchMedia(query).addEventListener("change", dress);
if (parent !== window) new MutationObserver(dress).observe(parent.document.documentElement, { attributes: true, attributeFilter: ["data-theme"] });

// The page's channel

addEventListener("message", ({ data, source, ports }) => {
  if (source !== parent || data !== "dpscope-view" || !ports[0]) return;
  page = ports[0];
  if (!handle && !byId("status").hidden && byId("status").textContent !== LOADING) page.postMessage(false); // it failed before
  page.onmessage = (message) => {
    const text = JSON.stringify(message.data);
    summary = (message.data.report ?? message.data.canary)?.summary ?? "";
    if (handle) take(text);
    else waiting.push(text);
  };
});

async function start() {
  if (history.state?.anew) {
    history.replaceState({ lost: history.state.lost }, "");
    heard.failed(told = ANEW);
  }
  if (typeof WebAssembly !== "object") throw new Error("This browser has no WebAssembly, or it is switched off.");
  const answer = await fetched("view.wasm");
  const go = new globalThis.Go();
  const streams = answer.headers.get("Content-Type")?.startsWith("application/wasm");
  const module = await (streams ? WebAssembly.compileStreaming(answer) : WebAssembly.compile(await answer.arrayBuffer()));
  const instance = await WebAssembly.instantiate(module, go.importObject);
  stage.hidden = false;
  const running = go.run(instance);
  // Nothing but the stage takes the hand; the library's canvas is decoration.
  const canvas = stage.querySelector("canvas:not(#labels)");
  canvas.removeAttribute("tabindex");
  canvas.setAttribute("aria-hidden", "true");
  await running;
  handle = null;
  throw new Error("The picture's program ended. Close the picture and open it again.");
}
start().catch((error) => heard.failed(error.message));
