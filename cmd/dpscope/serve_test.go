package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dpscope/dpscope/internal/cli"
	"github.com/dpscope/dpscope/internal/must"
)

func TestServeUsage(t *testing.T) {
	site := t.TempDir()
	must.Do(t, os.WriteFile(filepath.Join(site, "build-info.json"), []byte("{}"), 0o644))
	for _, c := range []struct {
		args []string
		code int
		says string
	}{
		{[]string{"-dir", t.TempDir()}, cli.ExitUsage, "./build.sh build"},
		{[]string{"-dir", site, "-addr", "256.0.0.1:x"}, cli.ExitUsage, "-addr"},
		{[]string{"-colour"}, cli.ExitUsage, "-colour"},
		{[]string{"dist"}, cli.ExitUsage, `"dist"`},
		{[]string{"-h"}, cli.ExitOK, "-addr"},
	} {
		var out, errs bytes.Buffer
		if code := serve(c.args, nil, &out, &errs); code != c.code || !strings.Contains(errs.String(), c.says) || out.Len() > 0 {
			t.Errorf("serve %v: code %d, stdout %q, stderr %q", c.args, code, out.String(), errs.String())
		}
	}
}

// Without -dir a site in dist is found, before one beside the program.
func TestFindSite(t *testing.T) {
	t.Chdir(t.TempDir())
	if site, err := findSite(""); err == nil {
		t.Errorf("found %v in an empty folder", site)
	}
	must.Do(t, os.Mkdir("dist", 0o755))
	must.Do(t, os.WriteFile("dist/index.html", []byte("of something else"), 0o644))
	if _, err := findSite(""); err == nil {
		t.Error("a folder of another program is taken for the site")
	}
	must.Do(t, os.WriteFile("dist/build-info.json", []byte("{}"), 0o644))
	if _, err := findSite(""); err != nil {
		t.Error(err)
	}
}

// Outside of the repository the source of the program itself is found, and where there
// is none, or no go command, the error says what to do.
func TestServeSource(t *testing.T) {
	from := siteSource()
	if _, err := os.Stat(filepath.Join(from, "go.mod")); err != nil {
		t.Errorf("the source is said to be in %q: %v", from, err)
	}
	ctx := context.Background()
	for _, gone := range []string{"", t.TempDir()} {
		if err := serveSource(ctx, gone, "", io.Discard, io.Discard); err == nil || !strings.Contains(err.Error(), "-dir") || !strings.Contains(err.Error(), "./build.sh serve") {
			t.Errorf("without source in %q: %v", gone, err)
		}
	}
	t.Setenv("PATH", t.TempDir())
	must.Refuse(t, serveSource(ctx, from, "", io.Discard, io.Discard), "install Go", "without a go command")
}

// A source that does not compile is an error that names it.
func TestServeBrokenSource(t *testing.T) {
	cache, err := exec.Command("go", "env", "GOCACHE").Output()
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("GOCACHE", strings.TrimSpace(string(cache))) // else the folder below is a compiler's empty cache too
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	broken := t.TempDir()
	for name, text := range map[string]string{"go.mod": "module broken\n", "site/build/main.go": "package main\n\nfunc main() { mistake }\n"} {
		path := filepath.Join(broken, name)
		must.Do(t, os.MkdirAll(filepath.Dir(path), 0o755))
		must.Do(t, os.WriteFile(path, []byte(text), 0o644))
	}
	var out, errs bytes.Buffer
	err = serveSource(context.Background(), broken, "", &out, &errs)
	if err == nil || errors.Is(err, context.Canceled) || !strings.Contains(errs.String(), "mistake") || !strings.Contains(out.String(), broken) {
		t.Errorf("%v; stdout %q, stderr %q", err, out.String(), errs.String())
	}
}
