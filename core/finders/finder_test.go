package finders_test

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/audit/stream"
	"github.com/dpscope/dpscope/core/finders"
	"github.com/dpscope/dpscope/internal/must"
)

var relations = finders.Relations

func named(t testing.TB, name string) audit.FinderSpec {
	t.Helper()
	for _, s := range finders.Registry() {
		if s.Name == name {
			return s
		}
	}
	t.Fatalf("no finder %q", name)
	return audit.FinderSpec{}
}

func seeded(seed uint64) *stream.Stream {
	return stream.New(stream.Key{Seed: seed, Purpose: "finder"})
}

// unit is records in [0, 1], 0 to 6 of them.
func unit() audit.Domain {
	return audit.Domain{Columns: 1, MaxRows: 6, Lower: []float64{0}, Upper: []float64{1}, Reach: 1}
}

func TestEveryFinderIsDescribed(t *testing.T) {
	seen := map[string]bool{}
	for _, s := range finders.Registry() {
		if s.Name == "" || s.Title == "" || s.Source == "" || s.New == nil || seen[s.Name] {
			t.Errorf("finder %q lacks a field or is there twice", s.Name)
		}
		seen[s.Name] = true
	}
}

// Any domain that New accepts yields neighbours in the domain, none twice in
// either order, and at least one, whatever is heard of them.
func TestPairsAreNewNeighbours(t *testing.T) {
	for _, name := range []string{"random", "auto", "patterns", "nsga2"} {
		t.Run(name, func(t *testing.T) { checkPairs(t, named(t, name)) })
	}
}

func checkPairs(t *testing.T, spec audit.FinderSpec) {
	rapid.Check(t, func(t *rapid.T) {
		r, d := finders.AnyDomain(t)
		f, err := spec.New(audit.FinderProblem{Relation: r, Domain: d, Stream: seeded(rapid.Uint64().Draw(t, "seed")), Trials: 25})
		if err != nil {
			if !audit.IsInput(err) {
				t.Fatalf("%v is no input error", err)
			}
			t.Skip(err)
		}
		var all []audit.Pair
		var history []audit.Trial
		for range 5 {
			pairs := f.Propose(history, 5)
			if len(pairs) > 5 {
				t.Fatalf("%d pairs for a budget of 5", len(pairs))
			}
			for _, p := range pairs {
				value := rapid.SampledFrom([]float64{-99, 0.1, 0.5, 3}).Draw(t, "value")
				history = append(history, audit.Trial{Index: len(history), Pair: p, Value: value})
			}
			all = append(all, pairs...)
		}
		if len(all) == 0 {
			t.Fatal("no pair")
		}
		for i, p := range all {
			if err := r.Check(p, d); err != nil {
				t.Fatalf("%s: %v", p.Label, err)
			}
			if reflect.DeepEqual(p.First, p.Second) {
				t.Fatalf("%s: both sides are %v", p.Label, p.First)
			}
			for _, q := range all[:i] {
				if (reflect.DeepEqual(p.First, q.First) && reflect.DeepEqual(p.Second, q.Second)) ||
					(reflect.DeepEqual(p.First, q.Second) && reflect.DeepEqual(p.Second, q.First)) {
					t.Fatalf("%s repeats %s", p.Label, q.Label)
				}
			}
		}
	})
}

func TestTheStreamAloneDecides(t *testing.T) {
	for _, r := range relations {
		propose := func(name string, seed uint64, budgets ...int) (all []audit.Pair) {
			f := must.Get(named(t, name).New(audit.FinderProblem{Relation: r, Domain: unit(), Stream: seeded(seed), Trials: 40}))(t)
			var history []audit.Trial
			for _, b := range budgets {
				for _, p := range f.Propose(history, b) {
					history = append(history, audit.Trial{Index: len(history), Pair: p, Value: spread(p)})
					all = append(all, p)
				}
			}
			return all
		}
		a, b, c := propose("random", 1, 12), propose("random", 1, 5, 0, 7), propose("random", 2, 12)
		if !reflect.DeepEqual(a, b) {
			t.Errorf("random, %s: one seed, other pairs", r)
		}
		if reflect.DeepEqual(a, c) {
			t.Errorf("random, %s: another seed, the same pairs", r)
		}
		// After the opening, which is the same for all seeds, auto listens to trials.
		opening := len(propose("auto", 1, 40))
		a, b, c = propose("auto", 1, 40, 20), propose("auto", 1, 5, 0, opening-5, 20), propose("auto", 2, 40, 20)
		if !reflect.DeepEqual(a, b) {
			t.Errorf("auto, %s: one seed, other pairs", r)
		}
		if !reflect.DeepEqual(a[:opening], c[:opening]) || reflect.DeepEqual(a, c) {
			t.Errorf("auto, %s: another seed, another opening or the same pairs", r)
		}
	}
}

