package scene

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/dpscope/dpscope/audit/stream/linalg"
	"github.com/dpscope/dpscope/core/membership"
)

// scoreSample are scores of exploration runs by canaries, those inside before the
// fresh ones.
type scoreSample struct {
	threshold  float64
	runs       int
	canaries   []portrayed
	inside     int // of the canaries
	matrix     [][]float64
	correlated int // runs
}

// portrayed is a place of a run. A score that is none is NaN.
type portrayed struct {
	side, number int // from 1
	scores       []float64
}

// hugest bounds scores that are drawn.
const hugest = 1e150

// newScoreSample is nil where there is nothing to draw.
func newScoreSample(p *membership.ScoreSample, threshold float64) *scoreSample {
	if p == nil || len(p.In) == 0 || len(p.In) != len(p.Out) || !(math.Abs(threshold) <= hugest) {
		return nil
	}
	v := &scoreSample{threshold: threshold, runs: len(p.In), inside: len(p.In[0])}
	finite := 0
	for side, rows := range [][][]*float64{p.In, p.Out} {
		n := len(rows[0])
		if n == 0 {
			return nil
		}
		for k := range n {
			c := portrayed{side: side, number: k + 1}
			for _, row := range rows {
				if len(row) != n {
					return nil
				}
				x := math.NaN()
				if s := row[k]; s != nil && math.Abs(*s) <= hugest {
					x = *s
					finite++
				}
				c.scores = append(c.scores, x)
			}
			v.canaries = append(v.canaries, c)
		}
	}
	if finite == 0 {
		return nil
	}
	v.takeMatrix(p)
	return v
}

// takeMatrix takes the correlations, if they are of these canaries.
func (v *scoreSample) takeMatrix(p *membership.ScoreSample) {
	n := len(v.canaries)
	if len(p.Correlations) != n || p.Correlated < 2 {
		return
	}
	matrix := make([][]float64, n)
	for i := range matrix {
		matrix[i] = make([]float64, n)
		matrix[i][i] = 1
	}
	for i, row := range p.Correlations {
		if len(row) != i {
			return
		}
		for k, r := range row {
			x := math.NaN()
			if r != nil && math.Abs(*r) <= 1 {
				x = *r
			}
			matrix[i][k], matrix[k][i] = x, x
		}
	}
	v.matrix, v.correlated = matrix, p.Correlated
}

// words name a canary.
func (c portrayed) words() string { return fmt.Sprintf("%s %d", sideWords[c.side], c.number) }

// figures are how many of its scores exceed a threshold, how many there are, their
// mean and their ends; NaN where there are none.
func (c portrayed) figures(threshold float64) (above, n int, mean, least, most float64) {
	least, most = math.Inf(1), math.Inf(-1)
	sum := 0.0
	for _, x := range c.scores {
		if math.IsNaN(x) {
			continue
		}
		n++
		sum += x
		least, most = min(least, x), max(most, x)
		if x > threshold {
			above++
		}
	}
	if n == 0 {
		return 0, 0, math.NaN(), math.NaN(), math.NaN()
	}
	return above, n, sum / float64(n), least, most
}

// sideMark is how a side is painted and marked.
func sideMark(side int) (Paint, Form) {
	if side == 0 {
		return Ink(First), Disc
	}
	return Ink(Second), Square
}

// sideKeys are the legend's samples of both sides.
func sideKeys(inside, fresh string) []key {
	return []key{{words: inside, paint: Ink(First), form: keyDot, mark: Disc}, {words: fresh, paint: Ink(Second), form: keyDot, mark: Square}}
}

// spanOf reaches a little beyond values.
func spanOf(values ...float64) Scale {
	lo, hi := math.Inf(1), math.Inf(-1)
	for _, x := range values {
		if !math.IsNaN(x) {
			lo, hi = min(lo, x), max(hi, x)
		}
	}
	pad := 0.06 * (hi - lo)
	if !(pad > 0) {
		pad = max(0.5, 0.06*math.Abs(hi))
	}
	return Scale{Lo: lo - pad, Hi: hi + pad}
}

