package main

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/internal/try"
	"github.com/dpscope/dpscope/site/pages"
)

const licencesName = "licences.txt"

func licences(goroot string) (file pages.File, err error) {
	defer try.To(&err)
	var out bytes.Buffer
	fmt.Fprintf(&out, "The programs of this site contain code of others, under these licences.\n")
	for _, m := range append([]linked{{"Go", goroot}}, try.Get(linkedModules())...) {
		dir := os.DirFS(m.dir)
		try.Do(addLicences(&out, m.name, dir, try.Get(licenceFiles(dir, "."))))
	}
	try.Do(codeLicences(&out))
	return pages.File{Name: licencesName, Data: out.Bytes()}, nil
}

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

// linkedModules are those of the binaries, by name, but for what go.work replaces.
func linkedModules() ([]linked, error) {
	args := []string{"list", "-deps", "-f", "{{with .Module}}{{if not (or .Main .Replace)}}{{.Path}} {{.Version}}\t{{.Dir}}{{end}}{{end}}"}
	for _, b := range binaries {
		args = append(args, b.from)
	}
	cmd := exec.Command("go", args...)
	cmd.Env = append(os.Environ(), "GOOS=js", "GOARCH=wasm", "GOFLAGS=")
	said, err := cmd.Output()
	var all []linked
	for line := range strings.Lines(string(said)) {
		if name, dir, ok := strings.Cut(strings.TrimSpace(line), "\t"); ok {
			all = append(all, linked{name, dir})
		}
	}
	slices.SortFunc(all, func(a, b linked) int { return strings.Compare(a.name, b.name) })
	return slices.Compact(all), audit.Of("modules of the programs", err)
}

// licenceFiles are a folder's own.
func licenceFiles(of fs.FS, dir string) ([]string, error) {
	entries, err := fs.ReadDir(of, dir)
	var out []string
	for _, e := range entries {
		if !e.IsDir() && licence.MatchString(e.Name()) {
			out = append(out, path.Join(dir, e.Name()))
		}
	}
	return out, err
}

var licence = regexp.MustCompile("(?i)^(LICEN[SC]E|NOTICE|COPYING)")
