package scene

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/wasm/scene/plot"
)

// reach is the end of the axis of ratios, as far as figures that are well known need.
func (v *outputs) reach() float64 {
	most := max(2.1, plot.If(v.corridor, 1.9*v.epsilon, 0))
	need := 0.0
	for _, m := range v.marks {
		if least := max(m.lower, -m.upper); least > 0 {
			need = max(need, min(math.Abs(m.ratio()), least+1)*1.12)
		}
	}
	if t := v.tested; t != nil {
		need = max(need, t.bound*1.15)
	}
	for _, step := range []float64{2.1, 2.6, 3.2, 4, 5, 6.5, 8} {
		if step >= need {
			return max(most, step)
		}
	}
	return max(most, 8)
}

// plot has panels of shares, of ratios, and of the marks' parts, if any. Outcomes are rows.
func (v *outputs) plot(parts []float64, of string) plot.Plot {
	t, all := v.tested, v.marks
	var along plot.Axis
	if v.outcomes {
		if v.apart() {
			event := t.mark
			event.Words, event.From, event.To = "the event", float64(t.row), float64(t.row+1)
			all = append(slices.Clip(all), event)
		}
		along.Title = plot.If(v.firstOf == "", "the answer is", fmt.Sprintf("first “%s” comes at", v.firstOf))
		along.Names = audit.Each(all, func(m mark) string { return m.Words })
		along.After = audit.Each(all, mark.seenWords)
		along.Bold = func(i float64) bool { return int(i) >= len(v.marks) || v.marks[int(i)].in > 0 }
	}
	bins := audit.Each(all, func(m mark) Bin { return m.Bin })
	if !v.outcomes {
		along = level{v.Chart.Edges}.axis("the "+v.Chart.AxisWords(), bins)
	}
	along.Zooms = parts != nil
	shares, ratios := plot.Plot{Height: plot.Px(120), Wide: 0.46}, plot.Plot{Height: plot.Px(145), Wide: 0.54}
	lit := t != nil && t.lit
	for _, b := range bins {
		at := v.at(b.middle(), 0)
		shares.Add(at[0], at[1], v.across(b.From, b.To))
	}
	value := v.shares(&shares, bins)
	if t != nil {
		event := plot.Bars{Key: plot.If(lit, "event: ", plot.If(t.sofar, "most telling so far: ", "event tested: ")) + t.words, Paint: plot.Grid.At(0.5), Under: true}
		if lit {
			event.Paint = plot.Lit.At(0.35) // words on it stay readable in the dark
		}
		for _, w := range t.spans {
			event.Boxes = append(event.Boxes, v.across(w.Lo, w.Hi))
		}
		if v.outcomes {
			event.Boxes = append(event.Boxes, v.across(float64(t.row), float64(t.row+1)))
		}
		if ratios.Mark(event); !v.outcomes {
			shares.Mark(event)
		}
	}
	scale := v.ratios(&ratios, all)
	panels, values := []plot.Plot{shares, ratios}, []plot.Axis{value, scale}
	if parts != nil {
		panel, axis := v.parted(parts, "part of each: "+of)
		panels, values = append(panels, panel), append(values, axis)
	}
	for i := range panels {
		p := &panels[i]
		if p.X, p.Y = along, values[i]; v.outcomes {
			p.X, p.Y = values[i], along
		} else if i+1 < len(panels) {
			p.X.Title, p.X.Words = "", nil
		}
	}
	return plot.Plot{Panels: panels}
}

func (v *outputs) at(along, value float64) [2]float64 {
	return plot.If(v.outcomes, [2]float64{value, along}, [2]float64{along, value})
}

func (v *outputs) box(along0, along1, value0, value1 float64) plot.Box {
	from, to := v.at(along0, value0), v.at(along1, value1)
	return plot.Span(from[0], to[0], from[1], to[1])
}

func (v *outputs) across(from, to float64) plot.Box {
	return v.box(from, to, -plot.Infinity, plot.Infinity)
}

