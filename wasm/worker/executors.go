package main

import (
	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/core/canary"
	"github.com/dpscope/dpscope/core/canary/source"
	"github.com/dpscope/dpscope/core/engine"
	"github.com/dpscope/dpscope/core/onerun"
	"github.com/dpscope/dpscope/core/pair"
)

var canaryExecutors = append(canary.Executors(source.Sources()), onerun.Executors(source.Sources())...)

// executors execute the tasks that this core knows.
func executors(cat audit.Catalogue) engine.Executors {
	return append(pair.Executors(cat), canaryExecutors...)
}
