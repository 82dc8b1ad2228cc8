// Answers one question twice, each time with the whole of epsilon.
function mechanism([[value]], n, random) {
  return Array.from({ length: n }, () => [value + random.laplace(1), value + random.laplace(1)]);
}
