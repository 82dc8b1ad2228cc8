//go:build !js

package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"strconv"
	"strings"
	"testing"
)

// The scripts' types are those of Go.
func TestProtocol(t *testing.T) {
	got, err := os.ReadFile("../../" + protocolFile)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != protocol("../..") {
		t.Errorf("%s is not what Go declares: run go run ./wasm/worker", protocolFile)
	}
}

// Every type of message has a line in the tables, once.
func TestProtocolHasAllMessages(t *testing.T) {
	lines := map[string]int{}
	for _, m := range others {
		lines[m.Type]++
	}
	f, err := parser.ParseFile(token.NewFileSet(), "message.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	known := 0
	ast.Inspect(f, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok || !strings.HasPrefix(spec.Names[0].Name, "msg") {
			return true
		}
		known++
		kind, err := strconv.Unquote(spec.Values[0].(*ast.BasicLit).Value)
		if err != nil {
			t.Fatal(err)
		}
		if lines[kind] != 1 {
			t.Errorf("%s (%q) is in %d lines of the tables of protocol_other.go, must be in one", spec.Names[0].Name, kind, lines[kind])
		}
		return true
	})
	if known == 0 {
		t.Error("message.go has no types of messages")
	}
}
