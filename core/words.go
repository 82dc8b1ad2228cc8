package core

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Headline is the verdict in words.
func Headline(r Report) string {
	at := ""
	if r.Claim.Delta > 0 {
		at = " at delta = " + number(r.Claim.Delta)
	}
	claimed := "claimed " + number(r.Claim.Epsilon)
	switch r.Verdict {
	case Violation:
		f := r.Results[0]
		return fmt.Sprintf("Violation: epsilon >= %s%s with %s confidence; %s.", boundWords(*f.LowerBound, r.Claim.Epsilon), at, percent(f.Confidence), claimed)
	case NoViolation:
		f := r.Results[0]
		return fmt.Sprintf("No violation found: epsilon >= %s%s with %s confidence; %s. %s This is not a proof of privacy.",
			boundWords(*f.LowerBound, r.Claim.Epsilon), at, percent(f.Confidence), claimed, powerWords(r))
	case Invalid:
		return "Invalid: the run failed: " + strings.TrimSuffix(r.Termination.Message, ".") + "."
	}
	if r.Termination.Reason == Stopped {
		return fmt.Sprintf("Inconclusive: stopped after %s of %s certification samples a side; no bound is certified. %s.", grouped(r.Termination.SamplesUsed), grouped(r.Settings.Samples), upper(claimed))
	}
	if r.Power == nil {
		return "Inconclusive: no bound was certified. " + upper(claimed) + "."
	}
	return fmt.Sprintf("Inconclusive: %s certification samples a side cannot show more than epsilon >= %s%s, and the mechanism %s. Raise the number of samples.",
		grouped(r.Settings.Samples), boundWords(r.Power.LargestBound, r.Claim.Epsilon), at, claimed)
}

func powerWords(r Report) string {
	if r.Power == nil || r.Power.SmallestEpsilon == nil {
		return "At this sample size the event that was found could not have shown a violation."
	}
	return fmt.Sprintf("At this sample size a true epsilon from about %.4g upwards would have shown in half of all runs or more, by an event as frequent as the one found.", *r.Power.SmallestEpsilon)
}

// boundWords prints a bound rounded down, with as many decimals as it takes to
// stay on its side of the claim.
func boundWords(x, claim float64) string {
	for d := 3; d < 6; d++ {
		if y := floorTo(x, d); (y > claim) == (x > claim) && (y > 0) == (x > 0) {
			return fmt.Sprintf("%.*f", d, y)
		}
	}
	return fmt.Sprintf("%.6f", floorTo(x, 6))
}

func percent(p float64) string {
	return strconv.FormatFloat(math.Round(p*1e11)/1e9, 'f', -1, 64) + " %"
}

// grouped prints a count with spaces between thousands.
func grouped(n int) string {
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + " " + s[i:]
	}
	return s
}

func upper(s string) string { return strings.ToUpper(s[:1]) + s[1:] }

// DatasetWords prints a dataset, shortened where it is long.
func DatasetWords(d Dataset) string {
	if d.Len() == 0 {
		return "{} (no rows)"
	}
	parts := make([]string, 0, d.Len())
	for i := 0; i < d.Len(); i++ {
		if i == 12 && d.Len() > 14 {
			parts = append(parts, fmt.Sprintf("... %d rows more", d.Len()-i))
			break
		}
		cells := make([]string, d.Columns)
		for j, v := range d.Row(i) {
			cells[j] = fmt.Sprintf("%.6g", v)
		}
		row := strings.Join(cells, " ")
		if d.Columns > 1 {
			row = "(" + row + ")"
		}
		parts = append(parts, row)
	}
	return "{" + strings.Join(parts, ", ") + "}"
}

// FactRow is one line of a table of facts.
type FactRow struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// Facts are the report's facts in words, the most important first: what the
// command prints and the page shows as a table.
func Facts(r Report) []FactRow {
	var rows []FactRow
	add := func(name, format string, args ...any) {
		rows = append(rows, FactRow{name, fmt.Sprintf(format, args...)})
	}
	mech := r.Inputs.Mechanism
	if len(r.Inputs.Parameters) > 0 {
		mech += " (" + strings.Join(r.Inputs.Parameters.Assignments(), ", ") + ")"
	}
	add("Mechanism", "%s", mech)
	add("Claim", "%s", r.Claim)
	add("Neighbours", "%s: %s", r.Inputs.Relation, r.Inputs.PrivacyUnit)
	for _, f := range r.Results {
		addFinding(add, r, f)
	}
	if r.Power != nil {
		add("Power", "%s No outcome of %s samples a side certifies more than %s.", powerWords(r), grouped(r.Settings.Samples), boundWords(r.Power.LargestBound, math.Inf(1)))
	}
	add("Exploration", "%d pairs tried, %s outputs a side each; finder %s, learner %s", len(r.Trials), grouped(r.Settings.Explore), r.Settings.Finder, r.Settings.Learner)
	add("Seed", "%d", r.Settings.Seed)
	if r.Timing.Total > 0 {
		add("Time", "%.2f s (explore %.2f, certify %.2f, bound %.2f) with %d workers", r.Timing.Total, r.Timing.Explore, r.Timing.Certify, r.Timing.Bound, r.Timing.Workers)
	}
	return rows
}

func addFinding(add func(name, format string, args ...any), r Report, f Finding) {
	likelier, other := "first", "second"
	if f.Direction == SecondOverFirst {
		likelier, other = other, likelier
	}
	if f.LowerBound != nil {
		method := string(f.Method)
		if f.Split > 0 {
			method += fmt.Sprintf(", %.3g of the error on the %s dataset", f.Split, likelier)
		}
		add("Lower bound", "epsilon >= %s (%s confidence, %s)", boundWords(*f.LowerBound, r.Claim.Epsilon), percent(f.Confidence), method)
	}
	if f.Estimate != nil {
		add("Estimate", "epsilon = %.4f (on the certification counts, no guarantee)", *f.Estimate)
	}
	add("First dataset", "%s", DatasetWords(f.Pair.First))
	add("Second dataset", "%s", DatasetWords(f.Pair.Second))
	add("Event", "%s", f.Event)
	if c := f.Counts; c != nil {
		add("Counts", "event on the %s dataset %s of %s, on the %s dataset %s of %s", likelier, grouped(c.X), grouped(c.N1), other, grouped(c.Y), grouped(c.N0))
	}
	add("Found by", "%s", f.Witness.Learner)
}

// Text is the report as plain text for a terminal.
func Text(r Report) string {
	var b strings.Builder
	b.WriteString(r.Summary + "\n\n")
	rows := Facts(r)
	w := 0
	for _, row := range rows {
		w = max(w, len(row.Name))
	}
	for _, row := range rows {
		fmt.Fprintf(&b, "  %-*s  %s\n", w, row.Name, row.Value)
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
	return b.String()
}
