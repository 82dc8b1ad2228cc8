package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/mechanisms/recorded"
)

// The files are those that the command reads: both formats hold the same rows.
func TestFilesOfRows(t *testing.T) {
	var tables []*recorded.Table
	for name, columns := range map[string]string{"x.csv": "x,dataset", "x.npy": ""} {
		path := filepath.Join(t.TempDir(), name)
		size, err := writeRows(path, columns, 1000, 1)
		if err != nil {
			t.Fatal(err)
		}
		data, err := os.ReadFile(path)
		if err != nil || int64(len(data)) != size {
			t.Fatalf("%v, %d bytes of %d", err, len(data), size)
		}
		f, err := recorded.Read(strings.NewReader(string(data)), recorded.Options{Name: name})
		if err != nil {
			t.Fatal(err)
		}
		tables = append(tables, f.Tables[0])
	}
	for i := range 1000 {
		for k := range 2 {
			if a, b := tables[0].Columns[k].Real(i), tables[1].Columns[k].Real(i); a != b || k == 1 && a*(1-a) != 0 {
				t.Fatalf("row %d, column %d: %v and %v", i, k, a, b)
			}
		}
	}
	if tables[0].Rows() != 1000 || tables[0].Columns[0].Kind != audit.Real {
		t.Error(tables[0].Rows())
	}
}

// The command is run on each file, and what it took is in the table; a program that fails is
// an error with what it said.
func TestFilesMeasures(t *testing.T) {
	if _, err := os.Stat("/bin/sh"); err != nil {
		t.Skip("no sh")
	}
	folder := t.TempDir()
	program := filepath.Join(folder, "stands")
	stands := func(script string) {
		if err := os.WriteFile(program, []byte("#!/bin/sh\n"+script), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	stands("for last; do :; done; test -s $last || exit 9; echo $1; exit 1")
	var out, bad strings.Builder
	if code := run([]string{"files", "-rows", "1000", "-dir", folder, "-command", program, "-format", "json"}, &out, &bad); code != 0 {
		t.Fatalf("%d %s", code, bad.String())
	}
	var res fileResult
	if err := json.Unmarshal([]byte(out.String()), &res); err != nil || res.Rows != 1000 || len(res.Table) != 6 {
		t.Fatalf("%v %+v", err, res)
	}
	for i, row := range res.Table {
		if row.Seconds <= 0 || row.Bytes < 10_000 || strings.HasPrefix(row.Command, "wc -l") != (i%2 == 0) {
			t.Errorf("%+v", row)
		}
	}
	if left, _ := filepath.Glob(filepath.Join(folder, "dpscope-bench-*")); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
	stands("echo why >&2; exit 2")
	if code := run([]string{"files", "-rows", "1000", "-dir", folder, "-command", program}, &out, &bad); code == 0 || !strings.Contains(bad.String(), "why") {
		t.Errorf("%d %s", code, bad.String())
	}
}
