// Command apidiff compares what the packages audit, core and dptest export with what
// they exported in the last released version.
//
//	go run .             compare; exit 1 for what broke and is not accepted
//	go run . -accept     accept what broke: write it into the list
//	go run . -write FILE write what is exported today; for a release
//
// It is a module of its own, so that who uses dpscope gets none of what it needs.
// docs/compatibility.md says what may change in which version.
package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"go/token"
	"go/types"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/exp/apidiff"
	"golang.org/x/tools/go/gcexportdata"
	"golang.org/x/tools/go/packages"
)

const module = "github.com/dpscope/dpscope/"

// promised are the packages that programs of others are written against.
var promised = []string{module + "audit", module + "core", module + "dptest"}

// released is the last released version. testdata holds what it exported, and what
// of that broke since and is accepted.
const released = "0.2.0"

func main() {
	dir := flag.String("dir", "../..", "the `folder` of dpscope's module")
	write := flag.String("write", "", "write what is exported today into `FILE`")
	accept := flag.Bool("accept", false, "write what broke into the list of what is accepted")
	flag.Parse()
	if err := run(os.Stdout, *dir, "testdata", *write, *accept); err != nil {
		fmt.Fprintln(os.Stderr, "apidiff:", err)
		os.Exit(1)
	}
}

// run does what the flags say. The files of the released version are in the folder
// data.
func run(out io.Writer, dir, data, write string, accept bool) error {
	// A version before a package was there exports nothing of it.
	there := slices.DeleteFunc(slices.Clone(promised), func(path string) bool {
		sources, _ := filepath.Glob(filepath.Join(dir, strings.TrimPrefix(path, module), "*.go"))
		return len(sources) == 0
	})
	now, err := load(dir, there)
	if err != nil {
		return err
	}
	if write != "" {
		return export(write, now)
	}
	then, err := read(filepath.Join(data, released+".export"))
	if err != nil {
		return err
	}
	broke, added := compare(then, now, promised)
	list := filepath.Join(data, released+".accepted")
	if accept {
		return os.WriteFile(list, []byte(strings.Join(append(broke, ""), "\n")), 0o644)
	}
	accepted, err := lines(list)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "Since %s: %d exported things were added and %d broke, of which %d are accepted.\n",
		released, len(added), len(broke), len(accepted))
	return hold(broke, accepted)
}

// load type-checks packages of the module in dir.
func load(dir string, paths []string) ([]*types.Package, error) {
	// LoadTypes asks the compiler for dependencies, so only what is named is parsed.
	loaded, err := packages.Load(&packages.Config{
		Mode: packages.LoadTypes | packages.NeedDeps | packages.NeedImports,
		Dir:  dir,
	}, paths...)
	if err != nil {
		return nil, err
	}
	var all []*types.Package
	for _, p := range loaded {
		for _, e := range p.Errors {
			return nil, fmt.Errorf("%s: %w", p.PkgPath, e)
		}
		all = append(all, p.Types)
	}
	return all, nil
}

// export writes packages as export data of the compiler's form.
func export(name string, all []*types.Package) error {
	var b bytes.Buffer
	if err := gcexportdata.WriteBundle(&b, token.NewFileSet(), all); err != nil {
		return err
	}
	return os.WriteFile(name, b.Bytes(), 0o644)
}

// read is the inverse of export.
func read(name string) ([]*types.Package, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	all, err := gcexportdata.ReadBundle(f, token.NewFileSet(), map[string]*types.Package{})
	if err != nil {
		return nil, fmt.Errorf("%s: %w; write it again from a checkout of that version: go run . -dir CHECKOUT -write %[1]s", name, err)
	}
	return all, nil
}

// compare lists, sorted and with the package's name before each, what of the packages
// broke and what was added. A package may be on one side only.
func compare(then, now []*types.Package, paths []string) (broke, added []string) {
	for _, path := range paths {
		is := func(p *types.Package) bool { return p.Path() == path }
		i, j := slices.IndexFunc(then, is), slices.IndexFunc(now, is)
		name := strings.TrimPrefix(path, module)
		switch {
		case i < 0 && j < 0:
			continue
		case i < 0:
			added = append(added, name+": package added")
			continue
		case j < 0:
			broke = append(broke, name+": package removed")
			continue
		}
		for _, c := range apidiff.Changes(then[i], now[j]).Changes {
			line := name + ": " + c.Message
			if strings.HasPrefix(line, "audit: Version: value changed ") {
				continue // it is there to change
			}
			if c.Compatible {
				added = append(added, line)
			} else {
				broke = append(broke, line)
			}
		}
	}
	slices.Sort(broke)
	slices.Sort(added)
	return broke, added
}

// lines reads a list, a line each. There may be none.
func lines(name string) ([]string, error) {
	b, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return strings.FieldsFunc(string(b), func(r rune) bool { return r == '\n' || r == '\r' }), nil
}

// hold says what broke and is not accepted, and what is accepted and did not break:
// such a line would hide the next change of that name.
func hold(broke, accepted []string) error {
	var all []error
	for _, line := range broke {
		if !slices.Contains(accepted, line) {
			all = append(all, fmt.Errorf("broke since %s: %s", released, line))
		}
	}
	for _, line := range accepted {
		if !slices.Contains(broke, line) {
			all = append(all, fmt.Errorf("accepted, but did not break since %s: %s", released, line))
		}
	}
	if len(all) > 0 {
		all = append(all, errors.New("keep the old form beside the new one, or name the change in CHANGELOG.md and accept it: (cd internal/apidiff && GOWORK=off go run . -accept)"))
	}
	return errors.Join(all...)
}
