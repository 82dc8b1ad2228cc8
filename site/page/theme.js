// The theme that was chosen, before the first paint. A page without one follows
// the system. What another door than the first has is not painted before it is shown.
document.documentElement.classList.toggle("elsewhere", location.hash.startsWith("#door="));
setTimeout(() => document.documentElement.classList.remove("elsewhere"), 5000); // also where the page cannot run
try {
  const chosen = localStorage.getItem("dpscope-theme");
  if (["light", "dark"].includes(chosen)) document.documentElement.dataset.theme = chosen;
} catch { /* storage is denied */ }
