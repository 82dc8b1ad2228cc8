package main

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/dpscope/dpscope/internal/cli"
)

// Wrong usage is named and exits with 2, before anything runs.
func TestRefused(t *testing.T) {
	for args, want := range map[string]string{
		"":                                       "bench is called without a name",
		"nothing":                                `bench is "nothing"`,
		"scors":                                  `did you mean "scores"`,
		"portfolio -format yaml":                 `-format is "yaml"`,
		"portfolio -workers -1":                  "-workers is -1",
		"portfolio -runs 1":                      "-runs is 1, must be at least 2",
		"portfolio -learners nobody":             `learner is "nobody"`,
		"portfolio -only nothing":                `-only is "nothing"`,
		"portfolio -samples 5":                   "samples is 5",
		"scores -m 5":                            "-seeds and -m is 20 and 5",
		"one-run -m 10":                          "-audits and -m",
		"canaries -only covrage":                 `did you mean "coverage"`,
		"lidp -dataset mnst":                     `did you mean "mnist"`,
		"lidp -dataset purchase":                 "dataset_purchase.tgz",
		"lidp -dataset fashion":                  "zalandoresearch",
		"lidp -epsilons 3":                       "2, 4, 8 and 16",
		"lidp -only gains":                       `did you mean "gain"`,
		"lidp -model cnn":                        "linear",
		"lidp -n 4":                              "at least 16 trials",
		"tables":                                 "-paper is missing: give one of [auditorium renyitester]",
		"tables -paper statdp":                   `-paper is "statdp"`,
		"tables -paper auditorium -only table-9": `-only is "table-9", must be part of one of table-1`,
		"tables -paper auditorium -runs -1":      "-runs is -1, must be in [0, 10000]",
		"tables -paper auditorium -seed 9007199254740991": "-seed is 9007199254740991",
		"calibration -runs 0":                             "runs is 0",
		"calibration -learners nobody":                    `learner is "nobody"`,
		"calibration -finders nobody":                     `finder is "nobody"`,
		"calibration -mechanisms svt6":                    `mechanisms is "svt6"`,
		"calibration -mechanisms svt1,svt6":               `mechanisms is "svt6"`,
		"calibration -samples 5":                          "samples is 5",
		"calibration -samples 0":                          "samples is 0",
		"calibration -trials -1":                          "trials is -1",
		"calibration -trials 0":                           "trials is 0",
		"calibration -beta 0":                             "beta is 0",
		"calibration -beta nan":                           "beta is NaN",
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
func TestEach(t *testing.T) {
	var done [100]atomic.Int32
	if err := each(t.Context(), 3, len(done), func(_ context.Context, job int) error { done[job].Add(1); return nil }); err != nil {
		t.Error(err)
	}
	for job := range done {
		if n := done[job].Load(); n != 1 {
			t.Errorf("job %d was done %d times", job, n)
		}
	}
	fault := errors.New("fault")
	var begun atomic.Int32
	err := each(t.Context(), 2, 1000, func(jobs context.Context, job int) error {
		begun.Add(1)
		if job == 1 {
			return fault
		}
		<-jobs.Done()
		return jobs.Err()
	})
	if err != fault || begun.Load() != 2 {
		t.Errorf("%v after %d jobs", err, begun.Load())
	}
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if err := each(ctx, 2, 5, func(context.Context, int) error { return nil }); err != cli.ErrStopped {
		t.Error(err)
	}
}
