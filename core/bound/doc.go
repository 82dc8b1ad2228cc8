// Package bound turns counts of one event on two neighbouring datasets into
// lower confidence bounds on epsilon.
//
// The event is fixed before the counts are drawn. Of N1 outputs on the first
// dataset X fall into it, of N0 on the second Y; X ~ Bin(N1, p1) and
// Y ~ Bin(N0, p0) are independent. A mechanism that is (epsilon, delta)
// differentially private has p1 <= e^epsilon p0 + delta, so
//
//	epsilon* = log((p1 - delta)/p0)
//
// is a lower limit of its true epsilon, and a function here returns a number
// that exceeds epsilon* with probability at most beta. Functions that keep
// that promise for every p1, p0 and sample size are [Exact], [ClopperPearson]
// and [PairedBetting]; [Score] and [Katz] keep it only asymptotically or not
// at all, and are here for comparison with published figures.
//
// beta is an error probability in (0, 1), delta lies in [0, 1), epsilon is in
// nats. Arguments outside these ranges are programmer errors and panic; what
// comes from a user goes through [Counts.Validate], [CheckDelta] and
// [CheckBeta] first.
package bound
