// Where code is written: a text field, and over it the editor, once that is loaded. The
// text field always holds what is written; the page reads it there, and hears there of
// changes.
import { beside, byId, html } from "../page/element.js";

const EDITOR = "editor.js"; // of the site, where it was built

export class CodeField {
  #field; #place;
  /** @type {ReturnType<typeof import("../code/editor.js").open> | null} */
  #editor = null;
  #loading = false;
  /** @type {"javascript" | "python"} */
  #language = "javascript";

  /** @param {import("../page/field.js").Field} field its text field */
  constructor(field) {
    this.#field = field;
    this.#place = html("div", { class: "editor coming", hidden: true });
    field.control.after(this.#place);
    // What the editor's own parts say is not of the form: the text field says it.
    for (const kind of ["input", "change"]) this.#place.addEventListener(kind, (event) => event.stopPropagation());
    field.control.addEventListener("input", () => this.#editor?.write(field.control.value));
    field.box.querySelector("label").addEventListener("click", () => this.#editor?.focus());
  }

  get text() { return this.#field.control.value; }

  get language() { return this.#language; }

  /** @param {string} text @param {"javascript" | "python"} [language] */
  write(text, language = this.#language) {
    this.#field.control.value = text;
    this.#language = language;
    this.#editor?.write(text, language);
  }

  /** Says what is wrong, at a line where there is one; "" takes it back. */
  fail(words, line = 0) {
    this.#field.fail(words);
    byId("own-code-error").classList.toggle("unseen", Boolean(this.#editor && line));
    this.#editor?.fail(line, words);
  }

  focus() { (this.#editor ?? this.#field.control).focus(); }

  /** Takes whoever writes to a line, from 1. */
  goTo(line) {
    this.focus();
    if (this.#editor) this.#editor.select(line);
    else {
      const text = this.text, from = text.split("\n").slice(0, line - 1).join("\n").length + Number(line > 1);
      this.#field.control.setSelectionRange(from, `${text}\n`.indexOf("\n", from));
    }
  }

  /** Puts the editor over the text field, with what is written there and the cursor where it is. */
  async load() {
    if (this.#editor || this.#loading) return;
    this.#loading = true;
    const { control } = this.#field;
    try {
      /** @type {typeof import("../code/editor.js")} */
      const { open } = await import(beside(EDITOR));
      this.#place.hidden = false; // and measured unseen, so that its lines do not move
      const editor = open(this.#place, {
        text: control.value, language: this.#language, anchor: control.selectionStart, head: control.selectionEnd,
        about: { id: "own-editor", "aria-describedby": "own-code-hint own-code-error own-keys", spellcheck: "false", tabindex: "0" },
        changed(text) {
          if (text === control.value) return;
          control.value = text;
          control.dispatchEvent(new Event("input", { bubbles: true }));
        },
      });
      await new Promise((measured) => requestAnimationFrame(() => requestAnimationFrame(measured)));
      const writes = document.activeElement === control;
      this.#place.classList.remove("coming");
      this.#editor = editor;
      editor.write(control.value, this.#language);
      control.hidden = true;
      byId("own-keys").hidden = false;
      if (writes) editor.focus();
    } catch { /* The text field stays: whoever is offline may have no editor. */ } finally {
      this.#loading = false;
    }
  }
}
