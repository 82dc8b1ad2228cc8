// Package child lets tests depend on what their child processes read, of which the cache of go test does not know.
package child

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

var noted sync.Once

// Go is the go command in the project's root. Its test depends on all packages of the project.
func Go(t testing.TB, args ...string) *exec.Cmd {
	t.Helper()
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("no go command")
	}
	root := projectRoot(t)
	noted.Do(func() { readPackages(t, root) })
	cmd := exec.Command("go", args...)
	cmd.Dir = root
	return cmd
}

func readPackages(t testing.TB, root string) {
	t.Helper()
	list := exec.Command("go", "list", "-e", "-f", "{{.Dir}}", "./...")
	list.Dir = root
	folders, err := list.Output()
	check(t, err)
	for folder := range strings.Lines(string(folders)) {
		_, err := os.ReadDir(strings.TrimSpace(folder)) // with the time and size of every file in it
		check(t, err)
	}
	for _, name := range []string{"", "go.mod", "go.sum", "go.work"} {
		_, err := os.Stat(filepath.Join(root, name))
		check(t, err)
	}
}

// Reads makes the test depend on every file in folders and in theirs.
func Reads(t testing.TB, folders ...string) {
	t.Helper()
	for _, folder := range folders {
		check(t, filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error { return err }))
	}
}

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func projectRoot(t testing.TB) string {
	t.Helper()
	folder, err := os.Getwd()
	check(t, err)
	for {
		if _, err := os.Stat(filepath.Join(folder, "go.work")); err == nil {
			return folder
		}
		above := filepath.Dir(folder)
		if above == folder {
			t.Fatal("no go.work in any folder above")
		}
		folder = above
	}
}
