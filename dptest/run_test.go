package dptest_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/audit/stream"
	"github.com/dpscope/dpscope/core/pair"
	"github.com/dpscope/dpscope/dptest"
	"github.com/dpscope/dpscope/internal/must"
	"github.com/dpscope/dpscope/mechanisms"
)

// Every pair has a subtest; the domain has one more.
func TestRunPasses(t *testing.T) {
	domain := audit.Domain{Columns: 1, MaxRows: 3, Lower: []float64{0}, Upper: []float64{1}}
	dptest.Run(t, count{1}, audit.DPClaim(1, 0), dptest.Options{Domain: &domain, Samples: 2000, Trials: 2, Learner: "histogram", Pairs: []audit.Pair{
		{Label: "one row more", First: audit.Records(1), Second: audit.Records(1, 0)},
		{First: audit.Records(), Second: audit.Records(1)},
	}})
}

func TestExpectViolation(t *testing.T) {
	opts := dptest.Options{Pairs: oneRowMore, Samples: 5000, Seed: 1, Learner: "histogram"}
	dptest.ExpectViolation(t, count{0.5}, audit.DPClaim(1, 0), opts)
	rec := &recorder{}
	dptest.ExpectViolation(rec, count{1}, audit.DPClaim(1, 0), opts)
	must.Say(t, rec.failed, "a violation of epsilon = 1 was expected", "none was found with seed 1 and 5000 samples a side", "No violation found: epsilon > 0.")
	must.Say(t, rec.log, "seed 1, 5000 samples a side", "No violation found")
	rec = &recorder{}
	dptest.ExpectViolation(rec, count{1}, audit.DPClaim(-1, 0), opts)
	must.Say(t, rec.failed, "did not come to a verdict: epsilon is -1")
}

// slow takes a millisecond an output.
type slow struct{ count }

func (s slow) Sample(d audit.Dataset, r *stream.Stream, out []float64) error {
	time.Sleep(time.Duration(len(out)) * time.Millisecond)
	return s.count.Sample(d, r, out)
}

const helper = "DPTEST_HELPER"

// TestHelper are the tests that fail, or need flags: they run in a process of
// their own.
func TestHelper(t *testing.T) {
	switch os.Getenv(helper) {
	case "subtests":
		dptest.Run(t, count{0.5}, audit.DPClaim(1, 0), dptest.Options{Name: "half count", Samples: 5000, Seed: 3, Learner: "histogram", Pairs: []audit.Pair{
			{Label: "same size (loud)", First: audit.Records(1), Second: audit.Records(1, 0)},
			{First: audit.Records(0), Second: audit.Records(0, 0)},
		}})
	case "search":
		domain := audit.Domain{Columns: 1, MaxRows: 3, Lower: []float64{0}, Upper: []float64{1}}
		dptest.Run(t, count{0.5}, audit.DPClaim(1, 0), dptest.Options{Samples: 5000, Seed: 3, Trials: 2, Learner: "histogram", Pairs: oneRowMore, Domain: &domain})
	case "registered":
		dptest.Run(t, dptest.From(mechanisms.All(), "svt1"), audit.DPClaim(1, 0), dptest.Options{Samples: 1000, Learner: "histogram"})
	case "size":
		dptest.RequireNoViolation(t, count{2}, audit.DPClaim(1, 0), dptest.Options{Pairs: oneRowMore, Learner: "histogram"})
	case "slow":
		dptest.RequireNoViolation(t, slow{count{2}}, audit.DPClaim(1, 0), dptest.Options{Pairs: oneRowMore, Learner: "histogram"})
	}
}

// run runs TestHelper with flags and returns what it prints.
func run(t *testing.T, what string, flags ...string) (out string, passed bool) {
	t.Helper()
	exe := must.Get(os.Executable())(t)
	cmd := exec.Command(exe, append([]string{"-test.run=^TestHelper$", "-test.v"}, flags...)...)
	cmd.Env = append(os.Environ(), helper+"="+what)
	data, err := cmd.CombinedOutput()
	return string(data), err == nil
}

// Every broken pair fails a subtest of its own, the errors add up, the report of
// each lies among its artifacts, and the message says how to run it alone.
func TestRunFails(t *testing.T) {
	dir := t.TempDir()
	out, passed := run(t, "subtests", "-test.artifacts", "-test.outputdir="+dir)
	if passed {
		t.Fatalf("it passes:\n%s", out)
	}
	must.Say(t, out, "--- FAIL: TestHelper/same_size_(loud)", "--- FAIL: TestHelper/{0}_against_{0,_0}",
		`go test -run '^TestHelper$/^same_size_\(loud\)$' with dptest.Options{Seed: 3, Samples: 5000}`, "with probability at most 0.0005.", "99.95 % confidence")
	var reports []string
	filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if strings.HasSuffix(path, ".json") {
			reports = append(reports, path)
		}
		return err
	})
	if len(reports) != 2 {
		t.Fatalf("reports %v, want 2", reports)
	}
	for _, path := range reports {
		data := must.Get(os.ReadFile(path))(t)
		r, err := pair.ParseReport(data)
		if err != nil || r.Verdict != audit.Violation || !strings.HasPrefix(filepath.Base(path), "dpscope-half-count-seed3-") {
			t.Errorf("%s: verdict %s, %v", path, r.Verdict, err)
		}
		must.Say(t, out, "report in "+path)
	}
}

