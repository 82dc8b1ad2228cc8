package scene

import (
	"cmp"
	"math"
	"slices"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/core/pair"
	"github.com/dpscope/dpscope/wasm/scene/plot"
)

// Moment is a bound on the way, from so many pairs of outputs, or of what is counted.
type Moment struct {
	Pairs int     `json:"pairs"`
	Bound float64 `json:"bound"`
}

// Course is how a run's bound came about.
type Course struct {
	Moments  []Moment `json:"moments"`
	Valid    bool     `json:"valid"` // each holds if the run was stopped there
	Claimed  float64  `json:"claimed"`
	Quantity string   `json:"quantity"`
	Counted  string   `json:"counted,omitempty"` // "": pairs of outputs

	final *float64 // the certified bound, nil while there is none
	pairs int      // that it was computed from
}

func (c Course) counted() string { return cmp.Or(c.Counted, "pairs of outputs") }

func (c Course) most() float64 {
	most := c.Claimed
	for _, m := range c.Moments {
		most = max(most, m.Bound)
	}
	return most
}

// NewOverTime shows a run's course, and the final bound, certified from so many pairs; nil for none.
func NewOverTime(c *Course, final *float64, pairs int) *plot.View {
	if c == nil || len(c.Moments) == 0 {
		return nil
	}
	of := *c
	of.final, of.pairs = final, pairs
	return plot.View{ID: "bound", Title: "Bound over time", ChoiceLabel: "Horizontal axis", Choices: plot.LinearOrLog}.Of(of.plot)
}

func (c Course) caption() string {
	words := plot.Say("The lower bound on %s after each number of %s; claimed: %s. ", c.Quantity, c.counted(), c.Claimed)
	switch {
	case c.Valid:
		words += "All bounds hold together: the run could have been stopped at any of them."
	case c.Counted != "":
		return words + "Provisional: each as if the audit had been planned to end there."
	default:
		words += "Only the last bound is certified: one chosen while looking has no confidence."
	}
	if i := c.first(); i >= 0 {
		words += plot.Say(" The claim is exceeded after %s %s.", c.Moments[i].Pairs, c.counted())
	}
	return words
}

func (c Course) first() int {
	return slices.IndexFunc(c.Moments, func(m Moment) bool { return m.Bound > c.Claimed })
}

func (c Course) numbers() plot.Numbers {
	n := plot.Numbers{Title: "The bound at every moment", Head: []string{c.counted(), "lower bound on " + c.Quantity, "claimed", "holds"}}
	for _, m := range c.Moments {
		n.Rows = append(n.Rows, []any{m.Pairs, plot.Down(m.Bound), c.Claimed, plot.If(c.Valid, "if stopped there", "not certified")})
	}
	if c.final != nil {
		n.Rows = append(n.Rows, []any{c.pairs, plot.Down(*c.final), c.Claimed, "certified"})
	}
	return n
}

func (c Course) plot(choice string) plot.Plot {
	p := plot.Plot{Height: plot.Height{230, 0.5, 380}, Caption: c.caption(), Numbers: c.numbers(), Hit: [2]float64{20, 28}, Outline: 10}
	last, most := float64(max(c.pairs, c.Moments[len(c.Moments)-1].Pairs)), c.most()
	p.X = plot.Linear(c.counted(), 0, last).Zooming()
	p.X.Words = func(v float64) string { return plot.Grouped(int(math.Round(v))) }
	if choice == "log" {
		p.X = plot.Logarithmic(c.counted(), float64(max(1, c.Moments[0].Pairs))*0.9, last*1.05).Zooming()
	}
	p.Items = audit.Each(c.Moments, func(m Moment) [2]float64 { return [2]float64{float64(m.Pairs), m.Bound} })
	p.Marks = []plot.Mark{plot.Line{Key: "bound so far, valid if stopped", Paint: plot.First, Points: plot.Stairs(p.Items)}}
	if !c.Valid {
		p.Marks = []plot.Mark{plot.Points{Key: "bound so far, not certified (dots)", Paint: plot.Muted, At: p.Items, Radius: 2.5}}
	}
	p.Mark(plot.Rule{Key: "claimed (dashed)", At: c.Claimed})
	if i := c.first(); i >= 0 {
		p.Mark(plot.Points{Paint: plot.Bad, At: p.Items[i : i+1], Radius: 6, Form: plot.Ring})
	}
	if c.final != nil {
		most = max(most, *c.final)
		end := [2]float64{float64(c.pairs), *c.final}
		p.Mark(plot.Points{Key: "certified at the end", Paint: plot.Event, At: [][2]float64{end}, Radius: 6, Form: plot.Diamond}, plot.Note{At: end, Words: "≥ " + plot.Short(plot.Floor(*c.final, 3)), Paint: plot.Event, Bold: true, Must: true})
	}
	p.Y = plot.Linear("lower bound on "+c.Quantity, 0, cmp.Or(most, 1)*1.12).Zooming()
	return p
}

