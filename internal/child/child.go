// Package child lets tests depend on what their child processes read: the cache of go test knows only the files
// at which a test looks itself.
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
	if err != nil {
		t.Fatalf("%v: %v", list.Args, err)
	}
	for folder := range strings.Lines(string(folders)) {
		if _, err := os.ReadDir(strings.TrimSpace(folder)); err != nil { // with the time and size of every file in it
			t.Fatal(err)
		}
	}
	for _, name := range []string{"", "go.mod", "go.sum", "go.work"} {
		if _, err := os.Stat(filepath.Join(root, name)); err != nil {
			t.Fatal(err)
		}
	}
}

// Reads makes the test depend on every file in folders and in theirs.
func Reads(t testing.TB, folders ...string) {
	t.Helper()
	for _, folder := range folders {
		if err := filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error { return err }); err != nil {
			t.Fatal(err)
		}
	}
}

func projectRoot(t testing.TB) string {
	t.Helper()
	folder, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
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
