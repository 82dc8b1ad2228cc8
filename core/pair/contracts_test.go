package pair

import (
	"math"
	"math/big"
	"strings"
	"testing"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/audit/phrase"
	"github.com/dpscope/dpscope/internal/must"
)

func TestClaimValidate(t *testing.T) {
	for _, c := range []audit.Claim{audit.DPClaim(1, 0), audit.DPClaim(0.01, 1e-5), {Kind: audit.Renyi, Epsilon: 1, Alpha: 2}, {Kind: audit.ZCDP, Rho: 0.1}, {Kind: audit.GaussianDP, Mu: 1}} {
		if err := c.Validate(); err != nil {
			t.Errorf("%+v: %v", c, err)
		}
	}
	for _, bad := range []struct {
		claim audit.Claim
		says  string
	}{
		{audit.DPClaim(0, 0), "epsilon is missing"},
		{audit.DPClaim(-1, 0), "epsilon is -1"},
		{audit.DPClaim(math.NaN(), 0), "epsilon is NaN"},
		{audit.DPClaim(math.Inf(1), 0), "epsilon is +Inf"},
		{audit.DPClaim(1, -0.1), "delta is -0.1, must be in [0, 1)"},
		{audit.DPClaim(1, 1), "delta is 1, must be in [0, 1)"},
		{audit.DPClaim(1, math.NaN()), "delta is NaN"},
		{audit.Claim{Kind: "pur", Epsilon: 1}, `did you mean "pure"?`},
		{audit.Claim{Kind: audit.Renyi, Epsilon: 1}, "alpha is missing"},
		{audit.Claim{Kind: audit.Renyi, Epsilon: 1, Alpha: 1}, "alpha is 1"},
		{audit.Claim{Kind: audit.Pure, Epsilon: 1, Delta: 0.1}, "absent"},
	} {
		must.Input(t, bad.claim.Validate(), bad.says, bad.claim)
	}
}

// TestGroupClaim: delta is never below the exact one of so many steps, and hardly above.
func TestGroupClaim(t *testing.T) {
	const bits = 300
	number := func(x float64) *big.Float { return new(big.Float).SetPrec(bits).SetFloat64(x) }
	for _, epsilon := range []float64{1e-3, 0.1, 0.3, 0.7, 1, 2.5} {
		grow, term := number(1), number(1) // e^epsilon
		for k := 1; k < 100; k++ {
			term.Quo(term.Mul(term, number(epsilon)), number(float64(k)))
			grow.Add(grow, term)
		}
		exact, step := number(0), number(1e-90)
		for steps := 1; steps <= 64; steps++ {
			exact.Add(exact, step)
			step.Mul(step, grow)
			got := audit.DPClaim(epsilon, 1e-90).Group(steps)
			over, _ := new(big.Float).Quo(number(got.Delta), exact).Float64()
			if number(got.Delta).Cmp(exact) < 0 || over > 1+1e-11 || got.Epsilon != float64(steps)*epsilon {
				t.Fatalf("%d steps of %g are %v, whose delta is %v times the exact one", steps, epsilon, got, over)
			}
		}
	}
	if c := audit.DPClaim(1, 0.1).Group(5); c.Delta != 1 {
		t.Errorf("delta is %v", c.Delta)
	}
	if c := audit.DPClaim(1, 0).Group(5); c != audit.DPClaim(5, 0) {
		t.Errorf("of no delta: %v", c)
	}
}

