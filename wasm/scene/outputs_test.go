package scene

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/dpscope/dpscope/wasm/scene/plot"

	"pgregory.net/rapid"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/bounds"
	"github.com/dpscope/dpscope/core/pair"
	"github.com/dpscope/dpscope/core/pair/chart"
	"github.com/dpscope/dpscope/core/report"
	"github.com/dpscope/dpscope/internal/testsize"
)

func pure(epsilon float64) audit.Claim { return audit.Claim{Kind: audit.Pure, Epsilon: epsilon} }

// someHistogram is a noisy count, three against four, with an event below 2.8.
func someHistogram(refuted bool, bound float64) outputsOf {
	to := 2.8
	return outputsOf{Live: pair.Live{Chart: chart.Chart{Kind: chart.Histogram, Axis: "noisy count", Edges: []float64{0, 1, 2, 3, 4, 5, 6, 7},
		First: []int{30, 120, 800, 3200, 4000, 1400, 350, 80, 20}, Second: []int{5, 25, 160, 700, 2900, 4310, 1450, 350, 100}},
		Claim: pure(1), Event: &report.Event{Words: "noisy count < 2.8", Where: &report.Where{Words: "the noisy count is below 2.8", Intervals: []report.Interval{{To: &to}}}},
		Direction: report.FirstOverSecond, Beta: 0.05}, counts: &bounds.Counts{X: 3500, N1: 10000, Y: 700, N0: 10000}, bound: &bound, refuted: refuted, summary: "A headline."}
}

// someAnswers is a sparse vector technique, of which the third answer tells.
func someAnswers(refuted bool, bound float64) outputsOf {
	chart := chart.Chart{Kind: chart.Outcomes, Axis: "outcome", Outcomes: [][]float64{{0, 0, 1}, {1, -1, -1}, {0, 1, -1}, {0, 0, 0}}, Labels: []string{"⊥⊥⊤", "⊤––", "⊥⊤–", "⊥⊥⊥"},
		First: []int{70, 5490, 860, 3580, 0}, Second: []int{375, 4550, 870, 4205, 0}}
	return outputsOf{Live: pair.Live{Chart: chart, Claim: pure(1), Event: &report.Event{Words: "query 3 is ⊤", Where: &report.Where{Words: "the output is “⊥⊥⊤”", Outcomes: []int{0}}},
		Direction: report.SecondOverFirst, Beta: 0.05}, counts: &bounds.Counts{X: 375, N1: 10000, Y: 70, N0: 10000}, bound: &bound, refuted: refuted, summary: "A headline."}
}

// yellow reports whether anything in the picture is painted as proven.
func yellow(s *plot.Scene) bool {
	return slices.ContainsFunc(s.Shapes, func(sh plot.Shape) bool { return sh.Paint.Role == plot.Lit.Role })
}

