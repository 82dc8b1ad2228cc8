// Command dpscope audits differential privacy: it searches for neighbouring datasets and a test that tells outputs on
// them apart, and bounds epsilon from below.
package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"syscall"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/host/replay"
	"github.com/dpscope/dpscope/internal/cli"
	"github.com/dpscope/dpscope/mechanisms/user/module"
)

var catalogue = cli.Catalogue()

const usage = `dpscope audits differential privacy.

Audit
  audit      a mechanism: -mechanism NAME, or your own: -exec COMMAND, -wasm FILE,
             -samples-file FILE, -table FILE; several with one error: -plan FILE
  canaries   training, many times: a -source, or your own by -exec COMMAND
  one-run    training, once
  scores     membership scores in a file
  counts     counts of trainings: -in 40/50 -out 2/50
Prove
  commit     print a salted hash of a plan before it runs
  verify     replay a report; - is standard input
  merge      make one report of shares drawn on several machines
Serve
  serve      the page; with -store DIR, a host for reports
  share      store a report with a host: -host ADDRESS FILE
  open       get a report from its address and replay it
Account
  account    what noise guarantees after sampling and composition
  list       mechanisms, learners and finders, or all of one: list NAME
  version
Flags and examples: dpscope COMMAND -h. Exit codes: 0 no violation found (verify: same),
1 violation (verify: differs), 2 wrong input or not written, 3 inconclusive with -strict.
`

func main() {
	if len(os.Args) > 1 && slices.Contains([]string{"audit", "canaries", "one-run", "scores", "counts", "merge"}, os.Args[1]) {
		// Whoever closes standard output takes no verdict from the exit code.
		signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	}
	os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

type streams struct {
	stdin          io.Reader
	stdout, stderr io.Writer
}

// fail says an error that does not end the command.
func (s streams) fail(err error) int { return cli.Fail("dpscope", s.stderr, err) }

func absent(field, want string, remedy ...string) error {
	return audit.Fault(field, audit.Absent, want, remedy...)
}

func given(field, want string, remedy ...string) error {
	return audit.Fault(field, "given", want, remedy...)
}

// exit is the code with which a command ends that has said why.
type exit int

func (e exit) Error() string { return fmt.Sprintf("exit code %d", int(e)) }

// run is main without the process.
func run(args []string, stdin io.Reader, stdout, stderr io.Writer) (code int) {
	out := &outlet{Writer: stdout}
	s := streams{stdin, out, stderr}
	err := dispatch(s, args)
	if end, ok := err.(exit); ok {
		code = int(end)
	} else if err != nil && !errors.Is(err, out.err) {
		code = s.fail(err)
	}
	if out.err != nil {
		return s.lost(code, fmt.Errorf("standard output was not written: %w", out.err))
	}
	return code
}

var subcommands = []struct {
	name string
	do   func(s streams, args []string) error
}{
	{"audit", auditCommand}, {"canaries", canaries}, {"one-run", oneRun}, {"scores", scoresCommand},
	{"counts", counts}, {"merge", mergeCommand}, {"commit", commitCommand}, {"verify", verify},
	{"account", accountCommand}, {"list", list}, {"serve", serve}, {"share", shareCommand}, {"open", openCommand},
	{"version", version},
}

func dispatch(s streams, args []string) error {
	if len(args) == 0 {
		fmt.Fprint(s.stderr, usage)
		return exit(cli.ExitUsage)
	}
	name := args[0]
	if name == "-version" || name == "--version" {
		name = "version"
	}
	var names []string
	for _, c := range subcommands {
		if c.name == name {
			return c.do(s, args[1:])
		}
		names = append(names, c.name)
	}
	switch name {
	case replayHost:
		return exit(replay.Serve(catalogue, s.stdin, s.stdout))
	case moduleHost:
		return exit(module.Host(s.stdin, s.stdout))
	case "bench", "gallery":
		return errors.New("the laboratory has commands of its own, in its source: go run ./bench and go run ./bench/gallery")
	case "help", "-h", "-help", "--help":
		if len(args) == 2 && name == "help" {
			return dispatch(s, []string{args[1], "-h"})
		}
		if code, ok := cli.NewFlags("dpscope help", s.stderr).Parse(args[1:], 0); !ok {
			return exit(code)
		}
		fmt.Fprint(s.stdout, usage)
		return nil
	}
	return audit.UnknownName("command", name, names)
}

func version(s streams, args []string) error {
	if code, ok := cli.NewFlags("dpscope version", s.stderr).Parse(args, 0); !ok {
		return exit(code)
	}
	g := cli.Generator()
	fmt.Fprintf(s.stdout, "dpscope %s %s %s/%s\n", g.Version, g.Go, g.GoOS, g.GoArch)
	return nil
}
