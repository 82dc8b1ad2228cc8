package main

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/site/pages"
	"github.com/evanw/esbuild/pkg/api"
)

// The editor of "Your code" and what runs Python there are packages of npm, which
// package-lock.json in codeFolder pins. Where they are not installed the site is built
// without them: its files are then a text field's and JavaScript's alone, and the page
// sees from build-info.json that they are absent.
const (
	codeFolder   = "site/code"
	pythonFolder = "python/" // of the site
	npmFolder    = "node_modules"
)

// codeScripts are bundled from codeFolder, each with the packages that it imports.
var codeScripts = []struct {
	path   string
	format api.Format
	folder string // of the site
}{
	{"editor.js", api.FormatESModule, ""},
	{"micropython.js", api.FormatIIFE, pythonFolder},
	{"pyodide.js", api.FormatIIFE, pythonFolder},
}

// codeData are files of packages that the site has as they are.
var codeData = []string{
	"@micropython/micropython-webassembly-pyscript/micropython.wasm",
	"pyodide/pyodide-lock.json",
	"pyodide/pyodide.asm.wasm",
	"pyodide/python_stdlib.zip",
}

// wheelsFolder has numpy for Pyodide, where build.sh could fetch it.
const wheelsFolder = codeFolder + "/" + npmFolder + "/.wheels"

// licencesOfCode are texts in codeFolder of packages that come without them.
var licencesOfCode = map[string][]string{
	"@micropython/micropython-webassembly-pyscript": {"licences/micropython.txt"},
	"pyodide": {"licences/pyodide.txt", "licences/python.txt"},
}

// locked is what package-lock.json, or npm's own list of what it installed, says.
type locked struct {
	Packages map[string]struct {
		Version   string `json:"version"`
		Integrity string `json:"integrity"`
	} `json:"packages"` // by folder, as node_modules/pyodide
}

func readLock(name string) (lock locked, err error) {
	data, err := os.ReadFile(name)
	if err != nil {
		return lock, err
	}
	if err := json.Unmarshal(data, &lock); err != nil {
		return lock, fmt.Errorf("%s: %w", name, err)
	}
	return lock, nil
}

// codePackages are the packages that are installed in the folder; none where npm has
// not been there, and an error where it installed others than package-lock.json names.
func codePackages(folder string) (locked, error) {
	const remedy = "run npm ci --ignore-scripts in " + codeFolder
	there, err := readLock(filepath.Join(folder, npmFolder, ".package-lock.json"))
	if errors.Is(err, os.ErrNotExist) {
		return locked{}, nil
	} else if err != nil {
		return locked{}, fmt.Errorf("%w; %s", err, remedy)
	}
	want, err := readLock(filepath.Join(folder, "package-lock.json"))
	if err != nil {
		return locked{}, err
	}
	for name, p := range want.Packages {
		if name != "" && there.Packages[name] != p {
			return locked{}, fmt.Errorf("%s/%s has version %q, package-lock.json wants %s: %s", codeFolder, name, there.Packages[name].Version, p.Version, remedy)
		}
	}
	return there, nil
}

// code makes the files of the editor and of Python, and names the folders of the packages
// that are part of them; none without their packages.
func code() (files []pages.File, used []string, err error) {
	packages, err := codePackages(codeFolder)
	if err != nil || packages.Packages == nil {
		return nil, nil, err
	}
	for _, s := range codeScripts {
		data, more, err := bundleCode(filepath.Join(codeFolder, s.path), s.format)
		if err != nil {
			return nil, nil, err
		}
		files, used = append(files, pages.File{Name: s.folder + s.path, Data: data}), append(used, more...)
		for _, name := range more {
			if _, known := packages.Packages[name]; !known {
				return nil, nil, fmt.Errorf("%s imports %s, which package-lock.json does not name", s.path, name)
			}
		}
	}
	data, err := filepath.Glob(wheelsFolder + "/*.whl")
	if err != nil {
		return nil, nil, err
	}
	for _, name := range codeData {
		name = npmFolder + "/" + name
		data, used = append(data, filepath.Join(codeFolder, filepath.FromSlash(name))), append(used, packageOf(name))
	}
	for _, name := range data {
		text, err := os.ReadFile(name)
		if err != nil {
			return nil, nil, err
		}
		files = append(files, pages.File{Name: pythonFolder + filepath.Base(name), Data: text})
	}
	slices.Sort(used)
	return files, slices.Compact(used), nil
}

// bundleCode bundles a script with the packages that it imports, and names their folders.
// Python's loaders look for their files nowhere: the page hands these to them.
func bundleCode(name string, format api.Format) (data []byte, packages []string, err error) {
	options := bundleOptions(name, format)
	options.Metafile = true
	options.Alias = map[string]string{"style-mod": "./" + codeFolder + "/styles.js"}
	if format == api.FormatIIFE {
		options.Define = map[string]string{"import.meta.url": `"https://python.invalid/"`, "process": "undefined", "globalThis.process": "undefined"}
		options.External = []string{"node:*", "child_process", "crypto", "fs", "module", "path", "url", "ws"} // asked for in Node only
	}
	res := api.Build(options)
	if data, err = bundled(name, res); err != nil {
		return nil, nil, err
	}
	var meta struct {
		Inputs map[string]struct{} `json:"inputs"`
	}
	if err := json.Unmarshal([]byte(res.Metafile), &meta); err != nil {
		return nil, nil, err
	}
	for input := range meta.Inputs {
		if folder := packageOf(input); folder != "" {
			packages = append(packages, folder)
		}
	}
	return data, packages, nil
}

// packageOf is the folder of a file's package, as package-lock.json has it; "" for ours.
func packageOf(input string) string {
	i := strings.LastIndex(input, npmFolder+"/")
	if i < 0 {
		return ""
	}
	parts := strings.Split(input[i:], "/")
	return strings.Join(parts[:audit.Pick(strings.HasPrefix(parts[1], "@"), 3, 2)], "/")
}

// codeLicences writes the licences of the packages that are part of the site's files.
func codeLicences(out *bytes.Buffer) error {
	packages, err := codePackages(codeFolder)
	if err != nil {
		return err
	}
	wheels, err := filepath.Glob(wheelsFolder + "/*.whl")
	if err != nil {
		return err
	}
	for _, name := range wheels {
		wheel, err := zip.OpenReader(name)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		defer wheel.Close()
		found, err := fs.Glob(wheel, "*.dist-info/licenses/LICENSE*")
		if err != nil {
			return err
		}
		if err := addLicences(out, filepath.Base(name), wheel, found); err != nil {
			return err
		}
	}
	_, used, err := code()
	for _, folder := range used {
		name := strings.TrimPrefix(folder, npmFolder+"/")
		found, err := licenceFiles(os.DirFS(codeFolder), folder)
		if err != nil {
			return err
		}
		found = append(found, licencesOfCode[name]...)
		if err := addLicences(out, name+" "+packages.Packages[folder].Version, os.DirFS(codeFolder), found); err != nil {
			return err
		}
	}
	return err
}
