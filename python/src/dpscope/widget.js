// The instrument in a notebook, by anywidget's convention: render({model, el}) shows the
// element <dp-audit> of the site at model.get("site"), with the attributes of
// model.get("settings"). Where the site cannot be reached it shows model.get("headline")
// and model.get("picture"), an SVG, which need neither.

/** @typedef {{site: string, settings: Record<string, unknown>, headline: string, picture: string}} State */
/** @typedef {Pick<import("@anywidget/types").AnyModel<State>, "get"> & Partial<Pick<import("@anywidget/types").AnyModel<State>, "on" | "off">>} Model */

/**
 * What is shown without the site.
 * @param {Model} model
 * @param {string} why
 */
function still(model, why) {
  const box = document.createElement("div");
  for (const text of [model.get("headline"), why]) {
    if (text) box.appendChild(document.createElement("p")).textContent = text;
  }
  const picture = model.get("picture");
  if (picture) {
    const image = box.appendChild(document.createElement("img"));
    image.alt = model.get("headline") ?? "";
    image.src = "data:image/svg+xml;charset=utf-8," + encodeURIComponent(picture);
    image.style.maxWidth = "100%";
  }
  return box;
}

/**
 * @param {Model} model
 * @param {string} base the site's folder
 * @returns {HTMLElement}
 */
function element(model, base) {
  const audit = document.createElement("dp-audit");
  audit.setAttribute("site", base);
  for (const [name, value] of Object.entries(model.get("settings") ?? {})) {
    if (value !== null && value !== false) audit.setAttribute(name.replaceAll("_", "-"), value === true ? "" : String(value));
  }
  return audit;
}

/**
 * Defines the element, once a page. A classic script may come from another origin.
 * @param {string} base
 * @returns {Promise<void>}
 */
function defined(base) {
  if (customElements.get("dp-audit")) return Promise.resolve();
  return new Promise((resolve, reject) => {
    const script = document.createElement("script");
    script.onload = () => resolve();
    script.onerror = () => reject(new Error("not loaded"));
    script.src = new URL("dp-audit.js", base).href;
    document.head.append(script);
  });
}

/**
 * @param {{model: Model, el: HTMLElement}} view
 * @returns {Promise<() => void>} what takes it away
 */
async function render({ model, el }) {
  let gone = false;
  const draw = async () => {
    const site = model.get("site");
    if (!site) return el.replaceChildren(still(model, ""));
    const base = new URL(site, document.baseURI).href;
    try {
      await defined(base);
      if (!gone) el.replaceChildren(element(model, base));
    } catch {
      if (!gone) el.replaceChildren(still(model, `The instrument could not be loaded from ${base}: is the wheel installed where the notebook's server runs?`));
    }
  };
  await draw();
  const again = () => void draw();
  model.on?.("change:settings", again);
  return () => {
    gone = true;
    model.off?.("change:settings", again);
    el.replaceChildren();
  };
}

export { render };
export default /** @satisfies {import("@anywidget/types").AnyWidget<State>} */ ({ render });
