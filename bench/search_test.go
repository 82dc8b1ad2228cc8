package main

import (
	"context"
	"os/exec"
	"testing"

	"github.com/dpscope/dpscope/internal/testsize"
)

// Of the functions in the table that are fast the broken ones are refuted and the sound ones
// are not; all of them in the full tests.
func TestSearch(t *testing.T) {
	fast := map[string]bool{"refuses-many": true, "narrow-window": true, "zero-without-noise": true, "log-of-zero": true, "noise-skipped-1000": true, "missing-as-text": true, "fails-whatever": true}
	broken := 0
	for _, c := range searchCases {
		if !c.sound {
			broken++
		}
		if !fast[c.name] && !testsize.All() {
			continue
		}
		if c.draw == nil && c.how == "Python" {
			if _, err := exec.LookPath("python3"); err != nil {
				continue
			}
		}
		if c.how == "JavaScript" {
			if _, err := exec.LookPath("node"); err != nil {
				continue
			}
		}
		refuted, err := c.refuted(context.Background(), "search", 3, 2)
		if err != nil || refuted == c.sound {
			t.Errorf("%s: refuted: %v, sound: %v, %v", c.name, refuted, c.sound, err)
		}
	}
	if len(searchCases) < 30 || broken < 30 {
		t.Errorf("%d functions, %d of them broken", len(searchCases), broken)
	}
}
