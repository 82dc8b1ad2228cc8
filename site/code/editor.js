// The editor of "Your code", which the page loads when that door opens: CodeMirror with
// two languages. It is styled by the page's variables, in sheets that its policy allows.
import { defaultKeymap, history, historyKeymap, indentWithTab } from "@codemirror/commands";
import { javascript } from "@codemirror/lang-javascript";
import { python } from "@codemirror/lang-python";
import { bracketMatching, HighlightStyle, indentOnInput, indentUnit, syntaxHighlighting } from "@codemirror/language";
import { lintGutter, setDiagnostics } from "@codemirror/lint";
import { EditorState, Facet, StateEffect, StateField } from "@codemirror/state";
import { Decoration, EditorView, highlightActiveLine, highlightActiveLineGutter, highlightSpecialChars, keymap, lineNumbers, WidgetType } from "@codemirror/view";
import { tags } from "@lezer/highlight";

const colours = HighlightStyle.define([
  { tag: tags.comment, color: "var(--code-comment)", fontStyle: "italic" },
  { tag: [tags.keyword, tags.controlKeyword, tags.operatorKeyword, tags.definitionKeyword, tags.moduleKeyword], color: "var(--code-keyword)" },
  { tag: [tags.number, tags.bool, tags.null], color: "var(--code-number)" },
  { tag: [tags.string, tags.special(tags.string), tags.regexp], color: "var(--code-string)" },
  { tag: [tags.function(tags.variableName), tags.function(tags.propertyName), tags.function(tags.definition(tags.variableName))], color: "var(--code-function)" },
]);

const looks = EditorView.theme({
  "&": { height: "100%", color: "var(--text)", backgroundColor: "var(--code)" },
  "&.cm-focused": { outline: "3px solid var(--accent)", outlineOffset: "-3px" },
  ".cm-scroller": { overflow: "auto", fontFamily: 'ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace', lineHeight: "1.62" },
  ".cm-content[aria-invalid]": { border: "0" },
  ".cm-content": { caretColor: "var(--text)", padding: "8px 0" },
  ".cm-gutters": { color: "var(--muted)", backgroundColor: "var(--code)", border: "0" },
  ".cm-gutter-lint": { width: "1.1em" },
  ".cm-lineNumbers .cm-gutterElement": { minWidth: "26px", padding: "0 8px 0 0" },
  ".cm-activeLine, .cm-activeLineGutter": { backgroundColor: "var(--sunk)", color: "inherit" },
  "&.cm-focused .cm-matchingBracket": { backgroundColor: "var(--accent-soft)", outline: "1px solid var(--accent)" },
  "&.cm-focused .cm-nonmatchingBracket": { backgroundColor: "var(--bad-soft)", outline: "1px solid var(--bad)" },
  ".cm-line.cm-fault": { backgroundColor: "var(--bad-soft)" },
  ".cm-said": { backgroundColor: "var(--bad-soft)", padding: "3px 12px 7px 6px", fontFamily: "system-ui, sans-serif", fontSize: "14px", lineHeight: "1.4", whiteSpace: "normal", position: "sticky", left: "0", boxSizing: "border-box", maxWidth: "calc(100cqw - 64px)" },
  ".cm-said b": { color: "var(--bad)" },
  ".cm-tooltip": { color: "var(--text)", backgroundColor: "var(--panel)", border: "1px solid var(--line)" },
});

/** What is said below the line at fault. */
class Said extends WidgetType {
  line; words;

  /** @param {number} line @param {string} words */
  constructor(line, words) {
    super();
    this.line = line;
    this.words = words;
  }

  eq(other) { return other.line === this.line && other.words === this.words; }

  toDOM() {
    const box = document.createElement("div"), head = document.createElement("b");
    box.className = "cm-said";
    head.textContent = `Line ${this.line}: `;
    box.append(head, this.words);
    return box;
  }
}

