package main

import (
	"bytes"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// check type-checks one source as package x.
func check(t *testing.T, source string) []*types.Package {
	t.Helper()
	set := token.NewFileSet()
	f, err := parser.ParseFile(set, "x.go", source, 0)
	if err != nil {
		t.Fatal(err)
	}
	p, err := (&types.Config{Importer: importer.Default()}).Check(module+"x", set, []*ast.File{f}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return []*types.Package{p}
}

const before = `package x
type T struct { A int; B string }
type I interface { M() }
func F(a int) error { return nil }
func G() {}`

// What was exported comes back from the file, and changes of every sort are found.
func TestCompare(t *testing.T) {
	name := filepath.Join(t.TempDir(), "x.export")
	if err := export(name, check(t, before)); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ from, to, broke, added string }{
		{"", "", "", ""},
		{"func G() {}", "", "x: G: removed", ""},
		{"func G() {}", "func G() {}\nfunc H() {}", "", "x: H: added"},
		{"func G() {}", "func G() {}\nfunc g() {}", "", ""},
		{"F(a int)", "F(b int)", "", ""},
		{"F(a int)", "F(a int64)", "x: F: changed from func(int) error to func(int64) error", ""},
		{"A int;", "A float64;", "x: T.A: changed from int to float64", ""},
		{"B string", "B string; C int", "", "x: T.C: added"},
		{"M()", "M(); N()", "x: I.N: added", ""},
	} {
		then, err := read(name)
		if err != nil {
			t.Fatal(err)
		}
		broke, added := compare(then, check(t, strings.Replace(before, c.from, c.to, 1)), []string{module + "x"})
		if got := strings.Join(broke, "\n"); got != c.broke {
			t.Errorf("%q to %q: broke %q, want %q", c.from, c.to, got, c.broke)
		}
		if got := strings.Join(added, "\n"); got != c.added {
			t.Errorf("%q to %q: added %q, want %q", c.from, c.to, got, c.added)
		}
	}
	if broke, added := compare(nil, check(t, before), []string{module + "x"}); len(broke) > 0 || !slices.Equal(added, []string{"x: package added"}) {
		t.Errorf("a package that was added: broke %q, added %q", broke, added)
	}
	if broke, added := compare(check(t, before), nil, []string{module + "x"}); len(added) > 0 || !slices.Equal(broke, []string{"x: package removed"}) {
		t.Errorf("a package that was removed: broke %q, added %q", broke, added)
	}
}

// The list is exact: neither more nor less broke than it says.
func TestHold(t *testing.T) {
	if err := hold([]string{"a", "b"}, []string{"a", "b"}); err != nil {
		t.Error(err)
	}
	for _, c := range []struct {
		broke, accepted []string
		want            string
	}{
		{[]string{"a", "b"}, []string{"a"}, "broke since " + released + ": b\n"},
		{[]string{"a"}, []string{"a", "c"}, "did not break since " + released + ": c\n"},
	} {
		if err := hold(c.broke, c.accepted); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("hold(%q, %q) = %v, want %q", c.broke, c.accepted, err, c.want)
		}
	}
}

// A file that is cut off says how to write it again.
func TestReadCut(t *testing.T) {
	dir := t.TempDir()
	whole := filepath.Join(dir, "whole")
	if err := export(whole, check(t, before)); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(whole)
	if err != nil {
		t.Fatal(err)
	}
	cut := filepath.Join(dir, "cut")
	if err := os.WriteFile(cut, b[:len(b)/2], 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := read(cut); err == nil || !strings.Contains(err.Error(), "-write "+cut) {
		t.Errorf("read of half a file: %v", err)
	}
}

// The packages that others build upon break nothing that is not accepted.
func TestReleased(t *testing.T) {
	var out bytes.Buffer
	if err := run(&out, "../..", "testdata", "", false); err != nil {
		t.Fatal(err)
	}
	t.Log(out.String())
	accepted, err := lines(filepath.Join("testdata", released+".accepted"))
	if err != nil {
		t.Fatal(err)
	}
	if !slices.IsSorted(accepted) {
		t.Error("the list of what is accepted is not sorted")
	}
}
