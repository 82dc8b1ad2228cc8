package scene

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/bounds"
	"github.com/dpscope/dpscope/core/pair"
	"github.com/dpscope/dpscope/core/pair/chart"
	"github.com/dpscope/dpscope/core/report"
	"github.com/dpscope/dpscope/wasm/scene/plot"
)

// outputs are both distributions, and for every outcome or bin how much likelier it is on one
// dataset: A is the first, B the second.
//
// All bars hold together with the confidence of the audit: marks and, on a run's way, the events
// that are tried share the error equally (Bonferroni). Their [bounds.RatioLimits] are exact of a
// run that completed, and otherwise hold at all times at once. Only the verdict refutes: an event
// is lit where its own certified bound is above the claim and the run has said so.
type outputs struct {
	outputsOf
	outcomes bool
	epsilon  float64 // of a claim that limits ratios
	corridor bool
	marks    []mark
	tested   *tested
	firstOf  string // outcomes are where something first comes
}

type outputsOf struct {
	pair.Live
	counts  *bounds.Counts // of the event, the likelier side first
	bound   *float64       // certified epsilon of the event, at the claim's delta
	refuted bool
	summary string // of what decides where no event does
	anytime bool   // the bars hold whenever one looks
	live    bool
}

type mark struct {
	Bin
	lower, upper float64 // limits of ln(share on B / share on A)
	in           float64 // share in the event
}

// ratio is ln(B/A) as drawn: half an output is added on either side.
func (m mark) ratio() float64 {
	return math.Log((float64(m.n[1]) + 0.5) / float64(m.of[1]+1) / (float64(m.n[0]) + 0.5) * float64(m.of[0]+1))
}

// seen is ln(B/A) as observed.
func (m mark) seen() float64 { return math.Log(m.share(1) / m.share(0)) }

func (m mark) few() bool { return m.count() < 4 }

// tested is the event whose bound is certified, or that a run on its way shows most of.
type tested struct {
	mark
	words   string        // after "where"
	rows    []int         // marks that are it, of outcomes
	row     int           // the one that is it, or that after all
	spans   []plot.Window // where it lies, in bins from the left
	sign    float64       // 1: likelier on B
	bound   float64       // of |ln(B/A)|, 0 or above
	certain bool          // the bound is there
	lit     bool
	sofar   bool // nobody chose it beforehand
}

// coarse is how many inner bins are drawn one by one, more two by two.
const coarse = 32

// NewOutputs shows a report's outputs; nil where nothing was counted, or in too many bins.
func NewOutputs(r *Report) *plot.View { return outputsIn(r).view() }

// NewLiveOutputs shows how far a run has come; nil where nothing was counted.
func NewLiveOutputs(p *pair.Progress) *plot.View { return liveOutputs(p).view() }

func outputsIn(r *Report) *outputs {
	x := outputsOf{Live: pair.Live{People: pair.PeopleOf(pair.Shown(r.Evidence, r.Sequential), r.Plan.Relation, r.Inputs.Samples), Claim: r.Claim, Beta: 1 - r.Confidence},
		refuted: r.Verdict == audit.Violation, summary: r.Headline, anytime: r.Termination.Reason != audit.Completed}
	switch {
	case r.Evidence != nil:
		x.Chart = r.Evidence.Chart
	case r.Sequential != nil && r.Sequential.Chart != nil:
		c := r.Sequential.Chart
		x.Chart, x.Share, x.anytime = c.Chart, c.Share, true
		return newOutputs(x)
	default:
		return nil
	}
	if row := report.Report(r.head).Pictured(); row != nil {
		x.Event, x.Direction, x.counts = row.Event, row.Direction, row.Counts
		if row.ID == report.Epsilon && row.LowerBound != nil {
			x.bound = row.LowerBound
		}
	}
	return newOutputs(x)
}

func liveOutputs(p *pair.Progress) *outputs {
	l := p.Live
	if l == nil {
		return nil
	}
	x := outputsOf{Live: *l, anytime: true, live: true}
	x.Beta = cmp.Or(x.Beta, 0.05)
	x.refuted = p.Refuted > 0 || p.Valid && p.Provisional != nil && *p.Provisional > p.Claimed
	return newOutputs(x)
}

func newOutputs(x outputsOf) *outputs {
	v := &outputs{outputsOf: x, outcomes: x.Chart.Kind == chart.Outcomes}
	v.epsilon, v.corridor = epsilonOf(x.Claim)
	v.People = cmp.Or(x.People, pair.PeopleOf(nil, "", nil))
	all, sum := binsOf(x.Chart)
	if sum.n[0] == 0 || sum.n[1] == 0 {
		return nil
	}
	bin := func(from, to int) mark {
		m := mark{Bin: Bin{of: sum.n}}
		for _, b := range all[from:to] {
			m.add(b)
		}
		m.in = share(m.inside[0]+m.inside[1], m.count())
		return m
	}
	if v.outcomes {
		v.lists(len(all), bin)
	} else {
		v.bins(len(all), bin)
	}
	v.choose(sum)
	return v
}

