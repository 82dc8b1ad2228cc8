package scene

import (
	"fmt"
	"math"

	"github.com/dpscope/dpscope/bounds"
	"github.com/dpscope/dpscope/core/pair"
	"github.com/dpscope/dpscope/core/report"
	"github.com/dpscope/dpscope/wasm/scene/plot"
)

// NewTradeoff shows a report's curve; nil for none.
func NewTradeoff(c *pair.TradeoffCurve) *plot.View {
	if c == nil || len(c.Points) == 0 {
		return nil
	}
	return plot.View{ID: "tradeoff", Title: "Trade-off", ChoiceLabel: "Axes", Choices: plot.LinearOrLog}.Of(tradeoff{*c}.plot)
}

type tradeoff struct{ pair.TradeoffCurve }

// rates is the plot of a rate over that of false positives, both from 0 or from the least.
func rates(over string, log bool, least float64) plot.Plot {
	axis := plot.Linear(over, 0, 1).Zooming()
	if log {
		axis = plot.Logarithmic(over, least, 1).Zooming()
	}
	p := plot.Plot{X: axis, Y: axis, Height: plot.Large, Hit: [2]float64{24, 24}, Outline: 8}
	p.X.Title = "false positive rate"
	return p
}

func (t tradeoff) plot(choice string) plot.Plot {
	p := rates("false negative rate", choice == "log", t.least())
	p.Caption = t.caption()
	p.Numbers = plot.Numbers{Title: "The trade-off curve", Head: []string{"false positive rate", "at least", "at most", "false negative rate", "at least", "at most"}}
	claimed := len(t.Claimed) > 0
	if claimed {
		p.Head = append(p.Head, "claimed", "refutes")
	}
	for _, q := range t.Points {
		row := []any{q.FPR, plot.Down(q.FPRLower), plot.Up(q.FPRUpper), q.FNR, plot.Down(q.FNRLower), plot.Up(q.FNRUpper)}
		if claimed {
			row = append(row, t.claimedAt(q.FPRUpper), t.margin(q) > 0)
		}
		p.Add(q.FPR, q.FNR, plot.Span(q.FPRLower, q.FPRUpper, q.FNRLower, q.FNRUpper), row...)
	}
	band := plot.Band{Key: t.Confidence + " band", Paint: plot.First, Within: p.Within, Falls: true, Edge: true}
	p.Marks = []plot.Mark{plot.Line{Key: "estimate", Paint: plot.First, Of: func(x float64) float64 { return plot.Along(p.Items, x) }}, band}
	if claimed {
		p.Mark(plot.Line{Key: "claimed (dashed)", Of: t.claimedAt, Width: 1.8, Dash: true})
	}
	if len(p.Items) <= 200 {
		p.Mark(plot.Points{At: p.Items, Radius: 3, Paint: plot.First})
	}
	if i := t.refuting(); i >= 0 {
		over := func(x float64) (above, below float64) {
			_, upper := band.Limits(x)
			return t.claimedAt(x), upper
		}
		w := p.Within[i]
		p.Mark(plot.Over{Key: "refuted (barred)", Of: over}, plot.Points{Key: "refutes by the most", At: [][2]float64{{w.X1, w.Y1}}, Radius: 6, Form: plot.Diamond, Paint: plot.Bad})
	}
	return p
}

func (t tradeoff) claimedAt(x float64) float64 {
	if len(t.Claimed) == 0 {
		return 0
	}
	return plot.Along(t.Claimed, x)
}

// margin is how far a point's rectangle lies below the claimed curve; above 0 it refutes.
func (t tradeoff) margin(p bounds.TradeoffPoint) float64 {
	return t.claimedAt(p.FPRUpper) - p.FNRUpper
}

func (t tradeoff) refuting() int {
	best := -1
	for i, p := range t.Points {
		if m := t.margin(p); m > 0 && (best < 0 || m > t.margin(t.Points[best])) {
			best = i
		}
	}
	return best
}

func (t tradeoff) caption() string {
	from := plot.If(t.Direction == report.SecondOverFirst, "first", "second")
	words := fmt.Sprintf("How well the test that was found tells the two datasets apart, with its %s band. A false positive is an output on the %s dataset taken for one on the other. ", t.Confidence, from)
	i := t.refuting()
	switch {
	case len(t.Claimed) == 0:
		return words
	case i < 0:
		words += "The whole band is never below what is claimed: " + t.ClaimWords + "."
	default:
		p := t.Points[i]
		words += fmt.Sprintf("The claim, %s, is refuted furthest where at most %s are false positives and at most %s false negatives: at least %s is claimed.", t.ClaimWords, plot.PercentTo(p.FPRUpper, math.Ceil), plot.PercentTo(p.FNRUpper, math.Ceil), plot.PercentTo(t.claimedAt(p.FPRUpper), math.Floor))
	}
	return words
}

