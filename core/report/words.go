package report

import (
	"fmt"
	"strings"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/audit/phrase"
)

// FactRows are facts in words, being gathered.
type FactRows []audit.FactRow

func (rows *FactRows) Add(name, format string, args ...any) {
	*rows = append(*rows, audit.FactRow{Name: name, Value: phrase.Line(fmt.Sprintf(format, args...))})
}

// Bounded adds what the bound and the p-value are; by says by which method, empty for
// nothing.
func (rows *FactRows) Bounded(r Report, by string) {
	if r.LowerBound != nil {
		if by != "" {
			by = ", " + by
		}
		rows.Add("Lower bound", "%s >= %s (%s confidence%s)", r.Quantity, phrase.Bound(*r.LowerBound, r.Claim.Limit()), phrase.Percent(r.Confidence), by)
	}
	if r.PValue != nil {
		rows.Add("p-value", "at most %s, of the claim", phrase.PValue(*r.PValue))
	}
}

// Text is a report as plain text for a terminal.
func Text(v View) string {
	var b strings.Builder
	r, facts := v.Head(), v.Facts()
	b.WriteString(r.Summary + "\n\n")
	w := 0
	for _, row := range facts {
		w = max(w, len(row.Name))
	}
	for _, row := range facts {
		fmt.Fprintf(&b, "  %-*s  %s\n", w, row.Name, row.Value)
	}
	for _, t := range r.Words() {
		fmt.Fprintf(&b, "\n%s:\n", t.Title)
		head := make([]string, len(t.Columns))
		for i, c := range t.Columns {
			head[i] = c.Title
		}
		lines := [][]string{head}
		for _, line := range t.Lines {
			lines = append(lines, t.Marked(line))
		}
		phrase.Table(&b, lines)
	}
	for _, warning := range r.Warnings {
		fmt.Fprintf(&b, "\nNote: %s\n", warning)
	}
	if r.Reproduce.CLI != "" {
		fmt.Fprintf(&b, "\nRun it again: %s\n", r.Reproduce.CLI)
	}
	if r.Reproduce.Note != "" {
		fmt.Fprintf(&b, "\n%s\n", r.Reproduce.Note)
	}
	return phrase.Visible(b.String())
}
