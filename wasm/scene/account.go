package scene

import (
	"fmt"

	"github.com/dpscope/dpscope/bounds/accounting"
	"github.com/dpscope/dpscope/wasm/scene/plot"
)

// NewAccount shows the Rényi curve of an account, the divergence that it allows at each
// order; nil where there is no curve.
func NewAccount(c accounting.Account) *plot.View {
	if len(c.Curve) == 0 {
		return nil
	}
	var best *float64 // the order that gives epsilon
	for _, g := range c.Epsilons {
		if g.Method == accounting.MethodTight {
			best = g.Order
		}
	}
	low, high := c.Curve[0], c.Curve[len(c.Curve)-1]
	p := plot.Plot{X: plot.Axis{Title: "alpha (logarithmic)", Scale: plot.Scale{Lo: low.Alpha, Hi: high.Alpha, Log: true}, Words: plot.Short}, Height: plot.Squarish, Hit: [2]float64{16, 16}, Outline: 16}
	p.Caption = fmt.Sprintf("The divergence, in nats, is at most %s at alpha = %s", plot.Short(low.Divergence), plot.Short(low.Alpha))
	if len(c.Curve) > 1 {
		p.Caption += fmt.Sprintf(" and %s at alpha = %s", plot.Short(high.Divergence), plot.Short(high.Alpha))
	} else {
		p.X.Lo, p.X.Hi = low.Alpha/1.5, low.Alpha*1.5
	}
	p.Numbers = plot.Numbers{Title: "The curve", Head: []string{"alpha", "divergence at most"}}
	var published []any // beside an order: 2αε² over all steps, if they are pure
	if low.Lemma != nil {
		p.Head, published = append(p.Head, "published for pure steps (Mironov 2017, lemma 1)"), []any{""}
	}
	for _, q := range c.Curve {
		p.Items = append(p.Items, [2]float64{q.Alpha, q.Divergence})
		row := []any{q.Alpha, plot.Up(q.Divergence)}
		if q.Lemma != nil {
			row = append(row, plot.Up(*q.Lemma))
		}
		p.Rows = append(p.Rows, row)
	}
	if c.KL != nil {
		p.Rows = append(p.Rows, append([]any{1, plot.Up(*c.KL)}, published...))
	}
	p.Marks = []plot.Mark{plot.Line{Key: "divergence", Paint: plot.Ink(plot.First), Points: p.Items}, plot.Points{At: p.Items, Radius: 3, Paint: plot.Ink(plot.First)}}
	most := high.Divergence
	if c.MaxDivergence != nil {
		p.Caption += "; at every order at most " + plot.Short(*c.MaxDivergence)
		p.Rows = append(p.Rows, append([]any{plot.Infinity, plot.Up(*c.MaxDivergence)}, published...))
		if *c.MaxDivergence < 2.5*high.Divergence {
			most = max(most, *c.MaxDivergence)
			p.Marks = append(p.Marks, plot.Rule{Key: "its limit (dashed)", Paint: plot.Ink(plot.Text), At: *c.MaxDivergence})
		}
	}
	p.Caption += "."
	if best != nil {
		p.Caption += fmt.Sprintf(" Epsilon by the tight conversion comes from alpha = %s.", plot.Short(*best))
		if *best >= low.Alpha && *best <= high.Alpha {
			p.Marks = append(p.Marks, plot.Rule{Key: "order that gives epsilon (upright)", Paint: plot.Ink(plot.Event), At: *best, Upright: true})
		}
	}
	if !(most > 0) {
		most = 1
	}
	p.Y = plot.Axis{Title: "Rényi divergence (nats)", Scale: plot.Scale{Hi: most * 1.08}, Words: plot.Short}
	if low.Divergence > 0 && high.Divergence > 20*low.Divergence {
		p.Y = plot.Axis{Title: "Rényi divergence (nats, logarithmic)", Scale: plot.Scale{Lo: low.Divergence / 1.2, Hi: most * 1.2, Log: true}, Words: plot.Power}
	}
	return plot.View{ID: "account", Title: "Rényi curve"}.Always(p)
}
