// Command dpscope audits differential privacy: it searches for two
// neighbouring datasets and a test that tells a mechanism's outputs on them
// apart, and turns the test's success into a lower confidence bound on
// epsilon.
package main

import (
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"syscall"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/core/canary"
	"github.com/dpscope/dpscope/host/replay"
	"github.com/dpscope/dpscope/internal/cli"
	"github.com/dpscope/dpscope/mechanisms/user/module"
)

// catalogue is all that is registered.
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
		// A reader that closes standard output takes no verdict from the exit code.
		signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	}
	os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

// run is main without the process, so that tests can call it. Where standard output
// cannot be written it says so.
func run(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	out := &outlet{Writer: stdout}
	code := dispatch(args, stdin, out, stderr)
	if out.err != nil {
		return lost(stderr, code, fmt.Errorf("standard output was not written: %w", out.err))
	}
	return code
}

func dispatch(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	if len(args) == 0 {
		fmt.Fprint(stderr, usage)
		return cli.ExitUsage
	}
	switch args[0] {
	case "audit":
		return auditCommand(args[1:], stdin, stdout, stderr)
	case "canaries":
		return canaries("", args[1:], stdin, stdout, stderr)
	case "one-run":
		return canaries(canary.OneRun, args[1:], stdin, stdout, stderr)
	case "scores":
		return scoresCommand(args[1:], stdout, stderr)
	case "counts":
		return counts(args[1:], stdout, stderr)
	case "merge":
		return mergeCommand(args[1:], stdin, stdout, stderr)
	case "commit":
		return commitCommand(args[1:], stdin, stdout, stderr)
	case "verify":
		return verify(args[1:], stdin, stdout, stderr)
	case "account":
		return accountCommand(args[1:], stdout, stderr)
	case "list":
		return list(args[1:], stdout, stderr)
	case "serve":
		return serve(args[1:], stdout, stderr)
	case "share":
		return shareCommand(args[1:], stdin, stdout, stderr)
	case "open":
		return openCommand(args[1:], stdout, stderr)
	case "bench", "gallery":
		return fail(stderr, fmt.Errorf("the laboratory has commands of its own, in its source: go run ./bench and go run ./bench/gallery"))
	case replayHost:
		return replay.Serve(catalogue, stdin, stdout)
	case moduleHost:
		return module.Host(stdin, stdout)
	case "version", "-version", "--version":
		if code, ok := cli.NewFlags("dpscope version", stderr).Parse(args[1:], 0); !ok {
			return code
		}
		g := cli.Generator()
		fmt.Fprintf(stdout, "dpscope %s %s %s/%s\n", g.Version, g.Go, g.GoOS, g.GoArch)
		return cli.ExitOK
	case "help", "-h", "-help", "--help":
		if len(args) == 2 && args[0] == "help" {
			return dispatch([]string{args[1], "-h"}, stdin, stdout, stderr)
		}
		if code, ok := cli.NewFlags("dpscope help", stderr).Parse(args[1:], 0); !ok {
			return code
		}
		fmt.Fprint(stdout, usage)
		return cli.ExitOK
	}
	return fail(stderr, audit.UnknownName("command", args[0], []string{"audit", "canaries", "one-run", "scores", "counts", "merge", "commit", "verify", "account", "list", "serve", "share", "open", "version"}))
}

// fail prints an error and returns the exit code that goes with it.
func fail(stderr io.Writer, err error) int { return cli.Fail("dpscope", stderr, err) }
