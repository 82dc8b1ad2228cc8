package main

import (
	"bytes"
	"os"
	"testing"

	"github.com/dpscope/dpscope/internal/must"
)

// The scripts know the settings that Go declares.
func TestKeys(t *testing.T) {
	want, err := keysScript()
	if err != nil {
		t.Fatal(err)
	}
	got := must.Get(os.ReadFile("../../" + keysFile))(t)
	if !bytes.Equal(got, want) {
		t.Errorf("%s is not what Go declares: run go run ./site/build -keys", keysFile)
	}
	types := must.Get(os.ReadFile("../../" + elementTypes))(t)
	if want, err = elementScript(types); err != nil || !bytes.Equal(types, want) {
		t.Errorf("%s is not what Go declares: run go run ./site/build -keys (%v)", elementTypes, err)
	}
	if got, err = os.ReadFile("../../" + pythonFile); err != nil || !bytes.Equal(got, pythonSettings()) {
		t.Errorf("%s is not what Go declares: run go run ./site/build -keys (%v)", pythonFile, err)
	}
	if types, err = os.ReadFile("../../" + typesFile); err != nil || string(types) != filesTypes("../..") {
		t.Errorf("%s is not what Go declares: run go run ./site/build -keys (%v)", typesFile, err)
	}
}
