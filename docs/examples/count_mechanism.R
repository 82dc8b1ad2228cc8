# A noisy count that dpscope audits; needs the package jsonlite.
#
#   dpscope audit -exec 'Rscript count_mechanism.R' -epsilon 1

library(jsonlite)

laplace <- function(n, scale) rexp(n, 1 / scale) - rexp(n, 1 / scale)

input <- file("stdin", "r")
while (length(line <- readLines(input, n = 1)) > 0) {
  request <- fromJSON(line)
  set.seed(request$seed %% 2147483647) # R takes 31 bits
  outputs <- NROW(request$dataset) + laplace(request$n, 1)
  cat(toJSON(list(outputs = outputs), digits = NA), "\n", sep = "")
  flush(stdout())
}
