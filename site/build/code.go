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
	"github.com/dpscope/dpscope/internal/try"
	"github.com/dpscope/dpscope/site/pages"
	"github.com/evanw/esbuild/pkg/api"
)

// The editor of "Your code" and Python there are packages of npm. Without them the site has a text field and
// JavaScript.
const (
	codeFolder   = "site/code"
	pythonFolder = "python/" // of the site
	npmFolder    = "node_modules"
)

var codeScripts = []struct {
	path   string
	format api.Format
	folder string // of the site
}{
	{"editor.js", api.FormatESModule, ""},
	{"micropython.js", api.FormatIIFE, pythonFolder},
	{"pyodide.js", api.FormatIIFE, pythonFolder},
}

var codeData = []string{
	"@micropython/micropython-webassembly-pyscript/micropython.wasm",
	"pyodide/pyodide-lock.json",
	"pyodide/pyodide.asm.wasm",
	"pyodide/python_stdlib.zip",
}

const wheelsFolder = codeFolder + "/" + npmFolder + "/.wheels"

// licencesOfCode are those of packages that come without them.
var licencesOfCode = map[string][]string{
	"@micropython/micropython-webassembly-pyscript": {"licences/micropython.txt"},
	"pyodide": {"licences/pyodide.txt", "licences/python.txt"},
}

// locked is what package-lock.json, or npm's list of what it installed, says.
type locked struct {
	Packages map[string]struct {
		Version   string `json:"version"`
		Integrity string `json:"integrity"`
	} `json:"packages"` // by folder, as node_modules/pyodide
}

func readLock(name string) (lock locked, err error) {
	data, err := os.ReadFile(name)
	if err == nil {
		err = audit.Of(name, json.Unmarshal(data, &lock))
	}
	return lock, err
}

// codePackages are those installed in the folder, none where npm has not been. They must be those that are locked.
func codePackages(folder string) (there locked, err error) {
	defer try.To(&err)
	const remedy = "run npm ci --ignore-scripts in " + codeFolder
	there, err = readLock(filepath.Join(folder, npmFolder, ".package-lock.json"))
	if errors.Is(err, os.ErrNotExist) {
		return locked{}, nil
	} else if err != nil {
		return locked{}, fmt.Errorf("%w; %s", err, remedy)
	}
	for name, p := range try.Get(readLock(filepath.Join(folder, "package-lock.json"))).Packages {
		if name != "" && there.Packages[name] != p {
			return locked{}, fmt.Errorf("%s/%s has version %q, package-lock.json wants %s: %s", codeFolder, name, there.Packages[name].Version, p.Version, remedy)
		}
	}
	return there, nil
}

// code makes the files of the editor and of Python, and names their packages' folders.
func code() (files []pages.File, used []string, err error) {
	defer try.To(&err)
	packages := try.Get(codePackages(codeFolder))
	if packages.Packages == nil {
		return nil, nil, nil
	}
	for _, s := range codeScripts {
		data, more := try.Get2(bundleCode(filepath.Join(codeFolder, s.path), s.format))
		files, used = append(files, pages.File{Name: s.folder + s.path, Data: data}), append(used, more...)
		for _, name := range more {
			if _, known := packages.Packages[name]; !known {
				return nil, nil, fmt.Errorf("%s imports %s, which package-lock.json does not name", s.path, name)
			}
		}
	}
	data := try.Get(filepath.Glob(wheelsFolder + "/*.whl"))
	for _, name := range codeData {
		name = npmFolder + "/" + name
		data, used = append(data, filepath.Join(codeFolder, filepath.FromSlash(name))), append(used, packageOf(name))
	}
	for _, name := range data {
		text := try.Get(os.ReadFile(name))
		files = append(files, pages.File{Name: pythonFolder + filepath.Base(name), Data: text})
	}
	slices.Sort(used)
	return files, slices.Compact(used), nil
}

// bundleCode names the folders of a script's packages.
func bundleCode(name string, format api.Format) (data []byte, packages []string, err error) {
	defer try.To(&err)
	options := bundleOptions(name, format)
	options.Metafile = true
	options.Alias = map[string]string{"style-mod": "./" + codeFolder + "/styles.js"}
	if format == api.FormatIIFE {
		options.Define = map[string]string{"import.meta.url": `"https://python.invalid/"`, "process": "undefined", "globalThis.process": "undefined"}
		options.External = []string{"node:*", "child_process", "crypto", "fs", "module", "path", "url", "ws"} // asked for in Node only
	}
	res := api.Build(options)
	data = try.Get(bundled(name, res))
	var meta struct {
		Inputs map[string]struct{} `json:"inputs"`
	}
	try.Do(json.Unmarshal([]byte(res.Metafile), &meta))
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

func codeLicences(out *bytes.Buffer) (err error) {
	defer try.To(&err)
	for _, name := range try.Get(filepath.Glob(wheelsFolder + "/*.whl")) {
		wheel, err := zip.OpenReader(name)
		try.Of(name, err)
		defer wheel.Close()
		found := try.Get(fs.Glob(wheel, "*.dist-info/licenses/LICENSE*"))
		try.Do(addLicences(out, filepath.Base(name), wheel, found))
	}
	packages := try.Get(codePackages(codeFolder))
	_, used := try.Get2(code())
	for _, folder := range used {
		name := strings.TrimPrefix(folder, npmFolder+"/")
		found := append(try.Get(licenceFiles(os.DirFS(codeFolder), folder)), licencesOfCode[name]...)
		try.Do(addLicences(out, name+" "+packages.Packages[folder].Version, os.DirFS(codeFolder), found))
	}
	return nil
}
