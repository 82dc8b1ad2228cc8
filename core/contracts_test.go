package core

import (
	"math"
	"strings"
	"testing"

	"github.com/dpscope/dpscope/audit/phrase"
)

func TestClaimValidate(t *testing.T) {
	for _, c := range []Claim{DPClaim(1, 0), DPClaim(0.01, 1e-5), {Kind: Renyi, Epsilon: 1, Alpha: 2}, {Kind: ZCDP, Rho: 0.1}, {Kind: GaussianDP, Mu: 1}} {
		if err := c.Validate(); err != nil {
			t.Errorf("%+v: %v", c, err)
		}
	}
	for _, bad := range []struct {
		claim Claim
		says  string
	}{
		{DPClaim(0, 0), "epsilon is absent"},
		{DPClaim(-1, 0), "epsilon is -1"},
		{DPClaim(math.NaN(), 0), "epsilon is NaN"},
		{DPClaim(math.Inf(1), 0), "epsilon is +Inf"},
		{DPClaim(1, -0.1), "delta is -0.1, must be in [0, 1)"},
		{DPClaim(1, 1), "delta is 1, must be in [0, 1)"},
		{DPClaim(1, math.NaN()), "delta is NaN"},
		{Claim{Kind: "pur", Epsilon: 1}, `did you mean "pure"?`},
		{Claim{Kind: Renyi, Epsilon: 1}, "alpha is absent"},
		{Claim{Kind: Renyi, Epsilon: 1, Alpha: 1}, "alpha is 1"},
		{Claim{Kind: Pure, Epsilon: 1, Delta: 0.1}, "absent"},
	} {
		err := bad.claim.Validate()
		if err == nil || !strings.Contains(err.Error(), bad.says) || !IsInput(err) {
			t.Errorf("%+v: error %v, want one that says %q", bad.claim, err, bad.says)
		}
	}
}

func TestRelationCheck(t *testing.T) {
	dom := Domain{Columns: 1, MinRows: 0, MaxRows: 4, Lower: []float64{0}, Upper: []float64{1}, Reach: 0.5}
	neighbours := func(a, b Dataset) Pair { return Pair{First: a, Second: b} }
	for _, c := range []struct {
		relation Relation
		pair     Pair
		says     string // "" for neighbours
	}{
		{AddRemove, neighbours(Records(1), Records(0, 1)), ""},
		{AddRemove, neighbours(Records(0, 1, 0.5), Records(1, 0.5)), ""},
		{AddRemove, neighbours(Records(), Records(1)), ""},
		{AddRemove, neighbours(Records(1), Records(1)), "one row more"},
		{AddRemove, neighbours(Records(1), Records(0, 0)), "one row more"},
		{AddRemove, neighbours(Records(1), Records(1, 1, 1)), "one row more"},
		{Replace, neighbours(Records(0, 1), Records(1, 1)), ""},
		{Replace, neighbours(Records(0, 1), Records(1, 0)), ""},
		{Replace, neighbours(Records(0, 0), Records(1, 1)), "2 rows that differ"},
		{Replace, neighbours(Records(0), Records(0, 1)), "as many rows"},
		{LInfinity, neighbours(Records(0, 0.5), Records(0.5, 0)), ""},
		{LInfinity, neighbours(Records(0, 0.5), Records(0.6, 0)), "coordinate 0 moved by 0.6"},
		{BoundedReplace, neighbours(Records(0, 0.5), Records(0, 1)), ""},
		{BoundedReplace, neighbours(Records(0, 0.5), Records(0, 0.5)), ""},
		{BoundedReplace, neighbours(Records(0, 0.4), Records(0, 1)), "coordinate 1 moved by 0.6"},
		{BoundedReplace, neighbours(Records(0, 0.5), Records(0.1, 0.6)), "2 rows that differ"},
		{BoundedReplace, neighbours(Records(0, 0.5), Records(0.5, 0)), "2 rows that differ"}, // a row's place counts
		{BoundedReplace, neighbours(Records(0), Records(0, 0)), "as many rows"},
		{AddRemove, neighbours(Records(2), Records(2, 0)), "pair.first.values[0] is 2, must be in [0, 1]"},
		{AddRemove, neighbours(Records(0, 0, 0, 0), Records(0, 0, 0, 0, 0)), "0 to 4 rows"},
		{AddRemove, neighbours(Records(math.NaN()), Records()), "NaN"},
		{AddRemove, neighbours(Dataset{Columns: 2, Values: []float64{0, 0}}, Records()), "columns is 2"},
	} {
		err := c.relation.Check(c.pair, dom)
		if c.says == "" && err != nil || c.says != "" && (err == nil || !strings.Contains(err.Error(), c.says)) {
			t.Errorf("%s %v: error %v, want %q", c.relation, c.pair, err, c.says)
		}
	}
}

