package finders_test

import (
	"encoding/json"
	"fmt"
	"hash/fnv"
	"math"
	"reflect"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/audit/stream"
	"github.com/dpscope/dpscope/core/finders"
	"github.com/dpscope/dpscope/dptest"
	"github.com/dpscope/dpscope/internal/must"
	"github.com/dpscope/dpscope/internal/testsize"
	"github.com/dpscope/dpscope/mechanisms"
	"github.com/dpscope/dpscope/mechanisms/learners"
)

// searches are the finders that need neither candidates nor a learner's table.
func searches() []audit.FinderSpec {
	return slices.DeleteFunc(finders.Registry(), func(s audit.FinderSpec) bool { return s.Name == "candidates" || s.Attacks != nil })
}

// search runs a finder against an objective, as the engine would.
func search(t testing.TB, spec audit.FinderSpec, p audit.FinderProblem, value func(audit.Pair) float64) []audit.Trial {
	t.Helper()
	f := must.Get(spec.New(p))(t)
	var history []audit.Trial
	for len(history) < p.Trials {
		pairs := f.Propose(slices.Clone(history), p.Trials-len(history))
		if len(pairs) > p.Trials-len(history) {
			t.Fatalf("%s: %d pairs for a budget of %d", spec.Name, len(pairs), p.Trials-len(history))
		}
		if len(pairs) == 0 {
			break
		}
		for _, neighbours := range pairs {
			history = append(history, audit.Trial{Index: len(history), Pair: neighbours, Value: value(neighbours)})
		}
	}
	return history
}

// spread is how far the sums of both sides lie apart, a value that any pair has.
func spread(p audit.Pair) float64 {
	return math.Abs(floats.Sum(p.First.Values) - floats.Sum(p.Second.Values))
}

// Every finder keeps its contract on every mechanism and relation.
func TestEveryFinderOnEveryMechanism(t *testing.T) {
	testsize.Native(t)
	for _, m := range mechanisms.All() {
		for _, queries := range []string{"", "sum", "reveal-records"} {
			given := audit.Params{}
			if queries != "" {
				given["queries"] = audit.ParamValue{Text: queries}
			}
			params, err := audit.ResolveParams(m.Params, given, audit.Claim{})
			if err != nil {
				continue // it has no queries
			}
			for _, r := range m.Relations(params) {
				for _, spec := range finders.Registry() {
					for _, trials := range []int{1, 16} {
						dptest.TestFinder(t, spec, audit.FinderProblem{Relation: r, Domain: m.Domain(params, r), Candidates: m.Pairs(params, r), Trials: trials})
					}
				}
			}
		}
	}
}

// Every finder keeps its contract on every learner, for single rows and for groups.
func TestEveryFinderOnEveryLearner(t *testing.T) {
	testsize.Native(t)
	for _, m := range learners.All() {
		params := must.Get(audit.ResolveParams(m.Params, nil, audit.Claim{}))(t)
		for _, r := range m.Relations(params) {
			for _, spec := range finders.Registry() {
				for _, group := range []int{1, 8} {
					dptest.TestFinder(t, spec, audit.FinderProblem{Relation: r, Domain: m.Domain(params, r), Candidates: m.Pairs(params, r), Table: m.Table(params), Trials: 12, Group: group})
				}
			}
		}
	}
}

// needle is loud where few pairs are: three records or more at 1, and a record
// near 0.3 added; it falls off slowly, so that a search can follow it.
func needle(p audit.Pair) float64 {
	n := float64(p.First.Len())
	mean := floats.Sum(p.First.Values) / max(1, n)
	return -math.Abs(spread(p)-0.3) - math.Abs(mean-0.7)/2 - math.Abs(stream.Log((n+1)/12))/3
}

// The searches that learn do better, in 40 trials, than random search: each in
// at least 16 of 20 seeds. Were a search no better than random, that would have
// probability 0.6 %.
func TestSearchesLearn(t *testing.T) {
	testsize.Native(t)
	domain := audit.Domain{Columns: 1, MinRows: 1, MaxRows: 40, Lower: []float64{0}, Upper: []float64{1}}
	best := func(name string, seed uint64) float64 {
		most := math.Inf(-1)
		for _, trial := range search(t, named(t, name), audit.FinderProblem{Relation: audit.AddRemove, Domain: domain, Trials: 40,
			Stream: stream.New(stream.Key{Seed: seed, Purpose: name})}, needle) {
			most = max(most, trial.Value)
		}
		return most
	}
	for _, name := range []string{"gp-ucb", "nsga2", "auto"} {
		wins := 0
		var mine, theirs float64
		for seed := range uint64(20) {
			a, b := best(name, seed), best("random", seed)
			mine, theirs = mine+a/20, theirs+b/20
			if a > b {
				wins++
			}
		}
		t.Logf("%s: %d of 20, mean %.3f against %.3f", name, wins, mine, theirs)
		if wins < 16 {
			t.Errorf("%s is better than random search in %d of 20 seeds", name, wins)
		}
	}
}

// What a search proposes next depends on what it heard.
func TestSearchesListen(t *testing.T) {
	p := audit.FinderProblem{Relation: audit.AddRemove, Domain: audit.Domain{Columns: 1, MaxRows: 20, Lower: []float64{0}, Upper: []float64{1}}, Trials: 40}
	for _, name := range []string{"gp-ucb", "nsga2", "auto"} {
		p.Stream = seeded(1)
		a := search(t, named(t, name), p, spread)
		p.Stream = seeded(1)
		b := search(t, named(t, name), p, func(q audit.Pair) float64 { return -spread(q) })
		if !reflect.DeepEqual(a[0].Pair, b[0].Pair) {
			t.Errorf("%s: the first pair differs before anything was heard", name)
		}
		if reflect.DeepEqual(a[len(a)-1].Pair, b[len(b)-1].Pair) {
			t.Errorf("%s: proposes the same whatever it hears", name)
		}
	}
}

