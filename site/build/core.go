package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// binaries are the programs for the browser and where they come from.
var binaries = []struct{ name, from string }{
	{"core.wasm", "./wasm/worker"},
	{"view.wasm", "./wasm/view"},
}

// compile builds the programs for the browser. Nothing of the machine or the
// checkout goes into them: no paths, no build id, no version control stamp.
func compile() ([]file, error) {
	dir, err := os.MkdirTemp("", "dpscope-core-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	args := []string{"build", "-trimpath", "-buildvcs=false", "-ldflags=-s -w -buildid=", "-o", dir + string(filepath.Separator)}
	for _, b := range binaries {
		args = append(args, b.from)
	}
	cmd := exec.Command("go", args...)
	cmd.Env = append(os.Environ(), "GOOS=js", "GOARCH=wasm", "GOWASM=", "GOFLAGS=", "GOEXPERIMENT=")
	if said, err := cmd.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("the programs for the browser: %w\n%s", err, said)
	}
	var files []file
	for _, b := range binaries {
		data, err := os.ReadFile(filepath.Join(dir, filepath.Base(b.from)))
		if err != nil {
			return nil, err
		}
		files = append(files, file{b.name, data})
	}
	return files, nil
}
