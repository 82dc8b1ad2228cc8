package scores

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"gonum.org/v1/gonum/stat"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/audit/stream"
	"github.com/dpscope/dpscope/core/canary"
	"github.com/dpscope/dpscope/core/membership"
	"github.com/dpscope/dpscope/internal/canarytest"
	"github.com/dpscope/dpscope/internal/must"
	"github.com/dpscope/dpscope/mechanisms/source"
)

// exploredAgain draws the exploration runs of a resolved plan one by one.
func exploredAgain(t *testing.T, p canary.Plan, sources []source.Spec) [][]float64 {
	t.Helper()
	a := must.Get(p.Resolve(sources, nil))(t)
	src := must.Get(a.Spec.New(a.Setup))(t)
	var runs [][]float64
	for i := range p.Explore {
		run := make([]float64, p.K+p.M)
		st := stream.New(stream.Key{Seed: p.Seed, Purpose: "canary/explore", Trial: p.K, Side: p.M, Shard: i})
		if _, err := src.Run(st, run[:p.K], run[p.K:]); err != nil {
			t.Fatal(err)
		}
		runs = append(runs, run)
	}
	return runs
}

// pictured are the scores of a run that a portrait shows.
func pictured(run []float64, k int) []float64 {
	return slices.Concat(run[:min(16, k)], run[k:min(k+16, len(run))])
}

// TestPortrait: it holds the scores of the first exploration runs, in digits, and
// their correlations, whatever the number of workers, and stays small.
func TestPortrait(t *testing.T) {
	sum := canaryPlan(300, 20)
	sum.M, sum.Explore = 5, 5000
	trained := canaryPlan(8, 3)
	trained.Mode, trained.Source, trained.Parameters = canary.Fixed, "dp-sgd", audit.Params{"steps": {Number: 3}, "examples": {Number: 20}}
	wide := canaryPlan(128, 40)
	for _, p := range []canary.Plan{sum, trained, wide} {
		r := runCanaries(t, p, 1)
		other := runCanaries(t, p, 8)
		if !audit.EqualJSON(r.Evidence, other.Evidence) {
			t.Errorf("%s: the evidence depends on the number of workers", p.Source)
		}
		got := r.Evidence.Runs.ScoreSample
		runs := exploredAgain(t, r.Plan, source.Sources())
		columns := make([][]float64, min(16, r.Plan.K)+min(16, r.Plan.M))
		for i, x := range runs {
			want := pictured(x, r.Plan.K)
			if i < 4096 {
				for j, v := range want {
					columns[j] = append(columns[j], v)
				}
			}
			if i >= len(got.In) {
				continue
			}
			for j, v := range slices.Concat(got.In[i], got.Out[i]) {
				if s := fmt.Sprintf("%.4e", want[j]); s != fmt.Sprintf("%.4e", *v) || strconv.FormatFloat(*v, 'g', 5, 64) != strconv.FormatFloat(want[j], 'g', 5, 64) {
					t.Errorf("%s, run %d, canary %d: %v, drawn was %v", p.Source, i, j, *v, want[j])
				}
			}
		}
		if len(got.In) != min(64, r.Plan.Explore) || len(got.Out) != len(got.In) || got.Correlated != min(4096, r.Plan.Explore) || len(got.Correlations) != len(columns) {
			t.Errorf("%s: %d runs, correlated over %d", p.Source, len(got.In), got.Correlated)
		}
		for i, row := range got.Correlations {
			for j, c := range row {
				if want := stat.Correlation(columns[i], columns[j], nil); math.Abs(*c-want) > 0.5001e-4 {
					t.Errorf("%s: correlation of %d and %d is %v, want %v", p.Source, i, j, *c, want)
				}
			}
		}
		if data, _ := json.Marshal(got); len(data) > 30_000 {
			t.Errorf("%s: a portrait of %d bytes", p.Source, len(data))
		}
	}
}

// TestPortraitOfOddScores: what is no score is no number, a canary that is always
// alike correlates with none, and huge scores stay finite.
func TestPortraitOfOddScores(t *testing.T) {
	odd := canarytest.Scripted(func(run int, in, out []float64) (bool, error) {
		for i := range in {
			in[i], out[i] = float64(run+i*i%5*run), math.MaxFloat64
		}
		in[1], out[0] = 7, -float64(run)
		switch run % 3 {
		case 0:
			in[0] = math.NaN()
		case 1:
			out[1] = math.Inf(1)
		}
		return false, nil
	})
	p := canary.Plan{Version: canary.PlanVersion, Mode: canary.Fixed, Source: "scripted", Claim: &audit.Claim{Kind: audit.Approximate, Epsilon: 1, Delta: 1e-5}, Runs: 60, K: 4}
	r := planted(t, p, odd.Sources(), nil, 3)
	data := must.Get(audit.Canonical(r))(t)
	must.Get(canary.ParseReport(data))(t)
	got := r.Evidence.Runs.ScoreSample
	whole := 0
	for i, x := range exploredAgain(t, r.Plan, odd.Sources()) {
		ok := true
		for j, v := range slices.Concat(got.In[i], got.Out[i]) {
			finite := !math.IsNaN(x[j]) && !math.IsInf(x[j], 0)
			ok = ok && finite
			if (v != nil) != finite {
				t.Fatalf("run %d, canary %d: %v of the score %v", i, j, v, x[j])
			}
		}
		if ok {
			whole++
		}
	}
	if got.Correlated != whole || whole < 10 || whole > 40 {
		t.Errorf("correlated over %d runs, %d have all scores", got.Correlated, whole)
	}
	is := func(i, j int, want float64) {
		t.Helper()
		if c := got.Correlations[i][j]; (c == nil) != math.IsNaN(want) || c != nil && *c != want {
			t.Errorf("correlation of %d and %d: %v, want %v", i, j, c, want)
		}
	}
	is(1, 0, math.NaN())
	is(2, 0, 1)
	is(4, 0, -1)
	is(6, 5, math.NaN())
	// All scores the same, and none at all.
	if p := membership.Portray(2, 1, []float64{1, 1, 1, 1, 1, 1}); p.Correlated != 2 || p.Correlations[1][0] != nil || p.Check(2, 2, 1) != nil {
		t.Errorf("%+v", p)
	}
	if p := membership.Portray(1, 1, []float64{1, -math.MaxFloat64, 1, 1}); p.Correlations != nil || p.Correlated != 0 || p.Check(2, 1, 1) != nil {
		t.Errorf("%+v", p)
	}
}

