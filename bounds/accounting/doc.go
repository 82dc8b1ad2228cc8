// Package accounting is privacy accounting: what a mechanism of known noise guarantees after
// sampling, composition and for groups.
//
// A [Curve] bounds the Renyi divergence between the outputs on two neighbouring datasets as a
// function of the order. [BestEpsilon] and [BestDelta] turn it into (epsilon, delta) at the best
// order. A [Composition] of mechanisms whose dominating laws are known ([Lossy]) bounds epsilon and
// delta from both sides by the distribution of the privacy loss.
//
// [Answer] returns all that applies to a [Query]. Its figures are rounded up, lower bounds down;
// the functions' are not.
//
// Epsilon and divergences are in nats, sigma is a standard deviation, an order alpha exceeds 1.
// Arguments out of range panic; what comes from a user goes through the Validate methods first.
package accounting
