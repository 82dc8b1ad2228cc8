// Command wheel writes the Python package as a wheel for each platform, with its dpscope binary. The same sources
// and the same Go give the same bytes.
//
//	go run ./python/wheel [-out DIR] [-only linux/amd64,...]
package main

import (
	"archive/zip"
	"bytes"
	"compress/flate"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/internal/try"
)

// platform has the names of Go and of Python's installers. A static binary serves both C libraries.
type platform struct {
	goos, goarch string
	tags         string // of the name, joined by dots
}

// platforms: of macOS the least version that Go 1.26 runs on.
var platforms = []platform{
	{"linux", "amd64", "manylinux_2_17_x86_64.manylinux2014_x86_64.musllinux_1_1_x86_64"},
	{"linux", "arm64", "manylinux_2_17_aarch64.manylinux2014_aarch64.musllinux_1_1_aarch64"},
	{"darwin", "amd64", "macosx_12_0_x86_64"},
	{"darwin", "arm64", "macosx_12_0_arm64"},
	{"windows", "amd64", "win_amd64"},
}

func main() {
	out := flag.String("out", "dist/wheels", "folder that gets the wheels")
	only := flag.String("only", "", "platforms, as linux/amd64, separated by commas; default: all")
	binary := flag.String("binary", "", "file of a dpscope binary that was built already, for one platform; its wheel is not compressed, for tests")
	site := flag.String("site", "", "folder of the built site, which notebooks' servers get below nbextensions/dpscope; default: none")
	flag.Parse()
	if err := run(*out, *only, *binary, *site); err != nil {
		fmt.Fprintln(os.Stderr, "wheel:", err)
		os.Exit(1)
	}
}

func run(out, only, binary, site string) (err error) {
	defer try.To(&err)
	chosen := try.Get(choose(only))
	if binary != "" && len(chosen) != 1 {
		return errors.New("-binary is of one platform: name it with -only")
	}
	try.Do(os.MkdirAll(out, 0o755))
	root, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/dpscope/dpscope").Output()
	if err != nil {
		return fmt.Errorf("go list: %w", err)
	}
	dir := strings.TrimSpace(string(root))
	var static []entry
	if site != "" {
		static = try.Get(staticFiles(os.DirFS(site)))
	}
	for _, p := range chosen {
		level, file := flate.BestCompression, binary
		if file == "" {
			file = try.Get(build(dir, p))
			defer os.Remove(file)
		} else {
			level = flate.NoCompression
		}
		w := try.Get(wheel(os.DirFS(filepath.Join(dir, "python", "src")), static, p, try.Get(os.ReadFile(file)), level))
		name := filepath.Join(out, p.name())
		try.Do(os.WriteFile(name, w, 0o644))
		fmt.Printf("%s: %.1f MB\n", name, float64(len(w))/1e6)
	}
	return nil
}

func choose(only string) ([]platform, error) {
	if only == "" {
		return platforms, nil
	}
	var chosen []platform
	for name := range strings.SplitSeq(only, ",") {
		i := slices.IndexFunc(platforms, func(p platform) bool { return p.String() == name })
		if i < 0 {
			names := audit.Each(platforms, platform.String)
			return nil, fmt.Errorf("no wheel is built for %q: choose from %s", name, strings.Join(names, ", "))
		}
		chosen = append(chosen, platforms[i])
	}
	return chosen, nil
}

func (p platform) String() string { return p.goos + "/" + p.goarch }

func (p platform) name() string {
	return fmt.Sprintf("dpscope-%s-py3-none-%s.whl", audit.Version, p.tags)
}

func build(dir string, p platform) (name string, err error) {
	defer try.To(&err)
	file := try.Get(os.CreateTemp("", "dpscope-*"))
	file.Close()
	c := exec.Command("go", "build", "-trimpath", "-buildvcs=false", "-ldflags=-s -w", "-o", file.Name(), "./cmd/dpscope")
	c.Dir, c.Stderr = dir, os.Stderr
	c.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS="+p.goos, "GOARCH="+p.goarch)
	if err := c.Run(); err != nil {
		return "", fmt.Errorf("go build for %v: %w", p, err)
	}
	return file.Name(), nil
}

