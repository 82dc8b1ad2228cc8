// The theme that was chosen, before the first paint. A page without one follows
// the system.
try {
  const chosen = localStorage.getItem("dpscope-theme");
  if (["light", "dark"].includes(chosen)) document.documentElement.dataset.theme = chosen;
} catch { /* storage is denied */ }
