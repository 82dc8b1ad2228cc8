package core_test

import (
	"context"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/dpscope/dpscope/core"
	"github.com/dpscope/dpscope/internal/mutate"
)

// remembering executes each task once: mutated reports mostly have the same tasks.
type remembering struct {
	core.LocalWorker
	mu   *sync.Mutex
	done map[string]core.Result
}

func (w remembering) Execute(ctx context.Context, t core.Task, progress func(int)) (core.Result, error) {
	key, err := core.Canonical(t)
	if err != nil {
		return core.Result{}, err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if r, ok := w.done[string(key)]; ok {
		return r, nil
	}
	r, err := w.LocalWorker.Execute(ctx, t, progress)
	if err == nil {
		w.done[string(key)] = r
	}
	return r, err
}

func rememberingPool(cat core.Catalogue) *core.Pool {
	return core.NewPool(remembering{core.LocalWorker{Catalogue: cat}, new(sync.Mutex), map[string]core.Result{}})
}

// mutated wants every mutation of the report noticed by its replay, but for those of
// fields that the replay says it did not compare.
func mutated(t *testing.T, cat core.Catalogue, r core.Report, whole bool) {
	t.Helper()
	doc, err := core.Canonical(r)
	if err != nil {
		t.Fatal(err)
	}
	pool := rememberingPool(cat)
	var skipped []string
	verify := func(data []byte) (bool, error) {
		r, _, err := core.ParseReport(data)
		if err != nil {
			return false, err
		}
		v, err := core.Verify(t.Context(), cat, pool, r, whole)
		if err != nil {
			return false, err
		}
		skipped = v.NotCompared
		return v.OK(), nil
	}
	if ok, err := verify(doc); err != nil || !ok {
		t.Fatalf("the report as it is: %v, %v", ok, err)
	}
	all, err := mutate.All(doc)
	if err != nil {
		t.Fatal(err)
	}
	tried := 0
	for _, m := range all {
		if late.MatchString(m.Path) {
			continue
		}
		if r, _, err := core.ParseReport(m.JSON); err == nil {
			if again, err := core.Canonical(r); err == nil && string(again) == string(doc) {
				continue // the same report in other words
			}
		}
		tried++
		ok, err := verify(m.JSON)
		if err == nil && ok && !slices.ContainsFunc(skipped, func(s string) bool {
			return m.Field() == s || strings.HasPrefix(m.Field(), s+".") || strings.HasPrefix(m.Field(), s+"[")
		}) {
			t.Errorf("passes: %v", m)
		}
	}
	t.Logf("%d mutations", tried)
}

// late are elements of lists behind the first two: what is said of those holds of
// them.
var late = regexp.MustCompile(`\[([2-9]|\d\d+)\]`)

// guessing is a finder that tries the candidates and says that it models them.
type guessing struct{ pairs []core.Pair }

func (g guessing) Propose(history []core.Trial, budget int) []core.Pair {
	if len(history) > 0 {
		return nil
	}
	return g.pairs[:min(2, budget)]
}

func (g guessing) Predicted(core.Pair) *core.Prediction {
	return &core.Prediction{Mean: 1, SD: 0.5, Low: 0.25, Middle: 1, High: 2}
}

func (g guessing) Model(history []core.Trial, through int) *core.SurrogateModel {
	two := []float64{1, 2}
	return &core.SurrogateModel{Model: "a guess", SqrtBeta: 1.8, Noise: 0.25, Trials: []int{0, 1}, Scores: two, Through: through,
		Slices: []core.SurrogateSlice{{Parameter: "rows", Geometric: true, Positions: two, Mean: two, SD: two, At: two, Near: two}}}
}

// TestMutatedReports: whatever is deleted, changed or swapped in a report, its replay
// notices, or names the field as not compared.
func TestMutatedReports(t *testing.T) {
	claim := core.Claim{Kind: core.Renyi, Alpha: 2, Epsilon: 1}
	cat := catalogue
	cat.Finders = append(slices.Clone(cat.Finders), core.FinderSpec{Name: "guessing", Title: "guesses", Source: "this test",
		New: func(p core.FinderProblem) (core.Finder, error) { return guessing{p.Candidates}, nil }})
	for name, plan := range map[string]core.Plan{
		"event":     {Mechanism: "svt4", Claim: &core.Claim{Epsilon: 1}, Learner: "outcome-table"},
		"plane":     {Mechanism: "svt3", Parameters: core.Params{"m": {Number: 2}}, Learner: "logistic"},
		"Rényi":     {Mechanism: "laplace-mean", Claim: &claim, Learner: "histogram"},
		"surrogate": {Mechanism: "laplace-mean-raw-count", Claim: &core.Claim{Kind: core.Approximate, Epsilon: 1, Delta: 1e-6}, Finder: "guessing", Learner: "histogram"},
	} {
		t.Run(name, func(t *testing.T) {
			plan.Version, plan.Samples, plan.Explore, plan.Trials, plan.Seed = core.PlanVersion, 100, 100, 2, 3
			r, err := core.Run{Plan: plan, Catalogue: cat, Pool: core.LocalPool(cat, 1), Generator: core.Generator{Name: "dpscope", Version: core.Version}}.Do(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			mutated(t, cat, r, true)
			if name == "event" {
				mutated(t, cat, r, false)
			}
		})
	}
}
