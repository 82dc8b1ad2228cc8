package main

import (
	"strings"
	"testing"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/core/pair"
)

// A report of a function that only the page runs says so, and what to do instead.
func TestReplayScripted(t *testing.T) {
	for _, kind := range []audit.UserKind{audit.UserScript, audit.UserPython} {
		f := &brought{}
		f.User.Exec = "./mine"
		r := pair.Report{}
		r.Inputs.User = &audit.UserMechanism{Kind: kind, Name: "mechanism"}
		_, err := (&job{brought: f}).replayUser(t.Context(), r)
		if !audit.IsInput(err) || !strings.Contains(err.Error(), string(kind)) || !strings.Contains(err.Error(), "open the report in the page and press Verify") || !strings.Contains(err.Error(), "-exec") {
			t.Errorf("%s: %v", kind, err)
		}
	}
}