// TestPortraitChecks: a portrait that no exploration gives is refused.
func TestPortraitChecks(t *testing.T) {
	scores := make([]float64, 200*12)
	stream.New(stream.Key{Seed: 2}).Gaussian(scores, 1)
	two := 2.
	for name, forge := range map[string]func(p *membership.ScoreSample){
		"no run":             func(p *membership.ScoreSample) { p.In, p.Out = nil, nil },
		"one side less":      func(p *membership.ScoreSample) { p.Out = p.Out[1:] },
		"too many":           func(p *membership.ScoreSample) { p.In, p.Out = append(p.In, p.In[0]), append(p.Out, p.Out[0]) },
		"a canary less":      func(p *membership.ScoreSample) { p.In[4] = p.In[4][1:] },
		"fresh ones":         func(p *membership.ScoreSample) { p.Out[0] = append(p.Out[0], nil) },
		"rows":               func(p *membership.ScoreSample) { p.Correlations = p.Correlations[1:] },
		"a row":              func(p *membership.ScoreSample) { p.Correlations[2] = nil },
		"two":                func(p *membership.ScoreSample) { p.Correlations[2][0] = &two },
		"over no runs":       func(p *membership.ScoreSample) { p.Correlated = 0 },
		"over too many runs": func(p *membership.ScoreSample) { p.Correlated = 201 },
		"none":               func(p *membership.ScoreSample) { p.Correlations = nil },
	} {
		p := membership.Portray(6, 6, scores)
		if forge(p); !audit.IsInput(p.Check(200, 6, 6)) {
			t.Errorf("%s: taken", name)
		}
	}
}

// TestPortraitOfScores: of a matrix it shows runs of the half that explores, in
// the order in which the seed takes them.
func TestPortraitOfScores(t *testing.T) {
	s := sharedRuns(3, 90, 2)
	for i := range s.Score { // a score names its run and canary
		s.Score[i] = float64(i)
	}
	s.Files = []ScoreFile{{"x.csv", "aa"}}
	r := checkScores(t, replaced(samplePlan(1, 1e-5, "")), s)
	got := r.Evidence.Runs.ScoreSample
	if len(got.In) != 45 || len(got.In[0]) != 4 || len(got.Out[0]) != 6 || got.Correlated != 45 {
		t.Fatalf("%d runs of %d and %d", len(got.In), len(got.In[0]), len(got.Out[0]))
	}
	for i, k := range stream.New(r.Plan.key("runs", 0, 0)).Perm(90)[:45] {
		for side, row := range [][]*float64{got.In[i], got.Out[i]} {
			for _, x := range row {
				if at := int(*x); at/10 != k || s.Member[at] != (side == 0) {
					t.Errorf("run %d shows the score %v, run %d explores", i, *x, k)
				}
			}
		}
	}
}

// TestSameBitsOfPortraits pins portraits, so that platforms are held to the same.
func TestSameBitsOfPortraits(t *testing.T) {
	trained := canaryPlan(6, 2)
	trained.Mode, trained.Source, trained.Parameters = canary.Fixed, "dp-sgd", audit.Params{"steps": {Number: 2}, "examples": {Number: 20}}
	replace := canaryPlan(200, 5)
	replace.Relation, replace.Design = audit.Replace, source.RandomGradients
	var got []string
	for _, p := range []canary.Plan{canaryPlan(100, 20), replace, trained} {
		got = append(got, digest(t, runCanaries(t, p, 2).Evidence.Runs.ScoreSample))
	}
	got = append(got, digest(t, checkScores(t, samplePlan(2, 1e-5, ""), sharedRuns(9, 300, 2)).Evidence.Runs.ScoreSample))
	if s := strings.Join(got, " "); s != goldenPortraits {
		t.Errorf("%s\nwant %s", s, goldenPortraits)
	}
}

func digest(t *testing.T, v any) string {
	t.Helper()
	data := must.Get(audit.Canonical(v))(t)
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:4])
}

const goldenPortraits = "b8af986e a8efd761 3ea5132b 865f67c0"
