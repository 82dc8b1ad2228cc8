package main

import (
	"fmt"
	"io"

	"github.com/dpscope/dpscope/audit"
)

// benches are the measurements by name.
var benches = map[string]func(args []string, stdout, stderr io.Writer) int{
	"detection":   benchDetection,
	"anytime":     benchAnytime,
	"browser":     benchBrowser,
	"network":     benchNetwork,
	"portfolio":   benchPortfolio,
	"calibration": benchCalibration,
	"canaries":    benchCanaries,
	"tables":      benchTables,
	"zoo":         benchZoo,
	"scores":      benchScores,
}

// bench is dpscope bench.
func bench(args []string, stdout, stderr io.Writer) int {
	names := []string{"detection", "anytime", "portfolio", "tables", "calibration", "canaries", "scores", "zoo", "browser", "network"}
	if len(args) == 0 {
		return fail(stderr, &audit.InputError{Field: "bench", Found: "called without a name", Want: fmt.Sprintf("one of %v", names)})
	}
	if args[0] == "-h" || args[0] == "-help" || args[0] == "--help" {
		fmt.Fprintf(stdout, "Usage: dpscope bench NAME [flags], with NAME one of %v. Flags: dpscope bench NAME -h.\n", names)
		return exitOK
	}
	run, ok := benches[args[0]]
	if !ok {
		return fail(stderr, audit.UnknownName("bench", args[0], names))
	}
	return run(args[1:], stdout, stderr)
}
