package main

import (
	"bytes"
	"os"
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
