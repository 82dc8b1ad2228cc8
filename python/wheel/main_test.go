package main

import (
	"archive/zip"
	"bytes"
	"compress/flate"
	"crypto/sha256"
	"encoding/base64"
	"encoding/csv"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/internal/must"
)

func contents(t *testing.T, data []byte) (names []string, files map[string][]byte, modes map[string]os.FileMode) {
	t.Helper()
	z := must.Get(zip.NewReader(bytes.NewReader(data), int64(len(data))))(t)
	files, modes = map[string][]byte{}, map[string]os.FileMode{}
	for _, f := range z.File {
		r := must.Get(f.Open())(t)
		b := must.Get(io.ReadAll(r))(t)
		names, files[f.Name], modes[f.Name] = append(names, f.Name), b, f.Mode()
	}
	return names, files, modes
}

// Every file stands in RECORD with its hash and its length, and the same input gives the
// same bytes.
func TestWheel(t *testing.T) {
	src := os.DirFS("../src")
	for _, p := range platforms {
		w := must.Get(wheel(src, nil, p, []byte("binary of "+p.goos), flate.BestSpeed))(t)
		again, err := wheel(src, nil, p, []byte("binary of "+p.goos), flate.BestSpeed)
		if err != nil || !bytes.Equal(w, again) {
			t.Errorf("%s/%s: other bytes for the same input (%v)", p.goos, p.goarch, err)
		}
		names, files, modes := contents(t, w)
		info := "dpscope-" + audit.Version + ".dist-info/"
		rows := must.Get(csv.NewReader(bytes.NewReader(files[info+"RECORD"])).ReadAll())(t)
		if len(rows) != len(names) {
			t.Errorf("%d rows of RECORD for %d files", len(rows), len(names))
		}
		for _, row := range rows {
			sum := sha256.Sum256(files[row[0]])
			want := []string{"sha256=" + base64.RawURLEncoding.EncodeToString(sum[:]), fmt.Sprint(len(files[row[0]]))}
			if row[0] == info+"RECORD" {
				want = []string{"", ""}
			}
			if !slices.Contains(names, row[0]) || !slices.Equal(row[1:], want) {
				t.Errorf("RECORD has %v, must have %v", row, want)
			}
		}
		binary := "dpscope/bin/dpscope"
		if p.goos == "windows" {
			binary += ".exe"
		}
		if string(files[binary]) != "binary of "+p.goos || modes[binary]&0o111 == 0 {
			t.Errorf("%s/%s: the binary is %q with mode %v", p.goos, p.goarch, files[binary], modes[binary])
		}
		for _, name := range []string{"dpscope/__init__.py", "dpscope/py.typed", "dpscope/pytest_plugin.py", info + "entry_points.txt"} {
			if _, ok := files[name]; !ok {
				t.Errorf("%s/%s: no %s", p.goos, p.goarch, name)
			}
		}
		for tag := range strings.SplitSeq(p.tags, ".") {
			if !strings.Contains(string(files[info+"WHEEL"]), "Tag: py3-none-"+tag+"\n") {
				t.Errorf("no tag %s", tag)
			}
		}
	}
}

// The versions that stand by hand are those of the program.
func TestVersions(t *testing.T) {
	for file, want := range map[string]string{
		"../src/dpscope/__init__.py": `__version__ = "` + audit.Version + `"`,
		"../pyproject.toml":          `version = "` + audit.Version + `"`,
	} {
		data, err := os.ReadFile(file)
		if err != nil || !strings.Contains(string(data), want) {
			t.Errorf("%s must hold %s (%v)", file, want, err)
		}
	}
}

func TestChoose(t *testing.T) {
	if got, err := choose("linux/arm64,windows/amd64"); err != nil || len(got) != 2 {
		t.Error(got, err)
	}
	must.Refuse(t, must.Err(choose("plan9/mips")), "linux/amd64")
	must.Refuse(t, run(t.TempDir(), "", "x", ""), "-only")
}
