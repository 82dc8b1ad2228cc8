package pair

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"sort"
	"strconv"
	"strings"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/audit/phrase"
	"github.com/dpscope/dpscope/bounds"
	"github.com/dpscope/dpscope/core/pair/chart"
	"github.com/dpscope/dpscope/core/pair/threshold"
	"github.com/dpscope/dpscope/core/report"
)

// Reword puts the verdict into words, by the numbers of the report.
func (r *Report) Reword() {
	claimed := "claimed " + audit.Number(r.Claim.Limit())
	at, symbol := "", "epsilon"
	row := r.Deciding()
	if row != nil {
		symbol = row.ID.Symbol()
		switch {
		case row.ID == report.RenyiDivergence:
			at = " at alpha = " + audit.Number(row.Alpha)
		case row.ID == report.Epsilon && row.Delta > 0:
			at = " at delta = " + audit.Number(row.Delta)
		}
	}
	anytime := audit.Pick(r.Plan.isSequential(), ", valid at any time", "")
	bound := func() string {
		return fmt.Sprintf("%s %s%s with %s confidence%s", symbol, r.atLeast(*r.LowerBound, row.Strict), at, phrase.Percent(r.Confidence), anytime)
	}
	raced := r.Plan.isSequential() && r.LowerBound != nil && r.Sequential != nil
	drawn := phrase.Grouped(r.Termination.Outputs) + " outputs"
	used := fmt.Sprintf("stopped after %s of %s certification samples a side", phrase.Grouped(r.Termination.SamplesUsed), phrase.Grouped(r.Plan.Samples))
	switch {
	case r.Plan.isSequential() && r.Power != nil:
		needs := ""
		if n := r.Power.Needed; n > 0 && n <= MaxSamples {
			needs = fmt.Sprintf(", which needs at least %s", phrase.Grouped(n))
		}
		r.Say(fmt.Sprintf("Inconclusive: %s outputs a side cannot refute the claim of %s%s.", phrase.Grouped(r.Plan.Samples), audit.Number(r.Claim.Limit()), needs), "Raise the number of samples.")
	case raced && r.Verdict == audit.NoViolation:
		r.Say(fmt.Sprintf("No violation found: %s; %s.", bound(), claimed), fmt.Sprintf("Drawn: %s of %s. This is not a proof of privacy.", drawn, phrase.Count(len(r.Sequential.Pairs), "pair")))
	case raced && r.Verdict == audit.Inconclusive:
		r.Say(fmt.Sprintf("Inconclusive: stopped after %s; so far %s.", drawn, bound()), upper(claimed)+".")
	case r.Verdict == audit.Violation:
		after := ""
		if s := r.Sequential; s != nil && s.Refuted > 0 {
			after = fmt.Sprintf("Refuted after %s outputs of %s, both sides and the search included.", phrase.Grouped(s.Refuted), phrase.Count(s.pairsUntil(s.Refuted), "pair"))
		} else if r.Termination.Reason == audit.Refuted {
			after = fmt.Sprintf("Refuted after %s of at most %s samples a side.", phrase.Grouped(r.Termination.SamplesUsed), phrase.Grouped(r.Plan.Samples))
		}
		if !row.Strict || *r.LowerBound > r.Claim.Limit() {
			r.Say(fmt.Sprintf("Violation: %s; %s.", bound(), claimed), after)
			break
		}
		what := audit.Pick(r.Claim.Kind == audit.Profile, "claimed curve", "claim of "+audit.Number(r.Claim.Limit())+at)
		if r.PValue != nil {
			after = strings.TrimSpace(fmt.Sprintf("Its p-value is at most %s. %s", phrase.PValue(*r.PValue), after))
		}
		r.Say(fmt.Sprintf("Violation: the %s is false with %s confidence%s.", what, phrase.Percent(r.Confidence), anytime), strings.TrimSpace(after+" "+r.unmeasured()))
	case r.Verdict == audit.NoViolation:
		r.Say(fmt.Sprintf("No violation found: %s; %s.", bound(), claimed), strings.TrimSpace(r.powerWords()+r.moreWords()+" This is not a proof of privacy."))
	case r.Verdict == audit.Invalid:
		r.SayInvalid()
	case r.Termination.Reason == audit.Stopped && r.LowerBound != nil:
		r.Say(fmt.Sprintf("Inconclusive: %s; so far %s.", used, bound()), upper(claimed)+".")
	case r.Termination.Reason == audit.Stopped:
		r.Say(fmt.Sprintf("Inconclusive: %s; no bound is certified.", used), upper(claimed)+"."+r.moreWords())
	case r.Power == nil:
		r.Say("Inconclusive: no bound was certified.", upper(claimed)+".")
	default:
		r.SayTooSmall(phrase.Grouped(r.Plan.Samples)+" samples a side", symbol, at)
	}
}

