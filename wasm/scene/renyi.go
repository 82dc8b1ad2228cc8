package scene

import (
	"fmt"
	"math"

	"github.com/dpscope/dpscope/core/pair"
	"github.com/dpscope/dpscope/core/report"
	"github.com/dpscope/dpscope/wasm/scene/plot"
)

// NewRenyi shows a report's curve, nil where there is none: lower bounds on the Rényi
// divergence against its order, and what the claim allows at each.
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
	p := plot.Plot{X: plot.Axis{Title: "alpha (logarithmic)", Scale: plot.Scale{Lo: first / pad, Hi: last * pad, Log: true}, Words: plot.Short}, Height: plot.Squarish, Hit: [2]float64{16, 16}, Outline: 16}
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
	p.Caption = fmt.Sprintf("The largest bound: Rényi divergence ≥ %s at alpha = %s. All %s bounds hold together with %s confidence.", plot.ShortDown(*most.LowerBound), plot.Short(most.Alpha), plot.Grouped(len(v.Points)), v.Confidence)
	p.Marks = []plot.Mark{plot.Line{Key: "lower bound, for every larger alpha too", Paint: plot.Ink(plot.First), Points: plot.Stairs(held)}, plot.Points{At: p.Items, Radius: 3, Paint: plot.Ink(plot.First)}}
	claim := 0.0
	for _, c := range v.Claimed {
		claim = max(claim, c[1])
	}
	if claimed {
		p.Marks = append(p.Marks, plot.Line{Key: "claimed (dashed)", Paint: plot.Ink(plot.Text), Points: v.Claimed, Width: 1.8, Dash: true})
		p.Caption += fmt.Sprintf(" Claimed: %s. ", v.ClaimWords) + plot.If(over > 0, fmt.Sprintf("At %s of %s orders the bound exceeds what the claim allows: there it is refuted.", plot.Grouped(over), plot.Grouped(len(v.Points))),
			"At no order does the bound exceed what the claim allows.")
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
	return p
}
