package scores_test

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"
	check "github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/bounds"
	"github.com/dpscope/dpscope/core/canary"
	"github.com/dpscope/dpscope/core/canary/source"
	"github.com/dpscope/dpscope/core/engine"
	"github.com/dpscope/dpscope/core/membership"
	"github.com/dpscope/dpscope/core/report"
	"github.com/dpscope/dpscope/core/scores"
)

var update = flag.Bool("update", false, "write the schema anew")

func words[T ~string](all ...T) *jsonschema.Schema {
	s := &jsonschema.Schema{Type: "string"}
	for _, w := range all {
		s.Enum = append(s.Enum, string(w))
	}
	return s
}

// reportSchema describes a kind of report.
type reportSchema struct {
	kind, title, about string
	of                 func(*jsonschema.ForOptions) (*jsonschema.Schema, error)
}

var reportSchemas = []reportSchema{
	{canary.Kind, "dpscope canary report", "What an audit with canaries found", jsonschema.For[canary.Report]},
	{scores.Kind, "dpscope scores report", "What an audit of membership scores found", jsonschema.For[scores.Report]},
}

// schema is generated from the Go types, with the words that named types allow.
func (x reportSchema) schema(t *testing.T) []byte {
	t.Helper()
	methods := append(scores.FlatMethods(), scores.MatrixMethods()...)
	methods = append(methods, bounds.MethodAUROC, bounds.MethodROCRanks)
	slices.Sort(methods)
	s, err := x.of(&jsonschema.ForOptions{TypeSchemas: map[reflect.Type]*jsonschema.Schema{
		reflect.TypeFor[audit.Verdict]():           words(audit.Violation, audit.NoViolation, audit.Inconclusive, audit.Invalid),
		reflect.TypeFor[audit.ClaimKind]():         words(audit.Pure, audit.Approximate),
		reflect.TypeFor[audit.TerminationReason](): words(audit.Completed, audit.Stopped, audit.Failed),
		reflect.TypeFor[audit.Relation]():          words(audit.AddRemove, audit.Replace),
		reflect.TypeFor[source.Design]():           words(source.Sphere, source.Orthogonal, source.RandomGradients, source.TailSingular, source.Vectors, source.DataPoisoning, source.Own),
		reflect.TypeFor[source.Repeats]():          words(source.SameScores, source.OtherScores),
		reflect.TypeFor[source.Scale]():            words(source.UnitNorm, source.MedianNorm, source.OwnNorm),
		reflect.TypeFor[bounds.CanaryInterval]():   words(bounds.CanaryIntervals()...),
		reflect.TypeFor[report.Method]():           words(slices.Compact(methods)...),
		reflect.TypeFor[report.Quantity]():         words(report.Epsilon, report.AUROC, report.TPR),
		reflect.TypeFor[report.Trainings]():        words(report.FairCoins, report.EachItsOwn, report.EachRow, report.EachRowByCoins),
		reflect.TypeFor[canary.Mode]():             words(canary.Sequential, canary.UntilRefuted, canary.Fixed, canary.OneRun),
		reflect.TypeFor[[]byte]():                  {Type: "string"},
		reflect.TypeFor[audit.ParamValue]():        {Types: []string{"number", "string"}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	s.Schema = "https://json-schema.org/draft/2020-12/schema"
	s.Title = x.title
	s.Description = x.about + ", with all that is needed to replay it but for the user's file. Lower bounds are rounded down."
	s.Properties["schemaVersion"].Enum = []any{report.SchemaVersion}
	s.Properties["kind"].Enum = []any{x.kind}
	data, err := audit.Canonical(s)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// compiled checks that the schema in docs is that of the Go types.
func (x reportSchema) compiled(t *testing.T) *check.Schema {
	t.Helper()
	file := filepath.Join("..", "..", "docs", report.SchemaName(x.kind))
	want := x.schema(t)
	if *update {
		if err := os.WriteFile(file, want, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(file)
	if err != nil || !bytes.Equal(got, want) {
		t.Errorf("%v: %s is not the schema of the Go types; go test ./core/scores -run TestSchema -update writes it anew", err, file)
	}
	var doc any
	if err := json.Unmarshal(want, &doc); err != nil {
		t.Fatal(err)
	}
	c := check.NewCompiler()
	if err := c.AddResource("report.json", doc); err != nil {
		t.Fatal(err)
	}
	compiled, err := c.Compile("report.json")
	if err != nil {
		t.Fatal(err)
	}
	return compiled
}

// fits checks a report against its schema and returns it as JSON.
func fits(t *testing.T, s *check.Schema, report any) []byte {
	t.Helper()
	text, err := audit.Canonical(report)
	if err != nil {
		t.Fatal(err)
	}
	var v any
	if err := json.Unmarshal(text, &v); err != nil {
		t.Fatal(err)
	}
	if err := s.Validate(v); err != nil {
		t.Error(err)
	}
	return text
}

// TestSchemaOfScores: reports of scores fit their schema.
func TestSchemaOfScores(t *testing.T) {
	if runtime.GOOS == "js" {
		t.Skip("needs files")
	}
	claim := audit.DPClaim(2, 1e-5)
	compiled := reportSchemas[1].compiled(t)
	flat := scores.Scores{In: []float64{2, 3, 4, 5, 6, 7, 8, 9, 9, 9, 9, 9}, Out: []float64{1, 2, 3, 1, 2, 3, 1, 2, 1, 1, 1, 1}, Files: []scores.ScoreFile{{Name: "a.csv", SHA256: "0a"}}, Notes: []string{"a note"}}
	matrix := scores.Scores{Runs: 40, Canaries: 3}
	for i := range 120 {
		matrix.Score, matrix.Member = append(matrix.Score, float64(i%3)), append(matrix.Member, i%3 == 2)
		if i%3 == 2 {
			matrix.In = append(matrix.In, 2)
		} else {
			matrix.Out = append(matrix.Out, float64(i%3))
		}
	}
	for _, x := range []struct {
		s scores.Scores
		m report.Method
		r audit.Relation
	}{{flat, "", audit.AddRemove}, {flat, report.MethodClopperPearson, audit.Replace}, {matrix, "", audit.Replace}, {matrix, "", audit.AddRemove}, {matrix, report.MethodOneRun, audit.AddRemove}} {
		r, err := scores.Run(scores.Plan{Version: scores.PlanVersion, Claim: &claim, Relation: x.r, Method: x.m}, x.s, audit.Generator{Name: "dpscope"})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := scores.ParseReport(fits(t, compiled, r)); err != nil {
			t.Error(err)
		}
	}
}

// TestSchema: the schema in docs is that of the Go types, and reports fit it:
// those that completed, were stopped, and of every source.
func TestSchema(t *testing.T) {
	if runtime.GOOS == "js" {
		t.Skip("needs files")
	}
	compiled := reportSchemas[0].compiled(t)
	claim := audit.DPClaim(2, 1e-5)
	stopped, stop := context.WithCancel(context.Background())
	stop()
	for _, x := range []struct {
		ctx  context.Context
		plan canary.Plan
		file string
	}{
		{context.Background(), canary.Plan{Subject: source.Subject{Source: "gaussian-sum"}, Runs: 64}, ""},
		{context.Background(), canary.Plan{Subject: source.Subject{Source: "gaussian-sum", Design: source.Vectors}, Runs: 64, K: 2}, "1,2\n2,1\n"},
		{context.Background(), canary.Plan{Subject: source.Subject{Source: "dp-sgd", Parameters: audit.Params{"steps": {Number: 2}, "examples": {Number: 20}}}, Runs: 12, K: 1}, ""},
		{stopped, canary.Plan{Subject: source.Subject{Source: "gaussian-sum"}, Runs: 64}, ""},
		{context.Background(), canary.Plan{Mode: canary.OneRun, Subject: source.Subject{Source: "gaussian-sum"}, GuessPlan: membership.GuessPlan{Guesses: []int{20, 40}}}, ""},
		{stopped, canary.Plan{Mode: canary.OneRun, Subject: source.Subject{Source: "gaussian-sum"}}, ""},
		{context.Background(), canary.Plan{Mode: canary.UntilRefuted, Subject: source.Subject{Source: "gaussian-sum"}, Runs: 64}, ""},
	} {
		x.plan.Version, x.plan.Claim = canary.PlanVersion, &claim
		var data []byte
		if x.file != "" {
			data = []byte(x.file)
		}
		a, err := x.plan.Resolve(source.Sources(), data)
		if err != nil {
			t.Fatal(err)
		}
		r, err := report.Do(x.ctx, a, &engine.Runner{Pool: engine.LocalPool(2)}, nil, audit.Generator{})
		if err != nil {
			t.Fatal(err)
		}
		text := fits(t, compiled, r)
		if _, err := canary.ParseReport(text); err != nil {
			t.Errorf("%+v: %v", x.plan, err)
		}
	}
}
