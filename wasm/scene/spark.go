package scene

// NewSpark shows a run's course, nil where there is none: the bound against the outputs a
// side, on a logarithmic axis, as small as a word, with the claim dashed, all in one colour.
func NewSpark(c *Course) *View {
	if c == nil || len(c.Moments) == 0 {
		return nil
	}
	of, last := course{Course: *c}, c.Moments[len(c.Moments)-1]
	first := float64(max(1, c.Moments[0].Pairs))
	end := max(float64(last.Pairs), first*1.0001)
	p := Plot{Caption: of.caption(), Table: of.table, Tooltip: of.tooltip, Name: of.name, Only: choose(c.first() >= 0 && c.Valid, LitInk, Text), Height: Height{38, 0.2, 62}, Right: 62, Hit: Point{10, 60}, Outline: 8}
	p.X = Axis{Scale: Scale{Lo: first * 0.8, Hi: end, Log: true}, Ticks: []float64{end, first}, Words: func(n float64) string {
		return choose(n == end, Grouped(int(n))+" outputs", Grouped(int(n)))
	}}
	p.Y.Scale = Scale{Hi: max(c.Claimed*1.35, c.most()*1.15, 1e-9)}
	line := [][2]float64{{p.X.Lo, 0}}
	for _, m := range c.Moments {
		at := [2]float64{float64(m.Pairs), max(0, m.Bound)}
		p.Items, line = append(p.Items, at), append(line, at)
	}
	tip := line[len(line)-1]
	words := Ends{Words: []string{symbolOf(c.Quantity) + Short(floor(last.Bound, 2))}, At: [][2]float64{tip}, Paint: []Paint{Ink(Text)}, Bold: []bool{true}}
	p.Marks = []Mark{Line{Paint: Ink(Text), Width: 2.6, Points: line}, Points{Paint: Ink(Text), At: [][2]float64{tip}, Radius: 4.5}}
	if c.Claimed > 0 {
		p.Marks = append(p.Marks, Rule{Paint: Ink(Text), At: c.Claimed})
		words.Words, words.At = append(words.Words, "claim "+Short(c.Claimed)), append(words.At, [2]float64{end, c.Claimed})
		words.Paint, words.Bold = append(words.Paint, Ink(Text)), append(words.Bold, false)
	}
	p.Marks = append(p.Marks, words)
	return View{ID: "spark", Title: "Bound over time"}.always(p)
}

// symbolOf is the sign of a quantity in words.
func symbolOf(quantity string) string {
	for _, q := range []struct{ name, sign string }{{"epsilon", "ε "}, {"rho", "ρ "}, {"mu", "μ "}} {
		if len(quantity) >= len(q.name) && quantity[:len(q.name)] == q.name {
			return q.sign
		}
	}
	return "≥ "
}