func (v *outputs) lists(n int, bin func(from, to int) mark) {
	words := audit.Listed(n, func(i int) string { return outcomeWords(v.Chart, i) })
	firsts, firstOf := firstComes(words[:n-1])
	v.firstOf = firstOf
	copy(words, firsts)
	type placed struct {
		mark
		at int
	}
	var list []placed
	for i, w := range words {
		m := bin(i, i+1)
		if m.count() == 0 {
			continue
		}
		if m.Words = w; v.Event != nil && v.Event.Where != nil {
			m.in = plot.If(slices.Contains(v.Event.Where.Outcomes, i), 1.0, 0)
		}
		list = append(list, placed{m, i})
	}
	whole := len(list) == 0 || list[len(list)-1].at < n-1 // nothing but what has a name
	slices.SortStableFunc(list, func(a, b placed) int {
		switch {
		case a.at == n-1 || b.at == n-1:
			return cmp.Compare(a.at, b.at)
		case whole && len(v.Chart.Outcomes[a.at]) == 1:
			return slices.Compare(v.Chart.Outcomes[a.at], v.Chart.Outcomes[b.at])
		case whole && firsts != nil:
			return -slices.Compare(v.Chart.Outcomes[a.at], v.Chart.Outcomes[b.at])
		}
		return cmp.Compare(a.ratio(), b.ratio())
	})
	for i, p := range list {
		p.From, p.To = float64(i), float64(i+1)
		v.marks = append(v.marks, p.mark)
	}
}

const never = "at none"

// firstComes puts outcomes into words where each is where a symbol first comes, after equal ones:
// "the 6th answer" for ⊥⊥⊥⊥⊥⊤––––.
func firstComes(labels []string) (words []string, symbol string) {
	var no, yes rune
	length := 0
	for _, l := range labels {
		n, all := utf8.RuneCountInString(l), []rune(strings.TrimRight(l, "–"))
		if length = cmp.Or(length, n); n != length || n < 2 || len(all) == 0 {
			return nil, ""
		}
		before, last := all[:len(all)-1], all[len(all)-1]
		if len(before) > 0 {
			no = cmp.Or(no, before[0])
		}
		if slices.ContainsFunc(before, func(c rune) bool { return c != no }) {
			return nil, ""
		}
		name := ordinal(len(all)) + " answer"
		if last == no || no == 0 && last == '⊥' {
			name = never
			if len(all) != n { // neither came, and yet it ends
				return nil, ""
			}
		} else if yes = cmp.Or(yes, last); last != yes {
			return nil, ""
		}
		words = append(words, name)
	}
	if yes == 0 || no == 0 || yes == no {
		return nil, ""
	}
	return words, plot.If(yes == '⊤', "yes", string(yes))
}

func ordinal(k int) string {
	end := "th"
	if last := k % 10; k/10%10 != 1 && last >= 1 && last <= 3 {
		end = [...]string{1: "st", 2: "nd", 3: "rd"}[last]
	}
	return fmt.Sprintf("%d%s", k, end)
}

func (v *outputs) bins(n int, bin func(from, to int) mark) {
	l := level{v.Chart.Edges}
	step := plot.If(n-2 > coarse && n%2 == 0, 2, 1)
	add := func(from, to int) {
		m, a, b := bin(from, to), l.bin(from), l.bin(to-1)
		m.low, m.high, m.From, m.To = a.low, b.high, a.From, b.To
		m.Words = plot.Range{A: m.low, B: m.high}.String()
		v.marks = append(v.marks, m)
	}
	add(0, 1)
	for i := 1; i < n-1; i += step {
		add(i, i+step)
	}
	add(n-1, n)
	if e := v.Event; e != nil && e.Where != nil && len(e.Where.Intervals) > 0 {
		for i := range v.marks {
			v.marks[i].in = 0
			for _, x := range e.Where.Intervals {
				v.marks[i].in += v.marks[i].covered(v.span(x))
			}
		}
	}
}

// covered is how much of a bin lies in a window; 0 of one without width.
func (m mark) covered(w plot.Window) float64 {
	return max(0, min(w.Hi, m.To)-max(w.Lo, m.From)) / cmp.Or(m.To-m.From, 1)
}

// span is where an interval lies; beyond the edges it ends somewhere in an end bin.
func (v *outputs) span(x report.Interval) plot.Window {
	l, w := level{v.Chart.Edges}, v.whole()
	if x.From != nil {
		w.Lo = l.place(*x.From)
	}
	if x.To != nil {
		w.Hi = l.place(*x.To)
	}
	return w
}

func (v *outputs) whole() plot.Window {
	return plot.Window{Lo: v.marks[0].From, Hi: v.marks[len(v.marks)-1].To}
}