// The search of a domain has its part of the error, too.
func TestSearchFails(t *testing.T) {
	out, passed := run(t, "search")
	must.Say(t, out, "--- FAIL: TestHelper/search", "with probability at most 0.0005.")
	if passed || strings.Contains(out, "at most 0.001") {
		t.Errorf("passed %v:\n%s", passed, out)
	}
}

// Without -artifacts nothing is written, not even to a folder that is removed.
func TestNoArtifacts(t *testing.T) {
	dir := t.TempDir()
	out, passed := run(t, "registered", "-test.outputdir="+dir)
	if !passed || !strings.Contains(out, "--- PASS: TestHelper/") || strings.Contains(out, "report in") {
		t.Errorf("passed %v:\n%s", passed, out)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

// The size is one of two, and logged; what does not end before the test's deadline says so.
func TestSize(t *testing.T) {
	for _, c := range []struct {
		what, says string
		flags      []string
	}{
		{"size", "seed 0, 100000 samples a side\n", []string{"-test.timeout=0"}},
		{"size", "seed 0, 10000 samples a side\n", []string{"-test.short"}},
		{"slow", "does not end before the test's deadline", []string{"-test.timeout=3s"}},
	} {
		out, passed := run(t, c.what, c.flags...)
		if passed != (c.what == "size") || !strings.Contains(out, c.says) {
			t.Errorf("%s %v: passed %v, does not say %q:\n%s", c.what, c.flags, passed, c.says, out)
		}
	}
}

// The size of a call that names one is never changed.
func TestSizeGiven(t *testing.T) {
	opts := dptest.Options{Pairs: oneRowMore, Samples: 1234, Learner: "histogram"}
	rec := &recorder{}
	dptest.RequireNoViolation(rec, count{2}, audit.DPClaim(1, 0), opts)
	if rec.failed != "" || !strings.Contains(rec.log, "seed 0, 1234 samples a side\n") {
		t.Errorf("failed %q, log %q", rec.failed, rec.log)
	}
}

// FuzzCount is a fuzz test of a mechanism that keeps its claim; go test runs its
// seeds.
func FuzzCount(f *testing.F) {
	dptest.Fuzz(f, count{1}, audit.DPClaim(1, 0), dptest.Options{Samples: 5000, Learner: "histogram",
		Domain: &audit.Domain{Columns: 1, MaxRows: 4, Lower: []float64{0}, Upper: []float64{1}}})
}

func ExampleRequireNoViolation() {
	// In a test: func TestCount(t *testing.T).
	test := func(t testing.TB) {
		dptest.RequireNoViolation(t, count{scale: 1}, audit.DPClaim(1, 0), dptest.Options{
			Pairs:   []audit.Pair{{First: audit.Records(1), Second: audit.Records(1, 0)}},
			Samples: 5000,
		})
	}
	log := &recorder{}
	test(log)
	fmt.Println(strings.SplitN(log.log, "\n", 2)[0])
	// Output: dptest: seed 0, 5000 samples a side
}

func ExampleExpectViolation() {
	test := func(t testing.TB) {
		// Half the noise that a claim of 1 needs: the audit must find it.
		dptest.ExpectViolation(t, count{scale: 0.5}, audit.DPClaim(1, 0), dptest.Options{
			Pairs:   []audit.Pair{{First: audit.Records(1), Second: audit.Records(1, 0)}},
			Samples: 5000,
		})
	}
	log := &recorder{}
	test(log)
	fmt.Println(log.failed == "")
	// Output: true
}

func ExampleRun() {
	test := func(t *testing.T) {
		dptest.Run(t, count{scale: 1}, audit.DPClaim(1, 0), dptest.Options{
			Pairs: []audit.Pair{
				{Label: "a row of 0", First: audit.Records(1), Second: audit.Records(1, 0)},
				{Label: "the first row", First: audit.Records(), Second: audit.Records(1)},
			},
			Domain: &audit.Domain{Columns: 1, MaxRows: 5, Lower: []float64{0}, Upper: []float64{1}}, // one subtest more
		})
	}
	_ = test // go test runs TestCount/a_row_of_0, TestCount/the_first_row and TestCount/search
}

func ExampleFuzz() {
	fuzz := func(f *testing.F) {
		dptest.Fuzz(f, count{scale: 1}, audit.DPClaim(1, 0), dptest.Options{
			Domain: &audit.Domain{Columns: 1, MaxRows: 4, Lower: []float64{0}, Upper: []float64{10}},
		})
	}
	_ = fuzz // go test -fuzz FuzzCount
}

func ExampleFrom() {
	m := dptest.From(mechanisms.All(), "svt4", "c=2")
	r, err := dptest.Audit(context.Background(), m, audit.DPClaim(1, 0), dptest.Options{Samples: 5000, Trials: 1, Seed: 7})
	fmt.Println(r.Verdict, r.Plan.Parameters["c"], errors.As(err, new(*dptest.ViolationError)))
	// Output: violation 2 true
}
