package main

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/internal/try"
	"github.com/dpscope/dpscope/site/pages"
)

// buildInfo is build-info.json. The page reads the core's size and hash from it.
type buildInfo struct {
	Version string     `json:"version"`
	Build   string     `json:"build"` // a hash of all files, which the service worker knows too
	Go      string     `json:"go"`
	Files   []fileInfo `json:"files"` // by name

	ended time.Time // of an earlier build
}

type fileInfo struct {
	Name   string `json:"name"`
	SHA256 string `json:"sha256"`
	Bytes  int    `json:"bytes"`
	Gzip   int    `json:"gzip"`
	Brotli int    `json:"brotli"`
}

const (
	infoName      = "build-info.json"
	serviceWorker = "sw.js"
	buildMark     = "@BUILD@"
)

// stamp writes the hash of all files into the service worker.
func stamp(files []pages.File) string {
	all := sha256.New()
	for _, f := range files {
		fmt.Fprintf(all, "%s %x\n", f.Name, sha256.Sum256(f.Data))
	}
	build := fmt.Sprintf("%x", all.Sum(nil)[:8])
	for i, f := range files {
		if f.Name == serviceWorker {
			files[i].Data = bytes.ReplaceAll(f.Data, []byte(buildMark), []byte(build))
		}
	}
	return build
}

// budgets bound what a browser loads, in bytes of brotli. A file counts to the first that it matches; docs match none.
var budgets = []struct {
	name   string
	most   int
	files  []string // patterns of [path.Match]
	remedy string
}{
	{"core", 2_000_000, []string{"core.wasm"}, "import less in wasm/worker"},
	{"picture", 1_900_000, []string{"view.wasm"}, "import less in wasm/view"},
	{"picture's document", 15 << 9, []string{"view.*"}, "write less in site/view"},
	{"list", 12 << 10, []string{"catalogue.json"}, "say less of each mechanism"},
	{"element", 5 << 10, []string{"dp-audit.js"}, "write less: a page loads it before anything is pressed"},
	{"embed", 40 << 10, []string{"embed*"}, "write less in site/embed"},
	{"editor", 160 << 10, []string{"editor.js"}, "import less of CodeMirror in site/code"},
	{"numpy", 6 << 20, []string{"python/*.whl"}, "look at what Pyodide ships as numpy"},
	{"Python", 6 << 20, []string{"python/*"}, "take fewer files in site/build/code.go"},
	{"page", 90 << 10, []string{"*.html", "*.js", "*.css"}, "write less in site/app and what it imports"},
}

// write puts all into out, and removes what an earlier build left there.
func write(out, goVersion string, files []pages.File, compress bool) (info buildInfo, err error) {
	defer try.To(&err)
	slices.SortFunc(files, func(a, b pages.File) int { return strings.Compare(a.Name, b.Name) })
	info = buildInfo{Version: audit.Version, Build: stamp(files), Go: goVersion}
	info.Files = make([]fileInfo, len(files))
	old := builtBefore(out)
	var all errgroup.Group // brotli takes nearly all of the time
	all.SetLimit(runtime.GOMAXPROCS(0))
	order := audit.Listed(len(files), func(i int) int { return i }) // the largest first
	slices.SortFunc(order, func(i, j int) int { return cmp.Compare(len(files[j].Data), len(files[i].Data)) })
	for _, i := range order {
		all.Go(func() (err error) {
			info.Files[i], err = writeFile(filepath.Join(out, filepath.FromSlash(files[i].Name)), files[i], compress, old)
			return err
		})
	}
	try.Do(all.Wait())
	try.Do(removeStale(out, info, old))
	data := try.Get(json.MarshalIndent(info, "", "  "))
	return info, os.WriteFile(filepath.Join(out, infoName), append(data, '\n'), 0o644)
}

func writeFile(path string, f pages.File, compress bool, old buildInfo) (info fileInfo, err error) {
	defer try.To(&err)
	try.Do(os.MkdirAll(filepath.Dir(path), 0o755))
	try.Do(os.WriteFile(path, f.Data, 0o644))
	info = fileInfo{Name: f.Name, SHA256: fmt.Sprintf("%x", sha256.Sum256(f.Data)), Bytes: len(f.Data)}
	if !compress {
		info.Gzip, info.Brotli = info.Bytes, info.Bytes // so much is loaded
		return info, remove(path+gzipCoding.suffix, path+brotliCoding.suffix)
	}
	var same time.Time
	if slices.ContainsFunc(old.Files, func(o fileInfo) bool { return o.Name == f.Name && o.SHA256 == info.SHA256 }) {
		same = old.ended
	}
	info.Gzip = try.Get(gzipCoding.sibling(path, f.Data, same))
	info.Brotli = try.Get(brotliCoding.sibling(path, f.Data, same))
	return info, nil
}

func remove(names ...string) error {
	for _, name := range names {
		if err := os.Remove(name); err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
	}
	return nil
}

// builtBefore is what a folder's build-info.json says, if it is ours.
func builtBefore(out string) (old buildInfo) {
	path := filepath.Join(out, infoName)
	data, err := os.ReadFile(path)
	if err != nil || json.Unmarshal(data, &old) != nil {
		return buildInfo{}
	}
	if at, err := os.Stat(path); err == nil {
		old.ended = at.ModTime()
	}
	return old
}

// removeStale removes what an earlier build made and this one did not.
func removeStale(out string, info, old buildInfo) (err error) {
	defer try.To(&err)
	for _, f := range old.Files {
		if !filepath.IsLocal(f.Name) || slices.ContainsFunc(info.Files, func(n fileInfo) bool { return n.Name == f.Name }) {
			continue
		}
		path := filepath.Join(out, filepath.FromSlash(f.Name))
		try.Do(remove(path, path+gzipCoding.suffix, path+brotliCoding.suffix))
	}
	return nil
}

func (b buildInfo) table(w io.Writer) {
	fmt.Fprintf(w, "%-16s %10s %10s %10s\n", "file", "bytes", "gzip", "brotli")
	var docs fileInfo
	pages := 0
	for _, f := range b.Files {
		if strings.HasPrefix(f.Name, docsFolder) {
			docs.Bytes, docs.Gzip, docs.Brotli = docs.Bytes+f.Bytes, docs.Gzip+f.Gzip, docs.Brotli+f.Brotli
			pages++
			continue
		}
		fmt.Fprintf(w, "%-16s %10d %10d %10d\n", f.Name, f.Bytes, f.Gzip, f.Brotli)
	}
	if pages > 0 {
		fmt.Fprintf(w, "%-16s %10d %10d %10d\n", fmt.Sprintf("%s (%d)", docsFolder, pages), docs.Bytes, docs.Gzip, docs.Brotli)
	}
	sizes := b.sizes()
	for i, x := range budgets {
		fmt.Fprintf(w, "%s: %d of %d bytes of brotli\n", x.name, sizes[i], x.most)
	}
}

func (b buildInfo) sizes() []int {
	sizes := make([]int, len(budgets))
	for _, f := range b.Files {
		for i, x := range budgets {
			if slices.ContainsFunc(x.files, func(pattern string) bool {
				matches, _ := path.Match(pattern, f.Name)
				return matches
			}) {
				sizes[i] += f.Brotli
				break
			}
		}
	}
	return sizes
}

func (b buildInfo) overBudget() error {
	sizes := b.sizes()
	for i, x := range budgets {
		if sizes[i] > x.most {
			return fmt.Errorf("%s (%s): %d bytes of brotli, must be at most %d: %s", x.name, strings.Join(x.files, ", "), sizes[i], x.most, x.remedy)
		}
	}
	return nil
}
