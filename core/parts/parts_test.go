package parts_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"strings"
	"testing"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/core"
	"github.com/dpscope/dpscope/core/canary"
	"github.com/dpscope/dpscope/core/canary/source"
	"github.com/dpscope/dpscope/core/engine"
	"github.com/dpscope/dpscope/core/finders"
	"github.com/dpscope/dpscope/core/pair"
	"github.com/dpscope/dpscope/core/partial"
	"github.com/dpscope/dpscope/core/parts"
	"github.com/dpscope/dpscope/core/suite"
	"github.com/dpscope/dpscope/estimators"
	"github.com/dpscope/dpscope/mechanisms"
)

func given() core.Given {
	cat := audit.Catalogue{Mechanisms: mechanisms.All(), Learners: estimators.Registry(), Finders: finders.Registry()}
	return core.Given{Catalogue: cat, Pool: core.LocalPool(cat, 2), Generator: audit.Generator{Name: "test", Version: "1"}}
}

// merged draws an audit in shares, each after the search, and merges them.
func merged(t *testing.T, kind string, s partial.Search, of int) string {
	t.Helper()
	ctx, g, files := context.Background(), given(), map[string][]byte{}
	do := func(name string, s partial.Search, d *engine.Division) {
		d.Answer(s.Answers)
		a, err := parts.Read(kind, s, g)
		if err != nil {
			t.Fatal(err)
		}
		own := g
		own.Pool = g.Pool.ForDivision(d)
		if err := a.Run(ctx, own, nil); err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		s.Answers = d.Answers()
		if err := partial.Write(&out, partial.Header{Product: "1", Kind: kind, Index: d.Index, Of: d.Of}, s, d.Drawn()); err != nil {
			t.Fatal(err)
		}
		files[name] = out.Bytes()
	}
	open := func(name string) (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(files[name])), nil }
	searched := &engine.Division{}
	do("search", s, searched)
	if searched.Pieces() < 2 {
		t.Errorf("the search found %d pieces to divide", searched.Pieces())
	}
	_, s, err := partial.ReadSearch("search", open)
	if err != nil {
		t.Fatal(err)
	}
	for i := range of {
		d := &engine.Division{Index: i, Of: of}
		if do(fmt.Sprint(i), s, d); d.Pieces() != searched.Pieces() {
			t.Errorf("share %d has %d pieces, the search %d", i, d.Pieces(), searched.Pieces())
		}
	}
	var names iter.Seq2[string, error] = func(yield func(string, error) bool) {
		for name := range files {
			if !yield(name, nil) {
				return
			}
		}
	}
	m, err := partial.NewMerge("1", names, open)
	if err != nil {
		t.Fatal(err)
	}
	a, err := parts.Read(m.Header.Kind, m.Search, g)
	if err != nil {
		t.Fatal(err)
	}
	var watched []string
	g.Pool = g.Pool.ForDivision(m.Division())
	if err := a.Run(ctx, g, func(name string, _ any, _ *core.Given) { watched = append(watched, name) }); err != nil {
		t.Fatal(err)
	}
	for i, one := range a.Audited {
		if len(watched) != len(a.Audited) || watched[i] != one.Name {
			t.Errorf("watched %q, audited %q", watched, one.Name)
		}
	}
	return canonical(t, a.Report(g.Generator))
}

// search is that of a plan before it is searched.
func search(t *testing.T, plan any) partial.Search {
	t.Helper()
	data, err := json.Marshal(plan)
	if err != nil {
		t.Fatal(err)
	}
	return partial.Search{Plan: data}
}

func canonical(t *testing.T, r any) string {
	t.Helper()
	data, err := audit.Canonical(r)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

var claim = audit.DPClaim(1, 1e-5)

// TestMerge: the shares of an audit come to the report of one machine.
func TestMerge(t *testing.T) {
	for _, plan := range []any{
		pair.Plan{Version: pair.PlanVersion, Mechanism: "svt4", Claim: &audit.Claim{Kind: audit.Pure, Epsilon: 1}, Samples: 40000, Trials: 2, Beta: 0.05, Seed: 7},
		canary.Plan{Version: canary.PlanVersion, Subject: source.Subject{Source: "gaussian-sum", Claim: &claim}, Runs: 101, K: 4, M: 4, Beta: 0.05, Seed: 7},
	} {
		t.Run(core.KindOf(plan), func(t *testing.T) {
			r, err := core.Run(context.Background(), plan, given())
			if err != nil {
				t.Fatal(err)
			}
			if want, got := canonical(t, r), merged(t, core.KindOf(plan), search(t, plan), 3); want != got {
				t.Errorf("the shares come to another report:\n%.2000s\none machine:\n%.2000s", got, want)
			}
		})
	}
}

// TestSeveral: a part of a file of audits carries the files that its audits are given, and
// is the same audit whoever reads it.
func TestSeveral(t *testing.T) {
	text := `{"version": 1, "audits": [
		{"name": "svt", "mechanism": "svt4", "claim": {"kind": "pure", "epsilon": 1}, "samples": 20000, "trials": 2},
		{"name": "worst", "data": "nowhere.csv", "canaries": {"source": "gaussian-sum", "claim": {"kind": "approximate", "epsilon": 1, "delta": 1e-5}, "design": "tail-singular", "relation": "replace", "pool": {"tail": 2, "scale": "unit"}, "runs": 100, "k": 2, "m": 2}}]}`
	data := map[string][]byte{"worst": []byte("1,0,0\n0,2,0\n0,0,3\n")}
	s := search(t, parts.Several{File: "plan.json", Text: []byte(text), Data: data})
	two := merged(t, suite.ReportKind, s, 2)
	if five := merged(t, suite.ReportKind, s, 5); two != five {
		t.Error("2 shares come to another report than 5")
	}
	var r struct {
		Audits []struct{ Name string }
	}
	if err := json.Unmarshal([]byte(two), &r); err != nil || len(r.Audits) != 2 || r.Audits[1].Name != "worst" {
		t.Errorf("the report holds %v: %v", r, err)
	}
	for name, text := range map[string]string{
		"a program":         strings.Replace(text, `"mechanism": "svt4"`, `"brought": {"command": "true"}`, 1),
		"no such mechanism": strings.Replace(text, "svt4", "svt44", 1),
	} {
		var in *audit.InputError
		if _, err := parts.Read(suite.ReportKind, search(t, parts.Several{File: "plan.json", Text: []byte(text), Data: data}), given()); !errors.As(err, &in) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestStopped: a part that is stopped says so.
func TestStopped(t *testing.T) {
	ctx, stop := context.WithCancel(context.Background())
	stop()
	plan := pair.Plan{Version: pair.PlanVersion, Mechanism: "svt4", Claim: &audit.Claim{Kind: audit.Pure, Epsilon: 1}, Samples: 40000, Trials: 2, Beta: 0.05, Seed: 7}
	a, err := parts.Read(core.KindOf(plan), search(t, plan), given())
	if err != nil {
		t.Fatal(err)
	}
	g := given()
	g.Pool = g.Pool.ForDivision(&engine.Division{Of: 2})
	if err := a.Run(ctx, g, nil); !errors.Is(err, context.Canceled) || len(a.Audited) > 0 {
		t.Errorf("ended with %v and %d audits", err, len(a.Audited))
	}
}