// TestSentences: the sentence has the numbers of the picture; what is certified is
// rounded down, and yellow means proven.
func TestSentences(t *testing.T) {
	approximate := someHistogram(true, 1.4)
	approximate.Claim = audit.Claim{Kind: audit.Approximate, Epsilon: 1, Delta: 0.01}
	renyi := someHistogram(true, 1.4)
	renyi.Claim = audit.Claim{Kind: audit.Renyi, Alpha: 2, Epsilon: 0.5}
	stopped := someHistogram(false, 0)
	stopped.bound = nil
	bets := someHistogram(true, 0)
	bets.Event, bets.bound, bets.counts, bets.live, bets.anytime = nil, nil, nil, true, true
	same := someHistogram(false, 0)
	never := someAnswers(true, 2)
	never.Chart.First = []int{0, 5560, 860, 3580, 0}
	never.counts = &bounds.Counts{X: 375, N1: 10000, Y: 0, N0: 10000}
	climbing := someAnswers(true, 1.18)
	climbing.live, climbing.anytime = true, true
	for name, c := range map[string]struct {
		of              outputsOf
		sentence, small string
		yellow          bool
	}{
		"violation":   {someHistogram(true, 1.59), "Without Ada the noisy count is below 2.8 in 35 of 100 runs, with her in 7: 5.0 times as often. ε = 1 allows 2.7.", "Shown with 95 % confidence: at least 4.9 times.", true},
		"barely":      {someHistogram(true, 1.001), "Without Ada the noisy count is below 2.8 in 35 of 100 runs, with her in 7: 5.0 times as often. ε = 1 allows 2.718.", "Shown with 95 % confidence: at least 2.721 times.", true},
		"none":        {someHistogram(false, 0.99), "Without Ada the noisy count is below 2.8 at least 2.6 times as often as with her. ε = 1 allows 2.7.", "Shown with 95 % confidence, by this event alone.", false},
		"beyond":      {someHistogram(false, 1.3), "Without Ada the noisy count is below 2.8 at least 3.6 times as often as with her. ε = 1 allows 2.7.", "Shown with 95 % confidence, by this event alone. It is more than the claim allows; the verdict is by bets on all outputs, which do not show it yet.", false},
		"same":        {same, "Nothing shows a difference between the answers without Ada and with her. ε = 1 allows 2.7 times.", "Shown with 95 % confidence.", false},
		"others":      {someHistogram(true, 0.9), "Without Ada and with her, the answers together differ more than ε = 1 allows.", "A headline. The most telling single event: without Ada the noisy count is below 2.8 at least 2.4 times as often as with her.", false},
		"approximate": {approximate, "Without Ada the noisy count is below 2.8 in 35 of 100 runs, with her in 7: 5.0 times as often. ε = 1 with δ = 0.01 allows 2.7 times, and 1 % more.", "Shown with 95 % confidence: even without the 1 % that δ allows, at least 4.0 times.", true},
		"renyi":       {renyi, "Without Ada the noisy count is below 2.8 at least 4.0 times as often as with her.", "A headline.", false},
		"stopped":     {stopped, "Without Ada the noisy count is below 2.8 perhaps 5.0 times as often as with her.", "This was observed, not certified. Shown with 95 % confidence.", false},
		"answers":     {someAnswers(true, 1.55), "With Ada the first “yes” is the 3rd answer in 38 of 1 000 runs, without her in 7: 5.4 times as often. ε = 1 allows 2.7.", "Shown with 95 % confidence: at least 4.7 times.", true},
		"never":       {never, "With Ada the first “yes” is the 3rd answer in 4 of 100 runs, without her never. ε = 1 allows 2.7.", "Shown with 95 % confidence: at least 7.3 times.", true},
		"climbing":    {climbing, "So far: with Ada the first “yes” is the 3rd answer in 38 of 1 000 runs, without her in 7: 5.4 times as often. ε = 1 allows 2.7.", "Shown with 95 % confidence: at least 3.2 times. It may still rise; the refutation is final.", true},
		"bets":        {bets, "So far: without Ada the noisy count is below 3 in 42 of 100 runs, with her in 9: 4.7 times as often. ε = 1 allows 2.7.", "Shown with 95 % confidence: at least 3.7 times. It may still rise; the refutation is final.", true},
	} {
		c.of.People = pair.PeopleOf(&audit.Pair{First: audit.Records(1), Second: audit.Records(1, 0)}, audit.AddRemove, nil)
		v := newOutputs(c.of)
		said := v.Says()
		plain := func(s string) string { return strings.ReplaceAll(strings.ReplaceAll(s, "\u202f", " "), "\u00a0", " ") }
		if plain(said.Sentence) != c.sentence || plain(said.Small) != c.small || said.Lit != c.of.refuted {
			t.Errorf("%s: %q, %q, lit %v", name, plain(said.Sentence), plain(said.Small), said.Lit)
		}
		for _, width := range []float64{340, 912} {
			if s := v.view().Layout(plot.Frame{Width: width, Camera: plot.Everything}); yellow(s) != c.yellow {
				t.Errorf("%s, %v wide: yellow %v", name, width, !c.yellow)
			}
		}
	}
}

