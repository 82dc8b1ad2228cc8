package main

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/audit/settings"
	"github.com/dpscope/dpscope/bounds"
	"github.com/dpscope/dpscope/bounds/accounting"
	"github.com/dpscope/dpscope/core/canary"
	"github.com/dpscope/dpscope/core/catalogue"
	"github.com/dpscope/dpscope/core/pair"
	"github.com/dpscope/dpscope/internal/must"
	"github.com/dpscope/dpscope/mechanisms/google"
	"github.com/dpscope/dpscope/mechanisms/source"
	"github.com/dpscope/dpscope/site/pages"
)

// The list has all that is registered, and marks what runs a library.
func TestListHasAll(t *testing.T) {
	l, all := list(map[string]pages.Exhibit{"svt4": {Page: "docs/museum/svt4.html", Broken: "a\n", Mended: "b\n"}}), catalogue.All()
	if len(l.Mechanisms) != len(all.Mechanisms) || len(l.Learners) != len(all.Learners) || len(l.Finders) != len(all.Finders) {
		t.Fatalf("lists of %d, %d, %d; registries of %d, %d, %d", len(l.Mechanisms), len(l.Learners), len(l.Finders), len(all.Mechanisms), len(all.Learners), len(all.Finders))
	}
	libraries := 0
	for i, m := range l.Mechanisms {
		if m.Name != all.Mechanisms[i].Name || (m.Library != "") != (m.Samples > 0) || (m.Museum != "" && slices.Equal(m.Lines, []string{"a\n", "b\n"})) != (m.Name == "svt4") {
			t.Errorf("entry %d is %s with library %q, %d samples and page %q; the registry has %s there", i, m.Name, m.Library, m.Samples, m.Museum, all.Mechanisms[i].Name)
		}
		if m.Library != "" {
			libraries++
		}
		// The same without the fault takes the loudest pair, and the same parameters.
		if m.Mended != "" {
			sound := must.Get(all.Mechanism(m.Mended))(t)
			plan := must.Get(pair.Plan{Version: pair.PlanVersion, Mechanism: m.Name}.Resolve(all))(t).Plan
			loudest := all.Mechanisms[i].Pairs(plan.Parameters, plan.Relation)[0]
			if address := (pair.Report{Plan: plan, Evidence: &pair.Evidence{Pair: loudest}}).Mended(all); m.Fault == "" || sound.Fault != "" || !strings.HasPrefix(address, "#v=1&mechanism="+m.Mended+"&") {
				t.Errorf("%s without its fault: %s, audited by %q", m.Name, m.Mended, address)
			}
		} else if m.Fault != "" {
			t.Errorf("%s has none without its fault", m.Name)
		}
	}
	if libraries != len(google.All()) {
		t.Errorf("%d run a library, want the %d of package google", libraries, len(google.All()))
	}
}

// What a kind's fields ask with by default is answered, and a field that is
// given what no field takes is the one that is named.
func TestAccountsAreAnswered(t *testing.T) {
	for _, a := range list(nil).Accounts {
		if a.Title == "" {
			t.Errorf("%s has no title", a.Kind)
		}
		query := func(name string, value any) error {
			values := map[string]any{"mechanism": a.Kind}
			for _, k := range settings.Describe(accounting.Keys()) {
				if field := k.Fields[0][1:]; slices.Contains(a.Fields, field) && k.Form.Empty != "" {
					values[field] = json.Number(k.Form.Empty)
				}
			}
			if name != "" {
				values[name] = value
			}
			data := must.Get(json.Marshal(values))(t)
			var q accounting.Query
			if err := json.Unmarshal(data, &q); err != nil {
				t.Fatalf("%s: %v", data, err)
			}
			answer, err := accounting.Answer(q)
			if err == nil && answer.Epsilon == nil {
				t.Errorf("%s: no epsilon", data)
			}
			return err
		}
		if err := query("", 0); err != nil {
			t.Errorf("%s at its defaults: %v", a.Kind, err)
		}
		for _, f := range a.Fields {
			var in *audit.InputError
			bad, ok := map[string]any{"with": "nothing", "event": []int{-1}, "odds": []int{-1}}[f]
			if !ok {
				bad = -1
			}
			if err := query(f, bad); !errors.As(err, &in) || strings.SplitN(in.Field, "[", 2)[0] != f {
				t.Errorf("%s, %s = %v: %v", a.Kind, f, bad, err)
			}
		}
		needed := a.Kind.Parameters()
		if a.Kind == accounting.KindGaussian || a.Kind == accounting.KindLaplace {
			needed = append(needed, "sensitivity")
		}
		for _, name := range needed {
			if !slices.Contains(a.Fields, name) {
				t.Errorf("%s: no field for %s", a.Kind, name)
			}
		}
	}
}

// The page offers every mechanism that keeps its claim and takes a seed, and those that it has
// chosen at first are among them, each of whose claims is met.
func TestCalibrationIsOffered(t *testing.T) {
	l := list(nil)
	met := map[string]bool{}
	for _, m := range l.Calibration.Mechanisms {
		met[m.Name] = m.Met
		if m.Claim == "" || m.Why == "" {
			t.Errorf("%+v", m)
		}
	}
	for _, m := range l.Mechanisms {
		if _, offered := met[m.Name]; offered != (m.Fault == "" && m.Library == "") {
			t.Errorf("%s: fault %q, offered %v", m.Name, m.Fault, offered)
		}
	}
	for _, name := range l.Calibration.Plan.Mechanisms {
		if !met[name] {
			t.Errorf("%s is chosen, and its claim is not met", name)
		}
	}
}

// The page offers every source of canary audits with all that its form asks for,
// and what it offers first is what the core takes by default.
func TestCanariesAreOffered(t *testing.T) {
	c := list(nil).Canaries
	if len(c.Sources) != len(source.Sources()) || len(c.Intervals) != len(bounds.CanaryIntervals()) || len(c.Scales) == 0 {
		t.Fatalf("%d sources, %d intervals, %d scales", len(c.Sources), len(c.Intervals), len(c.Scales))
	}
	for _, s := range c.Sources {
		plan := canary.Plan{Version: canary.PlanVersion, Source: s.Name, Claim: &audit.Claim{Kind: audit.Approximate, Epsilon: 2, Delta: 1e-5}}
		a := must.Get(plan.Resolve(source.Sources(), nil))(t)
		if a.Plan.Relation != s.Relations[0] || a.Plan.Design != s.Designs[0] || a.Plan.Runs != s.Runs || a.Plan.Interval != c.Intervals[0].Name || len(a.Plan.Parameters) != len(s.Params) || s.Title == "" {
			t.Errorf("%s: offered %+v, by default %+v", s.Name, s, a.Plan)
		}
		for _, d := range s.Designs {
			plan.Design = d
			scales := []source.Scale{""}
			if plan.Pool = nil; d == source.TailSingular {
				scales = c.Scales
			}
			for _, scale := range scales {
				if scale != "" {
					plan.Pool = &source.Pool{Scale: scale}
				}
				if _, err := plan.Resolve(source.Sources(), nil); (err != nil) != (d == source.Vectors) {
					t.Errorf("%s, %s %s: %v", s.Name, d, scale, err)
				}
			}
		}
	}
}
