package scene

import (
	"cmp"
	"math"

	"github.com/dpscope/dpscope/wasm/scene/plot"
)

// panels are three pictures over one axis: shares, log ratios, parts of the divergence.
// Outcomes are rows.
func (d *divergence) panels() []plot.Plot {
	parts, _ := d.parts()
	outcomes := d.outcomes()
	along := plot.Axis{Zooms: true, Bold: func(i float64) bool { return d.bins[int(i)].inEvent() > 0 }}
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
	// Ratios end beyond those that are known well enough, and the claim.
	mostShare, mostRatio, mostPart, leastPart := 0.0, 0.5, 0.0, 0.0
	if e, ok := epsilonOf(d.claim); ok {
		mostRatio = max(mostRatio, 1.15*e)
	}
	for i, b := range d.bins {
		mostShare = max(mostShare, b.share(0), b.share(1))
		if r, s := b.LogRatio(), b.Spread(); !math.IsNaN(s) {
			mostRatio = max(mostRatio, math.Abs(r)+min(s, 1))
		}
		if !math.IsInf(parts[i], 0) {
			mostPart, leastPart = max(mostPart, parts[i]), min(leastPart, parts[i])
		}
	}
	mostRatio, mostPart = mostRatio*1.08, cmp.Or(mostPart, 0.01)*1.1
	words := [3]plot.Axis{
		{Title: "share of outputs", Words: plot.Percent, Scale: plot.Scale{Hi: mostShare * 1.06}},
		{Title: "ln(share on first / share on second), ± 95 % each", Short: "ln ratio, ± 95 %", Words: plot.Short, Scale: plot.Scale{Lo: -mostRatio, Hi: mostRatio}},
		{Title: "part of each: " + d.kind.of, Short: "part", Words: plot.Short, Scale: plot.Scale{Lo: leastPart * 1.1, Hi: mostPart}},
	}
	out := make([]plot.Plot, 3)
	for k := range out {
		p := &out[k]
		if p.X, p.Y = along, words[k]; outcomes {
			p.X, p.Y, p.Wide = words[k], along, []float64{0.36, 0.38, 0.26}[k]
		} else if p.Height = plot.Px([]float64{190, 140, 110}[k]); k < 2 {
			p.X.Title, p.X.Words, p.X.Values = "", nil, nil
		}
		for i, b := range places {
			box := plot.If(outcomes, plot.Row(i), plot.Column(b.From, b.To))
			if in := b.inEvent(); in > 0 && (k == 0 || !outcomes) {
				p.Marks = append(p.Marks, plot.Bars{Key: "in the event", Paint: plot.Ink(plot.EventArea).At(max(0.35, in)), Form: plot.If(k == 0, plot.KeyRegion, 0), Under: true, Boxes: []plot.Box{box}})
			}
			if k == 0 {
				p.Items, p.Within = append(p.Items, at((b.From+b.To)/2, 0)), append(p.Within, box)
			}
		}
	}
	if outcomes {
		out[0].Marks = append(shareBars("first dataset", "second dataset (hatched)", d.bins), out[0].Marks...)
	} else {
		out[0].Marks = append([]plot.Mark{outline(plot.Line{Key: "first dataset", Paint: plot.Ink(plot.First)}, places, 0), outline(plot.Line{Key: "second dataset (dashed)", Paint: plot.Ink(plot.Second), Dash: true}, places, 1)}, out[0].Marks...)
	}
	if e, ok := epsilonOf(d.claim); ok {
		out[1].Marks = append(out[1].Marks, plot.Rule{Key: "claimed: ± ε = " + plot.Short(e), Paint: plot.Ink(plot.Text), At: e, Upright: outcomes}, plot.Rule{Paint: plot.Ink(plot.Text), At: -e, Upright: outcomes})
	}
	for i, b := range places {
		out[1].Marks = append(out[1].Marks, ratio(b, func(v float64) [2]float64 { return at((b.From+b.To)/2, v) }, mostRatio)...)
		inset := plot.If(outcomes, 0.2, 0.04) * (b.To - b.From)
		from, to := at(b.From+inset, min(0, parts[i])), at(b.To-inset, max(0, parts[i]))
		if math.IsInf(parts[i], 1) {
			middle := (b.From + b.To) / 2
			out[2].Marks = append(out[2].Marks, plot.Arrow{Paint: plot.Ink(plot.Event), From: at(middle, 0), To: at(middle, mostPart)})
		} else if parts[i] != 0 {
			out[2].Marks = append(out[2].Marks, plot.Bars{Paint: plot.Ink(plot.Event), Boxes: []plot.Box{plot.Span(from[0], to[0], from[1], to[1])}})
		}
	}
	return out
}

// ratio is the log ratio of a bin with its interval, at the place of a value: an arrow where
// one side was never seen. Most is the end of the axis.
func ratio(b Bin, at func(float64) [2]float64, most float64) []plot.Mark {
	r, spread := b.LogRatio(), b.Spread()
	within := func(v float64) [2]float64 { return at(max(-most, min(most, v))) }
	paint, form := sideMark(plot.If(r < 0, 1, 0))
	switch {
	case math.IsNaN(r):
		return nil
	case math.IsInf(r, 0):
		end := math.Copysign(most, r)
		return []plot.Mark{plot.Arrow{Paint: paint, From: at(end * 0.86), To: at(end * 0.985)}}
	}
	return []plot.Mark{plot.Line{Paint: paint.At(0.75), Width: 1.5, Points: [][2]float64{within(r - spread), within(r + spread)}}, plot.Points{Paint: paint, Form: form, Radius: 3, At: [][2]float64{within(r)}}}
}
