package pair_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"
	check "github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/bounds"
	"github.com/dpscope/dpscope/bounds/published"
	"github.com/dpscope/dpscope/core/pair"
	"github.com/dpscope/dpscope/core/pair/chart"
	"github.com/dpscope/dpscope/core/report"
	"github.com/dpscope/dpscope/internal/must"
)

var update = flag.Bool("update", false, "write golden files anew")

var schemaFile = filepath.Join("..", "..", "docs", report.SchemaName(report.Pair))

func words(all ...string) *jsonschema.Schema {
	s := &jsonschema.Schema{Type: "string"}
	for _, w := range all {
		s.Enum = append(s.Enum, w)
	}
	return s
}

// schema is generated from the Go types, with the words that named types allow.
func schema(t *testing.T) []byte {
	t.Helper()
	s := must.Get(jsonschema.For[pair.Report](&jsonschema.ForOptions{TypeSchemas: map[reflect.Type]*jsonschema.Schema{
		reflect.TypeFor[audit.Verdict]():           words(string(audit.Violation), string(audit.NoViolation), string(audit.Inconclusive), string(audit.Invalid)),
		reflect.TypeFor[audit.ClaimKind]():         words(string(audit.Pure), string(audit.Approximate), string(audit.Renyi), string(audit.ZCDP), string(audit.GaussianDP), string(audit.Profile)),
		reflect.TypeFor[audit.Relation]():          words(string(audit.AddRemove), string(audit.Replace), string(audit.BoundedReplace), string(audit.LInfinity), string(audit.Given)),
		reflect.TypeFor[audit.ColumnKind]():        words(string(audit.Real), string(audit.Symbol), string(audit.Mixed)),
		reflect.TypeFor[report.Quantity]():         words(report.Texts(report.Quantities())...),
		reflect.TypeFor[chart.Kind]():              words(string(chart.Histogram), string(chart.Outcomes), string(chart.Score)),
		reflect.TypeFor[audit.TerminationReason](): words(string(audit.Completed), string(audit.Refuted), string(audit.Stopped), string(audit.Failed)),
		reflect.TypeFor[pair.Bet]():                {Type: "string"},
		reflect.TypeFor[[]byte]():                  {Type: "string"},
		reflect.TypeFor[pair.Mode]():               words(string(pair.Climbing), string(pair.Fixed), string(pair.UntilRefuted)),
		reflect.TypeFor[bounds.Method](): words(string(bounds.MethodExact), string(bounds.MethodRenyiBetting), string(pair.MethodSequential), string(published.MethodHistogram), string(published.MethodRenyiCorrected), string(published.MethodKatz), string(published.MethodKatzDelta),
			string(published.MethodRenyiPublished), string(published.MethodHistogramPublished)),
		reflect.TypeFor[audit.ParamValue](): {Types: []string{"number", "string"}},
		reflect.TypeFor[json.RawMessage]():  {Type: "object", Description: "the model, as its learner writes it"},
	}}))(t)
	s.Schema = "https://json-schema.org/draft/2020-12/schema"
	s.Title = "dpscope report"
	s.Description = "What an audit of differential privacy found, with all that is needed to replay it. Lower bounds are rounded down."
	s.Properties["schemaVersion"].Enum = []any{report.SchemaVersion}
	s.Properties["kind"].Enum = []any{report.Pair}
	s.Properties["confidence"].ExclusiveMinimum, s.Properties["confidence"].ExclusiveMaximum = new(0.0), new(1.0)
	s.Properties["lowerBound"].Minimum = new(0.0)
	return must.Get(audit.Canonical(s))(t)
}

func TestSchemaIsCurrent(t *testing.T) {
	want := schema(t)
	if *update {
		must.Do(t, os.WriteFile(schemaFile, want, 0o644))
	}
	got := must.Get(os.ReadFile(schemaFile))(t)
	if !bytes.Equal(got, want) {
		t.Errorf("%s is not what the types say; go test ./core/pair -run TestSchemaIsCurrent -update writes it", schemaFile)
	}
}

// validate checks a report's JSON against the schema file.
func validate(t *testing.T, report []byte) {
	t.Helper()
	c := check.NewCompiler() // which finds no files by itself where Node runs the tests
	must.Do(t, c.AddResource("report.json", must.Get(check.UnmarshalJSON(bytes.NewReader(must.Get(os.ReadFile(schemaFile))(t))))(t)))
	value := must.Get(check.UnmarshalJSON(bytes.NewReader(report)))(t)
	must.Do(t, must.Get(c.Compile("report.json"))(t).Validate(value))
}
