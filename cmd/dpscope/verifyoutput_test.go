package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/dpscope/dpscope/internal/must"
)

// A report that holds is written in another format; one that does not is not.
func TestVerifyOutput(t *testing.T) {
	dir := t.TempDir()
	file, page := filepath.Join(dir, "r.json"), filepath.Join(dir, "r.html")
	var out, errs bytes.Buffer
	if code := run([]string{"audit", "-mechanism", "laplace-count", "-epsilon", "2", "-param", "epsilon=1", "-samples", "2000", "-trials", "1", "-output", file}, nil, &out, &errs); code != 0 {
		t.Fatalf("exit code %d: %s", code, errs.String())
	}
	if code := run([]string{"verify", "-quick", "-output", page, file}, nil, &out, &errs); code != 0 {
		t.Fatalf("exit code %d: %s", code, errs.String())
	}
	if data, err := os.ReadFile(page); err != nil || !bytes.HasPrefix(data, []byte("<!doctype html>")) {
		t.Errorf("wrote %.40q, %v", data, err)
	}
	data := must.Get(os.ReadFile(file))(t)
	data = bytes.Replace(data, []byte(`"lowerBound": 0.`), []byte(`"lowerBound": 0.0`), 1)
	must.Do(t, os.WriteFile(file, data, 0o644))
	os.Remove(page)
	if code := run([]string{"verify", "-quick", "-output", page, file}, nil, &out, &errs); code == 0 {
		t.Error("a changed report holds")
	}
	if _, err := os.Stat(page); err == nil {
		t.Error("a report that does not hold was written")
	}
}
