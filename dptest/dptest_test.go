package dptest_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/audit/stream"
	"github.com/dpscope/dpscope/core/pair"
	"github.com/dpscope/dpscope/core/report"
	"github.com/dpscope/dpscope/dptest"
	"github.com/dpscope/dpscope/internal/must"
	"github.com/dpscope/dpscope/mechanisms"
)

// count releases the number of rows with Laplace noise of a scale.
type count struct{ scale float64 }

func (c count) Columns() []audit.Column { return []audit.Column{{Name: "count", Kind: audit.Real}} }

func (c count) Sample(d audit.Dataset, s *stream.Stream, out []float64) error {
	s.Laplace(out, c.scale)
	n := float64(d.Len())
	for i := range out {
		out[i] += n
	}
	return nil
}

var oneRowMore = []audit.Pair{{First: audit.Records(1), Second: audit.Records(1, 0)}}

// recorder is a testing.TB that keeps the failure.
type recorder struct {
	testing.TB
	failed, log string
}

func (r *recorder) Helper()      {}
func (r *recorder) Name() string { return "TestCount/half" }
func (r *recorder) Logf(f string, a ...any) {
	r.log += fmt.Sprintf(f, a...) + "\n"
}
func (r *recorder) Fatalf(f string, a ...any) { r.failed = fmt.Sprintf(f, a...) }

func TestFailureTellsAll(t *testing.T) {
	for mode, says := range map[pair.Mode][]string{
		pair.Fixed: {"Violation: epsilon >= 1.", "99.9 % confidence", "claimed 1", "count with half the noise", "{1, [0]}", "Event", "Counts", "of 20 000", "Seed: 77", "'^TestCount$/^half$'", "0.001"},
		"":         {"Violation: the claim of 1 is false with 99.9 % confidence", "count with half the noise", "{1, [0]}", "Refuted after", "outputs of 1 pair", "p-value", "Seed: 77", "'^TestCount$/^half$'", "0.001"},
	} {
		rec := &recorder{}
		dptest.RequireNoViolation(rec, count{0.5}, audit.DPClaim(1, 0), dptest.Options{Name: "count with half the noise", Mode: mode, Pairs: oneRowMore, Samples: 20_000, Seed: 77})
		must.Say(t, rec.failed, says...)
	}
}

func TestRegistered(t *testing.T) {
	err := dptest.Check(dptest.From(mechanisms.All(), "svt5", "epsilon=1"), audit.DPClaim(1, 0), dptest.Options{Mode: pair.Fixed, Samples: 10_000, Explore: 10_000, Trials: 3, Seed: 4})
	var v *dptest.ViolationError
	if !errors.As(err, &v) {
		t.Fatalf("svt5 answers %v", err)
	}
	must.Refuse(t, err, "Replay: dpscope audit -mechanism svt5 -epsilon 1", "no replay command")
	if b := *v.Report.Rows(report.Bounds)[0].LowerBound; b <= 1 {
		t.Errorf("bound %v of a violation of 1", b)
	}
	must.Do(t, dptest.Check(dptest.From(mechanisms.All(), "svt1"), audit.DPClaim(1, 0), dptest.Options{Samples: 5_000, Trials: 2}))
}

func TestErrors(t *testing.T) {
	one := audit.DPClaim(1, 0)
	for _, c := range []struct {
		m     audit.Mechanism
		claim audit.Claim
		opts  dptest.Options
		says  string
	}{
		{nil, one, dptest.Options{Pairs: oneRowMore}, "mechanism is nil"},
		{count{1}, one, dptest.Options{}, "Options.Pairs is empty"},
		{count{1}, audit.DPClaim(-1, 0), dptest.Options{Pairs: oneRowMore}, "epsilon is -1"},
		{count{1}, one, dptest.Options{Pairs: oneRowMore, Samples: 5}, "samples is 5"},
		{count{1}, one, dptest.Options{Pairs: oneRowMore, FalseAlarm: 2}, "beta is 2"},
		{count{1}, one, dptest.Options{Pairs: []audit.Pair{{First: audit.Records(1), Second: audit.Records(2)}}}, "one row more"},
		{count{1}, audit.DPClaim(20, 0), dptest.Options{Pairs: oneRowMore, Mode: pair.Fixed, Samples: 1000}, "below the claim of 20"},
		{count{1}, audit.DPClaim(20, 0), dptest.Options{Pairs: oneRowMore, Samples: 1000}, "cannot refute the claim"},
		{dptest.From(mechanisms.All(), "svt9"), one, dptest.Options{}, `did you mean "svt`},
		{dptest.From(mechanisms.All(), "svt4", "c"), one, dptest.Options{}, "name=value"},
		{dptest.From(mechanisms.All(), "svt4", "x=1"), one, dptest.Options{}, `parameter is "x"`},
	} {
		must.Refuse(t, dptest.Check(c.m, c.claim, c.opts), c.says, c.m, c.opts)
	}
}

func ExampleCheck() {
	// Half the noise that a claim of 1 needs.
	err := dptest.Check(count{0.5}, audit.DPClaim(1, 0), dptest.Options{
		Pairs:   []audit.Pair{{First: audit.Records(1), Second: audit.Records(1, 0)}},
		Samples: 20_000,
		Seed:    1,
	})
	fmt.Println(strings.SplitN(err.Error(), " with ", 2)[0])
	// Output: Violation: the claim of 1 is false
}
