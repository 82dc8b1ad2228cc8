package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/dpscope/dpscope/internal/must"
)

// What verify prints is short: fields are counted, and named with -all only. Of many
// differences it names a few.
func TestVerifyIsShort(t *testing.T) {
	file := filepath.Join(t.TempDir(), "r.json")
	said(t, 1, "audit", "-mechanism", "svt4", "-epsilon", "1", "-samples", "2000", "-trials", "1", "-fixed", "-output", file)
	for _, how := range []string{"-quick=false", "-quick"} {
		text := said(t, 0, "verify", how, file)
		if n := strings.Count(text, "\n"); n > 15 || len(text) > 800 || strings.Contains(text, "evidence.") || !strings.Contains(text, "verdict and bounds ") || !strings.Contains(text, "not compared: ") {
			t.Errorf("verify %s says in %d lines\n%s", how, n, text)
		}
		if strings.Contains(text, "\n  drawn again, equal: ") != (how != "-quick") {
			t.Errorf("verify %s says\n%s", how, text)
		}
	}
	must.Say(t, said(t, 0, "verify", "-quick", "-all", file), "\n  equal: lowerBound (1 field)\n", " evidence.witness, ")
	data := must.Get(os.ReadFile(file))(t)
	data = regexp.MustCompile(`("(lowerBound|estimate|largest|claimed|value)": \d+\.)`).ReplaceAll(data, []byte("${1}1"))
	must.Do(t, os.WriteFile(file, data, 0o644))
	text, all := said(t, 1, "verify", file), said(t, 1, "verify", "-all", file)
	few, many := strings.Count(text, "DIFFERS: "), strings.Count(all, "DIFFERS: ")
	if few != mostDifferences+1 || many <= few || strings.Count(text, "\n") > 15 || !strings.Contains(text, fmt.Sprintf("DIFFERS: %d more, which dpscope verify -all names\n", many-mostDifferences)) {
		t.Errorf("of a forged report it says\n%s\nand with -all\n%s", text, all)
	}
}
