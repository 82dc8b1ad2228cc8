package report

import (
	"fmt"
	"slices"
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

// Reasons are the facts that say what was audited and why the verdict is what it is.
var Reasons = []string{"Samples", "Mechanism", "Table", "Source", "Program", "Scores", "Claim", "Neighbours", "Canaries", "Event", "Divergence", "Counts", "Rates", "Guesses", "Dataset A", "Dataset B"}

// Brief is what a terminal shows of a report: the verdict, one sentence of what tells most
// (empty: none), the reasons and the command that runs it again.
func Brief(v View, sentence string) string {
	var b strings.Builder
	r := v.Head()
	b.WriteString(r.Summary + "\n")
	if sentence != "" {
		b.WriteString(sentence + "\n")
	}
	b.WriteString("\n")
	writeFacts(&b, slices.DeleteFunc(v.Facts(), func(f audit.FactRow) bool { return !slices.Contains(Reasons, f.Name) }))
	r.writeEnd(&b)
	return phrase.Visible(b.String())
}

// Text is the whole of a report as plain text.
func Text(v View) string {
	var b strings.Builder
	r := v.Head()
	b.WriteString(r.Summary + "\n\n")
	writeFacts(&b, v.Facts())
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
	r.writeEnd(&b)
	return phrase.Visible(b.String())
}

func writeFacts(b *strings.Builder, facts []audit.FactRow) {
	w := 0
	for _, row := range facts {
		w = max(w, len(row.Name))
	}
	for _, row := range facts {
		fmt.Fprintf(b, "  %-*s  %s\n", w, row.Name, row.Value)
	}
}

// writeEnd writes the warnings and how to run the audit again.
func (r Report) writeEnd(b *strings.Builder) {
	for _, warning := range r.Warnings {
		fmt.Fprintf(b, "\nNote: %s\n", warning)
	}
	if r.Reproduce.CLI != "" {
		fmt.Fprintf(b, "\nRun it again: %s\n", r.Reproduce.CLI)
	}
	if r.Reproduce.Note != "" {
		fmt.Fprintf(b, "\n%s\n", r.Reproduce.Note)
	}
}
