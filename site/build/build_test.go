package main

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/andybalholm/brotli"
	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/internal/must"
	"github.com/dpscope/dpscope/site/pages"
)

func TestCodings(t *testing.T) {
	text := bytes.Repeat([]byte("a bound is a number; "), 500)
	for _, c := range []coding{gzipCoding, brotliCoding} {
		for _, data := range [][]byte{{}, {0}, text} {
			packed := must.Get(c.pack(data))(t)
			var reader io.Reader = brotli.NewReader(bytes.NewReader(packed))
			if c.suffix == gzipCoding.suffix {
				reader = must.Get(gzip.NewReader(bytes.NewReader(packed)))(t)
			}
			if back, err := io.ReadAll(reader); err != nil || !bytes.Equal(back, data) {
				t.Errorf("%s: %d bytes come back as %d, %v", c.suffix, len(data), len(back), err)
			}
			if again, _ := c.pack(data); !bytes.Equal(again, packed) {
				t.Errorf("%s: two packings of %d bytes differ", c.suffix, len(data))
			}
			if len(data) > 1000 && len(packed) > len(data)/10 {
				t.Errorf("%s: %d bytes became %d", c.suffix, len(data), len(packed))
			}
		}
	}
}

func TestWrite(t *testing.T) {
	out := t.TempDir()
	must.Do(t, os.WriteFile(filepath.Join(out, "mine.txt"), []byte("mine"), 0o644))
	must.Get(write(out, "go1", []pages.File{{Name: "b.js", Data: []byte("b")}, {Name: "a.html", Data: []byte("a")}}, true))(t)
	info := must.Get(write(out, "go1", []pages.File{{Name: "c.css", Data: []byte("c")}, {Name: "a.html", Data: []byte("abc")}}, true))(t)
	names := audit.Each(must.Get(os.ReadDir(out))(t), os.DirEntry.Name)
	if got, want := strings.Join(names, " "), "a.html a.html.br a.html.gz build-info.json c.css c.css.br c.css.gz mine.txt"; got != want {
		t.Errorf("files %q, want %q", got, want)
	}
	data := must.Get(os.ReadFile(filepath.Join(out, infoName)))(t)
	var onDisk buildInfo
	must.Do(t, json.Unmarshal(data, &onDisk))
	// sha256 of "abc", from FIPS 180-2.
	const abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
	if f := onDisk.Files[0]; f.Name != "a.html" || f.SHA256 != abc || f.Bytes != 3 || f != info.Files[0] {
		t.Errorf("%+v", f)
	}
	// A sibling is made anew exactly when its file is another, or when a build was interrupted
	// after writing it.
	for _, step := range []struct {
		text, br string
		age      time.Duration
	}{{"abc", "old", time.Hour}, {"abc", "", -time.Hour}, {"abd", "", time.Hour}} {
		sibling := filepath.Join(out, "a.html.br")
		must.Do(t, os.WriteFile(sibling, []byte("old"), 0o644))
		must.Do(t, os.Chtimes(sibling, time.Time{}, time.Now().Add(-step.age)))
		must.Get(write(out, "go1", []pages.File{{Name: "a.html", Data: []byte(step.text)}}, true))(t)
		if br := must.Get(os.ReadFile(filepath.Join(out, "a.html.br")))(t); step.br != "" && string(br) != step.br || step.br == "" && string(br) == "old" {
			t.Errorf("of %s: %q", step.text, br)
		}
	}
	// A plain build leaves no sibling that would be served in the place of its file.
	plain, err := write(out, "go1", []pages.File{{Name: "a.html", Data: []byte("abcd")}}, false)
	if err != nil || plain.Files[0].Brotli != 4 {
		t.Errorf("%+v, %v", plain, err)
	}
	if left, err := filepath.Glob(filepath.Join(out, "*.*")); err != nil || len(left) != 3 {
		t.Errorf("%q, %v; want a.html, build-info.json and mine.txt", left, err)
	}
}

