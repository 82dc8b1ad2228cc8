package main

import (
	"archive/zip"
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/dpscope/dpscope/internal/must"
	"github.com/dpscope/dpscope/site/pages"
	"github.com/dpscope/dpscope/wasm/stills"
)

// The site, but for the cores, packed, unpacked and served below a path: every
// relative link of every page, and every file that the page asks for by name,
// is answered. Nothing but the site is in the zip, and packing again makes the
// same bytes.
func TestZipBelowAPath(t *testing.T) {
	t.Chdir("../..")
	goroot := must.Get(goEnv("GOROOT"))(t)
	files := must.Get(bundle(goroot))(t)
	for i, f := range files {
		if strings.HasPrefix(f.Name, pythonFolder) {
			files[i].Data = []byte(f.Name) // megabytes take minutes to compress
		}
	}
	docs := must.Get(pages.Build(os.DirFS("docs"), true, stills.Draw))(t)
	terms := must.Get(licences(goroot))(t)
	files = append(append(files, docs...), terms, pages.File{Name: "catalogue.json", Data: []byte("{}")}, pages.File{Name: "core.wasm", Data: []byte("\x00asm")})
	out, unpacked := t.TempDir(), t.TempDir()
	must.Do(t, os.WriteFile(filepath.Join(out, "mine.txt"), []byte("mine"), 0o644))
	must.Get(write(out, "go1", files, true))(t)
	var zips [2][]byte
	for i := range zips {
		name := filepath.Join(unpacked, "site.zip")
		must.Do(t, pack(out, name, io.Discard))
		zips[i] = must.Get(os.ReadFile(name))(t)
	}
	if !bytes.Equal(zips[0], zips[1]) {
		t.Error("two zips of one site differ")
	}
	r := must.Get(zip.NewReader(bytes.NewReader(zips[0]), int64(len(zips[0]))))(t)
	if want := 3*len(files) + 1; len(r.File) != want {
		t.Errorf("%d files, want %d", len(r.File), want)
	}
	if _, err := r.Open("mine.txt"); err == nil {
		t.Error("a file that is not the site's was packed")
	}

	for _, f := range r.File {
		packed := must.Get(f.Open())(t)
		data := must.Get(io.ReadAll(packed))(t)
		to := filepath.Join(unpacked, "site", filepath.FromSlash(f.Name))
		must.Do(t, os.MkdirAll(filepath.Dir(to), 0o755))
		must.Do(t, os.WriteFile(to, data, 0o644))
	}

	const below = "/some/where/"
	server := httptest.NewServer(http.StripPrefix(below, http.FileServer(http.Dir(filepath.Join(unpacked, "site")))))
	defer server.Close()
	link := regexp.MustCompile(`\s(?:href|src)="([^"]*)"`)
	seen, queue := map[string]bool{below + "index.html": true}, []string{below + "index.html"}
	for len(queue) > 0 {
		at := queue[0]
		queue = queue[1:]
		// index.html is where the server sends others from; the folder is what it answers.
		answer := must.Get(http.Get(server.URL + strings.TrimSuffix(at, "index.html")))(t)
		body, err := io.ReadAll(answer.Body)
		answer.Body.Close()
		if err != nil || answer.StatusCode != http.StatusOK {
			t.Errorf("%s: %s, %v", at, answer.Status, err)
		}
		if path.Ext(at) != ".html" {
			continue
		}
		for _, m := range link.FindAllStringSubmatch(string(body), -1) {
			u := must.Get(url.Parse(m[1]))(t)
			if u.IsAbs() || u.Path == "" {
				continue
			}
			to := path.Join(path.Dir(at), u.Path)
			if !strings.HasPrefix(to, below) || strings.HasPrefix(u.Path, "/") {
				t.Errorf("%s: link to %s leaves the site", at, m[1])
			}
			if !seen[to] {
				seen[to] = true
				queue = append(queue, to)
			}
		}
	}
	// All pages are reached from the first.
	for _, f := range docs {
		if path.Ext(f.Name) == ".html" && !seen[below+f.Name] {
			t.Errorf("%s is not linked from anywhere", f.Name)
		}
	}
	if len(seen) < 50 {
		t.Errorf("%d addresses", len(seen))
	}
}
