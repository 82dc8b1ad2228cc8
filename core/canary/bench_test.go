package canary

import (
	"context"
	"fmt"
	"testing"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/bounds"
	"github.com/dpscope/dpscope/stream"
)

// BenchmarkRun is one run of the Gaussian sum: O(K^2 + M), whatever d is.
func BenchmarkRun(b *testing.B) {
	for _, c := range []struct{ d, k int }{{1000, 16}, {1000, 64}, {1_000_000, 64}, {1_000_000, 256}} {
		b.Run(fmt.Sprintf("d=%d,k=%d", c.d, c.k), func(b *testing.B) {
			g := &gaussianSum{d: c.d, sigma: 2.149, relation: audit.AddRemove}
			st := stream.New(stream.Key{Purpose: "bench"})
			in, out := make([]float64, c.k), make([]float64, c.k)
			for b.Loop() {
				g.Run(st, in, out)
			}
		})
	}
}

// BenchmarkAudit is all of n = 4096 runs with K = 64 at d = 10^6 on one core:
// exploration and certification, threshold and the chosen bound.
func BenchmarkAudit(b *testing.B) {
	p := plan(4096, 64)
	p.Parameters = audit.Params{"d": {Number: 1e6}}
	off := false
	p.Single = &off
	for b.Loop() {
		if _, err := (Run{Plan: p, Sources: Sources(), Pool: pool(Sources(), 1)}).Do(context.Background()); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkJudge(b *testing.B) {
	a, err := plan(4096, 64).Resolve(Sources(), nil)
	if err != nil {
		b.Fatal(err)
	}
	s, err := Simulate(a)
	if err != nil {
		b.Fatal(err)
	}
	for _, kind := range bounds.CanaryIntervals() {
		b.Run(string(kind), func(b *testing.B) {
			for b.Loop() {
				s.Judge(kind, 0)
			}
		})
	}
	j := s.Judge(bounds.CanaryPairedBetting, 0)
	b.Run("report", func(b *testing.B) {
		for b.Loop() {
			r := Report{Plan: a.Plan}
			r.conclude(j.Table, bounds.TuneCanary(j.Explored, 4096, 1e-5, 0.05))
		}
	})
}

// BenchmarkPortray: what a portrait adds to an audit of 4096 exploration runs.
func BenchmarkPortray(b *testing.B) {
	st := stream.New(stream.Key{Seed: 1, Purpose: "portrait"})
	scores := make([]float64, 4096*64)
	st.Gaussian(scores, 1)
	for b.Loop() {
		portray(32, 32, scores)
	}
}
