package suite_test

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"
	check "github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/core"
	"github.com/dpscope/dpscope/core/engine"
	"github.com/dpscope/dpscope/core/pair"
	"github.com/dpscope/dpscope/core/report"
	"github.com/dpscope/dpscope/core/suite"
	"github.com/dpscope/dpscope/internal/must"
)

var update = flag.Bool("update", false, "write the schemas anew")

func words[T ~string](all ...T) *jsonschema.Schema {
	s := &jsonschema.Schema{Type: "string"}
	for _, w := range all {
		s.Enum = append(s.Enum, string(w))
	}
	return s
}

// planSchema is generated from the Go types, with the ranges that Parse checks.
func planSchema(t *testing.T) []byte {
	t.Helper()
	s := must.Get(jsonschema.For[suite.Plan](&jsonschema.ForOptions{TypeSchemas: map[reflect.Type]*jsonschema.Schema{
		reflect.TypeFor[audit.ClaimKind]():  words(audit.Pure, audit.Approximate, audit.Renyi, audit.ZCDP, audit.GaussianDP, audit.Profile),
		reflect.TypeFor[audit.Relation]():   words(audit.AddRemove, audit.Replace, audit.BoundedReplace, audit.LInfinity),
		reflect.TypeFor[audit.ColumnKind](): words(audit.Real, audit.Symbol, audit.Mixed),
		reflect.TypeFor[audit.ParamValue](): {Types: []string{"number", "string"}},
	}}))(t)
	s.Schema = "https://json-schema.org/draft/2020-12/schema"
	s.Title = "dpscope plan"
	s.Description = "Several audits of differential privacy in one run, which share one error."
	p := s.Properties
	p["version"].Enum = []any{suite.Version}
	p["beta"].Minimum, p["beta"].Maximum = new(float64(1e-9)), new(float64(0.5))
	p["beta"].Description = "allowed error of all audits together; each gets an equal share; default 0.05"
	p["confidence"].Minimum, p["confidence"].ExclusiveMaximum = new(float64(0.5)), new(float64(1))
	p["confidence"].Description = "1 - beta, instead of it"
	p["seed"].Types, p["seed"].Type = nil, "integer"
	p["seed"].Minimum, p["seed"].Maximum = new(float64(0)), new(float64(audit.MaxSeed))
	p["seed"].Description = "the seed of each audit follows from it and the audit's name; default 42"
	s.Not = &jsonschema.Schema{Required: []string{"beta", "confidence"}}
	audits := p["audits"]
	audits.Types, audits.Type = nil, "array"
	audits.MinItems, audits.MaxItems = new(1), new(suite.MaxAudits)
	e := audits.Items
	for _, decided := range []string{"version", "beta", "seed"} { // by the whole plan
		delete(e.Properties, decided)
	}
	e.Required = []string{"name"}
	e.Properties["name"].MinLength = new(1)
	e.Properties["name"].Description = "distinct within the plan"
	e.Properties["location"].Description = "FILE or FILE:LINE of the mechanism in your code"
	e.Properties["recorded"].Description = "outputs that another program recorded, instead of a mechanism"
	files := e.Properties["recorded"].Properties["files"]
	files.Types, files.Type, files.MinItems, files.MaxItems = nil, "array", new(1), new(2)
	for _, kind := range []string{"canaries", "scores"} {
		own := e.Properties[kind]
		own.Types, own.Type = nil, "object"
		if !slices.Contains(own.Required, "claim") {
			own.Required = append(own.Required, "claim")
		}
		for _, decided := range []string{"version", "beta", "seed"} {
			delete(own.Properties, decided)
			own.Required = slices.DeleteFunc(own.Required, func(name string) bool { return name == decided })
		}
		own.Description = "an audit of another kind, instead of a mechanism; the fields of its plan"
	}
	given := e.Properties["scores"].Properties["files"]
	given.Types, given.Type, given.MinItems, given.MaxItems = nil, "array", new(1), new(2)
	e.Properties["data"].Description = "the file of vectors or examples of canaries"
	e.OneOf = []*jsonschema.Schema{{Required: []string{"mechanism"}}, {Required: []string{"recorded", "claim"}}, {Required: []string{"brought", "claim"}},
		{Required: []string{"canaries"}}, {Required: []string{"scores"}}}
	return must.Get(audit.Canonical(s))(t)
}

