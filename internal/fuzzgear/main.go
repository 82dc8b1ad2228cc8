// Fuzzgear runs every fuzz test of the module, one after another, each for the
// same time, and fails when one fails or has tried fewer inputs than a fuzzer
// should.
//
//	go run ./internal/fuzzgear -time 10s [-parallel 1] [-fresh] [packages]
//
// A fuzz test below a line //fuzzgear:skip REASON is left out. A
// failing input is kept as a seed of its package, under testdata/fuzz.
package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// least is how many inputs a fuzz test must have tried. The parsers try more than
// a thousand a second.
const least = 1000

func main() {
	span := flag.Duration("time", 10*time.Minute, "how long each fuzz test runs")
	fresh := flag.Bool("fresh", false, "begin with the seeds of the fuzz test, and not with all that earlier runs found, which a short one would only run again")
	parallel := flag.Int("parallel", 0, "how many inputs are tried at the same time; default: one for each processor")
	flag.Parse()
	patterns := flag.Args()
	if len(patterns) == 0 {
		patterns = []string{"./..."}
	}
	if err := run(os.Stdout, *span, *parallel, *fresh, patterns); err != nil {
		fmt.Fprintln(os.Stderr, "fuzzgear:", err)
		os.Exit(1)
	}
}

func run(out io.Writer, span time.Duration, parallel int, fresh bool, patterns []string) error {
	targets, err := find(patterns)
	if err != nil {
		return err
	}
	corpus := ""
	if fresh {
		if corpus, err = os.MkdirTemp("", "fuzz"); err != nil {
			return err
		}
		defer os.RemoveAll(corpus)
	}
	var failures []error
	fuzzed := 0
	for _, t := range targets {
		if t.skip != "" {
			fmt.Fprintf(out, "\n== %s is left out: %s\n", t.name, t.skip)
			continue
		}
		fuzzed++
		fmt.Fprintf(out, "\n== %s, %s\n", t.name, span)
		if err := fuzz(out, t, span, parallel, corpus); err != nil {
			failures = append(failures, err)
		}
	}
	if fuzzed == 0 {
		return fmt.Errorf("no fuzz test in %s", strings.Join(patterns, " "))
	}
	return errors.Join(failures...)
}

// target is a fuzz test.
type target struct {
	pkg, name string
	skip      string // why it is left out
}

// fuzzTest is the beginning of a fuzz test.
var fuzzTest = regexp.MustCompile(`(?m)^(?://fuzzgear:skip (.*)\n)?func (Fuzz\w*)\(`)

// find lists the fuzz tests of packages, as far as they are built here.
func find(patterns []string) ([]target, error) {
	const files = `{{$p := .}}{{range .TestGoFiles}}{{$p.ImportPath}} {{$p.Dir}}/{{.}}
{{end}}{{range .XTestGoFiles}}{{$p.ImportPath}} {{$p.Dir}}/{{.}}
{{end}}`
	cmd := exec.Command("go", append([]string{"list", "-f", files}, patterns...)...)
	cmd.Stderr = os.Stderr
	listed, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w", err)
	}
	var targets []target
	for line := range strings.Lines(string(listed)) {
		pkg, name, ok := strings.Cut(strings.TrimSpace(line), " ")
		if !ok {
			continue
		}
		text, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		for _, m := range fuzzTest.FindAllStringSubmatch(string(text), -1) {
			targets = append(targets, target{pkg: pkg, name: m[2], skip: m[1]})
		}
	}
	return targets, nil
}

// fuzz runs one fuzz test, with a corpus of its own if one is named. An input that reaches new code is minimised by one
// try, and not for up to a minute, as is the default: that minute was all the
// fuzzer did.
func fuzz(out io.Writer, t target, span time.Duration, parallel int, corpus string) error {
	args := []string{"test", t.pkg, "-run", "^$", "-fuzz", "^" + t.name + "$", "-fuzztime", span.String(), "-fuzzminimizetime", "1x"}
	if parallel > 0 {
		args = append(args, "-parallel", strconv.Itoa(parallel))
	}
	if corpus != "" {
		args = append(args, "-args", "-test.fuzzcachedir="+filepath.Join(corpus, filepath.Base(t.pkg)))
	}
	var said bytes.Buffer
	cmd := exec.Command("go", args...)
	cmd.Stdout = io.MultiWriter(out, &said)
	cmd.Stderr = cmd.Stdout
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("%s of %s: %w", t.name, t.pkg, err)
	}
	return enough(t, said.String())
}

var execs = regexp.MustCompile(`(?m)^fuzz: elapsed: .*, execs: (\d+) `)

// enough looks in what go test printed for the number of inputs.
func enough(t target, said string) error {
	all := execs.FindAllStringSubmatch(said, -1)
	if len(all) == 0 {
		return fmt.Errorf("%s of %s: go test does not say how many inputs it tried", t.name, t.pkg)
	}
	n, err := strconv.Atoi(all[len(all)-1][1])
	if err != nil {
		return fmt.Errorf("%s of %s: %w", t.name, t.pkg, err)
	}
	if n < least {
		return fmt.Errorf("%s of %s tried %d inputs, must try at least %d: give it more time, or make one input cheaper", t.name, t.pkg, n, least)
	}
	return nil
}