func (v *outputs) parted(parts []float64, title string) (plot.Plot, plot.Axis) {
	least, most := 0.0, 0.0
	for _, part := range parts {
		if !math.IsInf(part, 0) {
			least, most = min(least, part), max(most, part)
		}
	}
	most = cmp.Or(most, 0.01) * 1.1
	p := plot.Plot{Height: plot.Px(110), Wide: 0.3}
	for i, part := range parts {
		m := v.marks[i]
		less := plot.If(v.outcomes, 0.2, 0.04) * (m.To - m.From)
		if math.IsInf(part, 1) {
			p.Mark(plot.Arrow{Paint: plot.Event, From: v.at(m.middle(), 0), To: v.at(m.middle(), most)})
		} else if part != 0 {
			box := v.box(m.From+less, m.To-less, min(0, part), max(0, part))
			p.Mark(plot.Bars{Paint: plot.Event, Boxes: []plot.Box{box}})
		}
	}
	axis := plot.Linear(title, least*1.1, most)
	axis.Short = "part"
	return p, axis
}

func (v *outputs) shares(p *plot.Plot, bins []Bin) plot.Axis {
	least, most := 1.0, 0.0
	for _, b := range bins {
		for side := range 2 {
			if s := b.share(side); s > 0 {
				least, most = min(least, s), max(most, s)
			}
		}
	}
	key := [2]string{"A: " + v.People.Names[0], "B: " + v.People.Names[1]}
	a := plot.Axis{Title: "share of outputs", Scale: plot.Scale{Hi: 1.08 * most}, Words: func(p float64) string { return percentWords(p) }}
	switch {
	case !v.outcomes:
		under := plot.Bars{Paint: plot.First.At(0.16), Tight: true, Boxes: audit.Each(bins, func(b Bin) plot.Box { return plot.Span(b.From, b.To, 0, b.share(0)) })}
		p.Mark(outline(plot.Line{Key: key[0], Paint: plot.First}, bins, 0), outline(plot.Line{Key: key[1] + " (dashed)", Paint: plot.Second, Dash: true}, bins, 1), under)
	case len(v.marks) <= 3:
		p.Mark(shareBars(key[0], key[1]+" (hatched)", bins)...)
	default:
		a.Title, a.Short, a.Scale = "share of outputs (logarithmic)", "share (log)", plot.Scale{Lo: least / 1.6, Hi: min(1, most*1.3), Log: true}
		a.Ticks = []float64{0.5, 0.1, 0.01, 0.001, 1e-4, 1e-5, 0.05, 0.005, 0.2, 0.02}
		sides := [2]plot.Points{{Paint: plot.First, Radius: 4.5}, {Key: key[1], Paint: plot.Second, Form: plot.Square, Radius: 7.5}}
		for _, b := range bins {
			middle := b.middle()
			for k := range sides {
				if b.share(k) > 0 {
					sides[k].At = append(sides[k].At, [2]float64{b.share(k), middle})
				}
			}
			if b.n[0] > 0 && b.n[1] > 0 {
				p.Mark(plot.Line{Paint: plot.Muted, Points: [][2]float64{{b.share(0), middle}, {b.share(1), middle}}})
			}
		}
		p.Mark(plot.Points{Key: key[0], Paint: plot.First}, sides[1], sides[0])
	}
	return a
}

