// Keeps the page for use offline, and says when a newer build of it is there. How
// builds are kept apart is in sw.js.
import { beside } from "../page/element.js";
import { notify } from "../page/notice.js";

/** @param {HTMLElement} told says what is kept @param {Promise<import("../worker/files").BuildInfo | null>} info */
export async function keepOffline(told, info) {
  const { serviceWorker } = navigator;
  if (!(await info)?.files.some((file) => file.name === "sw.js")) return;
  if (!serviceWorker) {
    told.textContent = "not kept for use offline: that needs https and a browser that allows it";
    return;
  }
  try {
    const kept = await serviceWorker.register(beside("sw.js"), { updateViaCache: "none" });
    const look = () => {
      if (kept.active) told.textContent = "kept for use offline";
      if (kept.waiting && kept.active) offer(kept.waiting);
    };
    const follow = (worker) => worker?.addEventListener("statechange", () => {
      look();
      if (worker.state === "redundant" && !kept.active) told.textContent = "not kept for use offline: it could not be stored whole";
    });
    follow(kept.installing);
    kept.addEventListener("updatefound", () => follow(kept.installing));
    look();
  } catch (error) {
    told.textContent = `not kept for use offline (${error.message})`;
  }
}

/** Offers a build that waits. It takes over when no page of the old one is open but this. */
function offer(waiting) {
  const { serviceWorker } = navigator;
  notify({ key: "update", kind: "info", title: "A newer build of dpscope is ready", text: "Settings stay in the address. The report on screen will be lost: save it first if you need it.", action: {
    label: "Reload with it",
    run() {
      serviceWorker.addEventListener("controllerchange", () => location.reload(), { once: true });
      serviceWorker.addEventListener("message", () => notify({ key: "update", kind: "info", title: "The newer build waits", text: "Close the other tabs of dpscope first, so that no page mixes two builds.", action: { label: "Try again", run: () => offer(waiting) } }), { once: true });
      waiting.postMessage("take over");
    },
  } });
}
