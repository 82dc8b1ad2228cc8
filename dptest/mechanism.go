package dptest

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/audit/stream"
	"github.com/dpscope/dpscope/core/engine"
	"github.com/dpscope/dpscope/core/finders"
	"github.com/dpscope/dpscope/core/pair"
	"github.com/dpscope/dpscope/estimators"
)

// TestMechanism holds a registry entry to the contract of [audit.MechanismSpec], and returns the report of the one
// audit that it makes.
//
// At the defaults, both ends of parameters' ranges, each choice, and the further settings: the claim is one, what the
// mechanism satisfies is said, every pair is of neighbours in the domain, and the outputs are finite, fill what they
// are asked to fill, and follow from the stream alone.
//
// Every field of the plan may be left out. A mechanism that names a fault must be refuted (in one of two audits, where
// it takes no seed), and any other must not, but by chance, with probability 1e-6 unless Beta says otherwise. The
// report replays to the same; with another count or verdict it does not.
func TestMechanism(t testing.TB, spec audit.MechanismSpec, plan pair.Plan, settings ...audit.Params) pair.Report {
	t.Helper()
	if spec.Name == "" || spec.Title == "" || spec.Source == "" || spec.Relations == nil || spec.Claim == nil || spec.Truth == nil || spec.Domain == nil || spec.Pairs == nil || spec.New == nil {
		t.Fatalf("mechanism %q lacks a name, a title, a source or one of its functions", spec.Name)
	}
	for _, s := range spec.Params {
		want(t, s.Name != "" && s.Doc != "" && (len(s.Choices) > 0 || s.Min <= s.Default && s.Default <= s.Max),
			"%s: parameter %+v has no name, no doc, or a default out of its range", spec.Name, s)
	}
	for _, p := range append([]audit.Params{{}}, settings...) {
		err := checkSetting(t, spec, p)
		want(t, err == nil, "%s at %v: %v", spec.Name, p.Assignments(), err)
	}
	for _, p := range ends(spec) {
		// Two parameters may exclude each other, or claim more than can be audited.
		err := checkSetting(t, spec, p)
		want(t, err == nil || audit.IsInput(err), "%s at %v: %v", spec.Name, p.Assignments(), err)
	}
	return auditOnce(t, spec, plan)
}

// ends are one parameter after another at each choice, both ends, and a whole one at 2 and 3.
func ends(spec audit.MechanismSpec) []audit.Params {
	var all []audit.Params
	for _, s := range spec.Params {
		for _, word := range s.Choices {
			all = append(all, audit.Params{s.Name: {Text: word}})
		}
		if len(s.Choices) > 0 {
			continue
		}
		values := []float64{s.Max}
		if !s.Open {
			values = append(values, s.Min)
		}
		if s.Integer {
			values = append(values, 2, 3)
		}
		for _, x := range values {
			if s.Min <= x && x <= s.Max {
				all = append(all, audit.Params{s.Name: {Number: x}})
			}
		}
	}
	return all
}

// checkSetting's error says why there is no such mechanism, or no claim that can be audited.
func checkSetting(t testing.TB, spec audit.MechanismSpec, given audit.Params) error {
	t.Helper()
	p, err := audit.ResolveParams(spec.Params, given, audit.Claim{})
	if err != nil {
		return err
	}
	m, err := spec.New(p)
	if err != nil {
		return err
	}
	what := fmt.Sprintf("%s at %v", spec.Name, p.Assignments())
	for _, c := range m.Columns() {
		named := c.Name != "" && !strings.Contains(c.Name, "%!")
		known := c.Kind == audit.Real || c.Kind == audit.Symbol || c.Kind == audit.Mixed
		want(t, named && known, "%s has a column named %q of kind %q", what, c.Name, c.Kind)
	}
	want(t, spec.Truth(p) != "", "%s: it does not say what it really satisfies", what)
	want(t, len(spec.Relations(p)) > 0, "%s defines no relation", what)
	for _, r := range spec.Relations(p) {
		dom, pairs := spec.Domain(p, r), spec.Pairs(p, r)
		what, err := fmt.Sprintf("%s under %s", what, r), dom.Check(r)
		valid := err == nil && (r != audit.Replace || dom.MinRows >= 1)
		want(t, valid, "%s: the domain %+v is invalid or has no neighbours: %v", what, dom, err)
		want(t, len(pairs) > 0, "%s: no pairs", what)
		labels := map[string]bool{}
		for _, two := range pairs {
			fresh := two.Label != "" && !labels[two.Label]
			want(t, fresh, "%s: the label %q is empty or duplicated", what, two.Label)
			labels[two.Label] = true
			err := r.Check(two, dom)
			want(t, err == nil, "%s: pair %q: %v", what, two.Label, err)
			of := m
			if s, ok := m.(audit.Summariser); ok {
				of = s.For(two)
			}
			what := fmt.Sprintf("%s, pair %q", what, two.Label)
			same := reflect.DeepEqual(of.Columns(), m.Columns())
			want(t, same, "%s: the columns are %v, must be those of every pair: %v", what, of.Columns(), m.Columns())
			for _, d := range []audit.Dataset{two.First, two.Second} {
				checkOutputs(t, what, of, d, spec.Unseeded == "")
			}
		}
	}
	return spec.Claim(p).Validate()
}

