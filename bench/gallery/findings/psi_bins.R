# PSI-Library's histogram without given bins: the bins tell the largest value.
#
#     Rscript gallery/findings/psi_bins.R FOLDER
#
# FOLDER holds privacytoolsproject/PSI-Library at commit adaa32e.

folder <- commandArgs(TRUE)
library(methods)
files <- scan(text = gsub("'", "", read.dcf(file.path(folder, "DESCRIPTION"))[, "Collate"]), what = "", quiet = TRUE)
suppressMessages(for (f in files) sys.source(file.path(folder, "R", f), envir = globalenv()))

for (largest in c(0.5, 1)) {
  data <- data.frame(x = c(largest, rep(0, 200)))
  h <- dpHistogram$new("numeric", "x", nrow(data), epsilon = 1, nBins = 2, delta = 1e-6)
  h$release(data)
  cat("200 times 0, and", largest, "- bins that are released:", names(h$result$release), "\n")
}
