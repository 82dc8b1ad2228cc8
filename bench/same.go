package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"time"

	"github.com/dpscope/dpscope/audit"
)

// sameAudits are audits of every kind. The files are in the folder that -inputs names.
const sameAudits = `
audit -mechanism svt4 -epsilon 1
audit -mechanism svt1 -epsilon 1 -samples 20000 -trials 2
audit -mechanism laplace-mean-raw-denominator -learner histogram -samples 20000 -explore 4000 -trials 2 -seed 8
audit -mechanism svt3 -param m=4 -learner logistic -samples 5000 -trials 2 -seed 9 -fixed
audit -mechanism laplace-mean-raw-count -epsilon 1 -finder gp-ucb -learner histogram -samples 5000 -explore 2000 -trials 24 -seed 11
audit -mechanism gaussian-mean -relation replace -finder random -samples 5000 -trials 3 -seed 10
audit -mechanism laplace-mean-raw-count -epsilon 1 -through-renyi 2 -samples 400 -trials 1
audit -mechanism gaussian-mean-raw-count -samples 4000 -until-refuted
audit -mechanism gaussian-mean-raw-count-renyi -samples 4000 -trials 2
audit -mechanism laplace-mean -guarantee zcdp -samples 4000 -trials 2
audit -mechanism gaussian-mean -guarantee gaussian-dp -mu 0.4 -samples 4000
audit -mechanism laplace-count -group 2 -samples 4000
audit -mechanism noisy-histogram -samples 4000 -trials 2
audit -mechanism svt5 -epsilon 1 -learner mlp -samples 500 -trials 1
audit -samples-file half.csv -epsilon 1
audit -exec 'python3 count_mechanism.py half' -epsilon 1 -samples 2000 -explore 400 -trials 2 -learner histogram
audit -exec 'python3 count_mechanism.py words' -epsilon 1.2 -samples 1000 -trials 2 -rows 0:3
audit -wasm count.wasm -epsilon 1 -samples 1000 -trials 2 -seed 3
audit -plan plan.json
audit -plan plan-built-in.json
canaries -d 50 -epsilon 2 -delta 1e-5 -n 100 -explore 40 -k 6 -seed 1
canaries -d 50 -epsilon 1 -delta 1e-5 -n 200 -k 5 -param noise=0.1 -relation replace
canaries -d 50 -epsilon 2 -delta 1e-5 -n 120 -explore 40 -k 5 -m 7 -quantile .1 -interval wilson-2 -design orthogonal -param calibration=analytic
canaries -source dp-sgd -epsilon 2 -delta 1e-5 -n 20 -k 3 -param model=linear -param steps=5 -data examples.csv
one-run -epsilon 2 -delta 1e-5 -m 300 -seed 1
one-run -epsilon 2 -delta 1e-5 -m 200 -guesses 30,60,120 -gdp-guesses 50 -design sphere
one-run -source dp-sgd -epsilon 2 -delta 1e-5 -m 60 -param steps=5 -param model=linear -data examples.csv
scores scores.csv -epsilon 1 -delta 1e-5 -relation add-remove
scores scores-in.csv scores-out.csv -epsilon 3 -delta 1e-5 -method paired-betting -seed 7 -guesses 10,20 -relation add-remove
scores matrix-replace.csv -epsilon 2 -delta 1e-5 -relation replace
scores matrix-coins.csv -epsilon 2 -delta 1e-5 -relation add-remove
`

// unlike are the fields of a report that say when and by what it was made.
var unlike = []string{"schema", "schemaVersion", "version", "generator", "timing", "seconds", "versions"}

// benchSame says whether two programs make the same reports, but for [unlike] and the
// fields that -without names: for a change that means to change none.
func benchSame(c *call) (int, error) {
	old := c.String("old", "", "the `program` before")
	changed := c.String("new", "", "the `program` after")
	inputs := c.String("inputs", "core/testdata/reports/inputs", "`folder` of the files")
	only := c.String("only", "", "only audits whose arguments hold this `text`")
	without := c.String("without", "", "names of `fields` that are not compared, with commas between")
	if exit, ok := c.parse(); !ok {
		return exit, nil
	}
	for flag, value := range map[string]string{"-old": *old, "-new": *changed} {
		if value == "" {
			return 0, &audit.InputError{Field: flag, Found: audit.Absent, Want: "a program of dpscope, as an absolute path"}
		}
	}
	ignored := append(strings.Split(*without, ","), unlike...)
	all := true
	for line := range strings.Lines(strings.TrimPrefix(sameAudits, "\n")) {
		line = strings.TrimSpace(line)
		if !strings.Contains(line, *only) {
			continue
		}
		before, err := c.report(*inputs, *old, line)
		if err != nil {
			return 0, err
		}
		after, err := c.report(*inputs, *changed, line)
		if err != nil {
			return 0, err
		}
		found := difference(lines(before, ignored), lines(after, ignored))
		all = all && found == ""
		fmt.Fprintf(c.stdout, "%s\n    %s\n", line, cmp.Or(found, "same"))
	}
	return code(all), nil
}

// report is what one program reports of one audit.
func (c *call) report(folder, program, line string) (any, error) {
	ctx, stop := context.WithTimeout(c.ctx, 10*time.Minute)
	defer stop()
	run := exec.CommandContext(ctx, "sh", "-c", `exec "$0" `+line+" -format json", program)
	run.Dir = folder
	var out, said bytes.Buffer
	run.Stdout, run.Stderr = &out, &said
	if err := run.Run(); err != nil && !errors.As(err, new(*exec.ExitError)) {
		return nil, err
	}
	if out.Len() == 0 {
		return nil, fmt.Errorf("%s %s: %s", program, line, said.String())
	}
	var report any
	d := json.NewDecoder(&out)
	d.UseNumber() // a seed has more digits than a float64
	err := d.Decode(&report)
	return report, err
}

// lines are a document without some fields, a value each, by names in order.
func lines(document any, without []string) []string {
	var drop func(x any)
	drop = func(x any) {
		switch x := x.(type) {
		case map[string]any:
			for _, name := range without {
				delete(x, name)
			}
			for _, y := range x {
				drop(y)
			}
		case []any:
			for _, y := range x {
				drop(y)
			}
		}
	}
	drop(document)
	text, err := json.MarshalIndent(document, "", "")
	if err != nil {
		panic("bench: " + err.Error())
	}
	return strings.Split(string(text), "\n")
}

// difference is the first line in which two documents differ, "" where none does.
func difference(before, after []string) string {
	for i := range max(len(before), len(after)) {
		if was, is := append(before, "")[min(i, len(before))], append(after, "")[min(i, len(after))]; was != is {
			return fmt.Sprintf("line %d: %.200s, was %.200s", i+1, is, was)
		}
	}
	return ""
}