func checkOutputs(t testing.TB, what string, m audit.Mechanism, d audit.Dataset, seeded bool) {
	t.Helper()
	const rows = 20
	kept := slices.Clone(d.Values)
	var drawn [2][]float64
	for i := range drawn {
		drawn[i] = make([]float64, rows*audit.Width(m.Columns()))
		for k := range drawn[i] {
			drawn[i][k] = math.NaN()
		}
		err := m.Sample(d, stream.New(stream.Key{Seed: 1, Purpose: "contract"}), drawn[i])
		if !want(t, err == nil, "%s: %v", what, err) {
			return
		}
	}
	for k, x := range drawn[0] {
		if !want(t, x-x == 0, "%s: number %d of %d rows is %v, must be set to a finite number", what, k, rows, x) ||
			!want(t, !seeded || math.Float64bits(x) == math.Float64bits(drawn[1][k]),
				"%s: number %d of %d rows is %v, and %v from the same stream: all randomness must come from the stream",
				what, k, rows, x, drawn[1][k]) {
			return
		}
	}
	want(t, slices.Equal(d.Values, kept), "%s: sampling changed the dataset", what)
}

func auditOnce(t testing.TB, spec audit.MechanismSpec, plan pair.Plan) pair.Report {
	t.Helper()
	cat := audit.Catalogue{Mechanisms: []audit.MechanismSpec{spec}, Learners: estimators.Registry(), Finders: finders.Registry()}
	plan.Version, plan.Mechanism, plan.Mode = pair.PlanVersion, spec.Name, cmp.Or(plan.Mode, pair.Fixed)
	for field, size := range map[*int]int{&plan.Samples: 10_000, &plan.Explore: 15_000, &plan.Trials: 2} {
		*field = cmp.Or(*field, size)
	}
	if plan.Mode == pair.UntilRefuted {
		plan.Explore = 0
	}
	if plan.Beta == 0 && spec.Fault == "" {
		plan.Beta = 1e-6
	}
	pool := engine.LocalPool(Options{}.workers())
	verdict := audit.Pick(spec.Fault != "", audit.Violation, audit.NoViolation)
	run := func() pair.Report {
		r, err := pair.Run{Plan: plan, Catalogue: cat, Pool: pool, Generator: audit.Generator{Name: "dpscope/dptest", Version: audit.Version}}.Do(context.Background())
		if err != nil {
			t.Fatalf("%s: %v", spec.Name, err)
		}
		return r
	}
	r := run()
	if spec.Unseeded != "" && verdict == audit.Violation && r.Verdict != verdict {
		r = run() // no seed is fixed with which the fault is known to show
	}
	want(t, r.Verdict == verdict, "%s: verdict %s, must be %s: %s", spec.Name, r.Verdict, verdict, r.Summary)
	data, err := audit.Canonical(r)
	if err != nil {
		t.Fatalf("%s: %v", spec.Name, err)
	}
	read := func() pair.Report {
		back, err := pair.ParseReport(data)
		if err != nil {
			t.Fatalf("%s: its own report: %v", spec.Name, err)
		}
		return back
	}
	again, err := audit.Canonical(read())
	same := err == nil && string(again) == string(data)
	want(t, same, "%s: the report changes when it is read and written again (%v)", spec.Name, err)
	v, err := pair.Verify(context.Background(), cat, pool, read(), true)
	want(t, err == nil && v.OK(), "%s: the report does not replay: %v %v", spec.Name, err, v.Differences)
	for what, forge := range map[string]func(*pair.Report){
		"another verdict": func(r *pair.Report) { r.Verdict = audit.Inconclusive },
		"another count":   func(r *pair.Report) { r.Evidence.Table.N[0]++ },
	} {
		forged := read()
		forge(&forged)
		v, err := pair.Verify(context.Background(), cat, pool, forged, false)
		want(t, err != nil || !v.OK(), "%s: a report with %s passes", spec.Name, what)
	}
	return r
}
