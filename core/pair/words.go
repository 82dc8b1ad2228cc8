package pair

import (
	"fmt"
	"math"
	"strings"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/audit/phrase"
	"github.com/dpscope/dpscope/report"
)

// quantityWords name quantities; in a headline the symbol stands for them.
var quantityWords = map[Quantity]struct{ symbol, words string }{
	Epsilon:         {"epsilon", "epsilon"},
	Delta:           {"delta", "delta"},
	RenyiDivergence: {"the Rényi divergence", "Rényi divergence"},
	Rho:             {"rho", "rho of zCDP"},
	Mu:              {"mu", "mu of Gaussian DP"},
	RenyiEpsilon:    {"epsilon", "epsilon of pure DP, through Rényi"},
	GaussianEpsilon: {"epsilon", "epsilon of a Gaussian trade-off"},
}

// words name the quantity with what it belongs to.
func (f Finding) words() string {
	w := quantityWords[f.ID].words
	switch f.ID {
	case Epsilon, GaussianEpsilon:
		return w + " at delta = " + audit.Number(f.Delta)
	case Delta:
		return w + " at epsilon = " + audit.Number(f.Epsilon)
	case RenyiDivergence:
		return w + " at alpha = " + audit.Number(f.Alpha)
	case RenyiEpsilon, Rho:
		if f.Alpha > 0 {
			return w + " (alpha = " + audit.Number(f.Alpha) + ")"
		}
	}
	return w
}

// Headline is the verdict in words.
func Headline(r Report) string {
	claimed := "claimed " + audit.Number(r.Claim.Limit())
	at, symbol, confidence := "", "epsilon", 1-r.Settings.Beta
	if len(r.Results) > 0 {
		f := r.Results[0]
		symbol, confidence = quantityWords[f.ID].symbol, f.Confidence
		switch {
		case f.ID == RenyiDivergence:
			at = " at alpha = " + audit.Number(f.Alpha)
		case f.ID == Epsilon && f.Delta > 0:
			at = " at delta = " + audit.Number(f.Delta)
		}
	}
	bound := func() string {
		f := r.Results[0]
		anytime := ""
		if r.Settings.Anytime {
			anytime = ", valid at any time"
		}
		return fmt.Sprintf("%s >= %s%s with %s confidence%s", symbol, phrase.Bound(*f.LowerBound, r.Claim.Limit()), at, phrase.Percent(confidence), anytime)
	}
	switch r.Verdict {
	case audit.Violation:
		after := ""
		if r.Termination.Reason == audit.Refuted {
			after = fmt.Sprintf(" Refuted after %s of at most %s samples a side.", phrase.Grouped(r.Termination.SamplesUsed), phrase.Grouped(r.Settings.Samples))
		}
		return fmt.Sprintf("Violation: %s; %s.%s", bound(), claimed, after)
	case audit.NoViolation:
		return fmt.Sprintf("No violation found: %s; %s.%s This is not a proof of privacy.", bound(), claimed, powerWords(r))
	case audit.Invalid:
		return "Invalid: the run failed: " + strings.TrimSuffix(r.Termination.Message, ".") + "."
	}
	if r.Termination.Reason == audit.Stopped {
		used := fmt.Sprintf("stopped after %s of %s certification samples a side", phrase.Grouped(r.Termination.SamplesUsed), phrase.Grouped(r.Settings.Samples))
		if len(r.Results) > 0 && r.Results[0].LowerBound != nil {
			return fmt.Sprintf("Inconclusive: %s; so far %s. %s.", used, bound(), upper(claimed))
		}
		return fmt.Sprintf("Inconclusive: %s; no bound is certified. %s.", used, upper(claimed))
	}
	if r.Power == nil {
		return "Inconclusive: no bound was certified. " + upper(claimed) + "."
	}
	show := "any lower bound above 0"
	if r.Power.LargestBound > 0 {
		show = fmt.Sprintf("more than %s >= %s%s", symbol, phrase.Bound(r.Power.LargestBound, r.Claim.Limit()), at)
	}
	return fmt.Sprintf("Inconclusive: %s certification samples a side cannot show %s, and the mechanism %s. Raise the number of samples.",
		phrase.Grouped(r.Settings.Samples), show, claimed)
}

