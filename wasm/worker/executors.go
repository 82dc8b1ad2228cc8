package main

import (
	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/core/engine"
	"github.com/dpscope/dpscope/core/pair"
)

// canaryExecutors are those of audits with canaries, where this core knows them.
var canaryExecutors engine.Executors

// executors execute the tasks that this core knows.
func executors(cat audit.Catalogue) engine.Executors {
	return append(pair.Executors(cat), canaryExecutors...)
}
