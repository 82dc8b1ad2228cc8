package main

import (
	"math"
	"strings"
	"testing"

	"github.com/dpscope/dpscope/audit/stream"
	"github.com/dpscope/dpscope/bounds"
	"github.com/dpscope/dpscope/internal/must"
)

// TestBenchCanaries: tables come out with a figure in every column.
func TestBenchCanaries(t *testing.T) {
	out := printedBy(t, strings.Fields("canaries -quick -seeds 1 -audits 5 -only proportion,coverage")...)
	must.Say(t, out, "Figure 6", "n = 16384", "Coverage: share of 5 audits", "coupled pairs", "largest rate of a valid bound")
}

// TestCanaryLaws: the laws that coverage is measured on have the rates that they
// state: means over runs of X/K and Y/M within 6 standard errors, for which a run's
// share has a standard deviation of at most sqrt(p) (false alarm below 1e-8).
func TestCanaryLaws(t *testing.T) {
	const runs = 40_000
	for i, l := range canaryLaws {
		table := l.draw(stream.New(stream.Key{Purpose: "test/laws", Trial: i}), runs)
		for _, x := range []struct {
			got, want float64
		}{{table.In().Mean(), l.p1}, {table.Out().Mean(), l.p0}} {
			if math.Abs(x.got-x.want) > 6*math.Sqrt(x.want/runs) {
				t.Errorf("%s: rate %v, want %v", l.name, x.got, x.want)
			}
		}
	}
}

// TestExpectedCorrelation: the correlation that the figures are held against is that of
// simulated canaries: within 6 standard errors, of p(1-p) sqrt(2/n)/K, and a tenth, as it
// leaves out terms of second order in 1/d.
func TestExpectedCorrelation(t *testing.T) {
	b := canaryBench{seed: 3}
	for _, c := range []canaryCell{{eps: 2, n: 20_000, k: 8, d: 60}, {eps: 4, n: 20_000, k: 32, d: 200}} {
		way := canaryWay{bounds.CanaryWilson2, 0.2}
		audits := b.simulate(c, 0, []canaryWay{way})
		in := audits[way].table.In()
		p, want := in.Mean(), c.expected(in.Mean())
		if got := in.Correlation(1); math.Abs(got-want) > 6*p*(1-p)*math.Sqrt(2/float64(c.n))/float64(c.k)+want/10 {
			t.Errorf("%+v: correlation %v, want %v", c, got, want)
		}
	}
}
