package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/dpscope/dpscope/audit"
)

// unlike are the fields of a report that say when and by what it was made.
var unlike = []string{"schema", "schemaVersion", "version", "generator", "timing", "seconds", "versions"}

// benchSame says whether two programs make the same reports of core/testdata/reports, which
// has one or a few of every kind, but for [unlike] and the fields that -without names: for a
// change that means to change none. Reports that differ from run to run are left out.
func benchSame(c *call) (int, error) {
	old := c.String("old", "", "the `program` before")
	changed := c.String("new", "", "the `program` after")
	reports := c.String("reports", "core/testdata/reports", "`folder` of the script that makes the reports")
	without := c.String("without", "", "names of `fields` that are not compared, with commas between")
	if exit, ok := c.parse(); !ok {
		return exit, nil
	}
	var made []string
	for _, program := range []string{*old, *changed} {
		if _, err := os.Stat(program); err != nil {
			return 0, &audit.InputError{Field: "-old and -new", Found: fmt.Sprintf("%q", program), Want: "a program of dpscope"}
		}
		folder, err := os.MkdirTemp("", "same")
		if err != nil {
			return 0, err
		}
		defer os.RemoveAll(folder)
		if err := os.CopyFS(folder, os.DirFS(*reports)); err != nil {
			return 0, err
		}
		if out, err := exec.CommandContext(c.ctx, "sh", filepath.Join(folder, "make.sh"), program).CombinedOutput(); err != nil {
			return 0, fmt.Errorf("%s: %w: %s", program, err, out)
		}
		made = append(made, folder)
	}
	list, err := os.ReadFile(filepath.Join(made[1], "reports.txt"))
	if err != nil {
		return 0, err
	}
	ignored := append(namesOf(*without), unlike...)
	all := true
	for line := range strings.Lines(string(list)) {
		name := strings.Fields(line)[0]
		if strings.HasPrefix(name, "unseeded") || strings.HasPrefix(name, "stopped") {
			continue
		}
		before, err1 := reportLines(filepath.Join(made[0], name), ignored)
		after, err2 := reportLines(filepath.Join(made[1], name), ignored)
		if err := errors.Join(err1, err2); err != nil {
			return 0, err
		}
		found := "same"
		if i := slices.IndexFunc(after, func(x string) bool { return !slices.Contains(before, x) }); i >= 0 {
			found, all = "differs at "+after[i], false
		} else if len(before) != len(after) {
			found, all = "lacks values", false
		}
		fmt.Fprintf(c.stdout, "%s: %s\n", name, found)
	}
	return code(all), nil
}

// reportLines are the values of a report in a file with their places, without some fields.
func reportLines(path string, without []string) (lines []string, err error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	var report any
	d := json.NewDecoder(file)
	d.UseNumber() // a seed has more digits than a float64
	err = d.Decode(&report)
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
	return lines, err
}
