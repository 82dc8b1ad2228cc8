// Sparse vector technique 6: answers any number of positive queries.
function mechanism(dataset, n, random) {
  return Array.from({ length: n }, () => {
    const threshold = 1 + random.laplace(2);
    return dataset.map(([query]) => (query + random.laplace(2) >= threshold ? 1 : 0));
  });
}