// powerWords say what could have been seen, with a space before; nothing in an
// anytime run, which has no sample size.
func powerWords(r Report) string {
	if r.Settings.Anytime {
		return ""
	}
	what, symbol := "the event that was found", "epsilon"
	if len(r.Results) > 0 && r.Results[0].Event == nil {
		what = "the witness that was found"
	}
	if len(r.Results) > 0 {
		symbol = strings.TrimPrefix(quantityWords[r.Results[0].ID].symbol, "the ")
	}
	if r.Power == nil || r.Power.Smallest == nil {
		return " At this sample size " + what + " could not have shown a violation."
	}
	like := "an event as frequent as the one found"
	if what != "the event that was found" {
		like = "a witness like the one found"
	}
	return fmt.Sprintf(" At this sample size a true %s from about %.4g upwards would have shown in half of all runs or more, by %s.", symbol, *r.Power.Smallest, like)
}

func upper(s string) string { return strings.ToUpper(s[:1]) + s[1:] }

// DatasetWords prints a dataset, shortened where it is long.
func DatasetWords(d audit.Dataset) string {
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

// Head implements [report.View].
func (r Report) Head() report.Head {
	h := report.Head{Subject: r.Inputs.Mechanism, Generator: r.Generator, Claim: r.Claim, Promise: r.Claim.String(), Verdict: r.Verdict, Summary: r.Summary,
		Confidence: r.Settings.Confidence, Beta: r.Settings.Beta, Seed: r.Settings.Seed, Ended: r.Termination, Timing: r.Timing, Warnings: r.Warnings, Reproduce: r.Reproduce}
	if len(r.Results) > 0 && r.Results[0].LowerBound != nil {
		f := r.Results[0]
		h.LowerBound, h.Quantity = f.LowerBound, f.Quantity
		if f.Counts != nil {
			h.Counts = f.Counts
		}
	}
	return h
}

// Facts are the report's facts in words, the most important first: what the
// command prints and the page shows as a table.
func (r Report) Facts() []audit.FactRow {
	var rows []audit.FactRow
	add := func(name, format string, args ...any) {
		rows = append(rows, audit.FactRow{Name: name, Value: phrase.Line(fmt.Sprintf(format, args...))})
	}
	mech := r.Inputs.Mechanism
	if len(r.Inputs.Parameters) > 0 {
		mech += " (" + strings.Join(r.Inputs.Parameters.Assignments(), ", ") + ")"
	}
	samples := r.Inputs.Samples
	switch {
	case samples != nil:
		add("Samples", "%s", samples.Words())
	case r.Inputs.Brought != nil:
		add("Mechanism", "%s", r.Inputs.Brought.Words())
	default:
		add("Mechanism", "%s", mech)
	}
	add("Claim", "%s", r.Claim)
	add("Neighbours", "%s: %s", r.Inputs.Relation, r.Inputs.PrivacyUnit)
	if len(r.Results) > 0 {
		addFinding(add, r, r.Results[0])
	}
	if samples != nil {
		for i, name := range []string{"First dataset", "Second dataset"} {
			add(name, "%s, %s rows", samples.Datasets[i], phrase.Grouped(samples.Rows[i]))
		}
	}
	if e := r.Evidence; e != nil {
		if samples == nil {
			add("First dataset", "%s", DatasetWords(e.Pair.First))
			add("Second dataset", "%s", DatasetWords(e.Pair.Second))
		}
		add("Found by", "%s", e.Witness.Learner)
	}
	if r.Power != nil {
		most := "any lower bound above 0"
		if r.Power.LargestBound > 0 {
			most = "more than " + phrase.Bound(r.Power.LargestBound, math.Inf(1))
		}
		add("Power", "%s No outcome of %s samples a side certifies %s.", strings.TrimSpace(powerWords(r)), phrase.Grouped(r.Settings.Samples), most)
	}
	if samples != nil {
		add("Split", "%s rows a side explored, %s certified, by a random order that the seed fixes; learner %s", phrase.Grouped(r.Settings.Explore), phrase.Grouped(r.Settings.Samples), r.Settings.Learner)
	} else {
		add("Exploration", "%s tried, %s outputs a side each; finder %s, learner %s", phrase.Count(len(r.Trials), "pair"), phrase.Grouped(r.Settings.Explore), r.Settings.Finder, r.Settings.Learner)
	}
	add("Seed", "%d", r.Settings.Seed)
	if r.Timing.Total > 0 {
		add("Time", "%.2f s (explore %.2f, certify %.2f, bound %.2f) with %s", r.Timing.Total, r.Timing.Explore, r.Timing.Certify, r.Timing.Bound, phrase.Count(r.Timing.Workers, "worker"))
	}
	return rows
}

// addFinding adds the facts of the result that decides.
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
		add("Lower bound", "%s >= %s (%s confidence, %s)", f.words(), phrase.Bound(*f.LowerBound, r.Claim.Limit()), phrase.Percent(f.Confidence), method)
	}
	if f.PValue != nil {
		add("p-value", "at most %s, of the claim%s", phrase.PValue(*f.PValue), map[bool]string{true: ", valid at any time"}[r.Settings.Anytime])
	}
	if f.Estimate != nil {
		add("Estimate", "%s = %.4f (on the certification counts, no guarantee)", quantityWords[f.ID].symbol, *f.Estimate)
	}
	if f.Assumption != "" {
		add("Assumption", "%s", f.Assumption)
	}
	switch e := r.Evidence; {
	case f.Event != nil:
		add("Event", "%s", shortened(f.Event.Words))
	case e != nil && e.Prepared.Goal != nil:
		add("Divergence", "of the outputs on the %s dataset from those on the %s, by a witness of order %s on %d bins of the score", likelier, other, audit.Number(e.Prepared.Goal.Alpha), len(e.Edges)+1)
	}
	if c := f.Counts; c != nil {
		add("Counts", "event on the %s dataset %s of %s, on the %s dataset %s of %s", likelier, phrase.Grouped(c.X), phrase.Grouped(c.N1), other, phrase.Grouped(c.Y), phrase.Grouped(c.N0))
	}
}

