// For the compiler that checks the scripts in tests.

// An element of the page, looked up by its id. Which one it is the markup says, which
// the compiler does not read: it has the members of all that scripts use.
export type PageElement = HTMLElement
  & Pick<HTMLInputElement, "checked" | "disabled" | "files" | "min" | "max" | "placeholder" | "selectionStart" | "selectionEnd" | "type" | "validity" | "setSelectionRange">
  & { value: any } // text of a control, a number of a progress bar
  & Pick<HTMLSelectElement, "options" | "selectedIndex">
  & Pick<HTMLDetailsElement, "open">
  & Pick<HTMLDialogElement, "showModal" | "close">
  & Pick<HTMLAnchorElement, "href">
  & Pick<HTMLCanvasElement, "width" | "height" | "getContext">;
