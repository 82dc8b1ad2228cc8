// Randomised response of one bit: the truth with probability e/(1+e).
function mechanism([[bit]], n, random) {
  const truth = Math.E / (1 + Math.E);
  return Array.from({ length: n }, () => (random.uniform() < truth ? bit : 1 - bit));
}