/** @type {import("@codemirror/state").StateEffectType<{line: number, words: string}>} */
const blame = StateEffect.define();
/** The line at fault and what is wrong with it; gone when that is said again, or nothing. */
const faults = StateField.define({
  create: () => Decoration.none,
  update(marks, transaction) {
    marks = marks.map(transaction.changes);
    for (const effect of transaction.effects) {
      if (!effect.is(blame)) continue;
      const { line, words } = effect.value;
      if (!words) marks = Decoration.none;
      else {
        const at = transaction.state.doc.line(line);
        marks = Decoration.set([Decoration.line({ class: "cm-fault" }).range(at.from), Decoration.widget({ widget: new Said(line, words), side: 1, block: true }).range(at.to)]);
      }
    }
    return marks;
  },
  provide: (field) => EditorView.decorations.from(field),
});

const grammars = {
  javascript: () => [javascript(), indentUnit.of("  ")],
  python: () => [python(), indentUnit.of("    ")],
};

/** @typedef {keyof typeof grammars} Language */

const names = { javascript: "JavaScript", python: "Python" };
/** The language that is written. @type {Facet<Language, Language>} */
const spoken = Facet.define({ combine: ([language]) => language });

/**
 * Opens an editor at the end of an element.
 * @param {HTMLElement} parent
 * @param {{text: string, language: Language, anchor?: number, head?: number, about: Record<string, string>, changed(text: string): void}} how
 *   anchor, head: what is selected; about: attributes of what takes the text; changed: somebody wrote
 */
export function open(parent, { text, language, anchor = 0, head = anchor, about, changed }) {
  let clicked = false, wrong = false;
  const shared = [
    highlightSpecialChars(), lineNumbers(), lintGutter(), history(), faults, indentOnInput(), bracketMatching(), highlightActiveLine(), highlightActiveLineGutter(),
    EditorState.tabSize.of(4), syntaxHighlighting(colours), looks, keymap.of([...defaultKeymap, ...historyKeymap, indentWithTab]),
    EditorView.contentAttributes.of((view) => ({ ...about, "aria-label": `Your code in ${names[view.state.facet(spoken)]}`, ...(wrong && { "aria-invalid": "true" }) })),
    EditorView.updateListener.of(({ docChanged, state, view, transactions }) => {
      if (transactions.some((t) => t.isUserEvent("input") || t.isUserEvent("delete"))) view.setTabFocusMode(false);
      if (docChanged) changed(state.doc.toString());
    }),
    // Tab goes past the editor until somebody writes or clicks into it, and indents from then on.
    EditorView.domEventHandlers({
      mousedown(_, view) {
        clicked = true;
        view.setTabFocusMode(false);
      },
      focus(_, view) { if (!clicked) view.setTabFocusMode(true); },
      blur() { clicked = false; },
    }),
  ];
  const state = (doc, selection) => EditorState.create({ doc, selection, extensions: [shared, spoken.of(language), grammars[language]()] });
  // CodeMirror counts a line end as one character, whatever it was.
  const view = new EditorView({ parent, state: state(text, { anchor: Math.min(anchor, text.length), head: Math.min(head, text.length) }) });
  return {
    /** Puts other text there, which can be undone; in another language it cannot. @param {string} doc @param {Language} [of] */
    write(doc, of = language) {
      if (of !== language) {
        language = of;
        view.setState(state(doc, undefined));
      } else if (doc !== view.state.doc.toString()) view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: doc } });
    },

    /** Says what is wrong, below the line where it is, from 1; 0: nowhere in particular. "" takes it back. */
    fail(line, words) {
      if (!words && !wrong) return;
      wrong = Boolean(words);
      const { doc } = view.state, at = words && line > 0 && line <= doc.lines ? doc.line(line) : null;
      const from = at ? at.from + at.text.length - at.text.trimStart().length : 0;
      view.dispatch(
        setDiagnostics(view.state, at ? [{ from: Math.min(from, at.to), to: at.to, severity: "error", message: words }] : []),
        { effects: [blame.of({ line, words: at ? words : "" }), ...(at ? [EditorView.scrollIntoView(at.from, { y: "nearest", yMargin: 60 })] : [])] },
      );
    },

    /** Selects a line, from 1, as far as there is one. */
    select(line) {
      const at = view.state.doc.line(Math.min(line, view.state.doc.lines));
      view.dispatch({ selection: { anchor: at.from, head: at.to }, scrollIntoView: true });
    },

    focus() { view.focus(); },
  };
}
