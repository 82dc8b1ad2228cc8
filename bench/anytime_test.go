package main

import (
	"bytes"
	"context"
	"encoding/json"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/dpscope/dpscope/bounds"
	"github.com/dpscope/dpscope/internal/cli"
	"github.com/dpscope/dpscope/internal/gear"
	"github.com/dpscope/dpscope/stream"
)

func testWorkshop(workers int) workshop {
	return workshop{ctx: context.Background(), workers: workers, say: func(string, ...any) {}}
}

// The bench on a small budget: monitors keep their error, which sound monitors
// fail with probability .001 at most (alarmBeta); the foil does not, which it
// would at a true rate of .05 with probability 1e-4 at most, and does at a single
// look, 3e-4 in all; medians of 50 stopping times lie within a factor of 2 of the
// reference, past which a fifth of the runs lie on either side at most, so 3e-6
// each. The seed is fixed: the test passes always or never.
func TestBenchAnytime(t *testing.T) {
	gear.Long(t)
	var out, errs bytes.Buffer
	code := run([]string{"anytime", "-quick", "-runs", "250", "-looks", "150", "-pairs", "1500", "-format", "json"}, &out, &errs)
	var r anytimeResult
	if err := json.Unmarshal(out.Bytes(), &r); err != nil || errs.Len() > 0 {
		t.Fatalf("%v, standard error %q", err, errs.String())
	}
	if code != cli.ExitOK || len(r.Above) > 0 {
		t.Errorf("exit code %d, significantly above beta: %v", code, r.Above)
	}
	if len(r.Alarms) < 14 || r.Plan.Runs != 250 || r.Plan.Pairs != 1500 || r.Plan.Beta != 0.05 {
		t.Errorf("%d cells of the plan %+v", len(r.Alarms), r.Plan)
	}
	// P(Bin(250, .05) >= 29) is 3e-5, the largest level below .001/16.
	if r.MostAlarms < 25 || r.MostAlarms > 30 {
		t.Errorf("up to %d false alarms of 250 pass at beta .05", r.MostAlarms)
	}
	total := 0
	for _, a := range r.Alarms {
		total += a.Alarms
		if a.Runs != 250 || !(a.Lower <= a.Rate && a.Rate <= a.Upper) {
			t.Errorf("%+v", a)
		}
	}
	if total == 0 {
		t.Error("no run of any cell refutes the truth: do the monitors look?")
	}
	compared := 0
	for _, s := range r.Stops {
		if s.Reference == 0 || s.Reference > 3000 {
			continue // further out than this test looks
		}
		compared++
		if ratio := float64(s.Median) / s.Reference; !(ratio > 0.5 && ratio < 2) {
			t.Errorf("%s: half of the truth refuted after %d pairs, reference %g", s.Name, s.Median, s.Reference)
		}
	}
	if compared < 6 {
		t.Errorf("%d stopping times compared", compared)
	}
	wrong, runs := 0, 0
	for _, k := range r.Peeks[:2] { // a rare event needs more pairs to go wrong
		wrong, runs = wrong+k.Any.Count, runs+k.Any.Runs
	}
	if !significant(wrong, runs, 1e-4, 0.05) {
		t.Errorf("looking again and again at a fixed-sample test errs in %d of %d runs, want far more than .05", wrong, runs)
	}
	for _, k := range r.Peeks {
		if significant(k.Last.Count, k.Last.Runs, 1e-4, 0.05) {
			t.Errorf("%s: one look at the exact test errs in %d of %d runs", k.Name, k.Last.Count, k.Last.Runs)
		}
	}
}

// A monitor that bets against a claim below the truth is called unsound, and
// the exit code of the bench says so.
func TestBenchAnytimeAccuses(t *testing.T) {
	cell := eventCell("liar", 1, 0, 0.25, apart)
	cell.truth = 0.8
	plan := anytimePlan{Runs: 100, Looks: 100, Pairs: 2000, Beta: 0.05, Seed: 1}
	r, err := plan.measure(testWorkshop(2), []anytimeCell{cell, eventCell("sound", 1, 0, 0.25, apart)})
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(r.Above, []string{"liar"}) || !r.Alarms[0].Above || r.Alarms[1].Above {
		t.Errorf("above beta: %v, %+v", r.Above, r.Alarms)
	}
	var text strings.Builder
	r.print(&text)
	if !strings.Contains(text.String(), "Significantly above 0.05: liar") {
		t.Errorf("printed %s", text.String())
	}
}

