// Package engine runs audits of every kind: it spreads their tasks over workers,
// takes results in order, loses no worker unsaid, and checks reports.
//
// A kind of audit (package core/pair, core/canary, ...) cuts its work into tasks.
// A task is a value whose execution is a pure function of it, so that a worker may
// be a goroutine, a web worker or a machine, and a run does not depend on how many
// there are.
package engine