// atLeast is a bound with its sign, rounded to the side of the claim that it is on.
func (r Report) atLeast(bound float64, strict bool) string {
	if strict {
		return "> " + phrase.Bound(bound, math.Inf(1))
	}
	return ">= " + phrase.Bound(bound, r.Claim.Limit())
}

func (r Report) unmeasured() string {
	switch {
	case r.Plan.Mode == UntilRefuted:
		return "An audit until the claim is refuted does not measure by how much the claim is exceeded."
	case r.Inputs.Samples != nil:
		return "The excess is not measured. More rows may show it."
	}
	return fmt.Sprintf("The excess is not measured. More: -samples %d.", min(MaxSamples, 10*r.Plan.Samples))
}

// powerWords say what could have been seen; nothing in a sequential audit.
func (r Report) powerWords() string {
	if r.Plan.isSequential() {
		return ""
	}
	what, like, symbol := "event", "an event as frequent as", "epsilon"
	if row := r.Deciding(); row != nil {
		if row.Event == nil {
			what, like = "witness", "a witness like"
		}
		symbol = strings.TrimPrefix(row.ID.Symbol(), "the ")
	}
	if r.Power == nil || r.Power.Smallest == nil {
		return "At this sample size, the " + what + " that was found could not have shown a violation."
	}
	return fmt.Sprintf("At this sample size, a true %s of about %.4g or more would have been detected in at least half of all runs, by %s the one found.", symbol, *r.Power.Smallest, like)
}

// moreWords say about how many more outputs with the frequencies that were counted would refute the
// claim; empty beyond nearMiss times what was counted. The report may be a stranger's.
func (r Report) moreWords() string {
	row, limit := r.Deciding(), r.Claim.Limit()
	if row == nil || row.Counts == nil || row.Group > 1 || row.ID != report.Epsilon && row.ID != report.Mu {
		return ""
	}
	const nearMiss = 10
	counted, beta := *row.Counts, cmp.Or(row.Beta, r.Plan.Beta)
	least, greatest := min(counted.N1, counted.N0), max(counted.N1, counted.N0)
	if counted.Validate() != nil || greatest > MaxSamples || bounds.CheckDelta(row.Delta) != nil || bounds.CheckBeta(beta) != nil {
		return ""
	}
	refutes := func(size int) bool {
		n := counted.Add(bounds.Counts{X: size * counted.X / counted.N1, N1: size, Y: (size*counted.Y + counted.N0 - 1) / counted.N0, N0: size})
		if row.ID == report.Mu {
			return bounds.ExactMu(n, beta) > limit
		}
		return bounds.Exact(n, row.Delta, beta) > limit
	}
	size := func(i int) int { return (i%9 + 1) * int(math.Pow10(i/9)) } // those of one digit
	most := -1
	for size(most+1) <= min(nearMiss*least, MaxSamples-greatest) {
		most++
	}
	if most < 0 || refutes(0) || !refutes(size(most)) {
		return ""
	}
	i := sort.Search(most, func(i int) bool { return refutes(size(i)) })
	return fmt.Sprintf(" The observed value is above the claim, but within chance. If it is the true value, about %s more outputs a side would refute the claim.", phrase.Grouped(size(i)))
}

func upper(s string) string { return strings.ToUpper(s[:1]) + s[1:] }

