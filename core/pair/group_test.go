package pair_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/core/pair"
	"github.com/dpscope/dpscope/stream"
)

// tallied releases a noisy histogram of the values 0 to 9, of which a summary is the
// count of the value that the pair's first dataset has more often.
type tallied struct {
	epsilon float64
	of      float64
	chosen  bool
}

func (tallied) Columns() []audit.Column {
	return []audit.Column{{Name: "count", Kind: audit.Real}}
}

func (m tallied) For(p audit.Pair) audit.Mechanism {
	left := slices.Clone(p.Second.Values)
	for _, v := range p.First.Values {
		if at := slices.Index(left, v); at >= 0 {
			left = slices.Delete(left, at, at+1)
		} else {
			m.of, m.chosen = v, true
		}
	}
	return m
}

func (m tallied) Sample(d audit.Dataset, s *stream.Stream, out []float64) error {
	if !m.chosen {
		return errors.New("the summary was not chosen for the pair")
	}
	s.Laplace(out, 1/m.epsilon)
	n := 0.0
	for _, v := range d.Values {
		if v == m.of {
			n++
		}
	}
	for i := range out {
		out[i] += n
	}
	return nil
}

// countingCatalogue has a mechanism whose count has the claimed noise, and pairs that
// differ in so many rows.
func countingCatalogue(rows ...int) audit.Catalogue {
	spec := audit.MechanismSpec{
		Name: "counting", Title: "A histogram, one count of which is looked at", Source: "test",
		Params:    []audit.ParamSpec{{Name: "epsilon", Default: 1, Min: 0.001, Max: 100}},
		Relations: func(audit.Params) []audit.Relation { return []audit.Relation{audit.Replace} },
		Claim:     func(p audit.Params) audit.Claim { return audit.DPClaim(p.Num("epsilon"), 0) },
		Truth:     func(audit.Params) string { return "what it claims" },
		Domain: func(audit.Params, audit.Relation) audit.Domain {
			return audit.Domain{Columns: 1, MinRows: 20, MaxRows: 20, Lower: []float64{0}, Upper: []float64{9}, Integer: true}
		},
		Pairs: func(audit.Params, audit.Relation) []audit.Pair {
			var pairs []audit.Pair
			for _, k := range rows {
				first, second := make([]float64, 20), make([]float64, 20)
				for i := range k {
					second[i] = 7
				}
				pairs = append(pairs, audit.Pair{Label: "sevens", First: audit.Records(second...), Second: audit.Records(first...)})
			}
			return pairs
		},
		New: func(p audit.Params) (audit.Mechanism, error) { return tallied{epsilon: p.Num("epsilon")}, nil },
	}
	cat := catalogue
	cat.Mechanisms = append(slices.Clone(cat.Mechanisms), spec)
	return cat
}

// TestSummaryOfThePair: a summary is chosen with the pair in view in the sequential
// stage, in exploration and in certification, and a replay chooses the same.
func TestSummaryOfThePair(t *testing.T) {
	cat := countingCatalogue(1)
	pool := pair.LocalPool(cat, 2)
	plan := pair.Plan{Version: pair.PlanVersion, Mechanism: "counting", Finder: "candidates", Samples: 5000, Seed: 4}
	r, err := pair.Run{Plan: plan, Catalogue: cat, Pool: pool}.Do(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if *r.LowerBound < 0.6 || r.Verdict != audit.NoViolation {
		t.Errorf("%s", r.Headline)
	}
	v, err := pair.Verify(context.Background(), cat, pool, r, true)
	if err != nil || !v.OK() {
		t.Errorf("the replay: %v, %+v", err, v)
	}
}
