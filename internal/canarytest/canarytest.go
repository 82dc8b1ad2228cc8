// Package canarytest has a source for tests.
package canarytest

import (
	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/audit/stream"
	"github.com/dpscope/dpscope/mechanisms/source"
)

// Scripted is a source.
type Scripted func(run int, in, out []float64) (bool, error)

func (s Scripted) Run(st *stream.Stream, in, out []float64) (bool, error) {
	return s(int(st.Uint64()%1000), in, out)
}

// Sources are the source alone.
func (f Scripted) Sources() []source.Spec {
	return []source.Spec{{Name: "scripted", Title: "a test", Score: "number", Relations: []audit.Relation{audit.AddRemove}, Designs: []source.Design{source.Sphere}, ShardRuns: 3, Runs: 64,
		New: func(source.Setup) (source.Source, error) { return f, nil }}}
}
