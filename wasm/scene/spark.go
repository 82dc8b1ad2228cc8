package scene

import (
	"strings"

	"github.com/dpscope/dpscope/wasm/scene/plot"
)

// NewSpark shows a run's course, nil where there is none: the bound against the outputs a
// side, on a logarithmic axis, as small as a word, with the claim dashed, all in one colour.
func NewSpark(c *Course) *plot.View {
	if c == nil || len(c.Moments) == 0 {
		return nil
	}
	of, last := course{Course: *c}, c.Moments[len(c.Moments)-1]
	first := float64(max(1, c.Moments[0].Pairs))
	end := max(float64(last.Pairs), first*1.0001)
	p := plot.Plot{Caption: of.caption(), Table: of.table, Tooltip: of.tooltip, Name: of.name, Only: plot.If(c.first() >= 0 && c.Valid, plot.LitInk, plot.Text), Height: plot.Height{38, 0.2, 62}, Hit: [2]float64{10, 60}, Outline: 8}
	p.X = plot.Axis{Scale: plot.Scale{Lo: first * 0.8, Hi: end, Log: true}, Ticks: []float64{end, first}, Words: func(n float64) string {
		return plot.If(n == end, plot.Grouped(int(n))+" outputs", plot.Grouped(int(n)))
	}}
	p.Y.Scale = plot.Scale{Hi: max(c.Claimed*1.35, c.most()*1.15, 1e-9)}
	line := [][2]float64{{p.X.Lo, 0}}
	for _, m := range c.Moments {
		at := [2]float64{float64(m.Pairs), max(0, m.Bound)}
		p.Items, line = append(p.Items, at), append(line, at)
	}
	tip := line[len(line)-1]
	words := plot.Ends{Words: []string{symbolOf(c.Quantity) + plot.Short(plot.Floor(last.Bound, 2))}, At: [][2]float64{tip}, Paint: []plot.Paint{plot.Ink(plot.Text)}, Bold: []bool{true}}
	p.Marks = []plot.Mark{plot.Line{Paint: plot.Ink(plot.Text), Width: 2.6, Points: line}, plot.Points{Paint: plot.Ink(plot.Text), At: [][2]float64{tip}, Radius: 4.5}}
	if c.Claimed > 0 {
		p.Marks = append(p.Marks, plot.Rule{Paint: plot.Ink(plot.Text), At: c.Claimed})
		words.Words, words.At = append(words.Words, "claim "+plot.Short(c.Claimed)), append(words.At, [2]float64{end, c.Claimed})
		words.Paint, words.Bold = append(words.Paint, plot.Ink(plot.Text)), append(words.Bold, false)
	}
	for _, w := range words.Words {
		p.Right = max(p.Right, plot.Roughly(w, plot.TextSize)*1.1+4)
	}
	p.Marks = append(p.Marks, words)
	return plot.View{ID: "spark", Title: "Bound over time"}.Always(p)
}

// symbolOf is the sign of a quantity in words.
func symbolOf(quantity string) string {
	for _, q := range []struct{ name, sign string }{{"epsilon", "ε "}, {"rho", "ρ "}, {"mu", "μ "}} {
		if strings.HasPrefix(quantity, q.name) {
			return q.sign
		}
	}
	return "≥ "
}
