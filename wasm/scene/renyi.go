package scene

import (
	"fmt"
	"math"

	"github.com/dpscope/dpscope/wasm/scene/plot"

	"github.com/dpscope/dpscope/core/pair"
	"github.com/dpscope/dpscope/core/report"
)

// NewRenyi shows a report's curve, nil where there is none: lower bounds on the Rényi
// divergence against its order, and what the claim allows at each.
func NewRenyi(c *pair.RenyiCurve) *plot.View {
	if c == nil || len(c.Points) == 0 {
		return nil
	}
	return plot.View{ID: "renyi", Title: "Rényi divergence by order"}.Of(renyi{*c}.plot)
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

// most is the largest bound, and over how many bounds exceed the claim.
func (v renyi) most() (most report.Row, over int) {
	for i, p := range v.Points {
		if i == 0 || *p.LowerBound > *most.LowerBound {
			most = p
		}
		if *p.LowerBound > v.allowed(p.Alpha) {
			over++
		}
	}
	return most, over
}

func (v renyi) caption() string {
	most, over := v.most()
	words := fmt.Sprintf("The largest bound: Rényi divergence ≥ %s at alpha = %s. All %s bounds hold together with %s confidence.", plot.ShortDown(*most.LowerBound), plot.Short(most.Alpha), plot.Grouped(len(v.Points)), v.Confidence)
	switch {
	case len(v.Claimed) == 0:
		return words
	case over > 0:
		return words + fmt.Sprintf(" Claimed: %s. At %s of %s orders the bound exceeds what the claim allows: there it is refuted.", v.ClaimWords, plot.Grouped(over), plot.Grouped(len(v.Points)))
	}
	return words + fmt.Sprintf(" Claimed: %s. At no order does the bound exceed what the claim allows.", v.ClaimWords)
}

func (v renyi) tooltip(i int) string {
	p := v.Points[i]
	words := fmt.Sprintf("alpha = %s: divergence ≥ %s", plot.Short(p.Alpha), plot.ShortDown(*p.LowerBound))
	if a := v.allowed(p.Alpha); !math.IsInf(a, 1) {
		words += ", the claim allows " + plot.Short(a)
	}
	return words
}

func (v renyi) plot(string) plot.Plot {
	most, over := v.most()
	first, last := v.Points[0].Alpha, max(v.Points[len(v.Points)-1].Alpha, v.Points[0].Alpha*1.5)
	pad := math.Pow(last/first, 0.01)
	p := plot.Plot{X: plot.Axis{Title: "alpha (logarithmic)", Scale: plot.Scale{Lo: first / pad, Hi: last * pad, Log: true}, Words: plot.Short}, Height: plot.Squarish, Caption: v.caption(), Hit: [2]float64{16, 16}, Outline: 16, Tooltip: v.tooltip}
	// The divergence grows with its order, so a bound holds for every larger one.
	var held [][2]float64
	level := 0.0
	for _, q := range v.Points {
		level = max(level, *q.LowerBound)
		held = append(held, [2]float64{q.Alpha, level})
		p.Items = append(p.Items, [2]float64{q.Alpha, *q.LowerBound})
	}
	held = append(held, [2]float64{last, level})
	p.Marks = []plot.Mark{plot.Line{Key: "lower bound, for every larger alpha too", Paint: plot.Ink(plot.First), Points: plot.Stairs(held)}, plot.Points{At: p.Items, Radius: 3, Paint: plot.Ink(plot.First)}}
	head, claim := []string{"alpha", "divergence at least"}, 0.0
	if len(v.Claimed) > 0 {
		head = append(head, "claim allows", "refutes")
		p.Marks = append(p.Marks, plot.Line{Key: "claimed (dashed)", Paint: plot.Ink(plot.Text), Points: v.Claimed, Width: 1.8, Dash: true})
	}
	for _, c := range v.Claimed {
		claim = max(claim, c[1])
	}
	if over > 0 {
		p.Marks = append(p.Marks, plot.Over{Key: "refuted (barred)", Of: func(alpha float64) (above, below float64) {
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
	if !(end > 0) {
		end = 1
	}
	p.Y = plot.Axis{Title: "Rényi divergence", Scale: plot.Scale{Hi: end}, Words: plot.Short}
	p.Table = plot.Rows("The Rényi bounds", head, len(v.Points), func(fig plot.Figures, i int) []string {
		q := v.Points[i]
		row := []string{fig.Of(q.Alpha), fig.Down(*q.LowerBound)}
		if len(v.Claimed) > 0 {
			row = append(row, fig.Of(v.allowed(q.Alpha)), plot.YesNo(*q.LowerBound > v.allowed(q.Alpha)))
		}
		return row
	})
	return p
}
