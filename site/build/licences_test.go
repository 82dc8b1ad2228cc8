package main

import (
	"strings"
	"testing"

	"github.com/dpscope/dpscope/internal/must"
)

// Every module in the binaries has its licence in the site, the libraries that are
// known to be there among them.
func TestLicences(t *testing.T) {
	t.Chdir("../..")
	goroot := must.Get(goEnv("GOROOT"))(t)
	f := must.Get(licences(goroot))(t)
	for _, want := range []string{"\nGo, LICENSE\n", "gonum.org/v1/gonum v", "github.com/hajimehoshi/ebiten/v2 v", "github.com/google/differential-privacy/go/v3 v", "Redistribution and use in source", "Apache License"} {
		if !strings.Contains(string(f.Data), want) {
			t.Errorf("%q is not there", want)
		}
	}
	if strings.Contains(string(f.Data), "wazero") {
		t.Error("what is not linked is there")
	}
}