// Sizes, corners, interior values and the patterns of moves all occur.
func TestRandomPairsCoverTheDomain(t *testing.T) {
	found := map[string]bool{}
	for _, r := range relations {
		d := unit()
		f := must.Get(named(t, "random").New(audit.FinderProblem{Relation: r, Domain: d, Stream: seeded(3)}))(t)
		for _, p := range f.Propose(nil, 400) {
			found[fmt.Sprintf("%s, %d rows", r, p.First.Len())] = true
			for i, v := range p.First.Values {
				switch v {
				case 0, 1:
					found["corner"] = true
				default:
					found["inside"] = true
				}
				if !r.HasReach() {
					continue
				}
				switch step := p.Second.Values[i] - v; {
				case step == 1, step == -1:
					found["whole step"] = true
				case step == 0:
					found["no step"] = true
				default:
					found["part of a step"] = true
				}
			}
		}
	}
	want := []string{"corner", "inside", "whole step", "no step", "part of a step"}
	for n := range 7 {
		want = append(want, fmt.Sprintf("%s, %d rows", audit.AddRemove, n))
		if n > 0 {
			want = append(want, fmt.Sprintf("%s, %d rows", audit.Replace, n), fmt.Sprintf("%s, %d rows", audit.LInfinity, n), fmt.Sprintf("%s, %d rows", audit.BoundedReplace, n))
		}
	}
	for _, w := range want {
		if !found[w] {
			t.Errorf("never proposed: %s", w)
		}
	}
}

func TestAutoTakesCandidatesFirst(t *testing.T) {
	own := []audit.Pair{
		{Label: "a", First: audit.Records(1), Second: audit.Records(1, 0)},
		{Label: "again", First: audit.Records(1), Second: audit.Records(1, 0)},
		{Label: "b", First: audit.Records(), Second: audit.Records(1)},
	}
	f := must.Get(named(t, "auto").New(audit.FinderProblem{Relation: audit.AddRemove, Domain: unit(), Candidates: own, Stream: seeded(1)}))(t)
	pairs := append(f.Propose(nil, 1), f.Propose(nil, 6)...)
	if len(pairs) != 7 || pairs[0].Label != "a" || pairs[1].Label != "b" {
		t.Fatalf("got %d pairs: %v", len(pairs), pairs)
	}
	for _, p := range pairs[2:] {
		if !strings.Contains(p.Label, " rows") {
			t.Errorf("%s is no pattern", p.Label)
		}
	}
}

// Seven trials in ten go to patterns, those on which textbook faults show: a search
// that hears nothing loud goes on to their other sizes, to changes and to random
// pairs; one that hears something tries what is near.
func TestAutoOpens(t *testing.T) {
	for _, c := range []struct {
		relation audit.Relation
		domain   audit.Domain
		want     [][2][]float64 // among the opening of ten trials
	}{
		{audit.AddRemove, audit.Domain{Columns: 1, MaxRows: 5, Lower: []float64{0}, Upper: []float64{4}}, [][2][]float64{
			{{}, {4}}, {{}, {0}}, {{4}, {4, 0}}, {{0}, {0, 4}}, {{1}, {1, 4}}, {{0, 4}, {0, 4, 0}}}},
		{audit.Replace, audit.Domain{Columns: 1, MinRows: 1, MaxRows: 5, Lower: []float64{0}, Upper: []float64{4}}, [][2][]float64{
			{{0}, {4}}, {{0, 0}, {0, 4}}, {{4, 4}, {4, 0}}, {{1, 0}, {1, 4}}, {{0.5, 0}, {0.5, 4}}, {{0, 4, 0}, {0, 4, 4}}}},
		{audit.BoundedReplace, audit.Domain{Columns: 1, MinRows: 2, MaxRows: 2, Lower: []float64{0}, Upper: []float64{10}, Reach: 2}, [][2][]float64{
			{{5, 5}, {5, 7}}, {{0, 0}, {0, 2}}, {{10, 10}, {10, 8}}, {{10, 0}, {10, 2}}}},
		{audit.LInfinity, audit.Domain{Columns: 1, MinRows: 4, MaxRows: 4, Lower: []float64{-10}, Upper: []float64{10}, Reach: 1}, [][2][]float64{
			{{0.5, 0.5, -0.5, -0.5}, {-0.5, -0.5, 0.5, 0.5}}, {{0.5, 0.5, 0.5, 0.5}, {1.5, 1.5, 1.5, 1.5}}, {{-0.5, -10, -10, -10}, {0.5, -10, -10, -10}}}},
	} {
		kinds := map[string]bool{}
		for _, loud := range []bool{false, true} {
			p := audit.FinderProblem{Relation: c.relation, Domain: c.domain, Stream: seeded(1), Trials: 10}
			value := func(q audit.Pair) float64 {
				if loud {
					return spread(q)
				}
				return -99
			}
			history := search(t, named(t, "auto"), p, value)
			for _, w := range c.want {
				if !slices.ContainsFunc(history[:7], func(q audit.Trial) bool {
					return slices.Equal(q.Pair.First.Values, w[0]) && slices.Equal(q.Pair.Second.Values, w[1])
				}) {
					t.Errorf("%s: no pair %v in the opening %v", c.relation, w, history[:7])
				}
			}
			p.Stream, p.Trials = seeded(1), 60
			for _, trial := range search(t, named(t, "auto"), p, value) {
				kinds[strings.Fields(trial.Pair.Label)[0]] = true
			}
		}
		if !kinds["near"] || !kinds["random"] {
			t.Errorf("%s: in 60 trials only %v", c.relation, kinds)
		}
	}
}

