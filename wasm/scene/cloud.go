package scene

import (
	"fmt"
	"math"

	"github.com/dpscope/dpscope/wasm/scene/plot"

	"github.com/dpscope/dpscope/core/membership"
)

// Cloud are scores of canaries as their runs come: a point for each canary of a run, by its
// score and by the mean score of the others of its run, which share the run's noise.
type Cloud struct {
	points []cloudPoint
	sides  [2]moments // inside, fresh
	runs   int
}

// cloudPoint is a canary of a run, both by numbers from 1.
type cloudPoint struct {
	at                [2]float64
	side, canary, run int
}

func (p cloudPoint) name() string {
	return fmt.Sprintf("%s %d of run %s", sideWords[p.side], p.canary, plot.Grouped(p.run))
}

// moments are means, and sums of products of the deviations from them.
type moments struct {
	n, xx, xy, yy float64
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

// Add takes runs that came.
func (c *Cloud) Add(s membership.Scored) {
	for n := s.K + s.M; s.K > 0 && s.M > 0 && len(s.Scores) >= n; s.Scores = s.Scores[n:] {
		s.First++
		c.add(s.First, s.K, s.Scores[:n])
	}
}

// add takes a run. Scores that are none, or beyond all pictures, are left out.
func (c *Cloud) add(run, inside int, scores []float64) {
	sum, n := 0.0, 0.0
	for _, x := range scores {
		if math.Abs(x) <= hugest {
			sum, n = sum+x, n+1
		}
	}
	if c.runs++; n < 2 {
		return
	}
	for i, x := range scores {
		if math.Abs(x) <= hugest {
			side := plot.If(i < inside, 0, 1)
			p := cloudPoint{[2]float64{x, (sum - x) / (n - 1)}, side, i + 1 - side*inside, run}
			c.points = append(c.points, p)
			c.sides[side].add(p.at)
		}
	}
}

// tilt is how much of the others' mean is taken off a score for what separates the sides best
// in this plane, Fisher's linear discriminant; 0 where the points do not say.
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

// along is where a point lies in the direction of a tilt.
func along(at [2]float64, tilt float64) float64 { return at[0] - float64(tilt*at[1]) }

// MostInStill is about how many points a picture has that stands still.
const MostInStill = 3000

// there reports whether there are points on both sides.
func (c *Cloud) there() bool { return c != nil && c.sides[0].n > 0 && c.sides[1].n > 0 }

// Says is how well the line tells the sides apart so far; nil without points on both sides.
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
	in, of := frequencies(share(beyond[0], int(c.sides[0].n)), share(beyond[1], int(c.sides[1].n)))
	return &plot.Said{Question: canaryQuestion, Sentence: fmt.Sprintf("So far %s of %s canaries that were in lie beyond the line, and %s of %s that were not.", in[0], of, in[1], of),
		Small: fmt.Sprintf("Seen in %s trainings. What certifies is counted elsewhere, or was bet on before it is shown.", plot.Grouped(c.runs))}
}

// frequencies are [inRuns] of which either may be the larger.
func frequencies(a, b float64) ([2]string, string) {
	in, of := inRuns(max(a, b), min(a, b))
	if a < b {
		in[0], in[1] = in[1], in[0]
	}
	return in, of
}

// view shows the runs so far, at most about so many points; nil without points on both sides.
func (c *Cloud) view(most int) *plot.View {
	if !c.there() {
		return nil
	}
	p := c.plot(math.NaN(), most)
	p.Said = *c.Says()
	return plot.View{ID: "space", Title: "Canary space"}.Always(p)
}

// NewLiveSpace is a still of the runs so far, nil where there are none.
func NewLiveSpace(c *Cloud) *plot.View { return c.view(MostInStill) }

// border is the tilt, and the place on its axis halfway between the sides.
func (c *Cloud) border() (tilt, at float64) {
	tilt = c.tilt()
	return tilt, (along(c.sides[0].mean, tilt) + along(c.sides[1].mean, tilt)) / 2
}

