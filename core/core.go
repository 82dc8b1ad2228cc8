// Package core joins the kinds of audits: what executes the tasks of any of them.
package core

import (
	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/core/canary"
	"github.com/dpscope/dpscope/core/canary/source"
	"github.com/dpscope/dpscope/core/engine"
	"github.com/dpscope/dpscope/core/onerun"
	"github.com/dpscope/dpscope/core/pair"
)

// Executors execute the tasks of every kind of audit: of the catalogue's mechanisms,
// and with canaries of all sources.
func Executors(cat audit.Catalogue) engine.Executors {
	sources := source.Sources()
	return append(append(pair.Executors(cat), canary.Executors(sources)...), onerun.Executors(sources)...)
}

// LocalPool is a pool of n goroutines for every kind of audit.
func LocalPool(cat audit.Catalogue, n int) *engine.Pool {
	return engine.LocalPool(Executors(cat), n)
}
