package scene

import (
	"fmt"
	"math"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/bounds/accounting"
	"github.com/dpscope/dpscope/wasm/scene/plot"
)

// Accounted is an account, and how it changes with steps and delta.
type Accounted struct {
	accounting.Account
	accounting.Trace
}

func curve(x, y string, points [][2]float64) plot.Plot {
	n := len(points) - 1
	return plot.Plot{Height: plot.Squarish, Items: points, Hit: [2]float64{16, 16}, Outline: 16,
		Numbers: plot.Numbers{Title: "The curve of " + y + " over " + x, Head: []string{x, y + " at most"}, Rows: audit.Each(points, func(q [2]float64) []any { return []any{q[0], plot.Up(q[1])} })},
		X:       plot.Logarithmic(x+" (logarithmic)", points[0][0]/1.1, points[n][0]*1.1),
		Y:       plot.Linear(y, 0, max(points[0][1], points[n][1])*1.08),
		Marks:   []plot.Mark{plot.Line{Key: y, Paint: plot.First, Points: points}, plot.Points{At: points, Radius: 3, Paint: plot.First}}}
}

// NewAccount shows the divergence that an account allows at each order; nil for no curve.
func NewAccount(c accounting.Account) *plot.View {
	if len(c.Curve) == 0 {
		return nil
	}
	points := audit.Each(c.Curve, func(q accounting.Point) [2]float64 { return [2]float64{q.Alpha, q.Divergence} })
	low, high := points[0], points[len(points)-1]
	p := curve("alpha", "divergence", points)
	p.X.Words, p.Caption = plot.Short, plot.Say("The divergence, in nats, is at most %s at alpha = %s", low[1], low[0])
	if len(points) > 1 {
		p.Caption += plot.Say(" and %s at alpha = %s", high[1], high[0])
	}
	var published []any // beside an order: 2αε² over all steps, if they are pure
	if c.Curve[0].Lemma != nil {
		p.Head, published = append(p.Head, "published for pure steps (Mironov 2017, lemma 1)"), []any{""}
		for i, q := range c.Curve {
			p.Rows[i] = append(p.Rows[i], plot.Up(*q.Lemma))
		}
	}
	if c.KL != nil {
		p.Rows = append(p.Rows, append([]any{1, plot.Up(*c.KL)}, published...))
	}
	most := high[1]
	if c.MaxDivergence != nil {
		p.Caption += "; at every order at most " + plot.Short(*c.MaxDivergence)
		p.Rows = append(p.Rows, append([]any{plot.Infinity, plot.Up(*c.MaxDivergence)}, published...))
		if *c.MaxDivergence < 2.5*high[1] {
			most = max(most, *c.MaxDivergence)
			p.Mark(plot.Rule{Key: "its limit (dashed)", At: *c.MaxDivergence})
		}
	}
	p.Caption += "."
	for _, g := range c.Epsilons {
		if g.Method != accounting.MethodTight || g.Order == nil {
			continue
		}
		p.Caption += plot.Say(" Epsilon by the tight conversion comes from alpha = %s.", *g.Order)
		if *g.Order >= low[0] && *g.Order <= high[0] {
			p.Mark(plot.Rule{Key: "order that gives epsilon (upright)", Paint: plot.Event, At: *g.Order, Upright: true})
		}
	}
	most = plot.If(most > 0, most, 1)
	p.Y = plot.Linear("Rényi divergence (nats)", 0, most*1.08)
	if low[1] > 0 && high[1] > 20*low[1] {
		p.Y = plot.Logarithmic("Rényi divergence (nats, logarithmic)", low[1]/1.2, most*1.2)
	}
	return plot.View{ID: "account", Title: "Rényi curve"}.Always(p)
}

