// Command dpscope audits differential privacy: it searches for two
// neighbouring datasets and a test that tells a mechanism's outputs on them
// apart, and turns the test's success into a lower confidence bound on
// epsilon.
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"runtime/debug"
	"slices"
	"syscall"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/audit/phrase"
	"github.com/dpscope/dpscope/estimators"
	"github.com/dpscope/dpscope/finders"
	"github.com/dpscope/dpscope/mechanisms"
	"github.com/dpscope/dpscope/mechanisms/google"
	"github.com/dpscope/dpscope/mechanisms/user/module"
)

// Exit codes of every command.
const (
	exitOK           = 0 // no violation found
	exitViolation    = 1
	exitUsage        = 2 // wrong usage or input, a mechanism that fails among it
	exitInconclusive = 3 // with -strict, and for a run that was stopped
)

// seeded is all that is registered and draws from the seed.
var seeded = audit.Catalogue{Mechanisms: mechanisms.All(), Learners: estimators.Registry(), Finders: finders.Registry()}

// catalogue is all that is registered.
var catalogue = withLibrary(seeded)

func withLibrary(c audit.Catalogue) audit.Catalogue {
	c.Mechanisms = slices.Concat(c.Mechanisms, google.All())
	return c
}

const usage = `dpscope audits differential privacy.

Usage:
  dpscope audit -mechanism NAME [-epsilon E] [flags]   search for a violation and certify it
  dpscope audit -exec COMMAND -epsilon E [flags]       audit a mechanism that a program of yours runs
  dpscope audit -wasm FILE -epsilon E [flags]          audit a WebAssembly module of yours
  dpscope audit -samples-file FILE -epsilon E [flags]  audit outputs that another program recorded
  dpscope audit -plan FILE [flags]                     several audits with one error and one exit code
  dpscope canaries -epsilon E -delta D [flags]         audit by planted records, several a run
  dpscope one-run -epsilon E -delta D [flags]          audit a single training by canaries in or out by a coin
  dpscope scores -epsilon E -delta D FILE [FILE2]      audit membership scores that another program made
  dpscope counts -in 40/50 -out 2/50 [-epsilon E]      bounds from plain counts of trainings with a canary and without
  dpscope verify [-quick] FILE                         replay a report; - is standard input
  dpscope account -mechanism KIND [flags]              what noise guarantees after sampling, composition, for groups
  dpscope list [NAME] [-format text|json]              mechanisms, learners and finders, or all of one
  dpscope serve [-addr ADDRESS] [-dir DIR]             serve the page
  dpscope bench NAME [flags]                           measure: detection, anytime, portfolio, tables, calibration, canaries, scores, zoo, browser, network
  dpscope version

Flags of a command: dpscope COMMAND -h.
Exit codes of audit, canaries, one-run, scores and counts: 0 no violation found, 1 violation, 2 usage or input error, 3 inconclusive (with -strict, or stopped).
Exit codes of verify: 0 the replay gives what the report says, 1 it does not, 2 usage or input error.
Where something could not be written, 1 stays 1 and all else becomes 2.
`

func main() {
	if len(os.Args) > 1 && slices.Contains([]string{"audit", "canaries", "one-run", "scores", "counts"}, os.Args[1]) {
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
		return exitUsage
	}
	switch args[0] {
	case "audit":
		return auditCommand(args[1:], stdin, stdout, stderr)
	case "canaries":
		return canaries(args[1:], stdout, stderr)
	case "one-run":
		return oneRun(args[1:], stdout, stderr)
	case "scores":
		return scores(args[1:], stdout, stderr)
	case "counts":
		return counts(args[1:], stdout, stderr)
	case "verify":
		return verify(args[1:], stdin, stdout, stderr)
	case "account":
		return accountCommand(args[1:], stdout, stderr)
	case "list":
		return list(args[1:], stdout, stderr)
	case "serve":
		return serve(args[1:], stdout, stderr)
	case "bench":
		return bench(args[1:], stdout, stderr)
	case moduleHost:
		return module.Host(stdin, stdout)
	case "version", "-version", "--version":
		if code, ok := parse(flag.NewFlagSet("dpscope version", flag.ContinueOnError), args[1:], stderr, 0); !ok {
			return code
		}
		g := generator()
		fmt.Fprintf(stdout, "dpscope %s %s %s/%s\n", g.Version, g.Go, g.GoOS, g.GoArch)
		return exitOK
	case "help", "-h", "-help", "--help":
		if len(args) == 2 && args[0] == "help" {
			return dispatch([]string{args[1], "-h"}, stdin, stdout, stderr)
		}
		if code, ok := parse(flag.NewFlagSet("dpscope help", flag.ContinueOnError), args[1:], stderr, 0); !ok {
			return code
		}
		fmt.Fprint(stdout, usage)
		return exitOK
	}
	return fail(stderr, audit.UnknownName("command", args[0], []string{"audit", "canaries", "one-run", "scores", "counts", "verify", "account", "list", "serve", "bench", "version"}))
}

// fail prints an error and returns the exit code that goes with it.
func fail(stderr io.Writer, err error) int {
	fmt.Fprintf(stderr, "dpscope: %s\n", phrase.Block(phrase.Short(err.Error())))
	return exitUsage
}

// generator says what this program is, for reports.
func generator() audit.Generator {
	g := audit.Generator{Name: "dpscope", Version: audit.Version, GoOS: runtime.GOOS, GoArch: runtime.GOARCH, Go: runtime.Version()}
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			if s.Key == "vcs.revision" && len(s.Value) >= 12 {
				g.Version += "+" + s.Value[:12]
			}
		}
	}
	return g
}
