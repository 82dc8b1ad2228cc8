//go:build !js

package main

import (
	"os"
	"regexp"
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
	source := must.Get(os.ReadFile("message.go"))(t)
	known := regexp.MustCompile(`(?m)^\t(msg\w+)\s+= "(\w+)"`).FindAllSubmatch(source, -1)
	for _, m := range known {
		if n := lines[string(m[2])]; n != 1 {
			t.Errorf("%s (%q) is in %d lines of the tables of protocol_other.go, must be in one", m[1], m[2], n)
		}
	}
	if len(known) != len(lines)-4 { // start, compile, compiled and dead are of scripts alone
		t.Errorf("message.go has %d types of messages, the tables %d", len(known), len(lines))
	}
}
