//go:build !windows

package recordings

import "os"

func createTemporary() (*os.File, error) {
	f, err := os.CreateTemp("", "dpscope-")
	if err != nil {
		return nil, err
	}
	return f, os.Remove(f.Name())
}
