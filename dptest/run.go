package dptest

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/core/pair"
	"github.com/dpscope/dpscope/core/suite"
)

// RequireNoViolation fails the test at once if the audit refutes the claim, or could not be done. With go test
// -artifacts the report lies among the test's artifacts, as JSON.
func RequireNoViolation(t testing.TB, m audit.Mechanism, claim audit.Claim, opts Options) {
	t.Helper()
	_, err := audited(t, m, claim, opts)
	if err == nil {
		return
	}
	replay := ""
	if v, ok := errors.AsType[*ViolationError](err); ok {
		if v.Report.Reproduce.CLI == "" {
			replay = fmt.Sprintf("\nReplay: go test -run '%s' with dptest.Options{Seed: %d, Samples: %d}", runPattern(t.Name()), opts.Seed, opts.samples())
		}
		replay += fmt.Sprintf("\nA mechanism that keeps its claim fails this test with probability at most %g.", opts.falseAlarm())
	}
	t.Fatalf("%v%s", err, replay)
}

func runPattern(name string) string {
	return "^" + strings.ReplaceAll(regexp.QuoteMeta(name), "/", "$/^") + "$"
}

// ExpectViolation fails the test at once unless the audit refutes the claim.
func ExpectViolation(t testing.TB, m audit.Mechanism, claim audit.Claim, opts Options) {
	t.Helper()
	r, err := audited(t, m, claim, opts)
	var v *ViolationError
	switch {
	case errors.As(err, &v):
	case err != nil:
		t.Fatalf("dptest: a violation of %s was expected, but the audit did not come to a verdict: %v", claim, err)
	default:
		t.Fatalf("dptest: a violation of %s was expected, but none was found with seed %d and %d samples a side.\n%s", claim, opts.Seed, r.Plan.Samples, r.Summary)
	}
}

// Run audits every pair, by default those of [From], in a subtest, and the domain, where there is one, in another. They
// share FalseAlarm in equal parts.
func Run(t *testing.T, m audit.Mechanism, claim audit.Claim, opts Options) {
	t.Helper()
	spec, params, err := specOf(m, claim, opts)
	if err != nil {
		t.Fatal(err)
	}
	pairs, search := opts.Pairs, opts.Domain != nil
	if !search {
		pairs = spec.Pairs(params, cmp.Or(opts.Relation, spec.Relations(params)[0]))
	}
	n := len(pairs)
	opts.FalseAlarm = suite.Share(opts.falseAlarm(), max(1, audit.Pick(search, n+1, n)))
	for _, p := range pairs {
		t.Run(cmp.Or(p.Label, p.First.Words()+" against "+p.Second.Words()), func(t *testing.T) {
			t.Helper()
			one := opts
			one.Pairs, one.only = []audit.Pair{p}, &p
			RequireNoViolation(t, m, claim, one)
		})
	}
	if search {
		t.Run("search", func(t *testing.T) {
			t.Helper()
			wide := opts
			wide.Pairs = nil
			RequireNoViolation(t, m, claim, wide)
		})
	}
}

// goodbye is how long before the test's deadline an audit ends, so that it says so.
const goodbye = 2 * time.Second

func audited(t testing.TB, m audit.Mechanism, claim audit.Claim, opts Options) (pair.Report, error) {
	t.Helper()
	t.Logf("dptest: seed %d, %d samples a side", opts.Seed, opts.samples())
	ctx := context.Background()
	if d, ok := t.(interface{ Deadline() (time.Time, bool) }); ok {
		if deadline, ok := d.Deadline(); ok {
			var end func()
			ctx, end = context.WithDeadlineCause(ctx, deadline.Add(-goodbye), errors.New("dptest: the audit does not end before the test's deadline; set Options.Samples, or go test -timeout"))
			defer end()
		}
	}
	r, err := Audit(ctx, m, claim, opts)
	if r.Schema != "" {
		t.Logf("dptest: %s", r.Summary)
		keep(t, r)
	}
	if errors.Is(err, context.DeadlineExceeded) {
		err = context.Cause(ctx)
	}
	return r, err
}

// keep writes the report among the test's artifacts, which may have several.
func keep(t testing.TB, r pair.Report) {
	t.Helper()
	if f := flag.Lookup("test.artifacts"); f == nil || f.Value.String() != "true" {
		return
	}
	name := regexp.MustCompile(`[^\w-]`).ReplaceAllString(r.Plan.Mechanism, "-")
	data, err := audit.Canonical(r)
	var f *os.File
	if err == nil {
		f, err = os.CreateTemp(t.ArtifactDir(), fmt.Sprintf("dpscope-%.60s-seed%d-*.json", name, r.Plan.Seed))
	}
	if err == nil {
		_, err = f.Write(data)
		t.Logf("dptest: report in %s", f.Name())
		err = errors.Join(err, f.Close())
	}
	want(t, err == nil, "dptest: the report was not written: %v", err)
}
