package canary

import (
	"context"
	"testing"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/bounds"
	"github.com/dpscope/dpscope/core/canary/source"
	"github.com/dpscope/dpscope/core/engine"
	"github.com/dpscope/dpscope/core/membership"
)

// BenchmarkAudit is all of n = 4096 runs with K = 64 at d = 10^6 on one core:
// exploration and certification, threshold and the chosen bound.
func BenchmarkAudit(b *testing.B) {
	p := samplePlan(4096, 64)
	p.Parameters = audit.Params{"d": {Number: 1e6}}
	for b.Loop() {
		if _, err := (Run{Plan: p, Sources: source.Sources(), Pool: engine.LocalPool(1)}).Do(context.Background()); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkJudge(b *testing.B) {
	a, err := samplePlan(4096, 64).Resolve(source.Sources(), nil)
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
	ev := &Evidence{Gathered: membership.Gathered{Stakes: bounds.TuneCanary(j.Explored, 4096, 1e-5, 0.05), Explored: membership.Counted{Table: &j.Explored}, Certified: membership.Counted{Table: &j.Table}}}
	b.Run("report", func(b *testing.B) {
		for b.Loop() {
			a.Conclude(ev, audit.Termination{Reason: audit.Completed})
		}
	})
}
