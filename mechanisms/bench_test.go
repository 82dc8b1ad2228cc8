package mechanisms

import (
	"testing"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/audit/stream"
	"github.com/dpscope/dpscope/internal/must"
)

// BenchmarkSample gives the time of one output at the defaults, in calls of
// 4096 outputs.
func BenchmarkSample(b *testing.B) {
	for _, spec := range All() {
		b.Run(spec.Name, func(b *testing.B) {
			const rows = 4096
			p := defaults(spec)
			m := mustNew(b, spec, p)
			d := spec.Pairs(p, spec.Relations(p)[0])[0].First
			out := make([]float64, rows*audit.Width(m.Columns()))
			s := stream.New(stream.Key{Seed: 1, Purpose: "bench"})
			b.ReportAllocs()
			for b.Loop() {
				must.Do(b, m.Sample(d, s, out))
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/rows, "ns/output")
		})
	}
}
