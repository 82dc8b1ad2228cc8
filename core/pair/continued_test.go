package pair_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/core/engine"
	"github.com/dpscope/dpscope/core/pair"
	"github.com/dpscope/dpscope/internal/gear"
)

// sumOf is the SHA-256 of a report as JSON.
func sumOf(t testing.TB, r pair.Report) [32]byte {
	t.Helper()
	data, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	return sha256.Sum256(data)
}

// goOn is the plan of a run that goes on from a report.
func goOn(t testing.TB, from pair.Report, changes pair.Plan) pair.Plan {
	t.Helper()
	p, err := changes.GoOn(catalogue, from, sumOf(t, from))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestGoesOn: what a run goes on from is the wealth that the reports before came to, by
// the tables of their epochs; its outputs are new; its report replays, and the report
// before it shows that nothing was made up.
func TestGoesOn(t *testing.T) {
	first := runAudit(t, pair.Plan{Mechanism: "svt3", Claim: &audit.Claim{Epsilon: 1}, Mode: pair.UntilRefuted, Samples: 2000, Seed: 3, Commit: "one"}, 1)
	second := runAudit(t, goOn(t, first, pair.Plan{Commit: "two"}), 2)
	third := runAudit(t, goOn(t, second, pair.Plan{Samples: 1000}), 1)
	sums := [][32]byte{sumOf(t, first), sumOf(t, second), sumOf(t, third)}
	if got, want := []int{len(second.Plan.Continued.Parts), len(third.Plan.Continued.Parts)}, []int{1, 2}; !slices.Equal(got, want) {
		t.Fatalf("earlier runs %v, want %v", got, want)
	}
	for i, part := range third.Plan.Continued.Parts {
		if part.Report != fmt.Sprintf("%x", sums[i]) || part.Commit != []string{"one", "two"}[i] || part.Outputs != 4000 {
			t.Errorf("part %d is %+v", i, part)
		}
	}
	// The wealth of the first two runs, each computed alone.
	alone := copied(t, second)
	alone.Plan.Continued = nil
	sum := make([]float64, 8)
	for _, r := range []pair.Report{first, alone} {
		for i, x := range pair.WealthOf(catalogue, r) {
			sum[i] += x
		}
	}
	for i, x := range third.Plan.Continued.Accounts {
		if math.Abs(x[0]-sum[i]) > 1e-9 || x[1] < x[0] || x[1] < 0 {
			t.Errorf("account %d goes on from %v; the runs before came to %v", i, x, sum[i])
		}
	}
	// A run of the same plan without a past, and the first epochs of its outputs.
	if a, b := first.Sequential.Epochs[1].Counts, second.Sequential.Epochs[1].Counts; slices.EqualFunc(a, b, bytes.Equal) && len(a) > 0 {
		t.Error("the second run has the outputs of the first")
	}
	pool := pair.LocalPool(catalogue, 2)
	for _, whole := range []bool{true, false} {
		v, err := pair.Verify(context.Background(), catalogue, pool, copied(t, third), whole)
		if err != nil || !v.OK() {
			t.Fatalf("whole %v: %v %v", whole, err, v.Differences)
		}
	}
	if third.Plan.Mode != pair.UntilRefuted || !strings.Contains(third.Headline, "10 000 outputs of 3 runs") {
		t.Errorf("headline %q", third.Headline)
	}
	check := func(r, from pair.Report) bool {
		var v engine.Verification
		if err := pair.CheckContinued(catalogue, &v, r, from, sumOf(t, from)); err != nil {
			t.Fatal(err)
		}
		return v.OK()
	}
	if !check(third, second) || !check(second, first) {
		t.Error("what a report went on from is not what the report before it came to")
	}
	forged := copied(t, third)
	forged.Plan.Continued.Accounts[0][0] += 0.5
	if check(forged, second) || check(third, alone) {
		t.Error("a past that was made up passed")
	}
}

// TestGoesOnToTheVerdict: several runs, none of which refutes the claim alone, do.
func TestGoesOnToTheVerdict(t *testing.T) {
	r := runAudit(t, pair.Plan{Mechanism: "svt3", Claim: &audit.Claim{Epsilon: 1}, Mode: pair.UntilRefuted, Samples: 5000, Seed: 1}, 1)
	runs := 1
	for ; r.Verdict != audit.Violation && runs < 8; runs++ {
		r = runAudit(t, goOn(t, r, pair.Plan{}), 1)
	}
	if r.Verdict != audit.Violation || runs < 2 {
		t.Fatalf("%s after %d runs", r.Verdict, runs)
	}
	if !strings.Contains(r.Summary, "of 2 runs before") && !strings.Contains(r.Summary, "of 1 run before") {
		t.Errorf("summary %q", r.Summary)
	}
	if v, err := pair.Verify(context.Background(), catalogue, pair.LocalPool(catalogue, 2), copied(t, r), true); err != nil || !v.OK() {
		t.Fatalf("%v %v", err, v.Differences)
	}
}

// TestGoesOnFalseAlarms: chains of runs at the exact claim, looked at after each, are
// refuted in a share of at most beta, within the exact 99.9 % interval.
func TestGoesOnFalseAlarms(t *testing.T) {
	chains, runs := gear.Of(60, 1000), 3
	const beta = 0.2
	refuted := 0
	for seed := range chains {
		plan := pair.Plan{Mechanism: "randomised-response", Mode: pair.UntilRefuted, Samples: 150, Trials: 2, Seed: uint64(seed), Beta: beta}
		for range runs {
			r := runAudit(t, plan, 1)
			if r.Verdict == audit.Violation {
				refuted++
				break
			}
			plan = goOn(t, r, pair.Plan{})
		}
	}
	if most := gear.Most(chains, beta, 0.001); refuted > most {
		t.Errorf("%d of %d chains refuted a true claim at beta %v, want at most %d", refuted, chains, beta, most)
	}
}

// TestGoesOnOnlyFrom: what cannot be gone on from is refused, with the reason.
func TestGoesOnOnlyFrom(t *testing.T) {
	plan := pair.Plan{Mechanism: "svt3", Claim: &audit.Claim{Epsilon: 1}, Mode: pair.UntilRefuted, Samples: 300, Trials: 2, Seed: 3}
	good := runAudit(t, plan, 1)
	refuted := runAudit(t, pair.Plan{Mechanism: "svt5", Claim: &audit.Claim{Epsilon: 1}, Mode: pair.UntilRefuted, Seed: 3}, 1)
	bound := runAudit(t, pair.Plan{Mechanism: "svt1", Claim: &audit.Claim{Epsilon: 1}, Samples: 1000, Trials: 1, Seed: 3}, 1)
	for name, c := range map[string]struct {
		from pair.Report
		plan pair.Plan
		want string
	}{
		"refuted":       {refuted, pair.Plan{}, "refutes the claim"},
		"another mode":  {bound, pair.Plan{}, `"verdict-and-bound"`},
		"fixed now":     {good, pair.Plan{Version: 2, Mechanism: "svt3", Claim: &audit.Claim{Epsilon: 1}, Mode: pair.Fixed, Trials: 2, Seed: 3}, `"fixed"`},
		"another claim": {good, pair.Plan{Version: 2, Mechanism: "svt3", Claim: &audit.Claim{Epsilon: 2}, Trials: 2, Seed: 3}, "another epsilon"},
		"another seed":  {good, pair.Plan{Version: 2, Mechanism: "svt3", Claim: &audit.Claim{Epsilon: 1}, Trials: 2, Seed: 4}, "another seed"},
		"another beta":  {good, pair.Plan{Version: 2, Mechanism: "svt3", Claim: &audit.Claim{Epsilon: 1}, Trials: 2, Seed: 3, Beta: 0.1}, "another beta"},
		"parameters":    {good, pair.Plan{Version: 2, Mechanism: "svt3", Claim: &audit.Claim{Epsilon: 1}, Trials: 2, Seed: 3, Parameters: audit.Params{"c": {Number: 2}}}, "other parameters"},
	} {
		if _, err := c.plan.GoOn(catalogue, c.from, sumOf(t, c.from)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
	same := plan
	same.Version = pair.PlanVersion
	same.Samples, same.Commit = 500, "two"
	if _, err := same.GoOn(catalogue, good, sumOf(t, good)); err != nil {
		t.Errorf("the same settings, said again: %v", err)
	}
}

// TestHostilePast: a plan whose past was written by a stranger is refused, or runs.
func TestHostilePast(t *testing.T) {
	good := runAudit(t, pair.Plan{Mechanism: "svt3", Claim: &audit.Claim{Epsilon: 1}, Mode: pair.UntilRefuted, Samples: 1000, Trials: 3, Seed: 3}, 1)
	plan := goOn(t, good, pair.Plan{})
	if len(plan.Continued.Known) == 0 || len(plan.Continued.Known[0].Bets) == 0 {
		t.Fatal("nothing was learnt")
	}
	for name, forge := range map[string]func(*pair.Continued){
		"no parts":      func(c *pair.Continued) { c.Parts = nil },
		"no accounts":   func(c *pair.Continued) { c.Accounts = nil },
		"one account":   func(c *pair.Continued) { c.Accounts = c.Accounts[:1] },
		"hash":          func(c *pair.Continued) { c.Parts[0].Report = "abc" },
		"outputs":       func(c *pair.Continued) { c.Parts[0].Outputs = -1 },
		"wealth":        func(c *pair.Continued) { c.Accounts[0][0] = c.Accounts[0][1] + 1 },
		"not a number":  func(c *pair.Continued) { c.Accounts[0][0] = math.NaN() },
		"infinite":      func(c *pair.Continued) { c.Accounts[0] = [2]float64{math.Inf(1), math.Inf(1)} },
		"many pairs":    func(c *pair.Continued) { c.Known = slices.Repeat(c.Known, 100) },
		"pair":          func(c *pair.Continued) { c.Known[0].Pair.First.Values = []float64{1e9} },
		"no model":      func(c *pair.Continued) { c.Known[0].Model = nil },
		"another model": func(c *pair.Continued) { c.Known[0].Model = json.RawMessage(`{"spline":[[1],[],[]]}`) },
		"learner":       func(c *pair.Continued) { c.Known[0].Learner[0] = "all-knowing" },
		"candidate":     func(c *pair.Continued) { c.Known[0].Bets[0].Candidate = 99 },
		"account":       func(c *pair.Continued) { c.Known[0].Bets[0].Account = -1 },
		"stake":         func(c *pair.Continued) { c.Known[0].Bets[0].Stake = 1 << 40 },
		"share":         func(c *pair.Continued) { c.Known[0].Bets[0].Share = 7 },
		"learnt":        func(c *pair.Continued) { c.Known[0].Learnt = 0 },
		"growth":        func(c *pair.Continued) { c.Known[0].Growth = math.NaN() },
	} {
		p := plan
		var c pair.Continued
		data, err := json.Marshal(plan.Continued)
		if err == nil {
			err = json.Unmarshal(data, &c)
		}
		if err != nil {
			t.Fatal(err)
		}
		forge(&c)
		p.Continued = &c
		if _, err := p.Resolve(catalogue); err == nil {
			t.Errorf("%s: taken", name)
		}
	}
	if _, err := plan.Resolve(catalogue); err != nil {
		t.Error(err)
	}
}
