package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/evanw/esbuild/pkg/api"

	"github.com/dpscope/dpscope/audit"
)

// npmPackage is package.json of the package for npm.
type npmPackage struct {
	Name        string               `json:"name"`
	Version     string               `json:"version"`
	Description string               `json:"description"`
	Keywords    []string             `json:"keywords"`
	License     string               `json:"license"`
	Type        string               `json:"type"`
	Main        string               `json:"main"`
	Types       string               `json:"types"`
	Exports     map[string]npmExport `json:"exports"`
	Files       []string             `json:"files"`
	SideEffects bool                 `json:"sideEffects"`
}

// npmExport is a file that may be imported. Types come first, as readers take what
// matches first.
type npmExport struct {
	Types   string `json:"types,omitempty"`
	Default string `json:"default"`
}

// npmSources are the package's own files, in site/npm: beside the module index.js, which
// is bundled, its types, those of the element in React's markup, what Vite needs to
// serve and to build pages with the element, and a README.
var npmSources = []string{"README.md", "index.d.ts", "react.d.ts", "react.js", "vite.d.ts", "vite.js"}

// packNPM writes the site that was built in the folder out, without its compressed
// siblings, into a folder as a package for npm publish: all of it, as the element links
// to the page, and the page to its docs; and beside it npmSources and package.json.
func packNPM(out, to string, stdout io.Writer) error {
	data, err := os.ReadFile(filepath.Join(out, infoName))
	if err != nil {
		return err
	}
	var info buildInfo
	if err := json.Unmarshal(data, &info); err != nil {
		return fmt.Errorf("%s: %w", infoName, err)
	}
	const mark = "package.json"
	if _, err := os.Stat(filepath.Join(to, mark)); err == nil { // of an earlier build
		if err := os.RemoveAll(to); err != nil {
			return err
		}
	} else if entries, err := os.ReadDir(to); err == nil && len(entries) > 0 {
		return fmt.Errorf("%s holds files and no %s: name a folder of its own for the package", to, mark)
	}
	files := []file{{infoName, data}}
	for _, f := range info.Files {
		if data, err = os.ReadFile(filepath.Join(out, filepath.FromSlash(f.Name))); err != nil {
			return err
		}
		files = append(files, file{f.Name, data})
	}
	if data, err = bundleOne(filepath.Join("site", "npm", "index.js"), api.FormatESModule, ""); err != nil {
		return err
	}
	files = append(files, file{"index.js", data})
	for _, name := range npmSources {
		if data, err = os.ReadFile(filepath.Join("site", "npm", name)); err != nil {
			return err
		}
		files = append(files, file{name, data})
	}
	var top []string // a folder stands for all in it
	for _, f := range files {
		name, _, _ := strings.Cut(f.name, "/")
		top = append(top, name)
	}
	slices.Sort(top)
	data, err = json.MarshalIndent(npmPackage{
		Name: "dpscope", Version: audit.Version, Type: "module", Main: "./index.js", Types: "./index.d.ts", SideEffects: true,
		License: "UNLICENSED", Files: slices.Compact(top),
		Description: "Audits of differential privacy that run in a page: the element <dp-audit>",
		Keywords:    []string{"differential-privacy", "audit", "custom-element", "webassembly"},
		Exports: map[string]npmExport{
			".":              {"./index.d.ts", "./index.js"},
			"./dp-audit.js":  {"./dp-audit.d.ts", "./dp-audit.js"},
			"./react":        {"./react.d.ts", "./react.js"},
			"./vite":         {"./vite.d.ts", "./vite.js"},
			"./package.json": {Default: "./package.json"},
			"./*":            {Default: "./*"}, // for bundlers that copy files by their address
		},
	}, "", "  ")
	if err != nil {
		return err
	}
	files = append(files, file{mark, append(data, '\n')})
	for _, f := range files {
		path := filepath.Join(to, filepath.FromSlash(f.name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(path, f.data, 0o644); err != nil {
			return err
		}
	}
	fmt.Fprintf(stdout, "%s: a package for npm of %d files; npm publish %[1]s\n", to, len(files))
	return nil
}
