// One step of DP-SGD that clips the average over a nominal batch of 4.
function mechanism(dataset, n, random) {
  let sum = 0;
  for (const [gradient] of dataset) sum += gradient;
  const clipped = Math.min(Math.max(sum / 4, -1), 1);
  return Array.from({ length: n }, () => clipped + random.gaussian(2 / 4));
}
