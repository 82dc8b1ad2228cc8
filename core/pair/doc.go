// Package pair audits a mechanism on a pair of neighbouring datasets.
//
// An audit goes one way:
//
//	Plan -> Finder -> Pair -> Task(explore) -> Samples -> Learner -> Witness
//	     -> Task(certify) x shards -> Counts -> Task(bound) -> Report
//
// A [Plan] says what to audit. A finder proposes neighbouring pairs of
// datasets; an [Explore] task draws outputs on both, lets the learners find a
// [Witness] and returns how loud it was. The loudest pair is certified: shards
// of fresh outputs are reduced to counts, and a bound of package bounds turns the
// counts into a lower confidence bound on epsilon. Exploration and
// certification never share samples, so the bound holds whatever was tried
// before.
//
// Tasks are values and executing one is a pure function of it, so that a report
// does not depend on where its tasks ran nor on how many ran at once. The
// package knows no clock, no file, no network and no browser.
package pair