// Facts are the report's facts in words, the most important first.
func (r Report) Facts() []audit.FactRow {
	var rows report.FactRows
	add := rows.Add
	samples := r.Inputs.Samples
	switch params := r.Plan.Parameters; {
	case samples != nil:
		add("Samples", "%s", samples.Words())
	case r.Inputs.User != nil:
		add("Mechanism", "%s", r.Inputs.User.Words())
	case len(params) > 0:
		add("Mechanism", "%s (%s)", r.Plan.Mechanism, strings.Join(params.Assignments(), ", "))
	default:
		add("Mechanism", "%s", r.Plan.Mechanism)
	}
	if l := r.Inputs.Labelled; l != nil {
		add("Table", "%s", l.Words())
	}
	claim := r.Claim.String()
	if p := r.Plan.Claim; p != nil && p.Kind == audit.Profile {
		claim = r.StatedClaim // with the curve
	}
	add("Claim", "%s", claim)
	add("Neighbours", "%s: %s", r.Plan.Relation, r.Inputs.PrivacyUnit)
	if row := r.Deciding(); row != nil {
		r.addDeciding(add, *row)
	}
	var pair *audit.Pair
	if e := r.Evidence; e != nil {
		pair = &e.Pair
	} else if s := r.Sequential; s != nil && len(s.Pairs) > 0 {
		pair = &s.Pairs[s.loudest()]
	}
	if samples != nil {
		for i, name := range []string{"Dataset A", "Dataset B"} {
			add(name, "%s, %s rows", samples.Datasets[i], phrase.Grouped(samples.Rows[i]))
		}
	} else if pair != nil {
		first, second := pair.Words()
		add("Dataset A", "%s", first)
		add("Dataset B", "%s", second)
	}
	if e := r.Evidence; e != nil {
		add("Found by", "%s", e.Witness.Learner)
	}
	if s := r.Sequential; s != nil {
		words := fmt.Sprintf("%s outputs of %s, both sides, in %s", phrase.Grouped(s.outputs()), phrase.Count(len(s.Pairs), "pair"), phrase.Count(len(s.Epochs), "epoch"))
		if s.Refuted > 0 {
			words += fmt.Sprintf("; the claim was refuted after %s", phrase.Grouped(s.Refuted))
		}
		add("Sequential", "%s", words)
	}
	if r.Power != nil {
		most := "any lower bound above 0"
		if r.Power.Largest > 0 {
			most = "more than " + phrase.Bound(r.Power.Largest, math.Inf(1))
		}
		add("Power", "%s No outcome of %s samples a side certifies %s.", r.powerWords(), phrase.Grouped(r.Plan.Samples), most)
	}
	switch mode := r.Plan.Mode; {
	case samples != nil && mode == UntilRefuted:
		add("Order", "random, fixed by the seed")
	case samples != nil:
		bet := ""
		if mode == Climbing {
			bet = fmt.Sprintf("at most %s rows a side bet on; of the same file ", phrase.Grouped(r.Plan.Samples))
		}
		add("Split", "%s%s rows a side explored, %s certified, in a random order fixed by the seed; learner %s", bet, phrase.Grouped(r.Plan.Explore), phrase.Grouped(r.Plan.certifies()), r.Plan.Learner)
	case mode == Fixed:
		add("Exploration", "%s tried, %s outputs a side; finder %s, learner %s", phrase.Count(len(r.Trials), "pair"), phrase.Grouped(r.Plan.Explore), r.Plan.Finder, r.Plan.Learner)
	case mode == Climbing && r.Evidence != nil:
		add("Event from", "%s outputs a side of the pair that was drawn from most, learner %s; counted on as many", phrase.Grouped(r.Plan.Explore), r.Plan.Learner)
	}
	add("Seed", "%d", r.Plan.Seed)
	if r.Timing.Total > 0 {
		add("Time", "%.2f s (explore %.2f, certify %.2f, bound %.2f) with %s", r.Timing.Total, r.Timing.Explore, r.Timing.Certify, r.Timing.Bound, phrase.Count(r.Timing.Workers, "worker"))
	}
	return rows
}

