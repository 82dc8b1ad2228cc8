// Command bench measures what dpscope does: how often it catches known
// violations, how often it errs, how it compares with published figures, and how
// long it takes.
//
//	go run ./bench NAME [flags]
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"sync"
	"sync/atomic"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/core/engine"
	"github.com/dpscope/dpscope/core/pair"
	"github.com/dpscope/dpscope/internal/cli"
)

// benches are the measurements.
var benches = []struct {
	name, what string
	run        func(*call) (exit int, err error)
}{
	{"sequential", "outputs and seconds until a broken claim is refuted", benchSequential},
	{"portfolio", "the portfolio against each single learner", benchPortfolio},
	{"tables", "the tables of DP-Auditorium and RényiTester with our figures beside theirs", benchTables},
	{"calibration", "the false-alarm rate of every private mechanism with every learner and finder, and of the bounds alone", benchCalibration},
	{"canaries", "the figures of LiDP and the coverage of every interval", benchCanaries},
	{"lidp", "LiDP on models trained by DP-SGD: table 1, figures 5 and 12 to 15", benchLiDP},
	{"one-run", "bounds from one run, before and now, and the ceiling of all that are valid", benchOneRun},
	{"scores", "bounds from scores of one run beside those that jax_privacy computes", benchScores},
	{"oracle", "which share of the bound of the best event an audit certifies that has to find it", benchOracle},
	{"hidden-state", "what adversaries of different power show of one training by DP-SGD", benchHidden},
	{"learners", "attacks on private learners: bounds by learner, table, attack and claim, and the ablations of ML-Audit", benchLearners},
	{"same", "whether two programs make the same reports", benchSame},
	{"papers", "every table, figure and component of the five papers, as docs/papers.md", benchPapers},
	{"browser", "one audit natively and in Chromium", benchBrowser},
}

// seeded is all that is registered and draws from the seed; catalogue is all that is
// registered.
var seeded, catalogue = cli.Seeded(), cli.Catalogue()

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

// run is main without the process, so that tests can call it.
func run(args []string, stdout, stderr io.Writer) int {
	var names []string
	for _, b := range benches {
		names = append(names, b.name)
	}
	switch {
	case len(args) == 0:
		return cli.Fail("bench", stderr, &audit.InputError{Field: "bench", Found: "called without a name", Want: fmt.Sprintf("one of %v", names)})
	case args[0] == "-h" || args[0] == "-help" || args[0] == "--help":
		fmt.Fprintf(stdout, "Usage: go run ./bench NAME [flags]. Flags: go run ./bench NAME -h.\n\n")
		for _, b := range benches {
			fmt.Fprintf(stdout, "  %-12s %s\n", b.name, b.what)
		}
		return cli.ExitOK
	}
	for _, b := range benches {
		if b.name != args[0] {
			continue
		}
		ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
		defer stop()
		context.AfterFunc(ctx, stop) // the second one ends the process
		exit, err := b.run(&call{Flags: cli.NewFlags("bench "+b.name, stderr), ctx: ctx, args: args[1:], stdout: stdout, stderr: stderr})
		if err != nil {
			return cli.Fail("bench", stderr, err)
		}
		return exit
	}
	return cli.Fail("bench", stderr, audit.UnknownName("bench", args[0], names))
}

// audited is the report of an audit that ran to its end.
func audited(ctx context.Context, plan pair.Plan, cat audit.Catalogue, pool *engine.Pool) (pair.Report, error) {
	r, err := pair.Run{Plan: plan, Catalogue: cat, Pool: pool}.Do(ctx)
	if err == nil && r.Termination.Reason != audit.Completed {
		err = cli.ErrStopped
	}
	return r, err
}

// call is one call of a bench: its flags, and where its result goes.
type call struct {
	*cli.Flags
	ctx            context.Context // ends with the first interrupt
	args           []string
	stdout, stderr io.Writer
	format, save   string
}

// parse reads the arguments; the exit code counts when ok is false.
func (c *call) parse() (exit int, ok bool) { return c.Parse(c.args, 0) }

// outputFlags are -format and -save.
func (c *call) outputFlags() {
	c.TextOrJSON(&c.format)
	c.StringVar(&c.save, "save", "", "write the JSON to this `file` too")
}

// unlessGiven changes a number whose flag the user did not give.
func (c *call) unlessGiven(name string, p *int, value int) {
	if !c.Given(name) {
		*p = value
	}
}

// workersFlag is -workers.
func (c *call) workersFlag() *int {
	return c.Workers(0, "parallel workers; 0: one a processor. The result does not depend on it")
}

// within is the refusal of a flag that is not in [least, most].
func within[N int | uint64](flag string, value, least, most N, remedy string) error {
	if value < least || value > most {
		return &audit.InputError{Field: flag, Found: fmt.Sprint(value), Want: fmt.Sprintf("in [%d, %d]", least, most), Remedy: remedy}
	}
	return nil
}

// code is the exit code of a bench that reached all that it is held to, or did not.
func code(reached bool) int {
	if reached {
		return cli.ExitOK
	}
	return cli.ExitViolation
}

// say tells of progress, one call at a time, where somebody watches.
func (c *call) say(format string, a ...any) {
	if cli.IsTerminal(c.stderr) {
		fmt.Fprintf(c.stderr, format+"\n", a...)
	}
}

// emit writes the result: to the file, if one is asked for, and in the format,
// whatever became of the file.
func (c *call) emit(result any, print func(io.Writer)) error {
	data, err := audit.Canonical(result)
	if err != nil {
		return err
	}
	if c.save != "" {
		err = os.WriteFile(c.save, data, 0o644)
	}
	if c.format == "json" {
		_, printed := c.stdout.Write(data)
		return errors.Join(err, printed)
	}
	print(c.stdout)
	return err
}

// each does the jobs 0, 1, ..., n-1 in this order, so many at a time. The first error
// ends it, and is returned; the jobs' context ends with it. An end of ctx is
// cli.ErrStopped.
func each(ctx context.Context, workers, n int, do func(ctx context.Context, job int) error) error {
	jobs, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var next atomic.Int64
	var group sync.WaitGroup
	for range min(workers, n) {
		group.Go(func() {
			for jobs.Err() == nil {
				job := int(next.Add(1)) - 1
				if job >= n {
					return
				}
				if err := do(jobs, job); err != nil {
					cancel(err)
				}
			}
		})
	}
	group.Wait()
	if err := context.Cause(jobs); errors.Is(err, context.Canceled) {
		return cli.ErrStopped
	} else if err != nil {
		return err
	}
	return nil
}