func (v *outputs) choose(sum Bin) {
	tries := len(v.marks)
	search := v.Event == nil && v.anytime && v.corridor && v.Claim.Delta == 0 && (v.live || v.counts == nil)
	ends := search && !v.outcomes
	switch {
	case ends:
		tries += 2 * (len(v.marks) - 1)
	case v.Event != nil && v.live:
		tries++
	}
	beta := v.Beta * cmp.Or(v.Share, 1) / float64(tries)
	limits := func(m mark) (from, to float64) {
		return bounds.RatioLimits(bounds.Counts{X: m.n[1], N1: m.of[1], Y: m.n[0], N0: m.of[0]}, beta, v.anytime)
	}
	for i := range v.marks {
		v.marks[i].lower, v.marks[i].upper = limits(v.marks[i])
	}
	var t *tested
	switch {
	case v.Event != nil:
		if t = v.given(sum); v.live && !t.certain {
			t.lower, t.upper = limits(t.mark)
			t.bound, t.certain = max(0, plot.If(t.sign > 0, t.lower, -t.upper)), v.corridor && v.Claim.Delta == 0
		}
	case search:
		t = v.found(ends, sum.n, limits)
	}
	if v.tested = t; t != nil {
		if t.row = len(v.marks); len(t.rows) == 1 {
			t.row = t.rows[0]
		}
		t.lit = v.refuted && v.corridor && t.certain && t.bound > v.epsilon
	}
}

func (v *outputs) given(sum Bin) *tested {
	t := &tested{sign: plot.If(v.Direction == report.SecondOverFirst, 1.0, -1), words: "the output is in the event"}
	if e := v.Event; e.Where != nil {
		t.words = e.Where.Words
	} else if score, _, learned := strings.Cut(e.Words, ": mostly "); learned {
		t.words = "the " + strings.NewReplacer(" <= ", " is at most ", " > ", " is above ", "-", "−").Replace(score)
	}
	t.n, t.of = sum.inside, sum.n
	if c := v.counts; c != nil {
		likelier := likelierOn(t.sign)
		t.n[likelier], t.n[1-likelier] = c.X, c.Y
		t.of[likelier], t.of[1-likelier] = c.N1, c.N0
	}
	if v.bound != nil {
		t.bound, t.certain = *v.bound, true
	}
	switch {
	case v.outcomes:
		for i, m := range v.marks {
			if m.in > 0 {
				t.rows = append(t.rows, i)
			}
		}
		v.places(t)
	case v.Event.Where != nil:
		t.spans = audit.Each(v.Event.Where.Intervals, v.span)
	}
	return t
}

// places puts an event into words that is where something first comes.
func (v *outputs) places(t *tested) {
	if v.firstOf == "" || len(t.rows) == 0 || len(t.rows) > 3 {
		return
	}
	at := strings.Join(audit.Each(t.rows, func(i int) string { return plot.If(v.marks[i].Words == never, "none", "the "+v.marks[i].Words) }), " or ")
	t.words = plot.If(at == "none", fmt.Sprintf("no answer is “%s”", v.firstOf), fmt.Sprintf("the first “%s” is %s", v.firstOf, at))
}

// found is what a run shows most of: an outcome, or all outputs on one side of an edge.
func (v *outputs) found(ends bool, all [2]int, limits func(mark) (from, to float64)) *tested {
	var best *tested
	try := func(m mark, from, to float64) *tested {
		for _, sign := range []float64{1, -1} {
			if b := plot.If(sign > 0, from, -to); b > 0 && (best == nil || b > best.bound) {
				best = &tested{mark: m, sign: sign, bound: b, certain: true, sofar: true}
				return best
			}
		}
		return nil
	}
	if !ends {
		for i, m := range v.marks {
			if t := try(m, m.lower, m.upper); t != nil {
				t.rows, t.words = []int{i}, "the "+cmp.Or(v.Output, "output")+" is “"+m.Words+"”"
				v.places(t)
			}
		}
		return best
	}
	sum, whole := mark{Bin: Bin{of: all}}, v.whole()
	for _, m := range v.marks[:len(v.marks)-1] {
		sum.add(m.Bin)
		rest := sum
		rest.n = [2]int{all[0] - sum.n[0], all[1] - sum.n[1]}
		for side, part := range [2]mark{sum, rest} {
			from, to := limits(part)
			if t := try(part, from, to); t != nil {
				is := [2]string{" is below ", " is above "}[side]
				t.words = "the " + v.Chart.AxisWords() + is + plot.Short(plot.Round(m.high, 3))
				t.spans = []plot.Window{{Lo: whole.Lo, Hi: m.To}, {Lo: m.To, Hi: whole.Hi}}[side : side+1]
			}
		}
	}
	if best != nil {
		for i := range v.marks {
			v.marks[i].in = v.marks[i].covered(best.spans[0])
		}
	}
	return best
}

func likelierOn(sign float64) int { return plot.If(sign > 0, 1, 0) }

// out reports whether a bar lies beyond the claim's line.
func (v *outputs) out(m mark) bool {
	return v.corridor && (m.lower > v.epsilon || m.upper < -v.epsilon)
}

func (v *outputs) apart() bool { return v.tested != nil && v.tested.row == len(v.marks) }

func (v *outputs) view() *plot.View {
	if v == nil {
		return nil
	}
	p := v.plot(nil, "")
	p.Caption, p.Numbers, p.Said = v.caption(), v.numbers(), v.Says()
	return plot.View{ID: "outputs", Title: p.Said.Question}.Always(p)
}
