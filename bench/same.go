package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/internal/cli"
	"github.com/dpscope/dpscope/internal/try"
)

var unlike = []string{"schema", "schemaVersion", "version", "generator", "timing", "seconds", "versions"}

// benchSame compares reports of every kind by two programs, but for [unlike] and the fields that
// -without names. Reports that differ from run to run are left out.
func benchSame(c *call) {
	old := c.String("old", "", "the `program` before")
	changed := c.String("new", "", "the `program` after")
	reports := c.String("reports", "core/testdata/reports", "`folder` of the script that makes the reports")
	without := c.String("without", "", "names of `fields` that are not compared, with commas between")
	c.parse()
	var made []string
	for _, program := range []string{*old, *changed} {
		if _, err := os.Stat(program); err != nil {
			try.Do(&audit.InputError{Field: "-old and -new", Found: fmt.Sprintf("%q", program), Want: "a program of dpscope"})
		}
		folder := try.Get(os.MkdirTemp("", "same"))
		defer os.RemoveAll(folder)
		try.Do(os.CopyFS(folder, os.DirFS(*reports)))
		if out, err := exec.CommandContext(c.ctx, "sh", filepath.Join(folder, "make.sh"), program).CombinedOutput(); err != nil {
			try.Do(fmt.Errorf("%s: %w: %s", program, err, out))
		}
		made = append(made, folder)
	}
	list := try.Get(os.ReadFile(filepath.Join(made[1], "reports.txt")))
	ignored := append(namesOf(*without), unlike...)
	all := true
	for line := range strings.Lines(string(list)) {
		name := strings.Fields(line)[0]
		if strings.HasPrefix(name, "unseeded") || strings.HasPrefix(name, "stopped") {
			continue
		}
		before, after := reportLines(filepath.Join(made[0], name), ignored), reportLines(filepath.Join(made[1], name), ignored)
		found := "same"
		if i := slices.IndexFunc(after, func(x string) bool { return !slices.Contains(before, x) }); i >= 0 {
			found, all = "differs at "+after[i], false
		} else if len(before) != len(after) {
			found, all = "lacks values", false
		}
		fmt.Fprintf(c.stdout, "%s: %s\n", name, found)
	}
	c.exit = audit.Pick(all, cli.ExitOK, cli.ExitViolation)
}

// reportLines are the values of a report in a file with their places, without some fields.
func reportLines(path string, without []string) (lines []string) {
	file := try.Get(os.Open(path))
	defer file.Close()
	var report any
	d := json.NewDecoder(file)
	d.UseNumber() // a seed has more digits than a float64
	try.Do(d.Decode(&report))
	var list func(place string, x any)
	list = func(place string, x any) {
		switch x := x.(type) {
		case map[string]any:
			for name, y := range x {
				if !slices.Contains(without, name) {
					list(place+"/"+name, y)
				}
			}
		case []any:
			for i, y := range x {
				list(fmt.Sprintf("%s/%03d", place, i), y)
			}
		default:
			lines = append(lines, fmt.Sprintf("%s: %v", place, x))
		}
	}
	list("", report)
	slices.Sort(lines)
	return lines
}