func (r Report) addDeciding(add func(name, format string, args ...any), f report.Row) {
	if f.LowerBound != nil {
		method := f.MethodWords()
		if e := r.Evidence; f.Beta > 0 && f.Event != nil && e != nil {
			method += fmt.Sprintf(", %s of the error on this event of %d", phrase.Percent(f.Beta/r.Plan.Beta), len(e.Prepared.Alternatives)+1)
		}
		add("Lower bound", "%s %s (%s confidence, %s)", f.Quantity, r.atLeast(*f.LowerBound, f.Strict), phrase.Percent(f.Confidence), method)
	}
	if f.Group > 1 {
		add("Group", "%s", f.Note)
	}
	if f.PValue != nil {
		add("p-value", "at most %s, of the claim", phrase.PValue(*f.PValue))
	}
	if f.Estimate != nil {
		add("Estimate", "%s = %.4f (on the certification counts, no guarantee)", f.ID.Symbol(), *f.Estimate)
	}
	if f.Assumption != "" {
		add("Assumption", "%s", f.Assumption)
	}
	if shown := r.Pictured(); f.Event == nil && shown != nil { // of the second stage
		f.Event, f.Counts, f.Direction = shown.Event, shown.Counts, shown.Direction
	}
	likelier, other := "A", "B"
	if f.Direction == report.SecondOverFirst {
		likelier, other = "B", "A"
	}
	switch e := r.Evidence; {
	case f.Event != nil:
		add("Event", "%s", shortened(f.Event.Words))
	case e != nil && e.Prepared.Goal != nil:
		add("Divergence", "of the outputs on %s from those on %s, by a witness of order %s on %d bins of the score", likelier, other, audit.Number(e.Prepared.Goal.Alpha), len(e.Edges)+1)
	}
	if c := f.Counts; c != nil {
		add("Counts", "%s of %s outputs on %s, %s of %s on %s", phrase.Grouped(c.X), phrase.Grouped(c.N1), likelier, phrase.Grouped(c.Y), phrase.Grouped(c.N0), other)
	}
}

// eventMost is how many bytes of an event's words are printed.
const eventMost = 400

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

// The ends of an event of one real output are looked for on a grid: in the chart's range, and ever farther out.
const (
	intervalSteps = 2000
	intervalReach = 60  // steps beyond either end
	intervalMost  = 4   // intervals that are put into words
	intervalGrow  = 1.3 // of the distance beyond the end, a step
)

func intervalWords(name string, lo, hi float64) string {
	switch {
	case math.IsInf(lo, -1) && math.IsInf(hi, 1):
		return "any " + name
	case math.IsInf(lo, -1):
		return fmt.Sprintf("%s < %.4g", name, hi)
	case math.IsInf(hi, 1):
		return fmt.Sprintf("%s > %.4g", name, lo)
	}
	return fmt.Sprintf("%s in (%.4g, %.4g)", name, lo, hi)
}

// described is an event in words, and where it lies in the chart.
func described(columns []audit.Column, ch chart.Chart, m audit.Model, edges []float64, at threshold.Event) *report.Event {
	edge := edges[at.Edge]
	e := &report.Event{Edge: at.Edge, Above: at.Above, Words: m.Describe(edge, at.Above)}
	w := new(report.Where)
	axis, name := "the learned score of the output", ""
	if len(columns) == 1 {
		if name = chart.Called(columns[0].Name); name != columns[0].Name {
			e.Words = strings.ReplaceAll(e.Words, columns[0].Name+" ", name+" ")
		}
	}
	switch {
	case ch.Kind == chart.Outcomes:
		score := make([]float64, 1)
		var named []string
		for i, row := range ch.Outcomes {
			if len(row) != audit.Width(columns) {
				return e
			}
			if m.Score(row, score); (score[0] > edge) == at.Above {
				w.Outcomes, named = append(w.Outcomes, i), append(named, "“"+chart.OutcomeWords(columns, row)+"”")
			}
		}
		if w.Words = e.Words; len(named) > 0 && len(named) <= intervalMost {
			w.Words = fmt.Sprintf("the %s is %s", cmp.Or(name, "output"), strings.Join(named, " or "))
		}
		e.Where = w
		return e
	case ch.Kind == chart.Score:
		w.Intervals = []report.Interval{audit.Pick(at.Above, report.Interval{From: &edge}, report.Interval{To: &edge})}
	case len(columns) == 1 && columns[0].Kind == audit.Real:
		axis = "the " + name
		if _, ok := m.(audit.RoundingModel); ok {
			e.Where = &report.Where{Words: axis + " has telling last bits"}
			return e
		}
		var parts []string
		for _, x := range intervals(ch.Edges, m, edge, at.Above) {
			w.Intervals = append(w.Intervals, report.Interval{From: finite(x[0]), To: finite(x[1])})
			parts = append(parts, intervalWords(name, x[0], x[1]))
		}
		if !strings.HasPrefix(e.Words, name+" ") && len(parts) > 0 && len(parts) <= intervalMost {
			e.Words = "about " + strings.Join(parts, " or ")
		}
	}
	if w.Words = axis + " " + placeWords(w.Intervals); len(w.Intervals) > 0 {
		e.Where = w
	}
	return e
}

