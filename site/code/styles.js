// In style-mod's place for CodeMirror: style-mod writes a document's rules into a style
// element, which the page's policy refuses. Sheets that a script makes are allowed.
import { StyleModule as Written } from "./node_modules/style-mod/src/style-mod.js";

/** @type {WeakMap<Written, CSSStyleSheet>} */
const sheets = new WeakMap();

export class StyleModule extends Written {
  /** Has a document, or a part of it, take the rules of modules; a later one's count for more. */
  static mount(root, modules) {
    const list = [modules].flat();
    for (const module of list) {
      if (sheets.has(module)) continue;
      const sheet = new CSSStyleSheet();
      sheet.replaceSync(module.getRules());
      sheets.set(module, sheet);
    }
    const ours = list.map((module) => sheets.get(module));
    root.adoptedStyleSheets = [...root.adoptedStyleSheets.filter((sheet) => !ours.includes(sheet)), ...ours];
  }
}