// A domain of one pair is proposed once, and the search ends; values that say
// nothing, or that a learner could not give, do not stop it.
func TestSearchesEnd(t *testing.T) {
	bit := audit.Domain{Columns: 1, MinRows: 1, MaxRows: 1, Lower: []float64{0}, Upper: []float64{1}, Integer: true}
	wide := audit.Domain{Columns: 3, MaxRows: 9, Lower: []float64{0, -1, 5}, Upper: []float64{1, 1, 5}}
	for _, spec := range searches() {
		if got := search(t, spec, audit.FinderProblem{Relation: audit.Replace, Domain: bit, Stream: seeded(1), Trials: 9}, spread); len(got) != 1 {
			t.Errorf("%s: %d pairs of one bit, want 1", spec.Name, len(got))
		}
		flat := audit.FinderProblem{Relation: audit.Replace, Domain: wide, Stream: seeded(1), Trials: 30}
		if got := search(t, spec, flat, func(audit.Pair) float64 { return -99 }); len(got) < 14 {
			t.Errorf("%s: %d pairs where nothing is loud", spec.Name, len(got))
		}
	}
}

func TestGridFitsTheBudget(t *testing.T) {
	domain := audit.Domain{Columns: 1, MinRows: 1, MaxRows: 20, Lower: []float64{0}, Upper: []float64{1}}
	for _, trials := range []int{4, 8, 50, 1000} {
		got := search(t, named(t, "grid"), audit.FinderProblem{Relation: audit.AddRemove, Domain: domain, Trials: trials}, spread)
		if len(got) > trials || len(got) < trials/2 {
			t.Errorf("%d trials: a grid of %d points", trials, len(got))
		}
	}
	domain.Columns, domain.Lower, domain.Upper = 5, make([]float64, 5), []float64{1, 1, 1, 1, 1}
	must.Input(t, must.Err(named(t, "grid").New(audit.FinderProblem{Relation: audit.AddRemove, Domain: domain, Trials: 10})), "trials is 10, must be at least 1024", "a grid of ten axes for ten trials")
}

// The patterns of StatDP at five answers, the published numbers 0, 1, 2 about
// a threshold of 0.5.
func TestPatternsArePublished(t *testing.T) {
	p := audit.FinderProblem{Relation: audit.LInfinity, Domain: audit.Domain{Columns: 1, MinRows: 5, MaxRows: 5, Lower: []float64{-4.5}, Upper: []float64{5.5}, Reach: 1}, Trials: 11}
	got := search(t, named(t, "patterns"), p, spread)
	want := [][2]audit.Dataset{
		{audit.Records(1, 1, 1, 1, 1), audit.Records(2, 1, 1, 1, 1)},
		{audit.Records(1, 1, 1, 1, 1), audit.Records(0, 1, 1, 1, 1)},
		{audit.Records(1, 1, 1, 1, 1), audit.Records(2, 0, 0, 0, 0)},
		{audit.Records(1, 1, 1, 1, 1), audit.Records(0, 2, 2, 2, 2)},
		{audit.Records(1, 1, 1, 1, 1), audit.Records(0, 0, 0, 2, 2)},
		{audit.Records(1, 1, 1, 1, 1), audit.Records(2, 2, 2, 2, 2)},
		{audit.Records(1, 1, 1, 1, 1), audit.Records(0, 0, 0, 0, 0)},
		{audit.Records(1, 1, 1, 0, 0), audit.Records(0, 0, 0, 1, 1)},
	}
	for _, w := range want {
		if !slices.ContainsFunc(got, func(x audit.Trial) bool {
			return reflect.DeepEqual(x.Pair.First, w[0]) && reflect.DeepEqual(x.Pair.Second, w[1])
		}) {
			t.Errorf("no pair %v among the first %d", w, len(got))
		}
	}
}

// Where nothing is loud, a search goes on to other sizes.
func TestSearchesReachSizes(t *testing.T) {
	for _, r := range relations {
		for _, name := range []string{"nsga2", "gp-ucb"} {
			sizes := map[int]bool{}
			p := audit.FinderProblem{Relation: r, Domain: unit(), Stream: seeded(2), Trials: 50}
			for _, trial := range search(t, named(t, name), p, func(audit.Pair) float64 { return 0 }) {
				sizes[trial.Pair.First.Len()] = true
			}
			if len(sizes) < 4 {
				t.Errorf("%s, %s: sizes %v, want 4 or more", name, r, sizes)
			}
		}
	}
}

// Proposals are the same on every platform that the tests run on. A change of a
// search changes them; -v prints what they are.
func TestSameBitsOfProposals(t *testing.T) {
	want := map[string]string{
		"auto": "335c69ed001dd1cf", "random": "4e278500db59798f", "patterns": "0ac63a0780f3dce7", "grid": "7f00c25e8413a25e", "nsga2": "ea6c912cf5b8e44e", "gp-ucb": "19ae0f448f55cc4e",
	}
	for _, spec := range searches() {
		name, h := spec.Name, fnv.New64a()
		for _, r := range relations {
			p := audit.FinderProblem{Relation: r, Domain: audit.Domain{Columns: 1, MaxRows: 20, Lower: []float64{-1}, Upper: []float64{2}, Reach: 1}, Stream: seeded(7), Trials: 40}
			for _, trial := range search(t, spec, p, needle) {
				data := must.Get(json.Marshal(trial.Pair))(t)
				h.Write(data)
			}
		}
		if got := fmt.Sprintf("%016x", h.Sum64()); got != want[name] {
			t.Errorf("%q: %q, want %q", name, got, want[name])
		}
	}
}