func TestParsePlanRefusals(t *testing.T) {
	for _, c := range []struct{ text, says string }{
		{``, "plan is empty"},
		{`{"version":1,"sampels":3,"seed":1}`, `field "sampels" is unknown`},
		{`{"version":1,`, "cut off at line 1"},
		{"{\n\"version\": x}", "not JSON at line 2"},
		{`{"version":"1"}`, "field version"},
		{`{"version":1,"seed":1} {}`, "followed by more text"},
		{`{"version":1,"seed":-1}`, "seed"},
		{`{"version":1,"SEED":3}`, `field "SEED" is unknown`},
		{`{"version":1,"seed":3,"seed":4}`, `field "seed" is there twice`},
		{`{"version":1,"claim":{"kind":"pure","Epsilon":1},"seed":1}`, `"Epsilon"`},
		{`{"version":1,"parameters":{"c":""},"seed":1}`, "an empty text"},
		{`{"version":1,"parameters":{"c":null},"seed":1}`, "null"},
	} {
		_, err := ParsePlan([]byte(c.text))
		if err == nil || !strings.Contains(err.Error(), c.says) || !IsInput(err) {
			t.Errorf("%s: error %v, want %q", c.text, err, c.says)
		}
	}
	if _, err := ParseTask([]byte(`{"version":2,"kind":"bound","plan":{"version":1,"mechanism":"x","seed":0}}`)); err == nil || !strings.Contains(err.Error(), "task version is 2, must be 1") {
		t.Errorf("a newer task answers %v", err)
	}
	if _, err := ParseTask([]byte(`{"version":1,"kind":"bound","pla":1}`)); err == nil || !strings.Contains(err.Error(), `"pla"`) {
		t.Errorf("an unknown field of a task answers %v", err)
	}
}

func TestNearest(t *testing.T) {
	known := []string{"svt1", "svt4", "laplace-mean", "laplace-mean-raw-count"}
	for name, want := range map[string]string{"svt44": "svt4", "laplce-mean": "laplace-mean", "SVT1": "svt1", "laplace": "laplace-mean", "zzzzzzzz": ""} {
		if got := nearest(name, known); got != want {
			t.Errorf("nearest(%q) = %q, want %q", name, got, want)
		}
	}
}

func TestFloorTo(t *testing.T) {
	for _, c := range []struct {
		x    float64
		d    int
		want float64
	}{{1.2345678, 3, 1.234}, {1.9999999, 6, 1.999999}, {-0.1, 0, -1}, {0, 6, 0}, {2, 3, 2}} {
		if got := phrase.Floor(c.x, c.d); got != c.want {
			t.Errorf("phrase.Floor(%v, %d) = %v, want %v", c.x, c.d, got, c.want)
		}
	}
	for i := range 10000 {
		x := float64(i) * 0.000137
		if phrase.Floor(x, 6) > x {
			t.Fatalf("phrase.Floor(%v, 6) rounds up", x)
		}
	}
	if s := phrase.Bound(1.00004, 1); s != "1.00004" {
		t.Errorf("a bound just above the claim prints as %s", s)
	}
}

func TestChartBins(t *testing.T) {
	ch := Chart{Kind: HistogramChart, Edges: chartEdges(chartBins, []float64{0, 1, 2, 3}, []float64{4, 5, 10})}
	b, err := ch.binner([]Column{{Name: "x", Kind: Real}})
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range []float64{-1e300, -1, 0, 0.1, 3.3, 9.999, 10, 11, 1e300} {
		want := 0
		for want < len(ch.Edges) && v >= ch.Edges[want] {
			want++
		}
		if got := b.bin(v); got != want {
			t.Errorf("bin(%v) = %d, want %d", v, got, want)
		}
	}
	if e := chartEdges(chartBins, []float64{7, 7}, []float64{7}); len(e) != chartBins+1 || e[0] >= 7 || e[len(e)-1] <= 7 {
		t.Errorf("edges of a constant: %v", e)
	}
	if e := chartEdges(chartBins, []float64{-1.7e308, 1}, []float64{1.7e308}); nonFinite(e) >= 0 {
		t.Errorf("edges over the whole range of floats are not finite: %v", e)
	}
}
