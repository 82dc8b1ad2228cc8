package report

import (
	"slices"
	"testing"
)

// A table says of each row by itself what its rows do not share, and of a row without a
// bound nothing but why.
func TestWordsOfRows(t *testing.T) {
	bound, claim := 1.0, 1.0
	table := Table{Name: Bounds, Rows: []Row{
		{ID: Epsilon, Title: "bets", LowerBound: &bound, Claimed: &claim, Strict: true, Valid: true, Confidence: 0.99},
		{ID: Epsilon, Title: "exact", LowerBound: &bound, Claimed: &claim, Valid: true, Confidence: 0.96},
		{ID: Epsilon, Title: "Bernstein, second order", Valid: true, Confidence: 0.96, Assumption: "canaries exchangeable", Note: "not computed (needs -k 2 or more)"},
	}}
	words := table.Words()
	cell := func(line int, key string) string {
		return words.Marked(words.Lines[line])[slices.IndexFunc(words.Columns, func(c Column) bool { return c.Key == key })]
	}
	for _, k := range []struct {
		line      int
		key, want string
	}{
		{0, "bound", "1.000 (above the claim)"}, {1, "bound", "1.000"}, {2, "bound", "-"},
		{0, "confidence", "99 %"}, {1, "confidence", "96 %"},
		{1, "valid", "yes"}, {2, "valid", ""}, {2, "assumption", "canaries exchangeable"}, {2, "note", "not computed (needs -k 2 or more)"},
	} {
		if got := cell(k.line, k.key); got != k.want {
			t.Errorf("row %d, %s: %q, want %q", k.line, k.key, got, k.want)
		}
	}
	table.Rows = table.Rows[1:2]
	if words = table.Words(); slices.ContainsFunc(words.Columns, func(c Column) bool { return c.Key == "confidence" || c.Key == "note" }) {
		t.Errorf("columns %+v", words.Columns)
	}
}
