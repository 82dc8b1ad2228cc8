package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/audit/stream"
	"github.com/dpscope/dpscope/core/pair"
	"github.com/dpscope/dpscope/core/suite"
	"github.com/dpscope/dpscope/internal/must"
	"github.com/dpscope/dpscope/mechanisms/recorded"
)

// readAgain parses a command as a shell and dpscope would.
func readAgain(t *rapid.T, cli string) (*auditFlags, pair.Plan) {
	words := must.Get(audit.ShellWords("the command", cli))(t)
	var said strings.Builder
	f := newAuditFlags(streams{stderr: &said})
	if _, ok := f.Parse(words[2:], 0); !ok {
		t.Fatalf("%s: %s", cli, said.String())
	}
	return f, must.Get(f.plan())(t)
}

// drawn are settings of a plan for each kind of audit.
func drawn(t *rapid.T) pair.Plan {
	p := pair.Plan{Version: pair.PlanVersion, Claim: &audit.Claim{Epsilon: rapid.Float64Range(1e-3, 20).Draw(t, "epsilon")},
		Seed: rapid.Uint64Max(1<<53-1).Draw(t, "seed"), Mode: rapid.SampledFrom([]pair.Mode{"", pair.Fixed, pair.UntilRefuted}).Draw(t, "mode"), Beta: rapid.SampledFrom([]float64{0, 0.05, 0.001}).Draw(t, "beta")}
	switch rapid.IntRange(0, 2).Draw(t, "claim") {
	case 1:
		p.Claim.Delta = 1e-5
	case 2:
		p.Claim = &audit.Claim{Kind: audit.ZCDP, Rho: p.Claim.Epsilon}
	}
	return p
}

// samePlan wants the plan of a command to be that of the audit that named it.
func samePlan(t *rapid.T, cat audit.Catalogue, cli string, a *pair.Audit, p pair.Plan) {
	b := must.Get(p.Resolve(cat))(t)
	if !audit.EqualJSON(a.Plan, b.Plan) {
		t.Fatalf("%s:\n%+v\nwant\n%+v", cli, b.Plan, a.Plan)
	}
}

// runsOf draws a list of values, some of which repeat.
func runsOf[T any](t *rapid.T, name string, runs int, value *rapid.Generator[T]) []T {
	var out []T
	for range rapid.IntRange(1, runs).Draw(t, name+": runs") {
		v := value.Draw(t, name)
		for range rapid.IntRange(1, 1000/runs).Draw(t, name+": length") {
			out = append(out, v)
		}
	}
	return out
}

// The command that a report of a mechanism from outside names gives the same plan,
// the same datasets and the same columns, and does not grow with their number.
func TestReproduceBrought(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const runs = 5
		b := audit.UserMechanism{Kind: audit.UserCommand, Name: rapid.SampledFrom([]string{"python3 x.py", "sh -c 'a \"b\"'", "./it's"}).Draw(t, "name"), NonFinite: rapid.SampledFrom([]string{"", "symbol"}).Draw(t, "nonfinite")}
		kinds := map[string]audit.ColumnKind{}
		for i, k := range runsOf(t, "kind", runs, rapid.SampledFrom([]audit.ColumnKind{audit.Real, audit.Symbol, audit.Mixed})) {
			b.Columns = append(b.Columns, audit.Column{Name: fmt.Sprintf("c%d", i+1), Kind: k})
			kinds[b.Columns[i].Name] = k
		}
		s := &b.Datasets
		s.Relation, s.MinRows, s.MaxRows = rapid.SampledFrom([]audit.Relation{audit.AddRemove, audit.Replace, audit.LInfinity}).Draw(t, "relation"), 1, 4
		for _, lower := range runsOf(t, "range", runs, rapid.Float64Range(-1e6, 1e6)) {
			s.Lower, s.Upper = append(s.Lower, lower), append(s.Upper, lower+math.Abs(lower)+1)
		}
		if s.Columns = len(s.Lower); s.Relation == audit.LInfinity {
			s.Reach = 0.25
		}
		cat := catalogue.With(b.Spec(nil))
		spec := &cat.Mechanisms[len(cat.Mechanisms)-1]
		spec.New = func(audit.Params) (audit.Mechanism, error) { return described(b.Columns), nil }
		p := drawn(t)
		p.Mechanism, p.Samples, p.Trials = string(b.Kind), rapid.IntRange(1000, 5000).Draw(t, "samples"), rapid.IntRange(1, 20).Draw(t, "trials")
		if p.Mode != pair.UntilRefuted {
			p.Explore = rapid.SampledFrom([]int{0, 700}).Draw(t, "explore")
		}
		a := must.Get(p.Resolve(cat))(t)
		cli := a.Reproduce().CLI
		if most := 500 + runs*shortest*80; len(cli) > most {
			t.Fatalf("%d bytes, must be at most %d: %s", len(cli), most, cli)
		}
		f, again := readAgain(t, cli)
		samePlan(t, cat, cli, a, again)
		inPlan(t, f.External)
		brought := f.User
		space, err := brought.Space(again.Relation)
		if err != nil || !reflect.DeepEqual(space, *s) {
			t.Fatalf("%s: %v\n%+v\nwant\n%+v", cli, err, space, *s)
		}
		if !maps.Equal(brought.Kinds, kinds) || brought.NonFinite != b.NonFinite || brought.Exec != b.Name || !reflect.DeepEqual(f.Recorded, pair.Recorded{}) {
			t.Fatalf("%s: %+v", cli, f.External)
		}
	})
}

