// Work on the page in turns: much that is shown at once must not hold up its keys
// and buttons.

const TURN = 10; // ms of work without a pause

const jobs = [];
let working = false, end = Promise.resolve();

/**
 * Does jobs after those that were asked for before, the first one at once if there
 * are none. A job may ask for more.
 * @param {...() => void} more
 * @returns {Promise<void>} when none is left; fails as the first that failed
 */
export function inTurns(...more) {
  jobs.push(...more);
  if (!working) end = work();
  return end;
}

/** Begins a turn. @returns {() => Promise<void> | undefined} what pauses where the turn's time is over */
export function turn() {
  let since = performance.now();
  return () => {
    if (performance.now() - since < TURN || document.hidden) return undefined; // hidden ones would wait long
    return new Promise((resolve) => {
      setTimeout(() => {
        since = performance.now();
        resolve();
      });
    });
  };
}

async function work() {
  let failed = null;
  const pause = turn();
  working = true;
  while (jobs.length) {
    const wait = pause();
    if (wait) await wait;
    try {
      jobs.shift()?.();
    } catch (error) {
      failed ??= error;
    }
  }
  working = false;
  if (failed) throw failed;
}
