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
		"":                       "bench is called without a name",
		"nothing":                `bench is "nothing"`,
		"scors":                  `did you mean "scores"`,
		"portfolio -format yaml": `-format is "yaml"`,
		"portfolio -workers -1":  "-workers is -1",
		"scores -m 5":            "-seeds and -m is 20 and 5",
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
