package main

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/dpscope/dpscope/internal/cli"
	"github.com/dpscope/dpscope/internal/try"
)

// Wrong usage is named and exits with 2, before anything runs.
func TestRefused(t *testing.T) {
	for args, want := range map[string]string{
		"":                                       "bench is called without a name",
		"nothing":                                `bench is "nothing"`,
		"scors":                                  `did you mean "scores"`,
		"search -workers -1":                     "-workers is -1",
		"museum -only nothing":                   "a mechanism with a known fault",
		"alarms -runs 1":                         "-runs is 1, must be in [4, 1000000]",
		"scores -m 5":                            "-m is 5, must be in [100, 1000000]",
		"one-run -m 10":                          "-m is 10, must be in [1000, 1048576]",
		"canaries -only covrage":                 `did you mean "coverage"`,
		"lidp -dataset mnst":                     `did you mean "mnist"`,
		"lidp -dataset purchase":                 "dataset_purchase.tgz",
		"lidp -dataset fashion":                  "zalandoresearch",
		"lidp -epsilons 3":                       "2, 4, 8 and 16",
		"lidp -only gains":                       `did you mean "gain"`,
		"lidp -model cnn":                        "linear",
		"lidp -n 4":                              "at least 16 trials",
		"learners -bounds 0:1":                   "-table is missing",
		"learners -only figure-9":                "figure 8",
		"papers -only LIDP":                      "known: RényiTester, slides",
		"tables":                                 "-paper",
		"tables -paper statdp":                   `-paper is "statdp"`,
		"tables -paper auditorium -only table-9": `-only is "table-9", must be part of one of table-1`,
		"tables -paper auditorium -runs -1":      "-runs is -1, must be in [0, 10000]",
		"tables -paper auditorium -seed 9007199254740991": "-seed is 9007199254740991",
		"calibration -runs 0":                             "runs is 0",
		"calibration -learners nobody":                    `learner is "nobody"`,
		"calibration -sharp -learners auto":               "leave the other flags out",
		"same":                                            "a program of dpscope",
	} {
		refused(t, strings.Fields(args), want)
	}
	for _, b := range benches {
		refused(t, []string{b.name, "more"}, `called with ["more"], must be given no argument besides flags`)
		refused(t, []string{b.name, "-no-such-flag"}, "all flags: bench "+b.name+" -h")
	}
}

func refused(t *testing.T, args []string, want string) {
	t.Helper()
	var out, errs strings.Builder
	if code := run(args, &out, &errs); code != cli.ExitUsage || out.Len() > 0 || !strings.HasPrefix(errs.String(), "bench: ") || !strings.Contains(errs.String(), want) {
		t.Errorf("%q: exit code %d, %q, want %d and %q", args, code, errs.String(), cli.ExitUsage, want)
	}
}

// Help names every bench, and every bench has help.
func TestHelp(t *testing.T) {
	var all strings.Builder
	if code := run([]string{"-h"}, &all, &all); code != cli.ExitOK {
		t.Errorf("exit code %d", code)
	}
	for _, b := range benches {
		var out, errs strings.Builder
		if code := run([]string{b.name, "-h"}, &out, &errs); code != cli.ExitOK || !strings.Contains(errs.String(), "Usage of bench "+b.name) || !strings.Contains(all.String(), b.name) {
			t.Errorf("%s: exit code %d, %s", b.name, code, errs.String())
		}
	}
}

// Each job is done once; the first error ends the rest, and so does the context.
func TestResults(t *testing.T) {
	l := lab{ctx: t.Context(), workers: 3}
	double := func(_ context.Context, job int) int { return 2 * job }
	all := results(l, 100, double)
	for job, x := range all {
		if x != 2*job {
			t.Errorf("job %d gave %d", job, x)
		}
	}
	if len(all) != 100 {
		t.Error(len(all))
	}
	fault := errors.New("fault")
	var begun atomic.Int32
	l.workers = 2
	err := caught(func() {
		results(l, 1000, func(jobs context.Context, job int) int {
			begun.Add(1)
			if job == 1 {
				try.Do(fault)
			}
			<-jobs.Done()
			try.Do(jobs.Err())
			return 0
		})
	})
	if err != fault || begun.Load() != 2 {
		t.Errorf("%v after %d jobs", err, begun.Load())
	}
	ctx, stop := context.WithCancel(t.Context())
	stop()
	l.ctx = ctx
	if err := caught(func() { results(l, 5, double) }); err != cli.ErrStopped {
		t.Error(err)
	}
}

// printedOnce is what a bench prints.
func printedOnce(t *testing.T, args ...string) string {
	t.Helper()
	var out, errs strings.Builder
	if code := run(args, &out, &errs); code != cli.ExitOK || errs.Len() > 0 {
		t.Fatalf("%v: exit code %d: %s", args, code, errs.String())
	}
	return out.String()
}

// printedBy is what a bench prints with any number of workers.
func printedBy(t *testing.T, args ...string) string {
	t.Helper()
	args = append(args, "-workers")
	one, three := printedOnce(t, append(args, "1")...), printedOnce(t, append(args, "3")...)
	if one != three {
		t.Errorf("%v: what is printed depends on the workers:\n%s\n%s", args, one, three)
	}
	return one
}

// A table has a cell for every column, and prints figures with what they have.
func TestTable(t *testing.T) {
	x := &table{title: "Title", columns: []string{"a", "b"}, notes: []string{"a note"}}
	x.add("row", figureOf(1, 3).beside(2.5), 0.001)
	x.add("other", figureOf(), 7)
	var out strings.Builder
	x.print(&out)
	if want := "\nTitle\n\n       a                    b\nrow    2.000 ± 1.000 [2.5]  1.00e-03\nother  -                    7\n\nNote: a note.\n"; out.String() != want {
		t.Errorf("%q, want %q", out.String(), want)
	}
}