// NewSteps shows epsilon over the steps of an account, and about how many a target allows: the account's
// own, or at a share of the axis. Nil for no steps.
func NewSteps(a Accounted, at *float64) *plot.View {
	if len(a.OverSteps) == 0 || !(a.OverSteps[0][1] > 0) || a.Epsilon == nil {
		return nil
	}
	p, first, last := curve("steps", "epsilon", a.OverSteps), a.OverSteps[0], a.OverSteps[len(a.OverSteps)-1]
	p.Y = plot.Logarithmic("epsilon (logarithmic)", first[1]/1.3, last[1]*1.3)
	axis, target := p.Y.Scale, *a.Epsilon
	if axis.To = 1; at != nil {
		target = plot.Round(axis.Value(min(1, max(0, *at))), 3)
	}
	var allows string
	switch {
	case !(target >= first[1]):
		allows = "no step"
	case target > last[1]:
		allows = plot.Say("more than %s steps", int(last[0]))
	default:
		turned := audit.Each(a.OverSteps, func(q [2]float64) [2]float64 { return [2]float64{math.Log(q[1]), math.Log(q[0])} })
		steps := math.Exp(plot.Along(turned, math.Log(target)))
		unit := math.Pow(10, max(0, math.Floor(math.Log10(steps))-1))
		steps = max(1, math.Floor(steps/unit+1e-9)*unit)
		words := plot.Grouped(int(steps)) + plot.If(steps == 1, " step", " steps")
		allows = "about " + words
		p.Mark(plot.Rule{Paint: plot.Event, At: steps, Upright: true}, plot.Note{At: [2]float64{steps, target}, Words: words, Box: true, Must: true})
	}
	allows = plot.Say("epsilon = %s allows %s", target, allows)
	p.Caption = plot.Say("Epsilon at delta = %s. A target of %s.", *a.Query.Delta, allows)
	p.Handle = &plot.Handle{Label: "Target epsilon", Words: allows, At: axis.At(target)}
	p.Mark(plot.Rule{Key: "target (dashed)", Paint: plot.Event, At: target})
	return plot.View{ID: "steps", Title: "Epsilon over steps"}.Always(p)
}

// NewDeltas shows epsilon over delta; nil where nothing is known.
func NewDeltas(a Accounted) *plot.View {
	if len(a.OverDelta) == 0 || !(a.OverDelta[0][1] > 0) {
		return nil
	}
	p := curve("delta", "epsilon", a.OverDelta)
	p.Caption = "Every point holds: the smaller delta is, the larger is epsilon."
	p.Mark(plot.Rule{Key: "the query's delta (dashed)", Paint: plot.Event, At: *a.Query.Delta, Upright: true})
	return plot.View{ID: "deltas", Title: "Epsilon over delta"}.Always(p)
}

// NewWays shows what every way of an account proves, and leaves open beside the best; nil for none.
func NewWays(a accounting.Account, delta bool) *plot.View {
	ways, name, of := a.Epsilons, "epsilon", func(g accounting.Guarantee) float64 { return g.Epsilon }
	if delta {
		ways, name, of = a.Deltas, "delta", func(g accounting.Guarantee) float64 { return g.Delta }
	}
	var best accounting.Guarantee
	most, known := 0.0, 0.0 // nothing below known holds
	for i, g := range ways {
		if most = max(most, of(g)); i == 0 || of(g) < of(best) {
			best = g
		}
	}
	if !(most > 0) {
		return nil
	}
	least := of(best)
	if k := plot.If(best.Exact, &least, best.AtLeast); k != nil {
		known = *k
	}
	p := plot.Plot{X: plot.Linear(name, max(0, known-float64(0.4*(most-known))), most+float64(0.1*(most-known)))}
	if most > 20*least || !(most > known) {
		p.X = plot.Logarithmic(name+" (logarithmic)", max(least, most*1e-12)/3, most*1.3)
	}
	p.Caption = plot.Say("The least %s that each way proves; the best is %s, by the %s. ", name, least, best.Method.Title())
	p.Numbers = plot.Numbers{Title: "Ways to " + name, Head: []string{"method", "epsilon", "delta", "at least", "order", "source"}}
	p.Y.Bold = func(i float64) bool { return ways[int(i)] == best }
	open, ends := plot.Bars{Key: "what it leaves open", Paint: plot.First.At(0.35)}, plot.Points{Key: "proven", Paint: plot.First, Radius: 5}
	written := func(x *float64, words func(float64) string) string { // where it is there
		if x == nil {
			return ""
		}
		return words(*x)
	}
	for i, g := range ways {
		at := [2]float64{max(of(g), p.X.Lo), float64(i) + 0.5}
		open.Boxes, ends.At = append(open.Boxes, plot.Span(max(known, p.X.Lo), at[0], at[1]-0.12, at[1]+0.12)), append(ends.At, at)
		p.Y.Names, p.Y.After = append(p.Y.Names, g.Method.Title()), append(p.Y.After, plot.Short(of(g)))
		p.Add(at[0], at[1], plot.Row(i),
			g.Method.Title()+plot.If(g.Exact, ", exact", ""), plot.Up(g.Epsilon), plot.Up(g.Delta),
			written(g.AtLeast, plot.ShortDown), written(g.Order, plot.Short), g.Source)
	}
	p.Marks = []plot.Mark{open, ends}
	if known > 0 {
		p.Caption += fmt.Sprintf("Nothing below %s holds: what another way adds to that is its own looseness.", plot.ShortDown(known))
		p.Mark(plot.Rule{Key: "nothing below holds (dashed)", At: known, Upright: true})
	}
	return plot.View{ID: "ways", Title: "Ways to " + name}.Always(p)
}
