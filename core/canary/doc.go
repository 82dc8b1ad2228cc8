// Package canary audits with canaries: records that an auditor plants, several a run of the
// mechanism, and whose presence it then tests for (Pillutla et al. 2023, LiDP, algorithm 1), or
// of which fair coins decide who is in one run, and whose coins it guesses (Steinke, Nasr and
// Jagielski 2023).
//
// One of many runs draws K canaries that are put into the dataset and M fresh ones that are not.
// A canary is in the event if its score, a function of the canary and the output, exceeds a
// threshold. If the canaries inside and any fresh one are exchangeable, each canary inside is in
// the event with the same probability p1, and each fresh one, under the dataset with one canary
// less, with p0: an (epsilon, delta) private mechanism has p1 <= e^epsilon p0 + delta, so X of K
// and Y of M a run are K and M looks at it (theorem 3 there). How much they are worth is for the
// intervals of bounds to say. The threshold and the stakes of the betting intervals are chosen on
// runs of their own.
//
// A [Task] is a pure function of itself and each run has a random stream of its own, so that a
// [Report] does not depend on where or how many at once runs were drawn. What canaries are
// planted in is package mechanisms/source; models are in package train.
package canary
