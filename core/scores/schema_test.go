package scores_test

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/bounds"
	"github.com/dpscope/dpscope/core/canary"
	"github.com/dpscope/dpscope/core/report"
	"github.com/dpscope/dpscope/core/scores"
	"github.com/dpscope/dpscope/internal/must"
	"github.com/dpscope/dpscope/mechanisms/source"
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
	s := must.Get(x.of(&jsonschema.ForOptions{TypeSchemas: map[reflect.Type]*jsonschema.Schema{
		reflect.TypeFor[audit.Verdict]():           words(audit.Violation, audit.NoViolation, audit.Inconclusive, audit.Invalid),
		reflect.TypeFor[audit.ClaimKind]():         words(audit.Pure, audit.Approximate),
		reflect.TypeFor[audit.TerminationReason](): words(audit.Completed, audit.Stopped, audit.Failed),
		reflect.TypeFor[audit.Relation]():          words(audit.AddRemove, audit.Replace),
		reflect.TypeFor[source.Design]():           words(source.Sphere, source.Orthogonal, source.RandomGradients, source.TailSingular, source.Vectors, source.DataPoisoning, source.Own),
		reflect.TypeFor[source.Repeats]():          words(source.SameScores, source.OtherScores),
		reflect.TypeFor[source.Scale]():            words(source.UnitNorm, source.MedianNorm),
		reflect.TypeFor[bounds.CanaryInterval]():   words(bounds.CanaryIntervals()...),
		reflect.TypeFor[report.Method]():           words(slices.Compact(methods)...),
		reflect.TypeFor[report.Quantity]():         words(report.Epsilon, report.AUROC, report.TPR),
		reflect.TypeFor[report.Trainings]():        words(report.FairCoins, report.EachItsOwn, report.EachRow, report.EachRowByCoins),
		reflect.TypeFor[canary.Mode]():             words(canary.Sequential, canary.UntilRefuted, canary.Fixed, canary.OneRun),
		reflect.TypeFor[[]byte]():                  {Type: "string"},
		reflect.TypeFor[audit.ParamValue]():        {Types: []string{"number", "string"}},
	}}))(t)
	s.Schema = "https://json-schema.org/draft/2020-12/schema"
	s.Title = x.title
	s.Description = x.about + ", with all that is needed to replay it but for the user's file. Lower bounds are rounded down."
	s.Properties["schemaVersion"].Enum = []any{report.SchemaVersion}
	s.Properties["kind"].Enum = []any{x.kind}
	return must.Get(audit.Canonical(s))(t)
}

// TestSchema: the schemas in docs are those of the Go types. That reports fit them is held
// of all that are kept, see cmd/dpscope.
func TestSchema(t *testing.T) {
	if runtime.GOOS == "js" {
		t.Skip("needs files")
	}
	for _, x := range reportSchemas {
		file, want := filepath.Join("..", "..", "docs", report.SchemaName(x.kind)), x.schema(t)
		if *update {
			must.Do(t, os.WriteFile(file, want, 0o666))
		}
		if got, err := os.ReadFile(file); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%v: %s is not the schema of the Go types; go test ./core/scores -run TestSchema -update writes it anew", err, file)
		}
	}
}
