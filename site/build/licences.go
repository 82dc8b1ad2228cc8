package main

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"slices"
	"strings"

	"github.com/dpscope/dpscope/site/pages"
)

const licencesName = "licences.txt"

// licences are the licences of all that is part of the site's programs, but for dpscope
// itself: the Go distribution's, those of the modules and those of npm's packages.
func licences(goroot string) (pages.File, error) {
	var out bytes.Buffer
	fmt.Fprintf(&out, "The programs of this site contain code of others, under these licences.\n")
	modules, err := linkedModules()
	if err != nil {
		return pages.File{}, err
	}
	for _, m := range append([]linked{{"Go", goroot}}, modules...) {
		found, err := licenceFiles(os.DirFS(m.dir), ".")
		if err == nil {
			err = addLicences(&out, m.name, os.DirFS(m.dir), found)
		}
		if err != nil {
			return pages.File{}, err
		}
	}
	err = codeLicences(&out)
	return pages.File{Name: licencesName, Data: out.Bytes()}, err
}

// addLicences writes what is licensed under the texts in these files of a folder or wheel.
func addLicences(out *bytes.Buffer, name string, of fs.FS, found []string) error {
	if len(found) == 0 {
		return fmt.Errorf("%s has no file that is called LICENSE or NOTICE", name)
	}
	for _, at := range found {
		text, err := fs.ReadFile(of, at)
		if err != nil {
			return err
		}
		fmt.Fprintf(out, "\n%s\n%s, %s\n%[1]s\n\n%[4]s\n", strings.Repeat("=", 72), name, path.Base(at), bytes.TrimSpace(text))
	}
	return nil
}

type linked struct{ name, dir string }

// linkedModules are the modules that any of the binaries is made of, by name. What
// go.work replaces by a folder of this repository is dpscope's own.
func linkedModules() ([]linked, error) {
	args := []string{"list", "-deps", "-f", "{{with .Module}}{{if not (or .Main .Replace)}}{{.Path}} {{.Version}}\t{{.Dir}}{{end}}{{end}}"}
	for _, b := range binaries {
		args = append(args, b.from)
	}
	cmd := exec.Command("go", args...)
	cmd.Env = append(os.Environ(), "GOOS=js", "GOARCH=wasm", "GOFLAGS=")
	said, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("modules of the programs: %w", err)
	}
	var all []linked
	for line := range strings.Lines(string(said)) {
		if name, dir, ok := strings.Cut(strings.TrimSpace(line), "\t"); ok {
			all = append(all, linked{name, dir})
		}
	}
	slices.SortFunc(all, func(a, b linked) int { return strings.Compare(a.name, b.name) })
	return slices.Compact(all), nil
}

// licenceFiles are the licence and the notices of a module. Those of a module that
// lies in a folder of its repository may be all that there is.
func licenceFiles(of fs.FS, dir string) ([]string, error) {
	entries, err := fs.ReadDir(of, dir)
	if err != nil {
		return nil, err
	}
	var out []string
	for _, e := range entries {
		name := strings.ToUpper(e.Name())
		if !e.IsDir() && (strings.HasPrefix(name, "LICENSE") || strings.HasPrefix(name, "LICENCE") || strings.HasPrefix(name, "NOTICE") || strings.HasPrefix(name, "COPYING")) {
			out = append(out, path.Join(dir, e.Name()))
		}
	}
	return out, nil
}