type entry struct {
	name string
	data []byte
	mode fs.FileMode
}

// wheel packs the package and the binary, as PEP 427 has it.
func wheel(src fs.FS, static []entry, p platform, binary []byte, level int) (data []byte, err error) {
	defer try.To(&err)
	files := append(try.Get(sources(src)), static...)
	name := "dpscope/bin/dpscope"
	if p.goos == "windows" {
		name += ".exe"
	}
	files = append(files, entry{name, binary, 0o755})
	info := "dpscope-" + audit.Version + ".dist-info/"
	meta := "Wheel-Version: 1.0\nGenerator: dpscope\nRoot-Is-Purelib: false\n"
	for tag := range strings.SplitSeq(p.tags, ".") {
		meta += "Tag: py3-none-" + tag + "\n"
	}
	files = append(files,
		entry{info + "METADATA", []byte("Metadata-Version: 2.1\nName: dpscope\nVersion: " + audit.Version + "\nSummary: " + summary + "\nRequires-Python: >=3.9\nProvides-Extra: numpy\nRequires-Dist: numpy; extra == \"numpy\"\n"), 0o644},
		entry{info + "WHEEL", []byte(meta), 0o644},
		entry{info + "entry_points.txt", []byte("[console_scripts]\ndpscope = dpscope.__main__:command\n\n[pytest11]\ndpscope = dpscope.pytest_plugin\n"), 0o644})
	slices.SortFunc(files, func(a, b entry) int { return strings.Compare(a.name, b.name) })
	var record bytes.Buffer
	for _, f := range files {
		sum := sha256.Sum256(f.data)
		fmt.Fprintf(&record, "%s,sha256=%s,%d\n", f.name, base64.RawURLEncoding.EncodeToString(sum[:]), len(f.data))
	}
	fmt.Fprintf(&record, "%sRECORD,,\n", info)
	files = append(files, entry{info + "RECORD", record.Bytes(), 0o644})
	return pack(files, level)
}

const summary = "Audits of differential privacy: looks for a violation of a mechanism's claim and certifies a lower bound on epsilon"

func below(files fs.FS, folder, prefix string, out func(name string, d fs.DirEntry) bool) (all []entry, err error) {
	err = fs.WalkDir(files, folder, func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case out(name, d) && d.IsDir():
			return fs.SkipDir
		case d.IsDir() || out(name, d):
			return nil
		}
		data, err := fs.ReadFile(files, name)
		all = append(all, entry{prefix + name, data, 0o644})
		return err
	})
	return all, err
}

func sources(src fs.FS) ([]entry, error) {
	return below(src, "dpscope", "", func(name string, d fs.DirEntry) bool {
		if d.IsDir() {
			return d.Name() == "__pycache__" || name == "dpscope/bin"
		}
		return !slices.Contains([]string{".py", ".typed", ".js", ".css", ".html", ".wasm"}, path.Ext(name))
	})
}

// staticFiles are what the embed needs, where a notebook's server looks for files.
func staticFiles(site fs.FS) ([]entry, error) {
	if _, err := fs.Stat(site, "dp-audit.js"); err != nil {
		return nil, fmt.Errorf("-site is not a built site (%w): ./build.sh build makes one in dist", err)
	}
	return below(site, ".", "dpscope-"+audit.Version+".data/data/share/jupyter/nbextensions/dpscope/", func(name string, d fs.DirEntry) bool {
		return slices.Contains([]string{"docs", "wheels", "code"}, name) || slices.Contains([]string{".br", ".gz"}, path.Ext(name))
	})
}

func pack(files []entry, level int) (data []byte, err error) {
	defer try.To(&err)
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	z.RegisterCompressor(zip.Deflate, func(w io.Writer) (io.WriteCloser, error) { return flate.NewWriter(w, level) })
	for _, f := range files {
		h := &zip.FileHeader{Name: f.name, Method: zip.Deflate, Modified: time.Date(1980, 1, 1, 0, 0, 0, 0, time.UTC)}
		h.SetMode(f.mode)
		try.Get(try.Get(z.CreateHeader(h)).Write(f.data))
	}
	try.Do(z.Close())
	return b.Bytes(), nil
}
