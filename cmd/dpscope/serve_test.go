package main

import (
	"os"
	"testing"

	"github.com/dpscope/dpscope/internal/must"
)

// Without -dir a site in dist is found, before one beside the program.
func TestFindSite(t *testing.T) {
	t.Chdir(t.TempDir())
	if site, err := findSite(""); err == nil {
		t.Errorf("found %v in an empty folder", site)
	}
	must.Do(t, os.Mkdir("dist", 0o755))
	must.Do(t, os.WriteFile("dist/index.html", []byte("of something else"), 0o644))
	must.Refuse(t, must.Err(findSite("")), "", "a folder of another program is taken for the site")
	must.Do(t, os.WriteFile("dist/build-info.json", []byte("{}"), 0o644))
	must.Get(findSite(""))(t)
}
