package report

import (
	"cmp"
	"fmt"
	"math"
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

// Bounded adds what the bound and the p-value are; by says by which method, empty for nothing.
func (rows *FactRows) Bounded(r Report, by string) {
	if r.LowerBound != nil {
		by = audit.Pick(by == "", "", ", "+by)
		rows.Add("Lower bound", "%s >= %s (%s confidence%s)", r.Quantity, phrase.Bound(*r.LowerBound, r.Claim.Limit()), phrase.Percent(r.Confidence), by)
	}
	if r.PValue != nil {
		rows.Add("p-value", "at most %s, of the claim", phrase.PValue(*r.PValue))
	}
}

// Reasons are the facts that say what was audited and why the verdict is what it is.
var Reasons = []string{"Samples", "Mechanism", "Table", "Source", "Program", "Scores", "Claim", "Neighbours", "Canaries", "Event", "Divergence", "Counts", "Rates", "Guesses", "Dataset A", "Dataset B"}

// Brief is what a terminal shows: the verdict, one sentence of what tells most, if any, the reasons
// and the command. In enough columns, counts are bars too.
func Brief(v View, sentence string, columns int) string {
	var b strings.Builder
	r := v.Head()
	b.WriteString(strings.TrimSuffix(r.Summary+"\n"+sentence, "\n") + "\n\n")
	facts, bars := []audit.FactRow{}, r.bars(columns)
	for _, f := range v.Facts() {
		if f.Name == "Counts" && bars != nil {
			facts = append(facts, bars...)
		} else if slices.Contains(Reasons, f.Name) {
			facts = append(facts, f)
		}
	}
	writeFacts(&b, facts)
	r.writeEnd(&b)
	return phrase.Visible(b.String())
}

// bars are the counts of the event that decides, for each dataset; nil without room. A line in the
// likelier one's stands where the claim, of an epsilon, allows it to end.
func (r Report) bars(columns int) []audit.FactRow {
	row := r.Deciding()
	if columns < 60 || row == nil || row.Counts == nil || row.Counts.X == 0 || row.Direction == "" {
		return nil
	}
	c := *row.Counts
	counted := [2]string{phrase.Grouped(c.X) + " of " + phrase.Grouped(c.N1), phrase.Grouped(c.Y) + " of " + phrase.Grouped(c.N0)}
	likelier, other := float64(c.X)/float64(c.N1), float64(c.Y)/float64(c.N0)
	allowed, longest := 0.0, max(likelier, other)
	if row.ID == Epsilon && row.Claimed != nil {
		allowed = min(1, float64(math.Exp(*row.Claimed)*other)+row.Delta)
		longest = max(longest, allowed)
		counted[0] += fmt.Sprintf(" (%.3g %% allowed)", 100*allowed)
	}
	room := min(40, columns-len("  Neighbours    ")-1-len(counted[0])) // facts stand behind the longest name
	bar := func(share float64) []rune {
		return []rune(fmt.Sprintf("%-*s", room, strings.Repeat("█", int(math.Ceil(share/longest*float64(room))))))
	}
	first := bar(likelier)
	if allowed > 0 {
		first[max(0, int(math.Ceil(allowed/longest*float64(room)))-1)] = '│'
	}
	on := []audit.FactRow{{Name: "On A", Value: string(first) + " " + counted[0]}, {Name: "On B", Value: string(bar(other)) + " " + counted[1]}}
	if row.Direction == SecondOverFirst {
		on[0].Value, on[1].Value = on[1].Value, on[0].Value
	}
	return on
}

// Text is the whole of a report as plain text.
func Text(v View) string {
	var b strings.Builder
	r := v.Head()
	b.WriteString(r.Summary + "\n\n")
	writeFacts(&b, v.Facts())
	for _, t := range r.Words() {
		fmt.Fprintf(&b, "\n%s:\n", t.Title)
		head := audit.Listed(len(t.Columns), func(i int) string { return t.Columns[i].Title })
		lines := audit.Listed(len(t.Lines), func(i int) []string { return t.Marked(t.Lines[i]) })
		phrase.Table(&b, append([][]string{head}, lines...))
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

// Banner is the verdict in a few words, with the bound, and a line that says what it is of.
func (r Report) Banner() (title, detail string) {
	limit, bound, shown := r.Claim.Limit(), "", ""
	confidence, claimed := phrase.Percent(r.Confidence)+" confidence.", r.ClaimedWords()+" claimed."
	if row := r.Deciding(); row != nil && r.LowerBound != nil {
		figure := phrase.Side(max(0, *r.LowerBound), limit, 2)
		if *r.LowerBound == limit {
			figure = audit.Number(limit)
		}
		bound = row.ID.Letter() + audit.Pick(row.Strict, " > ", " ≥ ") + figure
		shown = fmt.Sprintf("%s shown of the %s claimed. %s", bound, audit.Number(limit), confidence)
	}
	switch r.Verdict {
	case audit.Violation:
		return strings.TrimSuffix("Violation: "+bound, ": "), claimed + " " + confidence
	case audit.NoViolation:
		return "No violation found", cmp.Or(shown, claimed) + " Not a proof of privacy."
	case audit.Inconclusive:
		why := audit.Pick(r.Termination.Reason == audit.Stopped, "stopped early", "too few outputs")
		return "Not decided: " + why, cmp.Or(shown, claimed+" Nothing was certified.")
	}
	return "The run failed", phrase.Visible(r.Termination.Message)
}

// ClaimedWords are the claim's own figure: ε = 1, δ = 1e-05.
func (r Report) ClaimedWords() string {
	c := r.Claim
	switch c.Kind {
	case audit.ZCDP:
		return "ρ = " + audit.Number(c.Rho)
	case audit.GaussianDP:
		return "µ = " + audit.Number(c.Mu)
	case audit.Renyi:
		return fmt.Sprintf("Rényi ε = %s at α = %s", audit.Number(c.Epsilon), audit.Number(c.Alpha))
	case audit.Profile:
		return "a curve"
	}
	return "ε = " + audit.Number(c.Epsilon) + audit.Pick(c.Delta > 0, ", δ = "+audit.Number(c.Delta), "")
}
