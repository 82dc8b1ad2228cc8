package main

import (
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/internal/testsize"
)

// Of the functions in the table that are fast the broken ones are refuted and the sound ones
// are not; all of them in the full tests.
func TestSearch(t *testing.T) {
	fast := strings.Fields("refuses-many noise-skipped-1000 missing-as-text infinite-whatever")
	broken := 0
	for _, c := range searchCases {
		broken += audit.Pick(c.sound, 0, 1)
		program, _, _ := strings.Cut(c.program, " ")
		if _, err := exec.LookPath(program); err != nil || !slices.Contains(fast, c.name) && !testsize.All() {
			continue
		}
		if refuted := c.refuted(t.Context(), "search", 3, 2); refuted == c.sound {
			t.Errorf("%s: refuted: %v, sound: %v", c.name, refuted, c.sound)
		}
	}
	if broken < 30 {
		t.Errorf("%d functions are broken", broken)
	}
}