// finite is a number to six figures, nil for an infinite one.
func finite(x float64) *float64 {
	if math.IsInf(x, 0) {
		return nil
	}
	return new(phrase.Figures(x, 6))
}

func placeWords(all []report.Interval) string {
	if len(all) > intervalMost {
		return fmt.Sprintf("is in one of %d intervals", len(all))
	}
	var parts []string
	for _, x := range all {
		switch {
		case x.From == nil && x.To == nil:
			return "is anything"
		case x.From == nil:
			parts = append(parts, "below "+plainNumber(*x.To))
		case x.To == nil:
			parts = append(parts, "above "+plainNumber(*x.From))
		default:
			parts = append(parts, "between "+plainNumber(*x.From)+" and "+plainNumber(*x.To))
		}
	}
	return "is " + strings.Join(parts, " or ")
}

// plainNumber has three figures, as one reads them in a sentence.
func plainNumber(x float64) string {
	s := strconv.FormatFloat(x, 'g', 3, 64)
	if a := math.Abs(x); a >= 1000 && a < 1e6 {
		s = strconv.FormatFloat(x, 'f', 0, 64)
	}
	s = strings.Replace(s, "-", "−", 1)
	head, tail, large := strings.Cut(s, "e")
	if !large {
		return s
	}
	power, _ := strconv.Atoi(tail)
	raised := func(c rune) rune {
		return []rune("⁻⁰¹²³⁴⁵⁶⁷⁸⁹")[strings.IndexRune("-0123456789", c)]
	}
	ten := "10" + strings.Map(raised, strconv.Itoa(power))
	if head == "1" || head == "−1" {
		return strings.TrimSuffix(head, "1") + ten
	}
	return head + "×" + ten
}

// intervals are those of the grid in which the score is on the event's side, their ends found by
// halving. One that reaches the grid's end is taken to go on.
func intervals(edges []float64, m audit.Model, threshold float64, above bool) [][2]float64 {
	lo, hi := edges[0], edges[len(edges)-1]
	var grid []float64
	beyond := float64((hi - lo) / intervalSteps)
	for range intervalReach {
		grid = append(grid, lo-beyond, hi+beyond)
		beyond *= intervalGrow
	}
	each := max(1, intervalSteps/(len(edges)-1)) // as many in every bin, however wide
	for k, to := range edges[1:] {
		for i := range each {
			f := float64(i) / float64(each)
			grid = append(grid, float64(edges[k]*(1-f))+float64(to*f))
		}
	}
	grid = append(grid, hi)
	slices.Sort(grid)
	score := make([]float64, 1)
	in := func(x float64) bool {
		m.Score([]float64{x}, score)
		return (score[0] > threshold) == above
	}
	// end halves between a point outside and one inside; next to 0 it would not end.
	end := func(out, in0 float64) float64 {
		least := 1e-12 * math.Abs(out-in0)
		for range 60 {
			mid := float64(out*0.5) + float64(in0*0.5)
			if in(mid) {
				in0 = mid
			} else {
				out = mid
			}
		}
		if math.Abs(in0) < least {
			return 0
		}
		return in0
	}
	var found [][2]float64
	inside := false
	for i, x := range grid {
		now := in(x)
		switch {
		case now && i == 0:
			found = append(found, [2]float64{math.Inf(-1), math.Inf(1)})
		case now && !inside:
			found = append(found, [2]float64{end(grid[i-1], x), math.Inf(1)})
		case !now && inside:
			found[len(found)-1][1] = end(x, grid[i-1])
		}
		inside = now
	}
	return found
}

