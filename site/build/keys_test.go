package main

import (
	"bytes"
	"os"
	"testing"

	"github.com/dpscope/dpscope/internal/must"
)

// The scripts know the settings that Go declares.
func TestKeys(t *testing.T) {
	for _, f := range must.Get(generated("../.."))(t) {
		if got := must.Get(os.ReadFile("../../" + f.Name))(t); !bytes.Equal(got, f.Data) {
			t.Errorf("%s is not what Go declares: run go run ./site/build -keys", f.Name)
		}
	}
}