// TestAllSaid: what is read and what stands in the table are the numbers that are drawn.
func TestAllSaid(t *testing.T) {
	for _, of := range []outputsOf{someHistogram(true, 1.5), someAnswers(true, 1.5), someAnswers(false, 0.4)} {
		v := newOutputs(of)
		view := v.view()
		s, facts := view.Layout(plot.Frame{Width: 912, Camera: plot.Everything}), view.Table(plot.Exact)
		n := len(v.marks)
		if len(s.Items) != len(v.marks)+plot.If(v.apart(), 1, 0) || len(facts.Rows) != n+1 {
			t.Fatalf("%d items, %d marks, %d rows", len(s.Items), n, len(facts.Rows))
		}
		all := [2]int{}
		for i, m := range v.marks {
			all[0], all[1] = all[0]+m.n[0], all[1]+m.n[1]
			words := strings.ReplaceAll(view.Tooltip(i), "\u202f", "")
			row := strings.Join(facts.Rows[i], "|")
			for _, n := range m.n {
				if !strings.Contains(words, fmt.Sprint(n)) || !strings.Contains(row, fmt.Sprintf("|%d|", n)) {
					t.Errorf("%d is not in %q and %q", n, words, row)
				}
			}
			if !strings.Contains(row, strconv.FormatFloat(math.Exp(m.lower), 'g', -1, 64)) || m.lower > m.ratio() || m.upper < m.ratio() {
				t.Errorf("limits %v to %v of %q", m.lower, m.upper, row)
			}
		}
		if all != [2]int{10000, 10000} {
			t.Errorf("%v outputs are drawn", all)
		}
		last := strings.Join(facts.Rows[n], "|")
		if !strings.Contains(last, v.tested.words) || !strings.Contains(last, strconv.FormatFloat(math.Exp(v.tested.sign*v.tested.bound), 'g', -1, 64)) {
			t.Errorf("the event's row is %q", last)
		}
	}
}

// TestEventSpans: an event is drawn where it lies, in bins that are taken two by two and
// grow outwards too.
func TestEventSpans(t *testing.T) {
	edges := []float64{-1e6, -1e3, -10}
	for x := -2.0; x <= 44; x++ {
		edges = append(edges, x)
	}
	edges = append(edges, 1e3, 1e6)
	n := len(edges) + 1
	counts := slices.Repeat([]int{10}, n)
	from, to := -1.0, 9.5
	x := outputsOf{Live: pair.Live{Chart: chart.Chart{Kind: chart.Histogram, Axis: "x", Edges: edges, First: counts, Second: counts}, Claim: pure(1), Beta: 0.05, Direction: report.FirstOverSecond,
		Event: &report.Event{Where: &report.Where{Words: "w", Intervals: []report.Interval{{To: &edges[1]}, {From: &from, To: &to}, {From: new(2e9)}}}}}}
	v := newOutputs(x)
	// Bins that grow lie at their numbers, those beyond in boxes beside them.
	if want := []plot.Window{{Lo: -2.4, Hi: 1}, {Lo: 4, Hi: 14.5}, {Lo: float64(n) - 0.5, Hi: float64(n) + 0.4}}; len(v.marks) != n || !slices.Equal(v.tested.spans, want) {
		t.Errorf("%d marks, spans %v, want %v", len(v.marks), v.tested.spans, want)
	}
	if in := v.marks[15].in; in != 0.5 {
		t.Errorf("%v of a bin is in the event", in)
	}
	edges = edges[:49] // 48 inner bins
	x.Chart.Edges, x.Chart.First, x.Chart.Second = edges, counts[:50], counts[:50]
	if v = newOutputs(x); len(v.marks) != 26 || v.tested.spans[1] != (plot.Window{Lo: 4, Hi: 14.5}) || v.marks[1].n[0] != 20 || v.marks[8].in != 0.25 {
		t.Errorf("two by two: %d marks, spans %v", len(v.marks), v.tested.spans)
	}
}