func TestRelationCheck(t *testing.T) {
	dom := audit.Domain{Columns: 1, MinRows: 0, MaxRows: 4, Lower: []float64{0}, Upper: []float64{1}, Reach: 0.5}
	neighbours := func(a, b audit.Dataset) audit.Pair { return audit.Pair{First: a, Second: b} }
	for _, c := range []struct {
		relation audit.Relation
		pair     audit.Pair
		says     string // "" for neighbours
	}{
		{audit.AddRemove, neighbours(audit.Records(1), audit.Records(0, 1)), ""},
		{audit.AddRemove, neighbours(audit.Records(0, 1, 0.5), audit.Records(1, 0.5)), ""},
		{audit.AddRemove, neighbours(audit.Records(), audit.Records(1)), ""},
		{audit.AddRemove, neighbours(audit.Records(1), audit.Records(1)), "one row more"},
		{audit.AddRemove, neighbours(audit.Records(1), audit.Records(0, 0)), "one row more"},
		{audit.AddRemove, neighbours(audit.Records(1), audit.Records(1, 1, 1)), "one row more"},
		{audit.Replace, neighbours(audit.Records(0, 1), audit.Records(1, 1)), ""},
		{audit.Replace, neighbours(audit.Records(0, 1), audit.Records(1, 0)), ""},
		{audit.Replace, neighbours(audit.Records(0, 0), audit.Records(1, 1)), "2 rows that differ"},
		{audit.Replace, neighbours(audit.Records(0), audit.Records(0, 1)), "the same number of rows"},
		{audit.LInfinity, neighbours(audit.Records(0, 0.5), audit.Records(0.5, 0)), ""},
		{audit.LInfinity, neighbours(audit.Records(0, 0.5), audit.Records(0.6, 0)), "coordinate 0 moved by 0.6"},
		{audit.BoundedReplace, neighbours(audit.Records(0, 0.5), audit.Records(0, 1)), ""},
		{audit.BoundedReplace, neighbours(audit.Records(0, 0.5), audit.Records(0, 0.5)), ""},
		{audit.BoundedReplace, neighbours(audit.Records(0, 0.4), audit.Records(0, 1)), "coordinate 1 moved by 0.6"},
		{audit.BoundedReplace, neighbours(audit.Records(0, 0.5), audit.Records(0.1, 0.6)), "2 rows that differ"},
		{audit.BoundedReplace, neighbours(audit.Records(0, 0.5), audit.Records(0.5, 0)), "2 rows that differ"}, // a row's place counts
		{audit.BoundedReplace, neighbours(audit.Records(0), audit.Records(0, 0)), "the same number of rows"},
		{audit.AddRemove, neighbours(audit.Records(2), audit.Records(2, 0)), "pair.first.values[0] is 2, must be in [0, 1]"},
		{audit.AddRemove, neighbours(audit.Records(0, 0, 0, 0), audit.Records(0, 0, 0, 0, 0)), "0 to 4 rows"},
		{audit.AddRemove, neighbours(audit.Records(math.NaN()), audit.Records()), "NaN"},
		{audit.AddRemove, neighbours(audit.Dataset{Columns: 2, Values: []float64{0, 0}}, audit.Records()), "columns is 2"},
	} {
		err := c.relation.Check(c.pair, dom)
		if c.says == "" && err != nil || c.says != "" && (err == nil || !strings.Contains(err.Error(), c.says)) {
			t.Errorf("%s %v: error %v, want %q", c.relation, c.pair, err, c.says)
		}
	}
}

// TestSteps: no pair is more steps apart than its group may be, and equal rows count once each.
func TestSteps(t *testing.T) {
	dom := audit.Domain{Columns: 1, MinRows: 0, MaxRows: 4, Lower: []float64{0}, Upper: []float64{1}}
	for _, c := range []struct {
		relation      audit.Relation
		first, second audit.Dataset
		steps         int
	}{
		{audit.Replace, audit.Records(0, 1), audit.Records(1, 1), 1},
		{audit.Replace, audit.Records(0, 0, 0), audit.Records(0, 1, 1), 2},
		{audit.Replace, audit.Records(0, 0, 0), audit.Records(1, 1, 1), 3},
		{audit.AddRemove, audit.Records(), audit.Records(0), 1},
		{audit.AddRemove, audit.Records(0), audit.Records(1), 2},
		{audit.AddRemove, audit.Records(1), audit.Records(1, 1, 1), 2},
		{audit.AddRemove, audit.Records(0, 0), audit.Records(1), 3},
	} {
		p := audit.Pair{First: c.first, Second: c.second}
		for most := 1; most <= 4; most++ {
			if steps, err := c.relation.Steps(p, dom, most); (err == nil) != (c.steps <= most) || err == nil && steps != c.steps {
				t.Errorf("%s %v: %d steps of %d, %v; want %d", c.relation, p, steps, most, err, c.steps)
			}
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
		{`{"version":1,"seed":3,"seed":4}`, `field "seed" is given twice`},
		{`{"version":1,"claim":{"kind":"profile","profile":{"points":[{"epsilon":1,"delta":0},{"epsilon":2,"epsilon":3,"delta":0}]}}}`, `field "epsilon" is given twice`},
		{`{"version":1,"claim":{"kind":"pure","Epsilon":1},"seed":1}`, `"Epsilon"`},
		{`{"version":1,"parameters":{"c":""},"seed":1}`, "an empty text"},
		{`{"version":1,"parameters":{"c":null},"seed":1}`, "null"},
	} {
		must.Input(t, must.Err(ParsePlan([]byte(c.text))), c.says, c.text)
	}
}

func TestNearest(t *testing.T) {
	known := []string{"svt1", "svt4", "laplace-mean", "laplace-mean-raw-count"}
	for name, want := range map[string]string{"svt44": "svt4", "laplce-mean": "laplace-mean", "SVT1": "svt1", "laplace": "laplace-mean", "zzzzzzzz": ""} {
		if got := audit.Nearest(name, known); got != want {
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