// eventMost is how much of an event's words is printed, in bytes; the report holds
// all of them.
const eventMost = 400

// shortened ends a list of words after eventMost bytes, and says how many more there
// are.
func shortened(words string) string {
	if len(words) <= eventMost {
		return words
	}
	for _, between := range []string{" or ", ", "} {
		if at := strings.LastIndex(words[:eventMost], between); at > 0 {
			return fmt.Sprintf("%s%s%d more", words[:at], strings.Replace(between, ", ", " and ", 1), strings.Count(words[at:], between))
		}
	}
	return strings.ToValidUTF8(words[:eventMost], "") + "..."
}

// CertifiedRow is one line of the table of all that was certified, in words.
type CertifiedRow struct {
	Quantity   string `json:"quantity"`
	Bound      string `json:"bound"`
	Claimed    string `json:"claimed"` // what the claim allows; empty where it says nothing
	Exceeds    bool   `json:"exceeds"` // the bound is above that
	Confidence string `json:"confidence"`
	Method     string `json:"method"`
	Assumption string `json:"assumption"`
}

// CertifiedRows are all that was certified, the quantity that the claim limits
// first. A bound above what the claim implies refutes the claim with the row's
// own confidence; the verdict is the first row's.
func CertifiedRows(r Report) []CertifiedRow {
	rows := []CertifiedRow{}
	for _, f := range r.Results {
		if f.LowerBound == nil {
			continue
		}
		row := CertifiedRow{Quantity: f.words(), Confidence: phrase.Percent(f.Confidence), Method: string(f.Method), Assumption: f.Assumption}
		switch {
		case len(rows) == 0:
		case f.ID == Rho || f.ID == RenyiEpsilon:
			row.Method += fmt.Sprintf(", of %d orders", len(r.Renyi))
		}
		limit, ok := allowed(r.Claim, f)
		row.set(*f.LowerBound, limit, ok)
		rows = append(rows, row)
	}
	for _, x := range r.Renyi {
		row := CertifiedRow{Quantity: Finding{ID: RenyiDivergence, Alpha: x.Alpha}.words(), Confidence: phrase.Percent(1 - r.Settings.Beta), Method: string(x.Method),
			Assumption: fmt.Sprintf("together with the other %d orders", len(r.Renyi)-1)}
		limit, ok := r.Claim.ImpliedRenyi(x.Alpha)
		row.set(x.Lower, limit, ok)
		rows = append(rows, row)
	}
	return rows
}