// reportSchema refers to the schema of a single report.
func reportSchema(t *testing.T) []byte {
	t.Helper()
	var refs []*jsonschema.Schema
	for _, k := range core.Kinds() {
		refs = append(refs, &jsonschema.Schema{Ref: report.SchemaName(k.Name)})
	}
	s := must.Get(jsonschema.For[suite.Report](&jsonschema.ForOptions{TypeSchemas: map[reflect.Type]*jsonschema.Schema{
		reflect.TypeFor[audit.Verdict](): words(audit.Violation, audit.NoViolation, audit.Inconclusive, audit.Invalid),
		reflect.TypeFor[report.View]():   {AnyOf: refs},
	}}))(t)
	s.Schema = "https://json-schema.org/draft/2020-12/schema"
	s.Title = "dpscope plan report"
	s.Description = "What the audits of a plan found, with all that is needed to replay each but for files of recorded outputs."
	s.Properties["kind"].Enum = []any{suite.ReportKind}
	s.Properties["schemaVersion"].Enum = []any{report.SchemaVersion}
	return must.Get(audit.Canonical(s))(t)
}

// compiled checks that the schema in docs is current, and compiles it.
func compiled(t *testing.T, name string, want []byte) *check.Schema {
	t.Helper()
	file := filepath.Join("..", "..", "docs", name)
	if *update {
		must.Do(t, os.WriteFile(file, want, 0o644))
	}
	if got, err := os.ReadFile(file); err != nil || !bytes.Equal(got, want) {
		t.Errorf("%v: %s is not the schema of the Go types; go test ./core/suite -run Schema -update writes it", err, file)
	}
	return must.Get(check.NewCompiler().Compile(must.Get(filepath.Abs(file))(t)))(t) // in Node it is not found by itself
}

func fits(s *check.Schema, data string) error {
	v, err := check.UnmarshalJSON(strings.NewReader(data))
	if err != nil {
		return err
	}
	return s.Validate(v)
}

func TestPlanSchema(t *testing.T) {
	s := compiled(t, suite.SchemaName, planSchema(t))
	must.Do(t, fits(s, good))
	// Schema and parser agree.
	for _, text := range []string{
		`{"version": 2, "audits": [{"name": "a", "mechanism": "m"}]}`,
		`{"version": 1, "audits": []}`,
		`{"version": 1, "audits": [{"name": "", "mechanism": "m"}]}`,
		`{"version": 1, "audits": [{"name": "a"}]}`,
		`{"version": 1, "audits": [{"name": "a", "recorded": {"files": ["x"]}}]}`,
		`{"version": 1, "audits": [{"name": "a", "mechanism": "m", "recorded": {"files": ["x"]}, "claim": {"epsilon": 1}}]}`,
		`{"version": 1, "audits": [{"name": "a", "mechanism": "m", "sample": 5}]}`,
		`{"version": 1, "beta": 0.6, "audits": [{"name": "a", "mechanism": "m"}]}`,
		`{"version": 1, "beta": 0.1, "confidence": 0.9, "audits": [{"name": "a", "mechanism": "m"}]}`,
		`{"version": 1, "audits": [{"name": "a", "recorded": {"files": ["x", "y", "z"]}, "claim": {"epsilon": 1}}]}`,
	} {
		if fits(s, text) == nil {
			t.Errorf("the schema lets pass %s", text)
		}
		must.Refuse(t, must.Err(suite.Parse([]byte(text), "plan")), "", text, "the parser lets pass")
	}
}

// ran is a plan's report.
func ran(t *testing.T) (*suite.File, suite.Report) {
	t.Helper()
	f := parse(t, `{"version": 1, "seed": 3, "audits": [
		{"name": "a", "mechanism": "answer", "samples": 500, "explore": 100, "trials": 1},
		{"name": "b", "mechanism": "answer", "claim": {"epsilon": 0.5}, "samples": 2000, "explore": 500, "trials": 1}]}`)
	cat := exact()
	var audited []suite.Audited
	for i, e := range f.Audits {
		r := must.Get(pair.Run{Plan: f.Audit(i).(pair.Plan), Catalogue: cat, Pool: engine.LocalPool(1), Generator: audit.Generator{Name: "dpscope", Version: audit.Version}}.Do(context.Background()))(t)
		audited = append(audited, suite.Audited{Name: e.Name, Report: r})
	}
	return f, suite.NewReport(f, audit.Generator{Name: "dpscope", Version: audit.Version}, audited)
}