// NewSpark shows a run's course as small as a word, nil for none.
func NewSpark(c *Course) *plot.View {
	if c == nil || len(c.Moments) == 0 {
		return nil
	}
	last := c.Moments[len(c.Moments)-1]
	first := float64(max(1, c.Moments[0].Pairs))
	end := max(float64(last.Pairs), first*1.0001)
	p := plot.Plot{Caption: c.caption(), Numbers: c.numbers(), Only: plot.If(c.first() >= 0 && c.Valid, plot.LitInk, plot.Text), Height: plot.Height{38, 0.2, 62}, Hit: [2]float64{10, 60}, Outline: 8}
	p.X = plot.Axis{Scale: plot.Scale{Lo: first * 0.8, Hi: end, Log: true}, Ticks: []float64{end, first}, Words: func(n float64) string {
		return plot.If(n == end, plot.Grouped(int(n))+" "+cmp.Or(c.Counted, "outputs"), plot.Grouped(int(n)))
	}}
	p.Y.Scale = plot.Scale{Hi: max(c.Claimed*1.35, c.most()*1.15, 1e-9)}
	line := [][2]float64{{p.X.Lo, 0}}
	for _, m := range c.Moments {
		at := [2]float64{float64(m.Pairs), max(0, m.Bound)}
		p.Items, line = append(p.Items, at), append(line, at)
	}
	tip := line[len(line)-1]
	p.Marks = []plot.Mark{plot.Line{Width: 2.6, Points: line}, plot.Points{At: [][2]float64{tip}, Radius: 4.5}}
	if c.Claimed > 0 {
		p.Mark(plot.Rule{At: c.Claimed})
	}
	return plot.View{ID: "spark", Title: "Bound over time"}.Always(p)
}

// NewSearch shows the pairs that a report tried and what each showed; nil for none.
func NewSearch(trials []pair.TrialNote, quantity string, claimed float64) *plot.View {
	if len(trials) == 0 {
		return nil
	}
	n := float64(len(trials))
	p := plot.Plot{X: plot.Linear("pair", 0.5, n+0.5).Zooming(), Height: plot.Px(220)}
	p.X.Whole = true
	least, most, over := 0.0, claimed, 0
	for _, t := range trials {
		if t.Value > audit.NoEvidence {
			least, most = min(least, t.Value), max(most, t.Value)
		}
		if t.Value > claimed {
			over++
		}
	}
	least = max(least, -0.25*most)
	pad := cmp.Or((most-least)*0.08, 0.5)
	p.Y = plot.Linear(quantity+", as each pair's validation outputs showed", least-pad, most+pad)
	p.Y.Short = quantity
	p.Caption = plot.Say("%s pairs of datasets were tried; %s showed more on their validation outputs than is claimed (%s). The pair with the largest value was certified, on fresh outputs. A value ranks pairs; it certifies nothing.", len(trials), over, claimed)
	p.Numbers = plot.Numbers{Title: "Every pair that was tried", Head: []string{"pair", "label", quantity + " as seen", "learner", "chosen"}}
	radius := math.Round(2*min(5.5, max(2, 240/n))) / 2
	var best, chosen [][2]float64
	var dots []plot.Points // by learner
	of, highest := map[string]int{}, math.Inf(-1)
	for i, t := range trials {
		at := [2]float64{float64(i + 1), max(t.Value, least-pad)}
		highest = max(highest, at[1])
		best = append(best, [2]float64{at[0] - 0.5, highest}, [2]float64{at[0] + 0.5, highest})
		k, known := of[t.Learner]
		if !known {
			k = len(dots)
			of[t.Learner], dots = k, append(dots, plot.Points{Key: t.Learner, Paint: plot.Muted, Form: plot.Form(k % int(plot.Ring)), Radius: radius})
		}
		// Painted the stronger the more it showed, and otherwise above the claim.
		paint := plot.If(claimed > 0 && t.Value <= claimed, plot.Between(plot.Muted, plot.Calm, t.Value/claimed), plot.If(t.Value > claimed, plot.Bad, plot.Calm))
		dots[k].At, dots[k].Paints = append(dots[k].At, at), append(dots[k].Paints, paint)
		if t.Chosen {
			chosen = append(chosen, at)
		}
		p.Add(at[0], at[1], plot.Column(at[0]-0.5, at[0]+0.5),
			t.Trial+1, t.Pair.Label, plot.If(t.Value < audit.NoEvidence, math.NaN(), t.Value), t.Learner, t.Chosen)
	}
	p.Marks = []plot.Mark{plot.Rule{Key: "claimed (dashed)", At: claimed}, plot.Points{Key: "above it", Paint: plot.Bad}, plot.Points{Key: "chosen", At: chosen, Form: plot.Ring, Radius: radius + 5},
		plot.Line{Key: "best so far", Paint: plot.Muted, Points: best, Width: 1.2}}
	for _, d := range dots {
		p.Mark(d)
	}
	return plot.View{ID: "search", Title: "Search"}.Always(p)
}
