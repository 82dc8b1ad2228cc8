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

	"github.com/dpscope/dpscope/internal/must"
)

// The scripts' types are those of Go.
func TestProtocol(t *testing.T) {
	got := must.Get(os.ReadFile("../../" + protocolFile))(t)
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
	f := must.Get(parser.ParseFile(token.NewFileSet(), "message.go", nil, 0))(t)
	known := 0
	ast.Inspect(f, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok || !strings.HasPrefix(spec.Names[0].Name, "msg") {
			return true
		}
		known++
		kind := must.Get(strconv.Unquote(spec.Values[0].(*ast.BasicLit).Value))(t)
		if lines[kind] != 1 {
			t.Errorf("%s (%q) is in %d lines of the tables of protocol_other.go, must be in one", spec.Names[0].Name, kind, lines[kind])
		}
		return true
	})
	if known == 0 {
		t.Error("message.go has no types of messages")
	}
}
