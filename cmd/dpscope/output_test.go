package main

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/dpscope/dpscope/internal/cli"
	"github.com/dpscope/dpscope/internal/must"
)

// A file is written whole or not at all, where a link points, with its own mode,
// and nothing else is left in its folder.
func TestWriteWhole(t *testing.T) {
	dir := t.TempDir()
	old := filepath.Join(dir, "old.txt")
	must.Do(t, os.WriteFile(old, []byte("a long text that was there before"), 0o600))
	link := filepath.Join(dir, "link.txt")
	if err := os.Symlink(old, link); err != nil {
		t.Skip(err)
	}
	for _, path := range []string{old, link, filepath.Join(dir, "new.txt")} {
		must.Do(t, cli.WriteWhole(path, []byte(path)))
		if got, err := os.ReadFile(path); err != nil || string(got) != path {
			t.Errorf("%s holds %q, %v", path, got, err)
		}
	}
	if info, err := os.Lstat(link); err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Errorf("the link is gone: %v, %v", info, err)
	}
	if info, err := os.Stat(old); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("the mode is %v, %v", info.Mode(), err)
	}
	must.Refuse(t, cli.WriteWhole(filepath.Join(dir, "missing", "x"), nil), "", "a folder that does not exist is no error")
	must.Do(t, cli.WriteWhole(os.DevNull, []byte("x")))
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 3 {
		t.Errorf("left in the folder: %v, %v", entries, err)
	}
}

func TestParseOutput(t *testing.T) {
	for v, want := range map[string]formatFile{
		"r.sarif":        {"sarif", "r.sarif"},
		"dir/r.XML":      {"junit", "dir/r.XML"},
		"github=r.xml":   {"github", "r.xml"},
		"markdown=a=b":   {"markdown", "a=b"},
		"./a=b.md":       {"markdown", "./a=b.md"},
		"report.json":    {"json", "report.json"},
		"text=-weird-":   {"text", "-weird-"},
		"/abs/r.a.sarif": {"sarif", "/abs/r.a.sarif"},
	} {
		if got, err := parseOutput(v); err != nil || got != want {
			t.Errorf("%s: %v, %v", v, got, err)
		}
	}
	for _, v := range []string{"", "r", "r.yaml", "yaml=r", "sarif="} {
		if got, err := parseOutput(v); err == nil || !strings.Contains(err.Error(), "must be") {
			t.Errorf("%q: %v, %v", v, got, err)
		}
	}
}
