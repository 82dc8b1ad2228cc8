// Package accounting is privacy accounting: what a mechanism of known noise
// guarantees after sampling, composition and for groups.
//
// # Curves
//
// A [Curve] is an upper bound on the Renyi divergence between the outputs on
// two neighbouring datasets, in nats, as a function of the order: [Gaussian],
// [Laplace], [RandomisedResponse], [PureDP], [SubsampledGaussian],
// [Concentrated], [RenyiDP]. [Repeat] and [Sum] compose curves, adaptively or
// not; [Group] is the curve for groups of records.
//
// # Conversions
//
// [BestEpsilon] and [BestDelta] turn a curve into (epsilon, delta) at the order
// that serves best. [OptimalEpsilon] composes (epsilon, delta) guarantees
// without a curve, [GaussianEpsilon] is exact for Gaussian noise.
//
// # Privacy loss
//
// A [Composition] of mechanisms whose dominating laws are known ([Lossy]) bounds epsilon
// and delta from both sides by the distribution of the privacy loss. [LeastNoise] is
// the noise that a target needs.
//
// # In one
//
// [Answer] takes a [Query], a plain JSON value, and returns all that applies.
// Its figures are rounded up, lower bounds down; the functions' are not.
//
// # Arguments
//
// Epsilon and divergences are in nats, sigma is a standard deviation, an order
// alpha exceeds 1. Arguments out of range are programmer errors and panic; what
// comes from a user goes through the Validate methods first, which return a
// [audit.InputError].
package accounting