// The result does not depend on the number of workers; another seed gives
// another one.
func TestBenchAnytimeWorkers(t *testing.T) {
	output := func(args ...string) string {
		var out, errs bytes.Buffer
		args = append([]string{"anytime", "-runs", "20", "-looks", "30", "-pairs", "300"}, args...)
		if code := run(args, &out, &errs); code != cli.ExitOK {
			t.Fatalf("%v: exit code %d, %s", args, code, errs.String())
		}
		return out.String()
	}
	one := output("-workers", "1")
	if three := output("-workers", "3"); three != one {
		t.Errorf("1 worker:\n%s\n3 workers:\n%s", one, three)
	}
	if other := strings.Replace(output("-seed", "2"), "seed 2", "seed 1", 1); other == one {
		t.Error("seeds 1 and 2 give the same")
	}
}

func TestBenchAnytimeStops(t *testing.T) {
	ctx, stop := context.WithCancel(context.Background())
	stop()
	w := testWorkshop(2)
	w.ctx = ctx
	if _, err := (anytimePlan{Runs: 5, Looks: 10, Pairs: 10, Beta: 0.05}).measure(w, anytimeCells()); err == nil {
		t.Error("no error after an interrupt")
	}
}

// Laws have the marginals that they are made of, and draw in proportion. The
// draws fail with probability 1e-4 at most: 50 counts, each within 5 standard
// deviations and 3.
func TestPairLaws(t *testing.T) {
	const n = 200_000
	for _, c := range anytimeCells() {
		table := bounds.NewTable(c.law.bins)
		c.law.draw(stream.New(stream.Key{Seed: 3, Purpose: c.name}), table, n)
		if table.Pairs() != n {
			t.Errorf("%s: %d pairs", c.name, table.Pairs())
		}
		last := 0.0
		for i, p := range c.law.cumulative {
			p, last = p-last, p
			if p < -1e-15 {
				t.Errorf("%s: cell %d has probability %g", c.name, i, p)
			}
			if d := math.Abs(float64(table.N[i]) - n*p); d > 5*math.Sqrt(n*p)+3 {
				t.Errorf("%s: cell %d has %d of %d, want %g", c.name, i, table.N[i], n, n*p)
			}
		}
	}
	for _, c := range []struct {
		how  coupling
		both float64
	}{{apart, 0.42}, {together, 0.6}, {opposite, 0.3}} {
		l := eventLaw(0.7, 0.6, c.how).cumulative
		p1, p0, both := l[3]-l[1], l[1]-l[0]+l[3]-l[2], l[3]-l[2]
		if math.Abs(p1-0.7) > 1e-12 || math.Abs(p0-0.6) > 1e-12 || math.Abs(both-c.both) > 1e-12 {
			t.Errorf("coupling %d: %g, %g and both %g", c.how, p1, p0, both)
		}
	}
}

func TestLookTimes(t *testing.T) {
	for _, c := range [][2]int{{1000, 20_000}, {10, 10}, {10, 11}, {100, 1_000_000}, {999, 1000}} {
		times := lookTimes(c[0], c[1])
		if len(times) != c[0] || times[len(times)-1] != c[1] || times[0] < 1 {
			t.Errorf("%v: %d looks, the first at %d, the last at %d", c, len(times), times[0], times[len(times)-1])
		}
		for i := 1; i < len(times); i++ {
			if times[i] <= times[i-1] {
				t.Errorf("%v: look %d at %d, the one before at %d", c, i, times[i], times[i-1])
			}
		}
	}
	if times := lookTimes(1000, 20_000); times[499] != 500 || times[998] < 19_700 {
		t.Errorf("look 500 at %d, look 999 at %d; want every pair at first, then steps of one per cent", times[499], times[998])
	}
}

// Order statistics: of 100 numbers the 37th and the 64th, as
// P(Bin(100, 1/2) <= 36) = .0033 and P(Bin(100, 1/2) <= 37) = .0060.
func TestMedianInterval(t *testing.T) {
	numbers := make([]int, 100)
	for i := range numbers {
		numbers[i] = i + 1
	}
	if lower, median, upper := medianInterval(numbers); lower != 37 || median != 50 || upper != 64 {
		t.Errorf("%d %d %d, want 37 50 64", lower, median, upper)
	}
	for i := 60; i < 100; i++ {
		numbers[i] = math.MaxInt
	}
	if lower, median, upper := medianInterval(numbers); lower != 37 || median != 50 || upper != 0 {
		t.Errorf("%d %d %d, want 37 50 0", lower, median, upper)
	}
	if lower, median, upper := medianInterval([]int{7}); lower != 1 || median != 7 || upper != 0 {
		t.Errorf("%d %d %d, want 1 7 0", lower, median, upper)
	}
}
