package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/evanw/esbuild/pkg/api"

	"github.com/dpscope/dpscope/internal/try"
	"github.com/dpscope/dpscope/site/pages"
)

const docsFolder = "docs/"

// asIs are files that the site has unchanged. The optional ones may be absent.
var (
	asIs         = []string{"index.html", "site/view/view.html", "site/worker/sandbox.html", "site/embed/embed.html", "site/embed/dp-audit.d.ts"}
	asIsOptional = []string{"site/example.json", "site/icon.svg"}
)

// wrappers are extensions of other programs that make pages with the element in them.
var wrappers = []string{"wrappers/sphinx/dpaudit.py", "wrappers/mkdocs/dpaudit.py"}

// entries are the site's scripts and styles, each bundled with what it imports.
var entries = []struct {
	path   string // in site/
	format api.Format
	folder string
}{
	{"app/page.js", api.FormatESModule, ""},
	{"page/page.css", api.FormatDefault, ""},
	{"page/theme.js", api.FormatIIFE, ""},
	{"page/docs.css", api.FormatDefault, docsFolder},
	{"page/docs.js", api.FormatESModule, docsFolder},
	{"view/view.js", api.FormatIIFE, ""},
	{"view/view.css", api.FormatDefault, ""},
	{"embed/dp-audit.js", api.FormatIIFE, ""},
	{"embed/embed.js", api.FormatIIFE, ""},
	{"embed/embed.css", api.FormatDefault, ""},
	{"embed/embedcode.js", api.FormatESModule, ""},
	{"worker/worker.js", api.FormatIIFE, ""},
	{"worker/" + serviceWorker, api.FormatIIFE, ""},
	{"file/export.js", api.FormatESModule, ""},
}

// bundle makes all that is not compiled, with wasm_exec.js of a GOROOT.
func bundle(goroot string) (files []pages.File, err error) {
	defer try.To(&err)
	for _, entry := range entries {
		data := try.Get(bundleOne(filepath.Join("site", entry.path), entry.format, goroot))
		files = append(files, pages.File{Name: entry.folder + filepath.Base(entry.path), Data: data})
	}
	for i, name := range slices.Concat(asIs, asIsOptional) {
		data, err := os.ReadFile(name)
		if i >= len(asIs) && errors.Is(err, os.ErrNotExist) {
			continue
		}
		try.Do(err)
		files = append(files, pages.File{Name: filepath.Base(name), Data: data})
	}
	for _, name := range wrappers {
		data := try.Get(os.ReadFile(filepath.Join("site", filepath.FromSlash(name))))
		files = append(files, pages.File{Name: name, Data: data})
	}
	more, _, err := code()
	return append(files, more...), err
}

func bundleOne(path string, format api.Format, goroot string) ([]byte, error) {
	options := bundleOptions(path, format)
	options.Alias = map[string]string{"wasm_exec.js": filepath.Join(goroot, "lib", "wasm", "wasm_exec.js")}
	return bundled(path, api.Build(options))
}

func bundleOptions(path string, format api.Format) api.BuildOptions {
	o := api.BuildOptions{
		EntryPoints:       []string{path},
		Bundle:            true,
		Format:            format,
		Target:            api.ES2022,
		Charset:           api.CharsetUTF8,
		LegalComments:     api.LegalCommentsNone,
		MinifyWhitespace:  true,
		MinifyIdentifiers: true,
		MinifySyntax:      true,
		Loader:            map[string]api.Loader{".svg": api.LoaderDataURL, ".py": api.LoaderText},
		LogLevel:          api.LogLevelSilent,
	}
	if format == api.FormatIIFE { // a classic script looks for its files beside the document, a module beside itself
		o.Define = map[string]string{"import.meta.url": "document.baseURI"}
	}
	return o
}

func bundled(path string, res api.BuildResult) ([]byte, error) {
	if len(res.Errors) > 0 {
		lines := api.FormatMessages(res.Errors, api.FormatMessagesOptions{Kind: api.ErrorMessage})
		return nil, fmt.Errorf("%s: %s", path, strings.TrimSpace(strings.Join(lines, "")))
	}
	if len(res.OutputFiles) != 1 {
		return nil, fmt.Errorf("%s: bundled into %d files, must be one", path, len(res.OutputFiles))
	}
	return res.OutputFiles[0].Contents, nil
}
