package scene

import (
	"fmt"
	"math"

	"github.com/dpscope/dpscope/bounds/accounting"
	"github.com/dpscope/dpscope/wasm/scene/plot"
)

// Accounted is an account, how it changes with steps and delta, and an epsilon that is aimed at.
type Accounted struct {
	accounting.Account
	accounting.Trace
	Target float64 `json:"target"`
}

// NewWays shows what every way of an account proves, of delta or of epsilon: the figure lies
// between the ends of its bar. nil where there is none.
func NewWays(a accounting.Account, delta bool) *plot.View {
	ways, name, of := a.Epsilons, "epsilon", func(g accounting.Guarantee) float64 { return g.Epsilon }
	if delta {
		ways, name, of = a.Deltas, "delta", func(g accounting.Guarantee) float64 { return g.Delta }
	}
	least, most := math.Inf(1), 0.0
	var best accounting.Guarantee
	for _, g := range ways {
		if most = max(most, of(g)); of(g) < least {
			best, least = g, of(g)
		}
	}
	if !(most > 0) {
		return nil
	}
	known := 0.0 // nothing below it holds
	if best.Exact {
		known = least
	} else if best.AtLeast != nil {
		known = *best.AtLeast
	}
	p := plot.Plot{X: plot.Axis{Title: name, Scale: plot.Scale{Lo: max(0, known-float64(0.4*(most-known))), Hi: most + float64(0.1*(most-known))}, Words: plot.Short}}
	if most > 20*least || !(most > known) {
		p.X = plot.Axis{Title: name + " (logarithmic)", Scale: plot.Scale{Lo: max(least, most*1e-12) / 3, Hi: most * 1.3, Log: true}, Words: plot.Power}
	}
	p.Caption = fmt.Sprintf("The least %s that each way proves; the best is %s, by the %s. ", name, plot.Short(least), best.Method.Title())
	if known > 0 {
		p.Caption += fmt.Sprintf("Nothing below %s holds: what another way adds to that is its own looseness.", plot.ShortDown(known))
	}
	p.Numbers = plot.Numbers{Title: "Ways to " + name, Head: []string{"method", "epsilon", "delta", "at least", "order", "source"}}
	p.Y.Bold = func(i float64) bool { return ways[int(i)] == best }
	span := plot.Bars{Key: "what it leaves open", Paint: plot.Ink(plot.First).At(0.35)}
	ends := plot.Points{Key: "proven", Paint: plot.Ink(plot.First), Radius: 5}
	for i, g := range ways {
		order, lower, at := "", "", [2]float64{max(of(g), p.X.Lo), float64(i) + 0.5}
		if g.AtLeast != nil {
			lower = plot.ShortDown(*g.AtLeast)
		}
		if g.Order != nil {
			order = plot.Short(*g.Order)
		}
		span.Boxes, ends.At = append(span.Boxes, plot.Span(max(known, p.X.Lo), at[0], at[1]-0.12, at[1]+0.12)), append(ends.At, at)
		p.Y.Names, p.Y.After = append(p.Y.Names, g.Method.Title()), append(p.Y.After, plot.Short(of(g)))
		p.Items, p.Within = append(p.Items, at), append(p.Within, plot.Row(i))
		p.Rows = append(p.Rows, []any{g.Method.Title() + plot.If(g.Exact, ", exact", ""), plot.Up(g.Epsilon), plot.Up(g.Delta), lower, order, g.Source})
	}
	p.Marks = []plot.Mark{span, ends}
	if known > 0 {
		p.Marks = append(p.Marks, plot.Rule{Key: "nothing below holds (dashed)", Paint: plot.Ink(plot.Text), At: known, Upright: true})
	}
	return plot.View{ID: "ways", Title: "Ways to " + name}.Always(p)
}

// over is the plot of epsilon over something, on a logarithmic axis; false where there is nothing.
func over(name string, points [][2]float64) (p plot.Plot, ok bool) {
	if len(points) == 0 || !(points[0][1] > 0) {
		return p, false
	}
	last := points[len(points)-1][0]
	p = plot.Plot{Height: plot.Squarish, Items: points, Hit: [2]float64{16, 16}, Outline: 16, Numbers: plot.Numbers{Title: "Epsilon over " + name, Head: []string{name, "epsilon, at most"}},
		X:     plot.Axis{Title: name + " (logarithmic)", Scale: plot.Scale{Lo: points[0][0] / 1.1, Hi: last * 1.1, Log: true}, Words: plot.Power},
		Y:     plot.Axis{Title: "epsilon", Scale: plot.Scale{Hi: max(points[0][1], points[len(points)-1][1]) * 1.08}, Words: plot.Short},
		Marks: []plot.Mark{plot.Line{Key: "epsilon", Paint: plot.Ink(plot.First), Points: points}, plot.Points{At: points, Radius: 3, Paint: plot.Ink(plot.First)}}}
	for _, q := range points {
		p.Rows = append(p.Rows, []any{plot.Short(q[0]), plot.Up(q[1])})
	}
	return p, true
}

// NewSteps shows epsilon over the steps of an account and, read off at the target, about how
// many it allows; nil where nothing is known.
func NewSteps(a Accounted) *plot.View {
	p, ok := over("steps", a.OverSteps)
	if !ok {
		return nil
	}
	first, last := a.OverSteps[0], a.OverSteps[len(a.OverSteps)-1]
	p.Y = plot.Axis{Title: "epsilon (logarithmic)", Scale: plot.Scale{Lo: min(first[1], a.Target) / 1.3, Hi: max(last[1], a.Target) * 1.3, Log: true}, Words: plot.Power}
	p.Caption = fmt.Sprintf("Epsilon at delta = %s. A target of epsilon = %s allows ", plot.Short(*a.Query.Delta), plot.Short(a.Target))
	switch {
	case !(a.Target >= first[1]):
		p.Caption += "no step."
	case a.Target > last[1]:
		p.Caption += fmt.Sprintf("more than %s steps.", plot.Grouped(int(last[0])))
	default:
		var turned [][2]float64 // logarithms, epsilon first
		for _, q := range a.OverSteps {
			turned = append(turned, [2]float64{math.Log(q[1]), math.Log(q[0])})
		}
		steps := math.Exp(plot.Along(turned, math.Log(a.Target)))
		unit := math.Pow(10, max(0, math.Floor(math.Log10(steps))-1))
		steps = max(1, math.Floor(steps/unit+1e-9)*unit)
		words := plot.Grouped(int(steps)) + plot.If(steps == 1, " step", " steps")
		p.Caption += "about " + words + "."
		p.Marks = append(p.Marks, plot.Rule{Paint: plot.Ink(plot.Event), At: steps, Upright: true}, plot.Note{At: [2]float64{steps, a.Target}, Words: words, Role: plot.Text, Box: true, Must: true})
	}
	p.Marks = append(p.Marks, plot.Rule{Key: "target (dashed)", Paint: plot.Ink(plot.Event), At: a.Target})
	return plot.View{ID: "steps", Title: p.Numbers.Title}.Always(p)
}

// NewDeltas shows epsilon over delta, nil where nothing is known.
func NewDeltas(a Accounted) *plot.View {
	p, ok := over("delta", a.OverDelta)
	if !ok {
		return nil
	}
	p.Caption = "Every point holds: the smaller delta is, the larger is epsilon."
	p.Marks = append(p.Marks, plot.Rule{Key: "the query's delta (dashed)", Paint: plot.Ink(plot.Event), At: *a.Query.Delta, Upright: true})
	return plot.View{ID: "deltas", Title: p.Numbers.Title}.Always(p)
}