func (v *outputs) ratios(p *plot.Plot, all []mark) (a plot.Axis) {
	t, e, R := v.tested, v.epsilon, v.reach()
	begin, end := all[0].From, all[len(all)-1].To
	within := func(r float64) float64 { return max(-R, min(R, r)) }
	a = plot.Axis{Title: fmt.Sprintf("how many times likelier %s (above), %s (below)", v.People.Names[1], v.People.Names[0]), Short: "likelier on B (above), A (below)", Scale: plot.Scale{Lo: -R, Hi: R}, Ticks: []float64{0}}
	if v.outcomes {
		a.Title, a.Short = fmt.Sprintf("← %s · times likelier · %s →", v.People.Names[0], v.People.Names[1]), "← on A · on B →"
	}
	a.Words = func(r float64) string {
		return plot.If(r == 0, "equal", plot.If(math.Abs(r) == e, times(e), plot.Short(plot.Round(math.Exp(math.Abs(r)), 3)))+"×")
	}
	if v.corridor {
		a.Ticks, a.Bold = []float64{-e, e, 0}, func(r float64) bool { return math.Abs(r) == e }
		p.Marks = append([]plot.Mark{plot.Bars{Key: "more than " + v.claimWords() + " allows", Paint: plot.Forbid, Form: plot.KeyRegion, Boxes: []plot.Box{v.box(begin, end, -R, -e), v.box(begin, end, e, R)}}}, p.Marks...)
		p.Mark(plot.Rule{At: e, Upright: v.outcomes}, plot.Rule{At: -e, Upright: v.outcomes})
	}
	for _, far := range []float64{2, 5, 20, 10, 100, 50, 1000} {
		if r := math.Log(far); r < R {
			a.Ticks = append(a.Ticks, -r, r)
		}
	}
	seen, out := plot.Points{Radius: 3.6}, plot.Points{Form: plot.Diamond, Radius: 5.5}
	for i, m := range all {
		middle, r := m.middle(), m.ratio()
		if m.few() || t != nil && i == t.row && t.certain && t.bound > 0 {
			continue
		}
		of := plot.If(v.out(m), &out, &seen)
		if math.Abs(r) < R-0.02 {
			of.At = append(of.At, v.at(middle, r))
		} else {
			p.Mark(plot.Arrow{From: v.at(middle, within(r)*0.86), To: v.at(middle, within(r)*0.985)})
		}
		if i < len(v.marks) {
			p.Mark(plot.Line{Paint: plot.Text.At(0.8), Width: plot.If(v.out(m), 3.0, 1.8), Points: [][2]float64{v.at(middle, within(m.lower)), v.at(middle, within(m.upper))}})
		}
	}
	p.Mark(seen, out)
	if v.apart() && !v.outcomes {
		w := v.whole()
		if len(t.spans) > 0 {
			w = t.spans[0]
		}
		p.Items, p.Hit, p.Outline = [][2]float64{v.at((w.Lo+w.Hi)/2, within(plot.If(t.certain, t.sign*t.bound, t.ratio())))}, [2]float64{70, 16}, 12
	}
	if t == nil || !t.certain || !(t.bound > 0) {
		return a
	}
	bound := t.sign * t.bound
	note := plot.Note{Words: fmt.Sprintf("%s at least %s×", v.People.Names[likelierOn(t.sign)], timesDown(t.bound)), Bold: true, Must: true, Lit: t.lit, Box: true}
	for _, w := range t.spans {
		p.Mark(plot.Line{Width: 4.5, Points: [][2]float64{v.at(w.Lo, bound), v.at(w.Hi, bound)}})
		note.At = v.at(w.Hi, bound)
	}
	if v.outcomes {
		middle, ratio := float64(t.row)+0.5, within(all[t.row].ratio())
		p.Mark(plot.Line{Width: 4, Points: [][2]float64{v.at(middle, bound), v.at(middle, ratio)}},
			plot.Line{Width: 3, Points: [][2]float64{v.at(middle-0.3, bound), v.at(middle+0.3, bound)}}, plot.Points{Form: plot.Diamond, Radius: 7, At: [][2]float64{v.at(middle, ratio)}})
		note.At = v.at(middle, bound-t.sign*0.1)
	}
	if t.bound >= 0.1 {
		p.Mark(note)
	}
	return a
}

func (m mark) seenWords() string {
	r := m.seen()
	likelier := [2]string{"A", "B"}[likelierOn(r)]
	switch {
	case m.few():
		return "few"
	case math.IsInf(r, 0):
		return "only " + likelier
	case math.Abs(r) < math.Log(1.045):
		return "equal"
	}
	return likelier + " " + times(math.Abs(r)) + "×"
}

func percentWords(p float64) string {
	return strings.Replace(plot.Percent(plot.Round(p, 2)), "\u00a0", "\u202f", 1)
}
