// Command timings shows of what go test -json prints what go test would, and the ten packages and tests that took
// longest.
//
//	go test -json ./... | go run ./internal/timings
package main

import (
	"bufio"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
)

// event is a line of test2json.
type event struct {
	Action, Package, Test, Output string
	Elapsed                       float64 // seconds
}

type timed struct {
	name    string
	seconds float64
}

func main() {
	if err := run(os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "timings:", err)
		os.Exit(1)
	}
}

func run(r io.Reader, w io.Writer) error {
	var packages, tests []timed
	said := map[string][]byte{} // by package and test, until it is known whether it fails
	failed := false
	lines := bufio.NewReader(r)
	for {
		line, err := lines.ReadBytes('\n')
		if err == io.EOF {
			break
		} else if err != nil {
			return err
		}
		var e event
		if json.Unmarshal(line, &e) != nil {
			fmt.Fprintf(w, "%s", line)
			continue
		}
		key := e.Package + " " + e.Test
		switch e.Action {
		case "build-output":
			fmt.Fprint(w, e.Output)
		case "output":
			if e.Test == "" && (strings.HasPrefix(e.Output, "ok ") || strings.HasPrefix(e.Output, "FAIL\t")) {
				fmt.Fprint(w, e.Output)
			} else {
				said[key] = append(said[key], e.Output...)
			}
		case "fail":
			failed = true
			fmt.Fprintf(w, "%s", said[key])
		}
		if e.Action == "pass" || e.Action == "fail" || e.Action == "skip" {
			delete(said, key)
			name := strings.TrimPrefix(e.Package, "github.com/dpscope/dpscope/")
			switch {
			case e.Test == "":
				packages = append(packages, timed{name, e.Elapsed})
			case !strings.Contains(e.Test, "/"):
				tests = append(tests, timed{name + " " + e.Test, e.Elapsed})
			}
		}
	}
	for _, t := range []struct {
		what string
		all  []timed
	}{{"packages", packages}, {"tests", tests}} {
		if len(t.all) < 2 {
			continue
		}
		slices.SortStableFunc(t.all, func(a, b timed) int { return cmp.Compare(b.seconds, a.seconds) })
		fmt.Fprintf(w, "\nThe slowest %s, in seconds; of cached ones, what they took:\n", t.what)
		for _, x := range t.all[:min(10, len(t.all))] {
			fmt.Fprintf(w, "  %7.1f  %s\n", x.seconds, x.name)
		}
	}
	if failed {
		return fmt.Errorf("tests failed")
	}
	return nil
}