func TestFirstComes(t *testing.T) {
	for _, c := range []struct {
		labels []string
		want   string
	}{
		{[]string{"⊤––", "⊥⊤–", "⊥⊥⊤", "⊥⊥⊥"}, "1st answer, 2nd answer, 3rd answer, at none: yes"},
		{[]string{"aab", "b––", "aaa"}, "3rd answer, 1st answer, at none: b"},
		{[]string{"yes", "no"}, ""},
		{[]string{"⊤⊤", "⊥⊤"}, ""},
		{[]string{"⊤", "⊥"}, ""},
		{[]string{"––"}, ""},
		{nil, ""},
	} {
		words, symbol := firstComes(c.labels)
		got := strings.Join(words, ", ") + ": " + symbol
		if words == nil {
			got = ""
		}
		if got != c.want {
			t.Errorf("%q: %q, want %q", c.labels, got, c.want)
		}
	}
}

// TestOddOutputs: whatever a report holds, the picture stays in its frame, lights nothing
// that was not refuted by its own bound, and has no number that is none.
func TestOddOutputs(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		n := rapid.IntRange(2, 30).Draw(r, "edges")
		counts := rapid.SliceOfN(rapid.OneOf(rapid.IntRange(0, 3), rapid.IntRange(0, 1_000_000)), n+1, n+1)
		x := outputsOf{Live: pair.Live{Claim: pure(rapid.OneOf(rapid.Float64Range(0.001, 8), rapid.Just(300.0)).Draw(r, "epsilon")), Beta: rapid.Float64Range(1e-6, 0.5).Draw(r, "beta"), Direction: report.FirstOverSecond},
			refuted: rapid.Bool().Draw(r, "refuted"), anytime: rapid.Bool().Draw(r, "anytime"), live: rapid.Bool().Draw(r, "live")}
		x.Claim.Delta = rapid.SampledFrom([]float64{0, 0, 0.01}).Draw(r, "delta")
		if x.Claim.Delta > 0 {
			x.Claim.Kind = audit.Approximate
		}
		if rapid.Bool().Draw(r, "zcdp") {
			x.Claim = audit.Claim{Kind: audit.ZCDP, Rho: 0.5}
		}
		edges := rapid.SliceOfN(rapid.OneOf(rapid.Float64Range(-3, 3), rapid.Float64Range(-1e300, 1e300)), n, n).Draw(r, "edge")
		slices.Sort(edges)
		x.Chart = chart.Chart{Kind: chart.Histogram, Axis: rapid.String().Draw(r, "axis"), Edges: edges, First: counts.Draw(r, "first"), Second: counts.Draw(r, "second")}
		where := &report.Where{Words: rapid.String().Draw(r, "where"), Intervals: []report.Interval{{To: &edges[0]}, {From: &edges[n/2], To: &edges[n-1]}}}
		if rapid.Bool().Draw(r, "outcomes") {
			x.Chart.Kind, x.Chart.Edges = chart.Outcomes, nil
			for i := range n {
				x.Chart.Outcomes = append(x.Chart.Outcomes, []float64{float64(i)})
				x.Chart.Labels = append(x.Chart.Labels, rapid.SampledFrom([]string{"yes", "⊥⊤", "a long name of an outcome that nobody can read"}).Draw(r, "label"))
			}
			where.Intervals, where.Outcomes = nil, []int{0, n - 1}[:rapid.IntRange(0, 2).Draw(r, "rows")]
		}
		if rapid.Bool().Draw(r, "event") {
			x.Event = &report.Event{Words: "w", Where: where}
			if rapid.Bool().Draw(r, "bound") {
				x.bound = new(rapid.Float64Range(0, 9).Draw(r, "epsilon shown"))
			}
		}
		v := newOutputs(x)
		if v == nil {
			r.Skip()
		}
		said := v.Says()
		if said.Sentence == "" || strings.Contains(said.Sentence+said.Small, "NaN") || strings.Contains(said.Sentence, "Inf") {
			r.Fatalf("%+v", said)
		}
		view := v.view()
		for _, width := range []float64{280, 430, 700, 1300} {
			s := view.Layout(plot.Frame{Width: width, Camera: plot.Everything})
			if len(s.Items) != len(v.marks)+plot.If(v.apart(), 1, 0) || !(s.Height > 60 && s.Height < 1000) {
				r.Fatalf("%d items of %d, %v high", len(s.Items), len(v.marks)+plot.If(v.apart(), 1, 0), s.Height)
			}
			lit := v.tested != nil && v.tested.certain && v.tested.bound > v.epsilon && v.corridor && x.refuted
			if yellow(s) && !lit {
				r.Fatalf("yellow at %+v", v.tested)
			}
			finite(r, "outputs", view, s, 1e5)
		}
	})
}

