// Package bounds turns counts of outputs on two neighbouring datasets into lower confidence bounds
// on privacy parameters: docs/bounds has them all.
//
// The event is fixed before the counts are drawn. Of N1 outputs on the first dataset X fall into
// it, of N0 on the second Y; X ~ Bin(N1, p1) and Y ~ Bin(N0, p0) are independent. An (epsilon,
// delta) private mechanism has p1 <= e^epsilon p0 + delta, so
//
//	epsilon* = log((p1 - delta)/p0)
//
// is a lower limit of its true epsilon, and a function here returns a number that exceeds epsilon*
// with probability at most beta. [Exact] and [ClopperPearson] keep that promise for every p1, p0
// and sample size; [Score] and package published are for comparison.
//
// Bins, witness, stake and method are chosen on exploration outputs; the bound is computed once on
// fresh ones. [Stakes] and [CanarySequence] are for outputs and trainings as they come: what they
// refute is refuted whenever sampling stops, for any reason.
//
// beta is an error probability in (0, 1), delta lies in [0, 1), epsilon is in nats, GDP is Gaussian
// differential privacy. Bounds are rounded down to six decimals and at least 0 where nothing else
// is said. Arguments out of range panic; what comes from a user goes through the Validate methods
// and Check functions.
package bounds