func TestImpossibleDomains(t *testing.T) {
	change := func(f func(*audit.Domain)) audit.Domain { d := unit(); f(&d); return d }
	for name, c := range map[string]struct {
		relation audit.Relation
		domain   audit.Domain
		says     string
	}{
		"bounds crossed":      {audit.Replace, change(func(d *audit.Domain) { d.Lower[0] = 2 }), "domain is 2:1, must be two finite numbers, the lower one first"},
		"bounds missing":      {audit.Replace, change(func(d *audit.Domain) { d.Upper = nil }), "bounds"},
		"NaN":                 {audit.Replace, change(func(d *audit.Domain) { d.Upper[0] = math.NaN() }), "finite"},
		"no whole number":     {audit.Replace, change(func(d *audit.Domain) { d.Lower[0], d.Upper[0], d.Integer = 0.2, 0.8, true }), "whole number"},
		"fixed size":          {audit.AddRemove, change(func(d *audit.Domain) { d.MinRows = 6 }), "always 6"},
		"rows crossed":        {audit.AddRemove, change(func(d *audit.Domain) { d.MinRows = 7 }), "the smaller first"},
		"one point":           {audit.Replace, change(func(d *audit.Domain) { d.Upper[0] = 0 }), "one point"},
		"nothing to replace":  {audit.Replace, change(func(d *audit.Domain) { d.MaxRows = 0 }), "rows is 0, must be at least 1"},
		"nothing to move":     {audit.LInfinity, change(func(d *audit.Domain) { d.MaxRows = 0 }), "rows is 0, must be at least 1"},
		"nothing to remove":   {audit.AddRemove, change(func(d *audit.Domain) { d.MaxRows = 0 }), "always 0"},
		"no reach":            {audit.LInfinity, change(func(d *audit.Domain) { d.Reach = 0 }), "reach"},
		"reach below a whole": {audit.LInfinity, change(func(d *audit.Domain) { d.Reach, d.Integer = 0.5, true }), "whole numbers"},
		"no column":           {audit.Replace, change(func(d *audit.Domain) { d.Columns = 0 }), "columns"},
		"unknown relation":    {"sideways", unit(), "sideways"},
	} {
		for _, spec := range []string{"random", "auto", "patterns", "grid", "nsga2", "gp-ucb"} {
			must.Input(t, must.Err(named(t, spec).New(audit.FinderProblem{Relation: c.relation, Domain: c.domain, Stream: seeded(1)})), c.says, name, spec)
		}
	}
	must.Refuse(t, must.Err(named(t, "candidates").New(audit.FinderProblem{Relation: audit.Replace, Domain: unit()})), "random", "no candidates")
	// Candidates do not hide a domain that is none.
	crossed := audit.FinderProblem{Relation: audit.Replace, Domain: change(func(d *audit.Domain) { d.Lower[0] = 2 }), Stream: seeded(1),
		Candidates: []audit.Pair{{Label: "a", First: audit.Records(0), Second: audit.Records(1)}}}
	far := []audit.Pair{{Label: "far", First: audit.Records(1), Second: audit.Records(9)}}
	for _, spec := range []string{"candidates", "auto"} {
		must.Input(t, must.Err(named(t, spec).New(crossed)), "must be in [2, 1]", spec)
		must.Refuse(t, must.Err(named(t, spec).New(audit.FinderProblem{Relation: audit.Replace, Domain: unit(), Candidates: far, Stream: seeded(1)})), "far", spec)
	}
}

func Example() {
	problem := audit.FinderProblem{
		Relation:   audit.AddRemove,
		Domain:     audit.Domain{Columns: 1, MinRows: 1, MaxRows: 4, Lower: []float64{0}, Upper: []float64{1}},
		Candidates: []audit.Pair{{Label: "one record or two", First: audit.Records(1), Second: audit.Records(1, 0)}},
		Stream:     stream.New(stream.Key{Seed: 1, Purpose: "finder"}),
	}
	for _, spec := range finders.All {
		f, err := spec.New(problem)
		if err != nil {
			fmt.Println(err)
			continue
		}
		fmt.Println(spec.Name, len(f.Propose(nil, 3)))
	}
	// Output:
	// candidates 1
	// random 3
	// auto 3
}
