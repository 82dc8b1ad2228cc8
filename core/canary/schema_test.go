package canary_test

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"
	check "github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/dpscope/dpscope/core"
	"github.com/dpscope/dpscope/core/bound"
	"github.com/dpscope/dpscope/core/canary"
)

var update = flag.Bool("update", false, "write the schema anew")

func words[T ~string](all ...T) *jsonschema.Schema {
	s := &jsonschema.Schema{Type: "string"}
	for _, w := range all {
		s.Enum = append(s.Enum, string(w))
	}
	return s
}

// schema is generated from the Go types, with the words that named types allow.
func schema(t *testing.T) []byte {
	t.Helper()
	s, err := jsonschema.For[canary.Report](&jsonschema.ForOptions{TypeSchemas: map[reflect.Type]*jsonschema.Schema{
		reflect.TypeFor[core.Verdict]():           words(core.Violation, core.NoViolation, core.Inconclusive, core.Invalid),
		reflect.TypeFor[core.ClaimKind]():         words(core.Pure, core.Approximate),
		reflect.TypeFor[core.TerminationReason](): words(core.Completed, core.Stopped, core.Failed),
		reflect.TypeFor[canary.Form]():            words(canary.AddRemove, canary.ReplaceOne),
		reflect.TypeFor[canary.Design]():          words(canary.Sphere, canary.Orthogonal, canary.RandomGradients, canary.TailSingular, canary.Vectors, canary.DataPoisoning),
		reflect.TypeFor[canary.Scale]():           words(canary.UnitNorm, canary.MedianNorm, canary.OwnNorm),
		reflect.TypeFor[bound.CanaryInterval]():   words(bound.CanaryIntervals()...),
		reflect.TypeFor[core.ParamValue]():        {Types: []string{"number", "string"}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	s.Schema = "https://json-schema.org/draft/2020-12/schema"
	s.Title = "dpscope canary report"
	s.Description = "What an audit with canaries found, with all that is needed to replay it but for the user's file. Lower bounds are rounded down."
	s.Properties["schemaVersion"].Enum = []any{canary.SchemaVersion}
	s.Properties["kind"].Enum = []any{canary.ReportKind}
	data, err := core.Canonical(s)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// TestSchema: the schema in docs is that of the Go types, and reports fit it:
// those that completed, were stopped, and of every source.
func TestSchema(t *testing.T) {
	if runtime.GOOS == "js" {
		t.Skip("needs files")
	}
	file := filepath.Join("..", "..", "docs", canary.SchemaName)
	want := schema(t)
	if *update {
		if err := os.WriteFile(file, want, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(file)
	if err != nil || !bytes.Equal(got, want) {
		t.Errorf("%v: %s is not the schema of the Go types; go test ./core/canary -run TestSchema -update writes it anew", err, file)
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
	claim := core.DPClaim(2, 1e-5)
	stopped, stop := context.WithCancel(context.Background())
	stop()
	for _, x := range []struct {
		ctx  context.Context
		plan canary.Plan
		file string
	}{
		{context.Background(), canary.Plan{Source: "gaussian-sum", Runs: 64}, ""},
		{context.Background(), canary.Plan{Source: "gaussian-sum", Runs: 64, K: 2, Design: canary.Vectors}, "1,2\n2,1\n"},
		{context.Background(), canary.Plan{Source: "dp-sgd", Runs: 6, K: 1, Parameters: core.Params{"steps": {Number: 2}, "examples": {Number: 20}}}, ""},
		{stopped, canary.Plan{Source: "gaussian-sum", Runs: 64}, ""},
	} {
		x.plan.Version, x.plan.Claim = canary.PlanVersion, &claim
		var data []byte
		if x.file != "" {
			data = []byte(x.file)
		}
		pool := core.LocalPool(core.Catalogue{Canary: canary.Engine(canary.Sources())}, 2)
		r, err := canary.Run{Plan: x.plan, File: data, Sources: canary.Sources(), Pool: pool}.Do(x.ctx)
		if err != nil {
			t.Fatal(err)
		}
		text, err := core.Canonical(r)
		if err != nil {
			t.Fatal(err)
		}
		var v any
		if err := json.Unmarshal(text, &v); err != nil {
			t.Fatal(err)
		}
		if err := compiled.Validate(v); err != nil {
			t.Errorf("%+v: %v", x.plan, err)
		}
		if _, err := canary.ParseReport(text); err != nil {
			t.Errorf("%+v: %v", x.plan, err)
		}
	}
}
