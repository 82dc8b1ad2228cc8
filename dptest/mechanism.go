package dptest

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/audit/stream"
	"github.com/dpscope/dpscope/core/engine"
	"github.com/dpscope/dpscope/core/finders"
	"github.com/dpscope/dpscope/core/pair"
	"github.com/dpscope/dpscope/estimators"
)

// TestMechanism holds a registry entry to the contract of [audit.MechanismSpec], and
// returns the report of the one audit that it makes.
//
// At the defaults, both ends of parameters' ranges, each choice, and the further settings: the claim is one, what the
// mechanism satisfies is said, every pair is of neighbours in the domain, and the outputs are finite, fill what they
// are asked to fill, and follow from the stream alone.
//
// Every field of the plan may be left out. A mechanism that names a fault must be refuted (in one of two audits, where
// it takes no seed), and any other must not, but by chance, with probability 1e-6 unless Beta says otherwise. The
// report reads back and replays to the same; with another count or verdict it does not.
func TestMechanism(t testing.TB, spec audit.MechanismSpec, plan pair.Plan, settings ...audit.Params) pair.Report {
	t.Helper()
	if spec.Name == "" || spec.Title == "" || spec.Source == "" || spec.Relations == nil || spec.Claim == nil || spec.Truth == nil || spec.Domain == nil || spec.Pairs == nil || spec.New == nil {
		t.Fatalf("mechanism %q lacks a name, a title, a source or one of its functions", spec.Name)
	}
	for _, s := range spec.Params {
		if s.Name == "" || s.Doc == "" || len(s.Choices) == 0 && !(s.Min <= s.Default && s.Default <= s.Max) {
			t.Errorf("%s: parameter %+v has no name, no doc, or a default out of its range", spec.Name, s)
		}
	}
	for _, p := range append([]audit.Params{{}}, settings...) {
		if err := checkSetting(t, spec, p); err != nil {
			t.Errorf("%s at %v: %v", spec.Name, p.Assignments(), err)
		}
	}
	for _, p := range ends(spec) {
		// Two parameters may exclude each other, or claim more than can be audited.
		if err := checkSetting(t, spec, p); err != nil && !audit.IsInput(err) {
			t.Errorf("%s at %v: %v", spec.Name, p.Assignments(), err)
		}
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
		if c.Name == "" || strings.Contains(c.Name, "%!") || c.Kind != audit.Real && c.Kind != audit.Symbol && c.Kind != audit.Mixed {
			t.Errorf("%s has a column named %q of kind %q", what, c.Name, c.Kind)
		}
	}
	if spec.Truth(p) == "" {
		t.Errorf("%s: it does not say what it really satisfies", what)
	}
	if len(spec.Relations(p)) == 0 {
		t.Errorf("%s defines no relation", what)
	}
	for _, r := range spec.Relations(p) {
		dom, pairs := spec.Domain(p, r), spec.Pairs(p, r)
		if err := dom.Check(r); err != nil || r == audit.Replace && dom.MinRows < 1 {
			t.Errorf("%s under %s: the domain %+v is invalid or has no neighbours: %v", what, r, dom, err)
		}
		if len(pairs) == 0 {
			t.Errorf("%s under %s: no pairs", what, r)
		}
		labels := map[string]bool{}
		for _, two := range pairs {
			if two.Label == "" || labels[two.Label] {
				t.Errorf("%s under %s: the label %q is empty or duplicated", what, r, two.Label)
			}
			labels[two.Label] = true
			if err := r.Check(two, dom); err != nil {
				t.Errorf("%s under %s: pair %q: %v", what, r, two.Label, err)
			}
			of := m
			if s, ok := m.(audit.Summariser); ok {
				if of = s.For(two); !reflect.DeepEqual(of.Columns(), m.Columns()) {
					t.Errorf("%s under %s, pair %q: the columns are %v, must be those of every pair: %v", what, r, two.Label, of.Columns(), m.Columns())
				}
			}
			for _, d := range []audit.Dataset{two.First, two.Second} {
				checkOutputs(t, fmt.Sprintf("%s under %s, pair %q", what, r, two.Label), of, d, spec.Unseeded == "")
			}
		}
	}
	return spec.Claim(p).Validate()
}

func checkOutputs(t testing.TB, what string, m audit.Mechanism, d audit.Dataset, seeded bool) {
	t.Helper()
	const rows = 20
	kept := audit.Dataset{Columns: d.Columns, Values: append([]float64{}, d.Values...)}
	var drawn [2][]float64
	for i := range drawn {
		drawn[i] = make([]float64, rows*audit.Width(m.Columns()))
		for k := range drawn[i] {
			drawn[i][k] = math.NaN()
		}
		if err := m.Sample(d, stream.New(stream.Key{Seed: 1, Purpose: "contract"}), drawn[i]); err != nil {
			t.Errorf("%s: %v", what, err)
			return
		}
	}
	for k, x := range drawn[0] {
		if x-x != 0 {
			t.Errorf("%s: number %d of %d rows is %v, must be set to a finite number", what, k, rows, x)
			return
		}
		if seeded && math.Float64bits(x) != math.Float64bits(drawn[1][k]) {
			t.Errorf("%s: number %d of %d rows is %v, and %v from the same stream: all randomness must come from the stream", what, k, rows, x, drawn[1][k])
			return
		}
	}
	if !reflect.DeepEqual(d.Values, kept.Values) && len(d.Values) > 0 {
		t.Errorf("%s: sampling changed the dataset", what)
	}
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
	want := map[bool]audit.Verdict{false: audit.NoViolation, true: audit.Violation}[spec.Fault != ""]
	run := func() pair.Report {
		r, err := pair.Run{Plan: plan, Catalogue: cat, Pool: pool, Generator: audit.Generator{Name: "dpscope/dptest", Version: audit.Version}}.Do(context.Background())
		if err != nil {
			t.Fatalf("%s: %v", spec.Name, err)
		}
		return r
	}
	r := run()
	if spec.Unseeded != "" && want == audit.Violation && r.Verdict != want {
		r = run() // no seed is fixed with which the fault is known to show
	}
	if r.Verdict != want {
		t.Errorf("%s: verdict %s, must be %s: %s", spec.Name, r.Verdict, want, r.Summary)
	}
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
	if again, err := audit.Canonical(read()); err != nil || string(again) != string(data) {
		t.Errorf("%s: the report changes when it is read and written again (%v)", spec.Name, err)
	}
	if v, err := pair.Verify(context.Background(), cat, pool, read(), true); err != nil || !v.OK() {
		t.Errorf("%s: the report does not replay: %v %v", spec.Name, err, v.Differences)
	}
	for what, forge := range map[string]func(*pair.Report){
		"another verdict": func(r *pair.Report) { r.Verdict = audit.Inconclusive },
		"another count":   func(r *pair.Report) { r.Evidence.Table.N[0]++ },
	} {
		forged := read()
		forge(&forged)
		if v, err := pair.Verify(context.Background(), cat, pool, forged, false); err == nil && v.OK() {
			t.Errorf("%s: a report with %s passes", spec.Name, what)
		}
	}
	return r
}
