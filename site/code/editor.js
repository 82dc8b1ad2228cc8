// The editor of "Your code", which the page loads when that door opens.
import { python } from "@codemirror/lang-python";
import { EditorView } from "@codemirror/view";

/** An editor of Python in an element. @param {HTMLElement} parent */
export const open = (parent) => new EditorView({ parent, extensions: [python()] });
