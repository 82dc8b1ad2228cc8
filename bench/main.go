// Command bench is the laboratory: how often dpscope catches violations and errs, and published figures.
//
//	go run ./bench NAME [flags]
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/internal/cli"
)

type study struct {
	name, what string
	run        func(*call)
}

func (s study) called() string { return s.name }

var benches []study

func init() { // papers runs others of them
	benches = []study{
		{"museum", "outputs and seconds until a known fault is refuted", benchMuseum},
		{"alarms", "how often sequential audits refute claims that just hold", benchAlarms},
		{"calibration", "how often audits of private mechanisms err, and the bounds alone", benchCalibration},
		{"search", "what the default search finds in functions of which nothing is known", benchSearch},
		{"papers", "every table, figure and component of the five papers, as docs/papers.md", benchPapers},
		{"tables", "the tables of DP-Auditorium and RényiTester", benchTables},
		{"learners", "the figures of ML-Audit: attacks on private learners", benchLearners},
		{"canaries", "the figures of LiDP and the coverage of every interval", benchCanaries},
		{"lidp", "LiDP on models trained by DP-SGD: table 1, figures 5 and 12 to 15", benchLiDP},
		{"one-run", "bounds from one run, and the ceiling of all that are valid", benchOneRun},
		{"scores", "bounds from scores of one run beside those that jax_privacy computes", benchScores},
		{"hidden-state", "what adversaries of different power show of one training by DP-SGD", benchHidden},
		{"same", "whether two programs make the same reports", benchSame},
		{"browser", "audits natively and in Chromium", benchBrowser},
	}
}

// catalogue is all that is registered, seeded what of it draws from the seed.
var seeded, catalogue = cli.Seeded(), cli.Catalogue()

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

// run is main without the process, so that tests can call it.
func run(args []string, stdout, stderr io.Writer) int {
	switch {
	case len(args) == 0:
		names := audit.Each(benches, study.called)
		return cli.Fail("bench", stderr, &audit.InputError{Field: "bench", Found: "called without a name", Want: fmt.Sprintf("one of %v", names)})
	case args[0] == "-h" || args[0] == "-help" || args[0] == "--help":
		fmt.Fprintf(stdout, "Usage: go run ./bench NAME [flags]. Flags: go run ./bench NAME -h.\n\n")
		for _, b := range benches {
			fmt.Fprintf(stdout, "  %-12s %s\n", b.name, b.what)
		}
		return cli.ExitOK
	}
	b, err := audit.Find("bench", args[0], benches, study.called)
	if err != nil {
		return cli.Fail("bench", stderr, err)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	context.AfterFunc(ctx, stop) // the second one ends the process
	say := func(format string, a ...any) {
		if cli.IsTerminal(stderr) {
			fmt.Fprintf(stderr, format+"\n", a...)
		}
	}
	c := &call{Flags: cli.NewFlags("bench "+b.name, stderr), lab: lab{ctx: ctx, say: say}, args: args[1:], stdout: stdout}
	if err := caught(func() { b.run(c) }); err != nil && err != errEnded {
		return cli.Fail("bench", stderr, err)
	}
	return c.exit
}