// least is the power of ten at or below the least rate that the band can tell from none.
func (t tradeoff) least() float64 {
	least := 0.1
	for _, p := range t.Points {
		for _, v := range []float64{p.FPRUpper, p.FNRUpper} {
			if v > 0 {
				least = min(least, v)
			}
		}
	}
	return math.Pow(10, max(-9, math.Floor(math.Log10(least))))
}

// NewRenyi shows a report's bounds by order, and what the claim allows; nil for none.
func NewRenyi(c *pair.RenyiCurve) *plot.View {
	if c == nil || len(c.Points) == 0 {
		return nil
	}
	return plot.View{ID: "renyi", Title: "Rényi divergence by order"}.Always(renyi{*c}.plot())
}

type renyi struct{ pair.RenyiCurve }

// allowed is what the claim allows at an order: anything beyond its ends.
func (v renyi) allowed(alpha float64) float64 {
	n := len(v.Claimed)
	if n == 0 || alpha < v.Claimed[0][0]*(1-1e-9) || alpha > v.Claimed[n-1][0]*(1+1e-9) {
		return math.Inf(1)
	}
	return plot.Along(v.Claimed, alpha)
}

func (v renyi) plot() plot.Plot {
	first, last := v.Points[0].Alpha, max(v.Points[len(v.Points)-1].Alpha, v.Points[0].Alpha*1.5)
	pad := math.Pow(last/first, 0.01)
	p := plot.Plot{X: plot.Logarithmic("alpha (logarithmic)", first/pad, last*pad), Height: plot.Squarish, Hit: [2]float64{16, 16}, Outline: 16}
	p.X.Words = plot.Short
	p.Numbers = plot.Numbers{Title: "The Rényi bounds", Head: []string{"alpha", "divergence at least"}}
	claimed := len(v.Claimed) > 0
	if claimed {
		p.Head = append(p.Head, "claim allows", "refutes")
	}
	// The divergence grows with its order, so a bound holds for every larger one.
	var held [][2]float64
	var most report.Row
	level, over := 0.0, 0
	for i, q := range v.Points {
		bound := *q.LowerBound
		if i == 0 || bound > *most.LowerBound {
			most = q
		}
		level = max(level, bound)
		held = append(held, [2]float64{q.Alpha, level})
		p.Items = append(p.Items, [2]float64{q.Alpha, bound})
		row, refutes := []any{q.Alpha, plot.Down(bound)}, bound > v.allowed(q.Alpha)
		if claimed {
			row = append(row, v.allowed(q.Alpha), refutes)
		}
		if p.Rows = append(p.Rows, row); refutes {
			over++
		}
	}
	held = append(held, [2]float64{last, level})
	p.Caption = plot.Say("The largest bound: Rényi divergence ≥ %s at alpha = %s. All %s bounds hold together with %s confidence.", plot.ShortDown(*most.LowerBound), most.Alpha, len(v.Points), v.Confidence)
	p.Marks = []plot.Mark{plot.Line{Key: "lower bound, for every larger alpha too", Paint: plot.First, Points: plot.Stairs(held)}, plot.Points{At: p.Items, Radius: 3, Paint: plot.First}}
	claim := 0.0
	for _, c := range v.Claimed {
		claim = max(claim, c[1])
	}
	if claimed {
		p.Mark(plot.Line{Key: "claimed (dashed)", Points: v.Claimed, Width: 1.8, Dash: true})
		p.Caption += fmt.Sprintf(" Claimed: %s. ", v.ClaimWords) + plot.If(over > 0, plot.Say("At %s of %s orders the bound exceeds what the claim allows: there it is refuted.", over, len(v.Points)),
			"At no order does the bound exceed what the claim allows.")
	}
	if over > 0 {
		p.Mark(plot.Over{Key: "refuted (barred)", Of: func(alpha float64) (above, below float64) {
			for _, h := range held {
				if h[0] <= alpha {
					above = h[1]
				}
			}
			return above, v.allowed(alpha)
		}})
	}
	// A claim far above the bounds is cut off, so that the bounds can be seen.
	end := claim * 1.08
	if *most.LowerBound > 0 {
		end = max(*most.LowerBound*1.12, min(end, *most.LowerBound*2.5))
	}
	p.Y = plot.Linear("Rényi divergence", 0, plot.If(end > 0, end, 1))
	return p
}