// Each budget counts its own files and refuses a byte more.
func TestBudgets(t *testing.T) {
	for i, x := range budgets {
		name := strings.ReplaceAll(x.files[0], "*", "x")
		full := []fileInfo{{Name: name, Brotli: x.most}, {Name: "docs/index.html", Brotli: 1 << 30}, {Name: "example.json", Brotli: 1 << 30}}
		if err := (buildInfo{Files: full}).overBudget(); err != nil {
			t.Errorf("%s in its budget: %v", name, err)
		}
		full[0].Brotli++
		err := buildInfo{Files: full}.overBudget()
		if err == nil || !strings.HasPrefix(err.Error(), x.name+" (") || !strings.Contains(err.Error(), x.remedy) {
			t.Errorf("%s, a byte over budget %d: %v", name, i, err)
		}
	}
	several := []fileInfo{{Name: "index.html", Brotli: 1}, {Name: "page.css", Brotli: 2}, {Name: "sw.js", Brotli: 4}, {Name: "embed.html", Brotli: 8}, {Name: "embedcode.js", Brotli: 16}, {Name: "view.css", Brotli: 32}, {Name: "dp-audit.js", Brotli: 64}}
	want := map[string]int{"page": 7, "embed": 24, "picture's document": 32, "element": 64}
	for i, size := range (buildInfo{Files: several}).sizes() {
		if size != want[budgets[i].name] {
			t.Errorf("%s: %d, want %d", budgets[i].name, size, want[budgets[i].name])
		}
	}
}

// What a browser loads when the site is opened, embedded or its picture asked for is
// all in the budgets.
func TestBudgetsCoverTheSite(t *testing.T) {
	t.Chdir("../..")
	goroot := must.Get(goEnv("GOROOT"))(t)
	files := must.Get(bundle(goroot))(t)
	for _, b := range binaries {
		files = append(files, pages.File{Name: b.name})
	}
	free := []string{"dp-audit.d.ts", "example.json", "icon.svg"} // for editors, a report, a kilobyte
	for _, f := range files {
		counted := 0
		for _, size := range (buildInfo{Files: []fileInfo{{Name: f.Name, Brotli: 1}}}).sizes() {
			counted += size
		}
		want := 1
		if strings.HasPrefix(f.Name, docsFolder) || slices.Contains(wrappers, f.Name) || slices.Contains(free, f.Name) {
			want = 0
		}
		if counted != want {
			t.Errorf("%s is in %d budgets, want %d", f.Name, counted, want)
		}
	}
}

func TestSameAs(t *testing.T) {
	a := buildInfo{Files: []fileInfo{{Name: "x", SHA256: "1"}, {Name: "y", SHA256: "2"}}}
	must.Do(t, a.sameAs(a))
	must.Refuse(t, a.sameAs(buildInfo{Files: []fileInfo{a.Files[0], {Name: "y", SHA256: "3"}}}), "y differs", "a changed file")
	must.Refuse(t, a.sameAs(buildInfo{Files: a.Files[:1]}), "of 2 files and 1", "a missing file")
}

// The worker's script holds Go's own part and runs without modules.
func TestBundleWorker(t *testing.T) {
	t.Chdir("../..")
	goroot := must.Get(goEnv("GOROOT"))(t)
	all := must.Get(bundle(goroot))(t)
	again := must.Get(bundle(goroot))(t)
	for i, f := range all {
		if !bytes.Equal(f.Data, again[i].Data) {
			t.Errorf("%s differs between two builds", f.Name)
		}
		if bytes.Contains(f.Data, []byte(goroot)) {
			t.Errorf("%s names the folder of Go", f.Name)
		}
		if f.Name != "worker.js" {
			continue
		}
		for _, word := range []string{"syscall/js.valueCall", "dpscopeShell"} {
			if !bytes.Contains(f.Data, []byte(word)) {
				t.Errorf("worker.js lacks %q", word)
			}
		}
		if bytes.Contains(f.Data, []byte("import ")) {
			t.Error("worker.js imports")
		}
	}
	must.Refuse(t, must.Err(bundleOne("site/absent.js", 0, goroot)), "absent.js", "a missing script")
}

func TestUsage(t *testing.T) {
	for _, args := range [][]string{{"-colour"}, {"dist"}} {
		if code := run(args, io.Discard, io.Discard); code != 2 {
			t.Errorf("build %v: exit code %d, want 2", args, code)
		}
	}
}

// The service worker names its build, and another build has another name.
func TestStamp(t *testing.T) {
	site := func(text string) []pages.File {
		return []pages.File{{Name: "page.js", Data: []byte(text)}, {Name: serviceWorker, Data: []byte(`const BUILD = "` + buildMark + `";`)}}
	}
	one := site("one")
	build := stamp(one)
	if want := `const BUILD = "` + build + `";`; string(one[1].Data) != want || len(build) != 16 {
		t.Errorf("build %q, the service worker has %s", build, one[1].Data)
	}
	if stamp(site("one")) != build {
		t.Error("the same files have two names")
	}
	if stamp(site("two")) == build {
		t.Error("other files have the same name")
	}
	renamed := site("one")
	renamed[0].Name = "file.js"
	if stamp(renamed) == build {
		t.Error("another file's name makes no difference")
	}
}
