package scene

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/core/membership"
	"github.com/dpscope/dpscope/wasm/scene/plot"
)

// Cloud are scores of canaries as their runs come: points by the score and by the mean score of the
// others of its run, which share its noise.
type Cloud struct {
	points []cloudPoint
	sides  [2]moments // inside, fresh
	runs   int
}

type cloudPoint struct {
	at                [2]float64
	side, canary, run int // the last two by numbers from 1
}

type moments struct {
	n, xx, xy, yy float64 // the last three: sums of products of deviations from the means
	mean          [2]float64
}

func (m *moments) add(at [2]float64) {
	m.n++
	dx, dy := at[0]-m.mean[0], at[1]-m.mean[1]
	m.mean[0] += dx / m.n
	m.mean[1] += dy / m.n
	m.xx += float64(dx * (at[0] - m.mean[0]))
	m.xy += float64(dx * (at[1] - m.mean[1]))
	m.yy += float64(dy * (at[1] - m.mean[1]))
}

// Add takes runs that came, but for scores that are none, or beyond all pictures.
func (c *Cloud) Add(s membership.Scored) {
	for all := s.K + s.M; s.K > 0 && s.M > 0 && len(s.Scores) >= all; s.Scores = s.Scores[all:] {
		sum, n := 0.0, 0.0
		for _, x := range s.Scores[:all] {
			if math.Abs(x) <= hugest {
				sum, n = sum+x, n+1
			}
		}
		s.First++
		if c.runs++; n < 2 {
			continue
		}
		for i, x := range s.Scores[:all] {
			if math.Abs(x) <= hugest {
				side := plot.If(i < s.K, 0, 1)
				p := cloudPoint{[2]float64{x, (sum - x) / (n - 1)}, side, i + 1 - side*s.K, s.First}
				c.points = append(c.points, p)
				c.sides[side].add(p.at)
			}
		}
	}
}

// tilt is how much of the others' mean is taken off a score for what separates the sides best
// (Fisher's linear discriminant); 0 where the points do not say.
func (c *Cloud) tilt() float64 {
	const most = 100
	in, out := c.sides[0], c.sides[1]
	dx, dy := in.mean[0]-out.mean[0], in.mean[1]-out.mean[1]
	xx, xy, yy := in.xx+out.xx, in.xy+out.xy, in.yy+out.yy
	x, y := float64(yy*dx)-float64(xy*dy), float64(xx*dy)-float64(xy*dx)
	if b := -y / x; x > 0 && math.Abs(b) <= most {
		return b
	}
	return 0
}

func along(at [2]float64, tilt float64) float64 { return at[0] - float64(tilt*at[1]) }

// MostInStill is about how many points a still picture has.
const MostInStill = 3000

func (c *Cloud) there() bool { return c != nil && c.sides[0].n > 0 && c.sides[1].n > 0 }

// Says is how well the line tells the sides apart so far; nil without points on both.
func (c Cloud) Says() *plot.Said {
	if !c.there() {
		return nil
	}
	tilt, border := c.border()
	var beyond [2]int
	for _, q := range c.points {
		if along(q.at, tilt) > border {
			beyond[q.side]++
		}
	}
	in, of := inRuns(share(beyond[0], int(c.sides[0].n)), share(beyond[1], int(c.sides[1].n)))
	return &plot.Said{Question: canaryQuestion, Sentence: fmt.Sprintf("So far %s of %s canaries that were in lie beyond the line, and %s of %s that were not.", in[0], of, in[1], of),
		Small: plot.Say("Seen in %s trainings. What certifies is counted elsewhere, or was bet on before it is shown.", c.runs)}
}

// view is nil without points on both sides. The threshold is NaN where none was chosen.
func (c *Cloud) view(threshold float64, most int, more string) *plot.View {
	if !c.there() {
		return nil
	}
	p := c.plot(threshold, most)
	p.Caption += " " + more
	return plot.View{ID: "space", Title: "Canary space"}.Always(p)
}

// Live shows the runs so far, at most about so many points; nil for none.
func (c *Cloud) Live(most int) *plot.View {
	v := c.view(math.NaN(), most, "Nothing here is certified.")
	if v != nil {
		v.Said = *c.Says()
	}
	return v
}

func (c *Cloud) border() (tilt, at float64) {
	tilt = c.tilt()
	return tilt, (along(c.sides[0].mean, tilt) + along(c.sides[1].mean, tilt)) / 2
}

