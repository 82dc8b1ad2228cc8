// The choice of the theme: the system's, light or dark. theme.js applies it on the
// next visit.
import { notify } from "../page/notice.js";

/** @param {import("../types/elements").PageElement} select whose values are "", "light" and "dark" */
export function offerThemes(select) {
  const { dataset } = document.documentElement;
  select.value = dataset.theme ?? "";
  select.addEventListener("change", () => {
    if (select.value) dataset.theme = select.value;
    else delete dataset.theme;
    try {
      if (select.value) localStorage.setItem("dpscope-theme", select.value);
      else localStorage.removeItem("dpscope-theme");
    } catch {
      notify({ key: "storage", kind: "info", title: "This browser does not let the page store anything", text: "The theme lasts until the page is closed. Audits do not need storage." });
    }
  });
}
