package report

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/bounds"
)

// The bars of counts fit the terminal, are as long as the frequencies are to each other,
// and the claim's line stands where it allows; without room there are none.
func TestBars(t *testing.T) {
	claimed := 1.0
	r := Report{Claim: audit.DPClaim(1, 0), Tables: []Table{{Rows: []Row{{ID: Epsilon, Chosen: true, Direction: SecondOverFirst, Claimed: &claimed,
		Counts: &bounds.Counts{X: 4000, N1: 10_000, Y: 1000, N0: 10_000}}}}}}
	for columns := range 200 {
		bars := r.bars(columns)
		if columns < 60 {
			if bars != nil {
				t.Errorf("%d columns: bars", columns)
			}
			continue
		}
		a, b := bars[0].Value, bars[1].Value
		full := strings.Count(a, "█") + strings.Count(b, "█") + 1 // and the line
		long := strings.Count(b, "█") + 1
		if wide := len("  Neighbours  ") + utf8.RuneCountInString(b); wide > columns {
			t.Errorf("%d columns: %d wide", columns, wide)
		}
		if short := full - long; short < long/4 || short > long/4+1 {
			t.Errorf("%d columns: %d and %d long, want a ratio of 4", columns, short, long)
		}
		// e^1 times 0.1 of 0.4 of the bar
		if at := float64(strings.Count(strings.Split(b, "│")[0], "█")) / float64(long); at < 0.6 || at > 0.7 {
			t.Errorf("%d columns: the claim's line at %v, want 0.68", columns, at)
		}
		if !strings.HasSuffix(a, " 1 000 of 10 000") || !strings.HasSuffix(b, " 4 000 of 10 000 (27.2 % allowed)") {
			t.Errorf("%q, %q", a, b)
		}
	}
	r.Tables[0].Rows[0].Counts = nil
	if r.bars(100) != nil {
		t.Error("bars of no counts")
	}
}