func (row *CertifiedRow) set(x, limit float64, ok bool) {
	if !ok {
		row.Bound = phrase.Bound(x, math.Inf(1))
		return
	}
	row.Bound, row.Claimed, row.Exceeds = phrase.Bound(x, limit), fmt.Sprintf("%.6g", limit), x > limit
}

// allowed is what the claim allows the finding's quantity to be; false where it
// allows anything.
func allowed(c audit.Claim, f Finding) (float64, bool) {
	switch f.ID {
	case Epsilon:
		return c.Epsilon, c.IsDP() && f.Delta >= c.Delta
	case RenyiEpsilon:
		return c.Epsilon, c.Kind == audit.Pure
	case Delta:
		return c.Delta, c.IsDP() && f.Epsilon >= c.Epsilon
	case RenyiDivergence:
		return c.ImpliedRenyi(f.Alpha)
	case Rho:
		return c.ImpliedRho()
	case Mu:
		return c.ImpliedMu()
	}
	return 0, false
}

// PublishedRow is a published form of a bound, in words.
type PublishedRow struct {
	Quantity string `json:"quantity"`
	Value    string `json:"value"`
	Method   string `json:"method"`
	Fault    string `json:"fault"`
}

// PublishedRows are the published forms, for comparison.
func PublishedRows(r Report) []PublishedRow {
	rows := []PublishedRow{}
	for _, p := range r.Published {
		q := Finding{ID: p.ID, Epsilon: p.Epsilon, Delta: p.Delta, Alpha: p.Alpha}.words()
		rows = append(rows, PublishedRow{Quantity: q, Value: phrase.Bound(p.Value, math.Inf(1)), Method: string(p.Method), Fault: p.Fault})
	}
	return rows
}

// Text is the report as plain text for a terminal.
func (r Report) Text() string {
	var b strings.Builder
	report.WriteFacts(&b, r.Summary, r.Facts())
	writeCertified(&b, r)
	if rows := PublishedRows(r); len(rows) > 0 {
		b.WriteString("\nPublished forms on the same counts, for comparison; those called published certify nothing:\n")
		writeTable(&b, []string{"quantity", "value", "method", "note"}, rows, func(x PublishedRow) []string {
			return []string{x.Quantity, x.Value, x.Method, x.Fault}
		})
	}
	report.WriteEnd(&b, r.Warnings, r.Reproduce)
	return phrase.Visible(b.String())
}

// writeCertified prints what was certified: the findings, and below them the
// divergences of all orders.
func writeCertified(b *strings.Builder, r Report) {
	rows := CertifiedRows(r)
	if len(rows) == 0 {
		return
	}
	own := rows[:max(0, len(rows)-len(r.Renyi))]
	fmt.Fprintf(b, "\nCertified with %s confidence each:\n", phrase.Percent(1-r.Settings.Beta))
	var notes []string
	writeTable(b, []string{"quantity", "at least", "claim allows", "method"}, own, func(x CertifiedRow) []string {
		if x.Assumption != "" {
			notes = append(notes, x.Quantity+": "+x.Assumption)
		}
		return []string{x.Quantity, x.Bound, x.allowed(), x.Method}
	})
	for _, n := range notes {
		fmt.Fprintf(b, "  (%s)\n", n)
	}
	fmt.Fprintf(b, "\nRényi divergences, all together with %s confidence:\n", phrase.Percent(1-r.Settings.Beta))
	i := 0
	writeTable(b, []string{"alpha", "at least", "claim allows"}, rows[len(own):], func(x CertifiedRow) []string {
		i++
		return []string{audit.Number(r.Renyi[i-1].Alpha), x.Bound, x.allowed()}
	})
}

func (row CertifiedRow) allowed() string {
	if row.Exceeds {
		return row.Claimed + " (exceeded)"
	}
	return row.Claimed
}

// writeTable prints rows in columns.
func writeTable[T any](b *strings.Builder, head []string, rows []T, cells func(T) []string) {
	lines := [][]string{head}
	for _, r := range rows {
		lines = append(lines, cells(r))
	}
	phrase.Table(b, lines)
}
