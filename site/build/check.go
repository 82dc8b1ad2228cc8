package main

import (
	"bytes"
	"fmt"
	"io"
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
		if err := build(dir, stdout); err != nil {
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
	left, err := os.ReadDir(a)
	if err != nil {
		return 0, err
	}
	right, err := os.ReadDir(b)
	if err != nil {
		return 0, err
	}
	if len(left) != len(right) {
		return 0, fmt.Errorf("not reproducible: %d files and %d", len(left), len(right))
	}
	for _, f := range left {
		x, err := os.ReadFile(filepath.Join(a, f.Name()))
		if err != nil {
			return 0, err
		}
		y, err := os.ReadFile(filepath.Join(b, f.Name()))
		if err != nil {
			return 0, err
		}
		if !bytes.Equal(x, y) {
			return 0, fmt.Errorf("not reproducible: %s differs between two builds", f.Name())
		}
	}
	return len(left), nil
}