// People names the two datasets of a pair by the person in whom they differ, called Ada, or the
// group. Under a relation that replaces rows somebody else, called Bob, stands in her place.
type People struct {
	Question string `json:"question"` // what an audit of the pair asks
	// Names say which dataset it is, as "with Ada"; Again does after the other was named.
	Names [2]string `json:"names"`
	Again [2]string `json:"again"`
	Words [2]string `json:"words"` // who is in each dataset, and its rows, Ada's in brackets; they may be empty
}

// PeopleOf names the datasets of a pair, or of outputs that were recorded elsewhere.
func PeopleOf(p *audit.Pair, relation audit.Relation, recorded *audit.Recording) People {
	if recorded != nil {
		d := recorded.Datasets
		return People{Question: "Can the outputs tell the datasets apart?", Names: [2]string{"in " + d[0], "in " + d[1]}, Again: [2]string{"in " + d[0], "in " + d[1]}}
	}
	if p == nil || p.First.Len()+p.Second.Len() == 0 { // too large for the link that it came with
		return People{Question: "Can the answer tell A from B?", Names: [2]string{"on dataset A", "on dataset B"}, Again: [2]string{"on A", "on B"}}
	}
	n := [2]int{p.First.Len(), p.Second.Len()}
	rows := [2]string{p.First.Words(), p.Second.Words()}
	who, she, her, its, bob, his, size := "Ada", "Ada", "her", "her", "Bob", "his", 1
	if relation != audit.LInfinity { // there all answers may differ
		rows[0], rows[1] = p.Words()
		size = max(len(p.First.Alone(p.Second)), len(p.Second.Alone(p.First)))
	}
	if size > 1 {
		who, she, her, its, bob, his = "the group", fmt.Sprintf("The group of %d", size), "it", "its", "others", "their"
	}
	and := func(name string, others int) string {
		if others == 0 {
			return name + " alone: "
		}
		return fmt.Sprintf("%s and %s: ", name, phrase.Count(others, "other"))
	}
	if relation != audit.LInfinity && n[0] == n[1] {
		return People{Question: fmt.Sprintf("Can the answer tell %s from %s?", who, bob), Names: [2]string{"with " + who, "with " + bob}, Again: [2]string{fmt.Sprintf("with %s in %s place", who, his), fmt.Sprintf("with %s in %s place", bob, its)},
			Words: [2]string{and(she, n[0]-size) + rows[0], and(upper(bob), n[0]-size) + rows[1]}}
	}
	in, out := 0, 1
	if n[1] > n[0] || n[0] == n[1] && sum(p.Second) > sum(p.First) {
		in, out = 1, 0
	}
	s := People{Question: fmt.Sprintf("Can the answer tell whether %s is in?", who)}
	s.Names[in], s.Names[out], s.Again[in], s.Again[out] = "with "+who, "without "+who, "with "+her, "without "+her
	switch {
	case relation == audit.LInfinity:
		s.Words[in], s.Words[out] = fmt.Sprintf("%d true answers with Ada: ", n[in]), fmt.Sprintf("%d true answers without Ada: ", n[out])
	case n[out] == 0:
		s.Words[in], s.Words[out], rows[out] = and(she, 0), "nobody", ""
	default:
		s.Words[in], s.Words[out] = and(she, n[in]-size), fmt.Sprintf("%s without %s: ", phrase.Count(n[out], "other"), who)
	}
	for i := range s.Words {
		s.Words[i] += rows[i]
	}
	return s
}

func sum(d audit.Dataset) (all float64) {
	for _, v := range d.Values {
		all += v
	}
	return all
}