// TestBarsHoldTogether: of runs of two distributions that are as far apart as the claim
// allows, the share in which any bar misses its ratio, or any event that a live picture
// shows is certified beyond the claim, is at most the error; at all looks together where
// one may look at any time.
func TestBarsHoldTogether(t *testing.T) {
	runs, looks, beta, epsilon := testsize.Of(150, 3000), 6, 0.2, 0.7
	q := []float64{0.5, 0.25, 0.15, 0.06, 0.04}
	p := make([]float64, len(q))
	rest := 0.0
	for i := range q[:3] { // e^epsilon likelier in the rare ones, the rest spread
		p[4-i] = min(q[4-i]*math.Exp(epsilon), 1)
		rest += p[4-i]
	}
	for i := range 2 {
		p[i] = (1 - rest) * q[i] / (q[0] + q[1])
	}
	rng := rand.New(rand.NewPCG(7, 11))
	draw := func(p []float64) int {
		u := rng.Float64()
		for i, v := range p {
			if u -= v; u < 0 {
				return i
			}
		}
		return len(p) - 1
	}
	for _, anytime := range []bool{false, true} {
		missed := 0
		for range runs {
			chart := chart.Chart{Kind: chart.Histogram, Axis: "x", Edges: []float64{0, 1, 2, 3}, First: make([]int, 5), Second: make([]int, 5)}
			bad := false
			for look := range looks {
				for range 30 << look {
					chart.First[draw(q)]++
					chart.Second[draw(p)]++
				}
				if !anytime && look < looks-1 {
					continue
				}
				v := newOutputs(outputsOf{Live: pair.Live{Chart: chart, Claim: pure(epsilon), Beta: beta}, anytime: anytime, live: anytime, refuted: true})
				for i, m := range v.marks {
					if truth := math.Log(p[i] / q[i]); m.lower > truth || m.upper < truth {
						bad = true
					}
				}
				bad = bad || v.tested != nil && v.tested.lit
			}
			if bad {
				missed++
			}
		}
		if most := testsize.Most(runs, beta, 1e-6); missed > most {
			t.Errorf("anytime %v: bars miss in %d of %d runs, %d explained by chance", anytime, missed, runs, most)
		}
	}
}

// TestSpark: the bound against outputs, in the colour of the box that it stands in.
func TestSpark(t *testing.T) {
	if NewSpark(&Course{}) != nil {
		t.Error("a picture of nothing")
	}
	for _, c := range []struct {
		course Course
		paint  plot.Paint
		words  []string
	}{
		{Course{Moments: []Moment{{512, 0.2}, {8192, 1.18}, {100000, 1.557}}, Valid: true, Claimed: 1, Quantity: "epsilon"}, plot.LitInk, []string{"512", "100 000 outputs"}},
		{Course{Moments: []Moment{{512, 0.2}, {100000, 0.98}}, Valid: true, Claimed: 1, Quantity: "epsilon at delta = 0"}, plot.Text, []string{"512"}},
		{Course{Moments: []Moment{{512, 2}}, Claimed: 1}, plot.Text, []string{"512 outputs"}},
	} {
		v := NewSpark(&c.course)
		all := ""
		for _, l := range v.Layout(plot.Frame{Width: 262}).Labels {
			if all += l.Words + "\n"; l.Role != c.paint.Role {
				t.Errorf("%+v", l)
			}
		}
		for _, w := range c.words {
			if !strings.Contains(strings.ReplaceAll(all, "\u202f", " "), w) {
				t.Errorf("%q is not in %q", w, all)
			}
		}
	}
}