func TestReportSchema(t *testing.T) {
	s := compiled(t, suite.ReportSchemaName, reportSchema(t))
	f, r := ran(t)
	if r.Verdict != audit.Violation || r.Plan.SHA256 != f.SHA256 || !strings.HasPrefix(r.Summary, "2 audits: 1 violation (b), 1 with no violation found (a).") {
		t.Errorf("verdict %s: %s", r.Verdict, r.Summary)
	}
	data := must.Get(audit.Canonical(r))(t)
	must.Do(t, fits(s, string(data)))
	back, err := suite.ParseReport(data)
	if err != nil || !audit.EqualJSON(back, r) {
		t.Errorf("read again it is another, error %v", err)
	}
	for _, change := range [][2]string{{`"verdict": "violation"`, `"verdict": "private"`}, {`"kind": "plan-report"`, `"kind": "report"`}, {`"lowerBound"`, `"lowerBoun"`}, {`"name": "a"`, `"name": "c"`}} {
		text := strings.ReplaceAll(string(data), change[0], change[1])
		if text == string(data) {
			t.Fatalf("no %s in the report", change[0])
		}
		must.Refuse(t, must.Err(suite.ParseReport([]byte(text))), "", change[1], "passes")
	}
}

// changed changes the report of an audit of a mechanism.
func changed(r *suite.Report, i int, change func(*pair.Report)) {
	own := r.Audits[i].Report.(pair.Report)
	change(&own)
	r.Audits[i].Report = own
}

// What the report says of all its audits is checked.
func TestVerifyPlanReport(t *testing.T) {
	f, r := ran(t)
	if v := r.Verify(f); !v.OK() || len(v.Skipped) != 1 {
		t.Errorf("an honest report: %+v", v)
	}
	if v := r.Verify(nil); !v.OK() || len(v.Skipped) != 2 {
		t.Errorf("an honest report without its plan: %+v", v)
	}
	other := parse(t, `{"version": 1, "seed": 3, "audits": [{"name": "a", "mechanism": "answer"}, {"name": "c", "mechanism": "answer"}]}`)
	if v := r.Verify(other); v.OK() {
		t.Error("another plan passes")
	}
	for what, change := range map[string]func(*suite.Report){
		"a larger share":      func(r *suite.Report) { r.Plan.Share *= 2 },
		"fewer audits":        func(r *suite.Report) { r.Plan.Names = r.Plan.Names[:1] },
		"another seed":        func(r *suite.Report) { r.Plan.Seed++ },
		"a milder verdict":    func(r *suite.Report) { r.Verdict = audit.NoViolation },
		"other words":         func(r *suite.Report) { r.Summary = "All private." },
		"a seed of its own":   func(r *suite.Report) { changed(r, 0, func(x *pair.Report) { x.Plan.Seed++ }) },
		"an error of its own": func(r *suite.Report) { changed(r, 1, func(x *pair.Report) { x.Plan.Beta = 0.05 }) },
	} {
		var copy suite.Report
		data := must.Get(json.Marshal(r))(t)
		must.Do(t, json.Unmarshal(data, &copy))
		change(&copy)
		if v := copy.Verify(nil); v.OK() {
			t.Errorf("%s passes", what)
		}
	}
}

// The plan that the documentation shows is one.
func TestDocumentedPlan(t *testing.T) {
	page := must.Get(os.ReadFile(filepath.Join("..", "..", "docs", "ci.md")))(t)
	_, after, ok := strings.Cut(string(page), "```json\n")
	text, _, closed := strings.Cut(after, "```")
	if !ok || !closed {
		t.Fatal("docs/ci.md shows no plan")
	}
	must.Do(t, fits(compiled(t, suite.SchemaName, planSchema(t)), text))
	if f := parse(t, text); len(f.Audits) != 3 || f.Beta != 0.05 {
		t.Errorf("%+v", f.Plan)
	}
}
