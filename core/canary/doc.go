// Package canary audits with canaries, records that an auditor plants: several a run, whose presence it
// tests for (Pillutla et al. 2023, LiDP, algorithm 1), or many in one run, each in by a fair coin, which
// it guesses (Steinke, Nasr and Jagielski 2023).
//
// One of many runs puts K canaries into the dataset and leaves M fresh ones out. A canary is in the event
// if its score, of canary and output, exceeds a threshold. If the canaries inside and any fresh one are
// exchangeable, each inside is in the event with probability p1, and each fresh one, under the dataset
// with one canary less, with p0: an (epsilon, delta) private mechanism has p1 <= e^epsilon p0 + delta, so
// X of K and Y of M a run are K and M looks at it (theorem 3). Threshold and stakes are of other runs.
package canary
