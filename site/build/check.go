package main

import (
	"bytes"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// checkReproducible builds twice and compares the bytes of all files.
func checkReproducible(stdout io.Writer) error {
	var dirs [2]string
	for i := range dirs {
		dir, err := os.MkdirTemp("", "dpscope-build-")
		if err != nil {
			return err
		}
		defer os.RemoveAll(dir)
		fmt.Fprintf(stdout, "build %d of 2\n", i+1)
		if err := build(dir, true, stdout); err != nil {
			return err
		}
		dirs[i] = dir
	}
	n, err := compare(dirs[0], dirs[1])
	if err == nil {
		fmt.Fprintf(stdout, "%d files, the same bytes in both builds\n", n)
	}
	return err
}

// compare returns the number of files, or an error that names the first that
// is not the same in both folders.
func compare(a, b string) (int, error) {
	left, err := filesBelow(a)
	if err != nil {
		return 0, err
	}
	right, err := filesBelow(b)
	if err != nil {
		return 0, err
	}
	if len(left) != len(right) {
		return 0, fmt.Errorf("not reproducible: %d files and %d", len(left), len(right))
	}
	for _, name := range left {
		x, err := os.ReadFile(filepath.Join(a, name))
		if err != nil {
			return 0, err
		}
		y, err := os.ReadFile(filepath.Join(b, name))
		if err != nil {
			return 0, err
		}
		if !bytes.Equal(x, y) {
			return 0, fmt.Errorf("not reproducible: %s differs between two builds", filepath.ToSlash(name))
		}
	}
	return len(left), nil
}

// filesBelow lists all files in a folder and those below it, in order.
func filesBelow(dir string) ([]string, error) {
	var names []string
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		name, err := filepath.Rel(dir, path)
		names = append(names, name)
		return err
	})
	return names, err
}
