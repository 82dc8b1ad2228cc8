package learners

import (
	"testing"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/audit/stream"
	"github.com/dpscope/dpscope/internal/must"
)

// BenchmarkTraining is the time of one training of each learner at its defaults, on the
// drawn table of 150 rows and four features.
func BenchmarkTraining(b *testing.B) {
	for _, spec := range All() {
		b.Run(spec.Name, func(b *testing.B) {
			p := resolved(b, spec, audit.Params{"table": {Text: "spherical"}})
			m := must.Get(spec.New(p))(b)
			pair := spec.Pairs(p, spec.Relations(p)[0])[0]
			if s, ok := m.(audit.Summariser); ok {
				m = s.For(pair)
			}
			out := make([]float64, b.N*audit.Width(m.Columns()))
			b.ResetTimer()
			must.Do(b, m.Sample(pair.First, stream.New(stream.Key{}), out))
		})
	}
}
