# Answers dpscope's requests with the code of published libraries for R.
#
#     Rscript main.R CASE EPSILON FOLDER
#
# FOLDER holds the library at the commit that catalogue.json names. Its files are
# read in the order that its DESCRIPTION states, and run as they are. A case is a
# function of epsilon, which returns f(rows, n, seed) -> outputs, a list with an
# element for each output; the rows are a matrix.

library(methods)

load <- function(folder) {
  files <- read.dcf(file.path(folder, "DESCRIPTION"))[, "Collate"]
  for (f in scan(text = gsub("'", "", files), what = "", quiet = TRUE)) {
    sys.source(file.path(folder, "R", f), envir = globalenv())
  }
}

# times calls f for each of n outputs; f draws from the generator of R or of the system.
times <- function(f) {
  function(rows, n, seed) {
    set.seed(seed %% .Machine$integer.max)
    lapply(seq_len(n), function(i) f(rows))
  }
}

diffpriv <- function(mechanism, params) {
  function(epsilon) {
    m <- do.call(mechanism, list(sensitivity = 1, target = function(rows) sum(rows), dims = 1))
    p <- do.call(params, list(epsilon = epsilon))
    times(function(rows) releaseResponse(m, privacyParams = p, X = rows)$response)
  }
}

# frame makes a data frame of the rows, with the columns a, b, ...
frame <- function(rows) as.data.frame(structure(rows, dimnames = list(NULL, letters[seq_len(ncol(rows))])))

# made makes an object for the number of rows once: it does not hold the data, and R
# needs longer for it than for what the audit is of.
made <- function(make) {
  objects <- list()
  function(rows) {
    key <- as.character(nrow(rows))
    if (is.null(objects[[key]])) objects[[key]] <<- make(rows)
    objects[[key]]
  }
}

# The mechanism of a statistic of PSI-Library, as its method release takes it.
exported <- function(s) s$export(s$mechanism)

# The lower triangle of the covariance matrix of two columns between low and low + 1, or
# some entries of it, in 2019: epsilon is that of one entry. The object is its own
# mechanism; R 4 exports none with a formula.
covariance.2019 <- function(low, entries) {
  function(epsilon) {
    range <- c(low, low + 1)
    object <- made(function(rows) {
      dpCovariance$new("mechanismLaplace", "numeric", nrow(rows), epsilon, c("a", "b"), rbind(range, range),
                       imputeRng = list(range, range), formula = a ~ b)
    })
    times(function(rows) {
      s <- object(rows)
      as.list(s$evaluate(funCovar, frame(rows), s$sens, function(out, ...) out, intercept = FALSE)$release[entries])
    })
  }
}

# The same in 2020: epsilon is that of all entries.
covariance.2020 <- function(epsilon) {
  object <- made(function(rows) {
    exported(dpCovariance$new("mechanismLaplace", "numeric", nrow(rows), c("a", "b"), list(0:1, 0:1), globalEps = epsilon))
  })
  times(function(rows) {
    m <- object(rows)
    as.list(m$evaluate(covar, frame(rows), m$sens, intercept = FALSE)$release)
  })
}

# The more frequent of the words a and b, where rows of 1 are b; "none" where nothing is
# released. The method release of this version ends in an error, after it has called
# evaluate.
hitters <- function(epsilon) {
  object <- made(function(rows) {
    dpHeavyHitters$new("mechanismExponential", "character", "x", nrow(rows), epsilon, k = 1, bins = c("a", "b"), delta = 0.01)
  })
  times(function(rows) {
    out <- object(rows)$evaluate(fun.heavy, ifelse(rows[, 1] == 1, "b", "a"), 2, function(out, gap) out)
    if (is.null(out$release)) "none" else out$release
  })
}

# Rows and 200 times 0: a histogram whose bins the library chooses, as the words that
# name the bins that it releases.
bins <- function(epsilon) {
  object <- made(function(rows) {
    exported(dpHistogram$new("numeric", "x", nrow(rows) + 200, epsilon, nBins = 2, delta = 1e-6))
  })
  times(function(rows) {
    m <- object(rows)
    paste(names(m$evaluate(funHist, c(rows[, 1], rep(0, 200)), m$sens)$release), collapse = " ")
  })
}

# A statistic of one column between 0 and 1.
statistic <- function(class, f) {
  function(epsilon) {
    object <- made(function(rows) exported(get(class)$new("mechanismLaplace", "numeric", "x", nrow(rows), c(0, 1), epsilon)))
    times(function(rows) {
      m <- object(rows)
      m$evaluate(f, rows[, 1], m$sens)$release
    })
  }
}

cases <- list(
  "diffpriv-laplace" = diffpriv("DPMechLaplace", "DPParamsEps"),
  "psi-covariance-sensitivity" = covariance.2019(1, 1),
  "psi-covariance-budget" = covariance.2019(0, 1:3),
  "psi-covariance" = covariance.2020,
  "psi-heavy-hitters" = hitters,
  "psi-bins" = bins,
  "psi-mean" = statistic("dpMean", mean),
  "psi-variance" = statistic("dpVariance", var)
)

args <- commandArgs(TRUE)
if (length(args) != 3 || !args[1] %in% names(cases)) {
  write(paste("usage: main.R CASE EPSILON FOLDER; cases:", paste(names(cases), collapse = " ")), stderr())
  quit(status = 1)
}
suppressMessages(load(args[3]))
answer <- cases[[args[1]]](as.numeric(args[2]))
input <- file("stdin", "r")
while (length(line <- readLines(input, 1)) > 0) {
  request <- jsonlite::fromJSON(line, simplifyVector = FALSE)
  rows <- do.call(rbind, lapply(request$dataset, unlist))
  if (is.null(rows)) rows <- matrix(numeric(0), 0, 1)
  out <- suppressWarnings(answer(rows, request$n, request$seed))
  cat(jsonlite::toJSON(list(outputs = out), auto_unbox = TRUE, digits = NA), "\n", sep = "")
  flush(stdout())
}
