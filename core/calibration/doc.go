// Package calibration measures how often whole audits accuse mechanisms that
// keep their claim: cells of one plan each, run under many seeds, and a
// judgement of their false alarms.
//
// A [Plan] lists its [Cell]s, [Cell.Audit] does one run of one, [Plan.Judge]
// judges all of them. A run depends on the plan's seed, the cell's name and the
// run's number alone, so that runs may be done anywhere, in any order, and runs
// of different cells are independent of each other.
package calibration
