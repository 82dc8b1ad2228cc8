// Package bounds turns counts of outputs on two neighbouring datasets into lower confidence bounds
// on privacy parameters.
//
// # One event
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
// [ClaimPValue] gives the verdict of Exact as a p-value. The same construction bounds delta at an
// epsilon ([ExactDelta]) and the mu of Gaussian differential privacy ([ExactMu], [MuPValue]).
//
// # Tables of pairs
//
// A [Table] counts pairs of outputs by bin; a bounded witness is then one value a bin. [Renyi]
// bounds the Renyi divergence, [TradeoffBand] the trade-off curve. Bins, witness, stake and method
// are chosen on exploration outputs, the bound is computed once on fresh ones.
//
// # Canaries
//
// A [CanaryTable] counts pairs of runs by how many canaries of the data and how many fresh ones
// fell into the event; [CanaryEpsilon] bounds epsilon from it. [OneRunEpsilon] and
// [OneRunGDPEpsilon] do with a single run of many canaries, each in or out by a coin.
//
// # Any time
//
// [Stakes] bet on outputs as they come and [CanarySequence] on trainings: what they refute is
// refuted whenever sampling stops, for any reason.
//
// # Arguments
//
// beta is an error probability in (0, 1), delta lies in [0, 1), epsilon is in nats. Arguments out
// of range are programmer errors and panic; what comes from a user goes through the Validate
// methods and Check functions.
package bounds