func (c *Cloud) plot(threshold float64, most int) plot.Plot {
	const turns = 12                    // in which sides are painted, so that none hides the other
	every := (len(c.points)-1)/most + 1 // of the runs that are drawn
	tilt, border := c.border()
	reach := [3][2]float64{{math.Inf(1), math.Inf(-1)}, {math.Inf(1), math.Inf(-1)}, {math.Inf(1), math.Inf(-1)}} // of scores, the others' means, and along
	room := len(c.points)/every + 1
	drawn, at, sides := make([]int, 0, room), make([][2]float64, 0, room), [2][][2]float64{make([][2]float64, 0, room), make([][2]float64, 0, room)}
	for i, p := range c.points {
		for k, v := range [3]float64{p.at[0], p.at[1], along(p.at, tilt)} {
			reach[k] = [2]float64{min(reach[k][0], v), max(reach[k][1], v)}
		}
		if p.run%every == 0 || every == 1 {
			drawn, at, sides[p.side] = append(drawn, i), append(at, p.at), append(sides[p.side], p.at)
		}
	}
	top := plot.Plot{Height: plot.Height{180, 0.36, 260}, Hit: [2]float64{14, 14}, Outline: 12, Items: at}
	top.X = beyond("score", reach[0])
	top.Y = beyond("mean score of the others of its run", reach[1])
	many := math.Sqrt(float64(len(drawn)))
	radius, alpha := max(1.2, min(4, math.Round(60/many))), max(0.3, min(0.6, math.Round(250/many)/10)) // of few sorts
	for turn := range turns {
		for side, all := range sides {
			paint, form := plot.If(side == 0, plot.First, plot.Second), plot.If(side == 0, plot.Disc, plot.Square)
			top.Mark(plot.Points{Key: sideWords[side], Paint: paint.At(alpha), At: all[len(all)*turn/turns : len(all)*(turn+1)/turns], Form: form, Radius: radius})
		}
	}
	line := plot.Line{Key: "separates them best", Paint: plot.Event, Points: [][2]float64{{border + float64(tilt*top.Y.Lo), top.Y.Lo}, {border + float64(tilt*top.Y.Hi), top.Y.Hi}}}
	top.Mark(line)
	if math.Abs(threshold) <= hugest {
		top.Mark(plot.Rule{Key: "threshold of the audit (dashed)", At: threshold, Upright: true})
	}
	below := c.below(tilt, border, beyond("", reach[2]).Scale)
	p := plot.Plot{Panels: []plot.Plot{top, below}, Numbers: below.Numbers}
	p.Caption = plot.Say("%s canaries of %s runs, a point each, by score and by the mean score of the others of its run. The line separates those inside best from fresh ones, and below is how they lie along that direction. The audit itself goes by the score alone.", len(c.points), c.runs)
	if every > 1 {
		p.Caption += fmt.Sprintf(" Drawn: one run of %d.", every)
	}
	p.Tooltip = func(i int) string {
		if i >= len(drawn) {
			r := p.Rows[i-len(drawn)]
			return fmt.Sprintf("%v: %d inside, %d fresh", r[0], r[1], r[3])
		}
		q := c.points[drawn[i]]
		return fmt.Sprintf("%s %d of run %s: score %s; mean of the others of its run %s", sideWords[q.side], q.canary, plot.Grouped(q.run), plot.Short(q.at[0]), plot.Short(q.at[1]))
	}
	p.Name = p.Tooltip
	return p
}

func (c *Cloud) below(tilt, border float64, axis plot.Scale) plot.Plot {
	const bins = 48
	wide := (axis.Hi - axis.Lo) / bins
	edges := audit.Listed(bins-1, func(i int) float64 { return axis.Lo + float64(float64(i+1)*wide) })
	h := histogram{Histogram: membership.Histogram{Edges: edges, In: make([]int, bins), Out: make([]int, bins)}, in: int(c.sides[0].n), out: int(c.sides[1].n)}
	for _, q := range c.points {
		plot.If(q.side == 0, h.In, h.Out)[min(bins-1, max(0, int((along(q.at, tilt)-axis.Lo)/wide)))]++
	}
	p := h.plot("")
	p.Height, p.Numbers.Title, p.Y.Title = plot.Px(92), "Scores along that direction", "share of the side in a bin: inside up, fresh down"
	if b := plot.Round(math.Abs(tilt), 2); b > 0 {
		p.X.Title += plot.If(tilt > 0, " − ", " + ") + plot.If(b == 1, "", plot.Short(b)+" × ") + "the others' mean"
	}
	p.Mark(plot.Line{Paint: plot.Event, Points: [][2]float64{{border, p.Y.Lo}, {border, p.Y.Hi}}})
	return p
}

const hugest = 1e150

func cloudOf(p *membership.ScoreSample) *Cloud {
	if p == nil || len(p.In) != len(p.Out) {
		return nil
	}
	c := &Cloud{}
	for run, in := range p.In {
		absent, out := math.NaN(), p.Out[run]
		scores := audit.Each(slices.Concat(in, out), func(s *float64) float64 { return *cmp.Or(s, &absent) })
		c.Add(membership.Scored{First: run, K: len(in), M: len(out), Scores: scores})
	}
	return c
}

func beyond(title string, ends [2]float64) plot.Axis {
	pad := 0.06 * (ends[1] - ends[0])
	if !(pad > 0) {
		pad = max(0.5, 0.06*math.Abs(ends[1]))
	}
	return plot.Linear(title, ends[0]-pad, ends[1]+pad).Zooming()
}
