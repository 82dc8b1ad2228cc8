// Package core joins the kinds of audits: what executes the tasks of any of them.
package core

import (
	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/core/canary"
	"github.com/dpscope/dpscope/core/engine"
	"github.com/dpscope/dpscope/core/onerun"
	"github.com/dpscope/dpscope/core/pair"
)

// Executors execute the tasks of every kind of audit: of the catalogue's mechanisms,
// and with canaries of all sources.
func Executors(cat audit.Catalogue) engine.Executors { return Given{Catalogue: cat}.Executors() }

// Executors execute the tasks of every kind of audit: of the mechanisms and with canaries
// of the sources that are given.
func (g Given) Executors() engine.Executors {
	sources := g.complete().Sources
	return append(append(pair.Executors(g.Catalogue), canary.Executors(sources)...), onerun.Executors(sources)...)
}

// LocalPool is a pool of n goroutines for every kind of audit.
func (g Given) LocalPool(n int) *engine.Pool { return engine.LocalPool(g.Executors(), n) }

// LocalPool is a pool of n goroutines for every kind of audit.
func LocalPool(cat audit.Catalogue, n int) *engine.Pool {
	return engine.LocalPool(Executors(cat), n)
}
