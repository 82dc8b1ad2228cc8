package train

import (
	"testing"

	"github.com/dpscope/dpscope/audit/stream"
	"github.com/dpscope/dpscope/internal/must"
)

// BenchmarkRun is one run of 11 canaries and 11 fresh ones at the defaults, by
// replacement: one training. Milliseconds on two busy cores, Go 1.26, native
// (go test -run '^$' -bench Run) and in Node:
//
//	gradient canaries, steps     41   133
//	gradient canaries, final     40    88
//	poisoning canaries, steps    68   235
//	poisoning canaries, final    43    87
func BenchmarkRun(b *testing.B) {
	for _, canary := range []string{Gradient, Poison} {
		for _, access := range []string{Steps, Final} {
			b.Run(canary+"-"+access, func(b *testing.B) {
				s := must.Get(New(Config{Canary: canary, Access: access, Relation: Replace}, nil))(b)
				st := stream.New(stream.Key{Purpose: "bench"})
				in, out := make([]float64, 11), make([]float64, 11)
				for b.Loop() {
					must.Get(s.Run(st, in, out))(b)
				}
			})
		}
	}
}
