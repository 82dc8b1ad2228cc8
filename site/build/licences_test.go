package main

import (
	"strings"
	"testing"
)

// Every module in the binaries has its licence in the site, the libraries that are
// known to be there among them.
func TestLicences(t *testing.T) {
	t.Chdir("../..")
	goroot, err := goEnv("GOROOT")
	if err != nil {
		t.Fatal(err)
	}
	f, err := licences(goroot)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"\nGo, LICENSE\n", "gonum.org/v1/gonum v", "github.com/hajimehoshi/ebiten/v2 v", "github.com/google/differential-privacy/go/v3 v", "Redistribution and use in source", "Apache License"} {
		if !strings.Contains(string(f.data), want) {
			t.Errorf("%q is not there", want)
		}
	}
	if strings.Contains(string(f.data), "wazero") {
		t.Error("what is not linked is there")
	}
}
