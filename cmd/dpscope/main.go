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
	"github.com/dpscope/dpscope/host/replay"
	"github.com/dpscope/dpscope/internal/cli"
	"github.com/dpscope/dpscope/mechanisms/user/module"
)

// catalogue is all that is registered.
var catalogue = cli.Catalogue()

const usage = `dpscope audits differential privacy.

Usage:
  dpscope audit -mechanism NAME [-epsilon E] [flags]   search for a violation and certify it
  dpscope audit -exec COMMAND -epsilon E [flags]       audit a mechanism that a program of yours runs
  dpscope audit -wasm FILE -epsilon E [flags]          audit a WebAssembly module of yours
  dpscope audit -samples-file FILE -epsilon E [flags]  audit outputs that another program recorded
  dpscope audit -plan FILE [flags]                     several audits with one error and one exit code
  dpscope canaries -epsilon E -delta D [flags]         audit by planted records, several a run
  dpscope canaries -exec COMMAND -epsilon E [flags]    the same with trainings by a program of yours; one-run too
  dpscope one-run -epsilon E -delta D [flags]          audit a single training by canaries in or out by a coin
  dpscope scores -epsilon E -delta D FILE [FILE2]      audit membership scores that another program made
  dpscope counts -in 40/50 -out 2/50 [-epsilon E]      bounds from plain counts of trainings with a canary and without
  dpscope merge PART... [-o FILE]                      one report of the shares that several machines drew (docs/scale.md)
  dpscope commit FILE | [flags]                        print a salted hash of an audit, or of a file of them, before it runs
  dpscope verify [-quick] FILE                         replay a report; - is standard input
  dpscope account -mechanism KIND [flags]              what noise guarantees after sampling, composition, for groups
  dpscope list [NAME] [-format text|json]              mechanisms, learners and finders, or all of one
  dpscope serve [-addr ADDRESS] [-dir DIR]             serve the page; with -store DIR, reports that visitors share
  dpscope share -host ADDRESS FILE                     store a report with such a host, which gives it an address
  dpscope open ADDRESS                                 get a report from its address and replay it
  dpscope version

Flags of a command: dpscope COMMAND -h.
Exit codes of audit, canaries, one-run, scores, counts and merge: 0 no violation found, 1 violation, 2 usage or input error, 3 inconclusive (with -strict, or stopped).
Exit codes of verify: 0 the replay gives what the report says, 1 it does not, 2 usage or input error.
Where something could not be written, 1 stays 1 and all else becomes 2.
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
		return canaries(args[1:], stdin, stdout, stderr)
	case "one-run":
		return oneRun(args[1:], stdin, stdout, stderr)
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
