package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/evanw/esbuild/pkg/api"

	"github.com/dpscope/dpscope/site/pages"
)

// file is one file of the site; the name has slashes.
type file struct {
	name string
	data []byte
}

// docsFolder is where the pages of docs and their styles are in the site.
const docsFolder = "docs/"

// asIs are files that the site needs and that are copied unchanged. Those of
// the second list may be absent.
var (
	asIs         = []string{"index.html", "site/view.html", "site/sandbox.html", "site/embed.html", "site/dp-audit.d.ts"}
	asIsOptional = []string{"site/example.json", "site/icon.svg"}
)

// bundle makes everything but the core: scripts for the page, for the files that
// it writes, for its theme and for use offline, those of the embed and of its element, one for the workers and one for
// the picture (with wasm_exec.js of the given GOROOT), and the styles.
func bundle(goroot string) ([]file, error) {
	var files []file
	for _, entry := range []struct {
		name   string
		format api.Format
		folder string
	}{{"page.js", api.FormatESModule, ""}, {"page.css", api.FormatDefault, ""}, {"worker.js", api.FormatIIFE, ""}, {"export.js", api.FormatESModule, ""}, {"theme.js", api.FormatIIFE, ""}, {serviceWorker, api.FormatIIFE, ""}, {"view.js", api.FormatIIFE, ""}, {"view.css", api.FormatDefault, ""}, {"docs.css", api.FormatDefault, docsFolder},
		{"dp-audit.js", api.FormatIIFE, ""}, {"embed.js", api.FormatIIFE, ""}, {"embed.css", api.FormatDefault, ""}, {"embedcode.js", api.FormatESModule, ""}} {
		data, err := bundleOne(filepath.Join("site", entry.name), entry.format, goroot)
		if err != nil {
			return nil, err
		}
		files = append(files, file{entry.folder + entry.name, data})
	}
	for i, name := range append(append([]string{}, asIs...), asIsOptional...) {
		data, err := os.ReadFile(name)
		if i >= len(asIs) && errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		files = append(files, file{filepath.Base(name), data})
	}
	return files, nil
}

// document makes the pages of docs. The element that runs audits in them may be
// among the files of the site, or not.
func document(docs fs.FS, site []file) ([]file, error) {
	element := slices.ContainsFunc(site, func(f file) bool { return f.name == "dp-audit.js" })
	made, err := pages.Build(docs, element)
	if err != nil {
		return nil, err
	}
	var files []file
	for _, p := range made {
		files = append(files, file{p.Name, p.Data})
	}
	return files, nil
}

func bundleOne(path string, format api.Format, goroot string) ([]byte, error) {
	res := api.Build(api.BuildOptions{
		EntryPoints:       []string{path},
		Bundle:            true,
		Format:            format,
		Target:            api.ES2022,
		Charset:           api.CharsetUTF8,
		LegalComments:     api.LegalCommentsNone,
		MinifyWhitespace:  true,
		MinifyIdentifiers: true,
		MinifySyntax:      true,
		Alias:             map[string]string{"wasm_exec.js": filepath.Join(goroot, "lib", "wasm", "wasm_exec.js")},
		Loader:            map[string]api.Loader{".svg": api.LoaderDataURL},
		Define:            inDocument(format),
		LogLevel:          api.LogLevelSilent,
	})
	if len(res.Errors) > 0 {
		lines := api.FormatMessages(res.Errors, api.FormatMessagesOptions{Kind: api.ErrorMessage})
		return nil, fmt.Errorf("%s: %s", path, strings.TrimSpace(strings.Join(lines, "")))
	}
	if len(res.OutputFiles) != 1 {
		return nil, fmt.Errorf("%s: bundled into %d files, must be one", path, len(res.OutputFiles))
	}
	return res.OutputFiles[0].Contents, nil
}

// inDocument has a classic script look for its files beside the document; a
// module looks beside itself.
func inDocument(format api.Format) map[string]string {
	if format != api.FormatIIFE {
		return nil
	}
	return map[string]string{"import.meta.url": "document.baseURI"}
}
