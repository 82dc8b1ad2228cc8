package scene

import (
	"cmp"
	"math"
)

// scales are those of shares, log ratios and parts.
func (d *divergence) scales(parts []float64) [3]Scale {
	mostShare, mostPart, leastPart := 0.0, 0.0, 0.0
	for i, b := range d.bins {
		p, q := b.Shares()
		mostShare = max(mostShare, p, q)
		if !math.IsInf(parts[i], 0) {
			mostPart, leastPart = max(mostPart, parts[i]), min(leastPart, parts[i])
		}
	}
	mostPart = cmp.Or(mostPart, 0.01)
	ratio := d.mostRatio()
	return [3]Scale{{Lo: 0, Hi: mostShare * 1.06}, {Lo: -ratio, Hi: ratio}, {Lo: leastPart * 1.1, Hi: mostPart * 1.1}}
}

// mostRatio is the end of the axis of log ratios: beyond the ratios that are
// known well enough, and the claim.
func (d *divergence) mostRatio() float64 {
	most := 0.5
	if e, ok := epsilonOf(d.claim); ok {
		most = max(most, 1.15*e)
	}
	for _, b := range d.bins {
		if r, s := b.LogRatio(), b.Spread(); !math.IsNaN(s) {
			most = max(most, math.Abs(r)+min(s, 1))
		}
	}
	return most * 1.08
}

// panels are three pictures over one axis: shares, log ratios, parts of the divergence.
// Outcomes are rows.
func (d *divergence) panels() []Plot {
	parts, _ := d.parts()
	outcomes := d.outcomes()
	along := Axis{Zooms: true, Bold: func(i float64) bool { return d.bins[int(i)].inEvent() > 0 }}
	if !outcomes {
		along = level{d.chart.Edges}.axis(d.chart.AxisWords(), d.bins)
	}
	places := make([]Bin, len(d.bins)) // by their places
	for i, b := range d.bins {
		if outcomes {
			b.From, b.To = float64(i), float64(i+1)
			along.Names = append(along.Names, b.Words)
		}
		places[i] = b
	}
	at := func(along, value float64) [2]float64 {
		if outcomes {
			return [2]float64{value, along}
		}
		return [2]float64{along, value}
	}
	scales := d.scales(parts)
	words := [3]Axis{
		{Title: "share of outputs", Words: Percent, Scale: scales[0]},
		{Title: "ln(share on first / share on second), ± 95 % each", Short: "ln ratio, ± 95 %", Words: Short, Scale: scales[1]},
		{Title: "part of each: " + d.kind.of, Short: "part", Words: Short, Scale: scales[2]},
	}
	out := make([]Plot, 3)
	for k := range out {
		p := &out[k]
		if p.X, p.Y = along, words[k]; outcomes {
			p.X, p.Y, p.Wide = words[k], along, []float64{0.36, 0.38, 0.26}[k]
		} else if p.Height = px([]float64{190, 140, 110}[k]); k < 2 {
			p.X.Title, p.X.Words, p.X.Values = "", nil, nil
		}
		for i, b := range places {
			box := choose(outcomes, row(i), column(b.From, b.To))
			if in := b.inEvent(); in > 0 && (k == 0 || !outcomes) {
				p.Marks = append(p.Marks, Bars{Key: "in the event", Paint: Ink(EventArea).At(max(0.35, in)), Form: choose(k == 0, keyRegion, 0), Under: true, Boxes: []Box{box}})
			}
			if k == 0 {
				p.Items, p.Within = append(p.Items, at((b.From+b.To)/2, 0)), append(p.Within, box)
			}
		}
	}
	if outcomes {
		out[0].Marks = append(shareBars("first dataset", "second dataset (hatched)", d.bins), out[0].Marks...)
	} else {
		out[0].Marks = append([]Mark{outline(Line{Key: "first dataset", Paint: Ink(First)}, places, 0), outline(Line{Key: "second dataset (dashed)", Paint: Ink(Second), Dash: true}, places, 1)}, out[0].Marks...)
	}
	if e, ok := epsilonOf(d.claim); ok {
		out[1].Marks = append(out[1].Marks, Rule{Key: "claimed: ± ε = " + Short(e), Paint: Ink(Text), At: e, Upright: outcomes}, Rule{Paint: Ink(Text), At: -e, Upright: outcomes})
	}
	for i, b := range places {
		out[1].Marks = append(out[1].Marks, ratio(b, func(v float64) [2]float64 { return at((b.From+b.To)/2, v) }, scales[1].Hi)...)
		inset := choose(outcomes, 0.2, 0.04) * (b.To - b.From)
		from, to := at(b.From+inset, min(0, parts[i])), at(b.To-inset, max(0, parts[i]))
		if math.IsInf(parts[i], 1) {
			middle := (b.From + b.To) / 2
			out[2].Marks = append(out[2].Marks, Arrow{Ink(Event), at(middle, 0), at(middle, scales[2].Hi)})
		} else if parts[i] != 0 {
			out[2].Marks = append(out[2].Marks, Bars{Paint: Ink(Event), Boxes: []Box{{from[0], to[0], from[1], to[1]}}})
		}
	}
	return out
}

// ratio is the log ratio of a bin with its interval, at the place of a value: an arrow where
// one side was never seen. Most is the end of the axis.
func ratio(b Bin, at func(float64) [2]float64, most float64) []Mark {
	r, spread := b.LogRatio(), b.Spread()
	within := func(v float64) [2]float64 { return at(max(-most, min(most, v))) }
	paint, form := sideMark(choose(r < 0, 1, 0))
	switch {
	case math.IsNaN(r):
		return nil
	case math.IsInf(r, 0):
		end := math.Copysign(most, r)
		return []Mark{Arrow{paint, at(end * 0.86), at(end * 0.985)}}
	}
	return []Mark{Line{Paint: paint.At(0.75), Width: 1.5, Points: [][2]float64{within(r - spread), within(r + spread)}}, Points{Paint: paint, Form: form, Radius: 3, At: [][2]float64{within(r)}}}
}