// principal projects points, a row each, to their first two principal components,
// and returns the share of the variance that each holds; false where all points
// are the same. The mean of the first points, the given number, has no negative
// coordinate. It solves for the inner products of the points, of which there are
// few.
func principal(points [][]float64, first int) (at [][2]float64, share [2]float64, ok bool) {
	n := len(points)
	if n < 2 || len(points[0]) == 0 {
		return nil, share, false
	}
	most := 0.0
	centred := make([][]float64, n)
	for i := range centred {
		centred[i] = make([]float64, len(points[i]))
	}
	for j := range points[0] {
		mean := 0.0
		for _, p := range points {
			mean += p[j] / float64(n)
		}
		for i, p := range points {
			centred[i][j] = p[j] - mean
			most = max(most, math.Abs(centred[i][j]))
		}
	}
	if !(most > 0) {
		return nil, share, false
	}
	products := make([][]float64, n) // over as many coordinates, of what is at most 1
	trace := 0.0
	for i, p := range centred {
		products[i] = make([]float64, n)
		for k, q := range centred[:i+1] {
			for j := range p {
				products[i][k] += p[j] / most * (q[j] / most) / float64(len(p))
			}
			products[k][i] = products[i][k]
		}
		trace += products[i][i]
	}
	if !linalg.Rows(products, n) || !(trace > 0) {
		return nil, share, false
	}
	at = make([][2]float64, n)
	for c := range 2 {
		vector := products[c]
		value := math.Sqrt(linalg.Dot4(vector, vector)) // the eigenvalue
		if share[c] = value / trace; share[c] < 1e-12 { // rounding
			share[c] = 0
			continue
		}
		factor, sum := math.Sqrt(value*float64(len(points[0])))*most/value, 0.0
		for _, x := range vector[:first] {
			sum += x
		}
		if sum < 0 {
			factor = -factor
		}
		for i, x := range vector {
			at[i][c] = x * factor
		}
	}
	return at, share, true
}

// canaryPair are the explored runs in the plane of two canaries' scores: those
// inside, and the fresh ones of the same places.
type canaryPair struct {
	of   *scoreSample
	two  [2]int // numbers from 1
	most int    // numbers there are on both sides
	dots []pairDot
}

// pairDot is a run, by the scores of two canaries of a side.
type pairDot struct {
	run, side int
	at        [2]float64
}

// newCanaryPair is nil where a side has a single canary.
func newCanaryPair(p *scoreSample) *canaryPair {
	v := &canaryPair{of: p, most: min(p.inside, len(p.canaries)-p.inside)}
	if v.most < 2 {
		return nil
	}
	v.choose("")
	return v
}

func (v *canaryPair) view() *View {
	if v == nil {
		return nil
	}
	s := View{ID: "pair", Title: "Two canaries", ChoiceLabel: "Canaries"}
	for i := 1; i <= v.most; i++ {
		for k := i + 1; k <= v.most; k++ {
			s.Choices = append(s.Choices, Choice{fmt.Sprintf("%d-%d", i, k), fmt.Sprintf("%d and %d", i, k)})
		}
	}
	return s.of(v.plot)
}

func (v *canaryPair) choose(id string) {
	v.two = [2]int{1, 2}
	if a, b, ok := strings.Cut(id, "-"); ok {
		i, _ := strconv.Atoi(a)
		k, _ := strconv.Atoi(b)
		if 1 <= i && i < k && k <= v.most {
			v.two = [2]int{i, k}
		}
	}
	v.dots = nil
	for side := range 2 {
		a, b := v.scores(side, 0), v.scores(side, 1)
		for run := range v.of.runs {
			if !math.IsNaN(a[run]) && !math.IsNaN(b[run]) {
				v.dots = append(v.dots, pairDot{run, side, [2]float64{a[run], b[run]}})
			}
		}
	}
}