// plot shows the points and, below, how they are distributed along what separates them best.
// The threshold is NaN where none was chosen.
func (c *Cloud) plot(threshold float64, most int) plot.Plot {
	every := (len(c.points)-1)/most + 1 // of the runs that are drawn
	tilt, border := c.border()
	var reach [3][]float64 // score, others' mean, along
	widen := func(k int, v float64) {
		if r := reach[k]; r == nil {
			reach[k] = []float64{v, v}
		} else {
			r[0], r[1] = min(r[0], v), max(r[1], v)
		}
	}
	top := plot.Plot{Height: plot.Height{180, 0.36, 260}, Hit: [2]float64{14, 14}, Outline: 12}
	top.Items = make([][2]float64, 0, len(c.points)/every+1)
	drawn := make([]int, 0, len(c.points)/every+1)
	sides := [2][][2]float64{make([][2]float64, 0, int(c.sides[0].n)/every+1), make([][2]float64, 0, int(c.sides[1].n)/every+1)}
	for i, p := range c.points {
		widen(0, p.at[0])
		widen(1, p.at[1])
		widen(2, along(p.at, tilt))
		if p.run%every == 0 || every == 1 {
			drawn, top.Items, sides[p.side] = append(drawn, i), append(top.Items, p.at), append(sides[p.side], p.at)
		}
	}
	top.X = plot.Axis{Title: "score", Scale: spanOf(reach[0]...), Words: plot.Short, Zooms: true}
	top.Y = plot.Axis{Title: "mean score of the others of its run", Scale: spanOf(reach[1]...), Words: plot.Short, Zooms: true}
	many := math.Sqrt(float64(len(drawn)))
	radius, alpha := min(4, max(1.2, 60/many)), min(0.6, max(0.3, 25/many))
	const turns = 12 // in which sides are painted, so that none hides the other
	for turn := range turns {
		for side, at := range sides {
			paint, form := sideMark(side)
			top.Marks = append(top.Marks, plot.Points{Key: sideWords[side], Paint: paint.At(alpha), At: at[len(at)*turn/turns : len(at)*(turn+1)/turns], Form: form, Radius: radius})
		}
	}
	line := plot.Line{Key: "separates them best", Paint: plot.Ink(plot.Event)}
	for _, y := range []float64{top.Y.Lo, top.Y.Hi} {
		line.Points = append(line.Points, [2]float64{border + float64(tilt*y), y})
	}
	top.Marks = append(top.Marks, line)
	if !math.IsNaN(threshold) {
		top.Marks = append(top.Marks, plot.Rule{Key: "threshold of the audit (dashed)", Paint: plot.Ink(plot.Text), At: threshold, Upright: true})
	}

	below, rows := c.histogram(tilt, border, spanOf(reach[2]...))
	p := plot.Plot{Panels: []plot.Plot{top, below}, Numbers: rows}
	p.Caption = fmt.Sprintf("%s canaries of %s runs, a point each, by score and by the mean score of the others of its run. The line separates those inside best from fresh ones, and below is how they lie along that direction. The audit itself goes by the score alone.", plot.Grouped(len(c.points)), plot.Grouped(c.runs))
	if every > 1 {
		p.Caption += fmt.Sprintf(" Drawn: one run of %d.", every)
	}
	p.Name = func(i int) string {
		if i < len(drawn) {
			return c.points[drawn[i]].name()
		}
		return fmt.Sprint(rows.Rows[i-len(drawn)][0])
	}
	p.Tooltip = func(i int) string {
		if i >= len(drawn) {
			r := rows.Rows[i-len(drawn)]
			return fmt.Sprintf("%v: %d inside, %d fresh", r...)
		}
		q := c.points[drawn[i]]
		return fmt.Sprintf("%s: score %s; mean of the others of its run %s", q.name(), plot.Short(q.at[0]), plot.Short(q.at[1]))
	}
	return p
}

// histogram is how the points lie along a direction: inside upwards, fresh downwards.
func (c *Cloud) histogram(tilt, border float64, axis plot.Scale) (plot.Plot, plot.Numbers) {
	const bins = 48
	var counts [2][bins]int
	wide := (axis.Hi - axis.Lo) / bins
	for _, q := range c.points {
		counts[q.side][min(bins-1, max(0, int((along(q.at, tilt)-axis.Lo)/wide)))]++
	}
	title := "score"
	if b := plot.Round(math.Abs(tilt), 2); b > 0 {
		title += plot.If(tilt > 0, " − ", " + ") + plot.If(b == 1, "", plot.Short(b)+" × ") + "the others' mean"
	}
	p := plot.Plot{Height: plot.Px(92), X: plot.Axis{Title: title, Scale: axis, Words: plot.Short, Zooms: true}}
	n := plot.Numbers{Title: "Scores along that direction", Head: []string{title, sideWords[0], sideWords[1]}}
	highest := 0.0
	var bars [2]plot.Bars
	for i := range bins {
		from, to := axis.Lo+float64(float64(i)*wide), axis.Lo+float64(float64(i+1)*wide)
		for side := range bars {
			share := float64(counts[side][i]) / c.sides[side].n
			highest = max(highest, share)
			bars[side].Boxes = append(bars[side].Boxes, plot.Span(from, to, min(0, share*float64(-side)), max(0, share*float64(1-side))))
		}
		p.Items, p.Within = append(p.Items, [2]float64{(from + to) / 2, 0}), append(p.Within, plot.Span(from, to, -1, 1))
		n.Rows = append(n.Rows, []any{plot.Range{A: from, B: to}, counts[0][i], counts[1][i]})
	}
	p.Y = plot.Axis{Title: "share of the side in a bin: inside up, fresh down", Scale: plot.Scale{Lo: -1.05 * highest, Hi: 1.05 * highest}}
	for side := range bars {
		bars[side].Paint, _ = sideMark(side)
		p.Marks = append(p.Marks, bars[side])
		for i := range p.Within {
			p.Within[i].Y0, p.Within[i].Y1 = p.Y.Lo, p.Y.Hi
		}
	}
	p.Marks = append(p.Marks, plot.Line{Paint: plot.Ink(plot.Event), Points: [][2]float64{{border, p.Y.Lo}, {border, p.Y.Hi}}})
	return p, n
}