// inPlan wants a mechanism from outside to be the same in a file of several audits.
func inPlan(t *rapid.T, o pair.External) {
	e := map[string]any{"name": "a", "claim": audit.Claim{Epsilon: 1}, "recorded": o.Recorded}
	if o.Recorded.Files == nil {
		delete(e, "recorded")
		e["brought"] = o.User
	}
	text := must.Get(json.Marshal(map[string]any{"version": suite.Version, "audits": []any{e}}))(t)
	f, err := suite.Parse(text, "the plan")
	if err != nil || !audit.EqualJSON(f.Audits[0].External(), o) || f.Audit(0).(pair.Plan).Mechanism != o.Mechanism() {
		t.Fatalf("%s: %v\n%+v\nwant\n%+v", text, err, f, o)
	}
}

// shortest is how many columns that are alike are named one by one, at most.
const shortest = 3

// described is a mechanism that is not asked for outputs.
type described []audit.Column

func (d described) Columns() []audit.Column { return d }

// The command that a report of recorded outputs names reads them in the same way.
func TestReproduceRecorded(t *testing.T) {
	var text strings.Builder
	text.WriteString("x,y,dataset\n")
	for i := range 2000 {
		fmt.Fprintf(&text, "%d,%d,%d\n", i*i%97, i%5, i%2)
	}
	file := must.Get(recorded.Read(strings.NewReader(text.String()), recorded.Options{}))(t)
	samples := must.Get(recorded.Pair([]*recorded.File{file}, audit.Reading{}))(t)
	rapid.Check(t, func(t *rapid.T) {
		spec := samples.Spec()
		rec := *spec.Recording
		rec.Files = []audit.RecordedFile{{Name: rapid.SampledFrom([]string{"a.csv", "it's mine.csv.gz", "-", "ü"}).Draw(t, "file")}}
		names := rapid.SampledFrom([]string{"x", "y z", "c7", "c007", "c12..", "a=b", "Größe"})
		r := audit.Reading{Header: rapid.SampledFrom([]string{"", "yes", "no"}).Draw(t, "header"), Dataset: rapid.SampledFrom([]string{"", "which one"}).Draw(t, "dataset"),
			Outputs: rapid.SliceOfN(names, 0, 3).Draw(t, "outputs"), NonFinite: rapid.SampledFrom([]string{"", "symbol"}).Draw(t, "nonfinite"),
			Kinds: rapid.MapOfN(names, rapid.SampledFrom([]audit.ColumnKind{audit.Real, audit.Symbol, audit.Mixed}), 0, 4).Draw(t, "kinds")}
		for i := range rapid.IntRange(0, 9).Draw(t, "columns without names") {
			r.Kinds[fmt.Sprintf("c%d", 8+i)] = audit.Symbol
		}
		rec.Reading, spec.Recording = r, &rec
		cat := audit.Catalogue{Mechanisms: []audit.MechanismSpec{spec}, Learners: catalogue.Learners, Finders: catalogue.Finders}
		p := drawn(t)
		p.Mechanism = audit.RecordedName
		if p.Mode != pair.UntilRefuted && rapid.Bool().Draw(t, "own split") {
			p.Samples, p.Explore = 600, 300
		}
		a := must.Get(p.Resolve(cat))(t)
		cli := a.Reproduce().CLI
		f, again := readAgain(t, cli)
		samePlan(t, cat, cli, a, again)
		inPlan(t, f.External)
		want := pair.External{Recorded: pair.Recorded{Files: []string{rec.Files[0].Name}, Reading: r}}
		if !audit.EqualJSON(f.External, want) {
			t.Fatalf("%s: %+v, want %+v", cli, f.External, want)
		}
	})
}

func (d described) Sample(audit.Dataset, *stream.Stream, []float64) error { return nil }