// scores are those of one of the two canaries of a side.
func (v *canaryPair) scores(side, which int) []float64 {
	return v.of.canaries[side*v.of.inside+v.two[which]-1].scores
}

// events are how many runs of a side have no, one and both canaries in the event.
func (v *canaryPair) events(side int) (of [3]int) {
	for _, d := range v.dots {
		if d.side == side {
			of[v.in(d)]++
		}
	}
	return of
}

// in is how many of its canaries are in the event.
func (v *canaryPair) in(d pairDot) int {
	n := 0
	for _, x := range d.at {
		if x > v.of.threshold {
			n++
		}
	}
	return n
}

func (v *canaryPair) caption() string {
	in, out := v.events(0), v.events(1)
	say := func(of [3]int, who string) string {
		n := of[0] + of[1] + of[2]
		return fmt.Sprintf("both %s were in the event in %s of %s runs, one of them in %s", who, Grouped(of[2]), Grouped(n), Grouped(of[1]))
	}
	return fmt.Sprintf("Canaries %d and %d of each of the first %s exploration runs, a dot a run and side. With a score above %s a canary is in the event: %s; %s. On these runs threshold and stakes were chosen; no certificate.",
		v.two[0], v.two[1], Grouped(v.of.runs), Short(v.of.threshold), say(in, "inside"), say(out, "fresh ones"))
}

func (v *canaryPair) tooltip(i int) string {
	d := v.dots[i]
	return fmt.Sprintf("run %d, %s: %d scores %s and %d scores %s; %s", d.run+1, sideWords[d.side], v.two[0], Short(d.at[0]), v.two[1], Short(d.at[1]),
		[]string{"neither is in the event", "one is in the event", "both are in the event"}[v.in(d)])
}

func (v *canaryPair) plot(choice string) Plot {
	v.choose(choice)
	p := Plot{Height: Height{260, 0.85, 480}, Framed: true, Caption: v.caption(), Hit: Point{18, 18}, Outline: 14, Tooltip: v.tooltip}
	p.Name = func(i int) string { return fmt.Sprintf("%d %d", v.dots[i].side, v.dots[i].run) }
	// The axes are alike for both canaries, whatever the pair, so that pairs can be compared.
	all := []float64{v.of.threshold}
	for _, c := range v.of.canaries {
		all = append(all, c.scores...)
	}
	var names [2]string
	for k, axis := range []*Axis{&p.X, &p.Y} {
		names[k] = fmt.Sprintf("canary %d", v.two[k])
		*axis = Axis{Title: "score of " + names[k], Scale: spanOf(all...), Words: Short, Zooms: true}
	}
	var points [2][][2]float64
	for _, d := range v.dots {
		p.Items, points[d.side] = append(p.Items, d.at), append(points[d.side], d.at)
	}
	for side, at := range points {
		paint, form := sideMark(side)
		p.Marks = append(p.Marks, Points{Key: fmt.Sprintf("%s %d and %d", sideWords[side], v.two[0], v.two[1]), Paint: paint.At(0.8), At: at, Form: form, Radius: 4})
	}
	p.Marks = append(p.Marks, Rule{Key: "threshold (dashed)", Paint: Ink(Event), At: v.of.threshold, Upright: true}, Rule{Paint: Ink(Event), At: v.of.threshold},
		Region{"both in the event", Box{v.of.threshold, p.X.Hi, v.of.threshold, p.Y.Hi}})
	p.Table = rows("Scores of two canaries, run by run", []string{"run", "side", names[0], names[1], "in the event"}, len(v.dots), func(fig Figures, i int) []string {
		d := v.dots[i]
		return []string{fmt.Sprint(d.run + 1), sideWords[d.side], fig.of(d.at[0]), fig.of(d.at[1]), fmt.Sprint(v.in(d))}
	})
	return p
}
