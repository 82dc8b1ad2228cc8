package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/dpscope/dpscope/internal/child"
	"github.com/dpscope/dpscope/internal/cli"
	"github.com/dpscope/dpscope/internal/must"
)

// commands are what tests run as processes of their own.
var commands = map[string]func(){"dpscope": main}

func TestMain(m *testing.M) {
	if len(os.Args) == 2 && (os.Args[1] == moduleHost || os.Args[1] == replayHost) {
		main() // a test started it
	}
	if len(os.Args) > 2 && os.Args[1] == "trains" {
		trainFor(os.Args[2:], os.Stdin, os.Stdout)
		return
	}
	testscript.Main(m, commands)
}

// TestScripts runs the command as a user does; the scripts say what it prints
// and its exit code.
func TestScripts(t *testing.T) {
	examples := must.Get(filepath.Abs("../../docs/examples"))(t)
	child.Reads(t, examples)
	testscript.Run(t, testscript.Params{Dir: "testdata/script", Setup: func(e *testscript.Env) error {
		e.Setenv("EXAMPLES", examples)
		return nil
	}, Cmds: map[string]func(*testscript.TestScript, bool, []string){
		"exits": exits,
	}})
}

// exits CODE ARGS... runs dpscope with the arguments and wants that exit code.
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE ARGS...")
	}
	err := ts.Exec("dpscope", args[1:]...)
	got := "0"
	if err != nil {
		got = exitCode(err)
	}
	if got != args[0] {
		ts.Fatalf("exit code %s, want %s", got, args[0])
	}
}

func exitCode(err error) string {
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return strconv.Itoa(exit.ExitCode())
	}
	return err.Error()
}

// TestExampleReplays: the example that the page shows first is a real report
// of this version. This writes it anew:
//
//	dpscope audit -mechanism laplace-count -epsilon 1 -samples 20000 -beta 0.001 -fixed -seed 7 -format json > site/example.json
func TestExampleReplays(t *testing.T) {
	wants(t, cli.ExitOK, "", "verify", "../../site/example.json")
}
