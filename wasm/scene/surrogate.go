package scene

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"sort"
	"strconv"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/core/pair"
)

// Surrogate shows what a finder's model of the trials' values came to, along one
// parameter of the search space at a time.
//
// The upright axis is that of the model's scores; its words are the values that the
// scores stand for.
type Surrogate struct {
	still
	model    audit.SurrogateModel
	trials   []pair.TrialNote // that the model was fitted to
	knots    []knot
	quantity string
	claimed  float64

	slice audit.SurrogateSlice
	on    []int // trials that lie along the slice
}

// knot is a trial's score, and its value.
type knot struct{ score, value float64 }

// NewSurrogate is nil where there is no model that can be shown.
func NewSurrogate(m *audit.SurrogateModel, trials []pair.TrialNote, quantity string, claimed float64) *Surrogate {
	if m == nil || len(m.Trials) == 0 || len(m.Scores) != len(m.Trials) || !finite(m.Scores) {
		return nil
	}
	v := &Surrogate{still: still{id: "surrogate", title: "Surrogate", across: true, up: true, label: "Along"}, model: *m, quantity: quantity, claimed: claimed}
	for i, t := range m.Trials {
		if t < 0 || t >= len(trials) {
			return nil
		}
		v.trials = append(v.trials, trials[t])
		v.knots = append(v.knots, knot{m.Scores[i], trials[t].Value})
	}
	sort.Slice(v.knots, func(i, j int) bool {
		a, b := v.knots[i], v.knots[j]
		return cmp.Or(cmp.Compare(a.score, b.score), cmp.Compare(b.value, a.value)) < 0
	})
	v.knots = slices.CompactFunc(v.knots, func(a, b knot) bool { return a.score == b.score })
	v.model.Slices = nil
	for _, s := range m.Slices {
		if soundSlice(s, len(m.Trials)) {
			v.choices = append(v.choices, Choice{strconv.Itoa(len(v.model.Slices)), s.Parameter})
			v.model.Slices = append(v.model.Slices, s)
		}
	}
	if len(v.model.Slices) == 0 {
		return nil
	}
	v.Choose("")
	return v
}

// finite reports whether numbers can be drawn.
func finite(all []float64) bool {
	return !slices.ContainsFunc(all, func(x float64) bool { return math.IsNaN(x) || math.Abs(x) > 1e100 })
}

// sound reports whether a slice's lists fit together and can be drawn.
func soundSlice(s audit.SurrogateSlice, trials int) bool {
	n := len(s.Positions)
	if n < 2 || len(s.Mean) != n || len(s.SD) != n || len(s.At) != trials || len(s.Near) != trials {
		return false
	}
	for _, list := range [][]float64{s.Positions, s.Mean, s.SD, s.At, s.Near} {
		if !finite(list) {
			return false
		}
	}
	for i := 1; i < n; i++ {
		if !(s.Positions[i] > s.Positions[i-1]) {
			return false
		}
	}
	return slices.Min(s.SD) >= 0
}

func (v *Surrogate) Choose(id string) {
	k, err := strconv.Atoi(id)
	if err != nil || k < 0 || k >= len(v.model.Slices) {
		k = 0
	}
	v.slice, v.on = v.model.Slices[k], nil
	for i, near := range v.slice.Near {
		if near > 0 {
			v.on = append(v.on, i)
		}
	}
}

func (v *Surrogate) Words() string {
	words := fmt.Sprintf("What the finder’s model (%s) expected after %s trials, along one parameter, all others as in pair %d. It sees the trials’ ranks, not their values: the upright axis is spaced by rank and named by value, and how loud a pair beyond the loudest would be it cannot say. The search tries pairs where the mean and %s standard deviations together are largest. The model steers the search; it certifies nothing.",
		v.model.Model, Grouped(len(v.trials)), v.model.Through+1, Short(v.model.SqrtBeta))
	if v.claimed > v.loudest().value {
		words += fmt.Sprintf(" No trial came up to what is claimed (%s).", Short(v.claimed))
	}
	if left := len(v.trials) - len(v.on); left > 0 {
		words += fmt.Sprintf(" Pairs that lie nowhere along it: %s.", Grouped(left))
	}
	return words
}

// value is what a score stands for; beyond the trials that of the last.
func (v *Surrogate) value(score float64) float64 {
	k, _ := slices.BinarySearchFunc(v.knots, score, func(a knot, s float64) int { return cmp.Compare(a.score, s) })
	if k == 0 || k == len(v.knots) {
		return v.knots[max(k-1, 0)].value
	}
	a, b := v.knots[k-1], v.knots[k]
	t := (score - a.score) / (b.score - a.score)
	if a.value < audit.Silence {
		t = math.Floor(t + 0.5)
	}
	return a.value*(1-t) + b.value*t
}

// score is where a value lies, and whether it is among those of the trials.
func (v *Surrogate) score(value float64) (float64, bool) {
	for i := 1; i < len(v.knots); i++ {
		if a, b := v.knots[i-1], v.knots[i]; a.value < value && value <= b.value {
			t := (value - a.value) / (b.value - a.value)
			if a.value < audit.Silence {
				t = 0.5
			}
			return a.score*(1-t) + b.score*t, true
		}
	}
	return 0, false
}

func (v *Surrogate) loudest() knot { return v.knots[len(v.knots)-1] }

// words are the value at a score; "above ..." beyond the loudest trial.
func (v *Surrogate) words(score float64) string {
	return v.beyond(score, valueWords(v.value(score)))
}

func (v *Surrogate) beyond(score float64, words string) string {
	switch {
	case score > v.loudest().score:
		return "above " + words
	case score < v.knots[0].score:
		return "below " + words
	}
	return words
}

// Items are the slice's positions, then the trials on its axis.
func (v *Surrogate) item(i int) (position, trial int) {
	if n := len(v.slice.Positions); i >= n {
		return -1, v.on[i-n]
	}
	return i, -1
}

func (v *Surrogate) Name(i int) string {
	if p, t := v.item(i); t >= 0 {
		return fmt.Sprintf("trial %d", v.trials[t].Trial)
	} else {
		return fmt.Sprintf("%v", v.slice.Positions[p])
	}
}

func (v *Surrogate) Reading(i int) string {
	p, k := v.item(i)
	if k >= 0 {
		t := v.trials[k]
		words := fmt.Sprintf("pair %d at %s: %s, a correlation of %s with the slice there", t.Trial+1, Short(round(v.slice.At[k], 4)), shown(t, v.quantity), Short(round(v.slice.Near[k], 2)))
		if t.Chosen {
			words += "; chosen"
		}
		return words
	}
	m, d := v.slice.Mean[p], v.slice.SD[p]
	return fmt.Sprintf("%s %s: expected %s %s; ± 1 standard deviation %s to %s; ± 2 %s to %s", v.slice.Parameter, Short(round(v.slice.Positions[p], 4)), v.quantity, v.words(m), v.words(m-d), v.words(m+d), v.words(m-2*d), v.words(m+2*d))
}

func (v *Surrogate) Facts(fig Figures) Table {
	f := Table{Title: "The model along: " + v.slice.Parameter, Head: []string{"what", "at", "value", "less 1 sd", "plus 1 sd", "less 2 sd", "plus 2 sd", "score", "sd of score", "correlation"}}
	cell := func(score float64) string { return v.beyond(score, fig.of(v.value(score))) }
	for i, x := range v.slice.Positions {
		m, d := v.slice.Mean[i], v.slice.SD[i]
		f.Rows = append(f.Rows, []string{"expected", fig.of(x), cell(m), cell(m - d), cell(m + d), cell(m - 2*d), cell(m + 2*d), fig.of(m), fig.of(d), ""})
	}
	for _, k := range v.on {
		f.Rows = append(f.Rows, []string{fmt.Sprintf("pair %d", v.trials[k].Trial+1), fig.of(v.slice.At[k]), fig.of(v.trials[k].Value), "", "", "", "", fig.of(v.model.Scores[k]), "", fig.of(v.slice.Near[k])})
	}
	return f
}

// along is where a position lies on the level axis's scale.
func (v *Surrogate) along(position float64) float64 {
	if v.slice.Geometric {
		return max(1, position-v.slice.Positions[0]+1)
	}
	return position
}

func (v *Surrogate) scales() (x, y Scale) {
	p := v.slice.Positions
	lo, hi := p[0], p[len(p)-1]
	for _, k := range v.on {
		lo, hi = min(lo, v.slice.At[k]), max(hi, v.slice.At[k])
	}
	lo, hi = v.along(lo), v.along(hi)
	x = Scale{Lo: lo, Hi: hi, Log: v.slice.Geometric}
	pad := 0.03
	if x.Log {
		x.Lo, x.Hi = lo*math.Pow(hi/lo, -pad), hi*math.Pow(hi/lo, pad)
	} else {
		x.Lo, x.Hi = lo-pad*(hi-lo), hi+pad*(hi-lo)
	}
	least, most := v.knots[0].score, v.loudest().score
	for i, m := range v.slice.Mean {
		least, most = min(least, m-2*v.slice.SD[i]), max(most, m+2*v.slice.SD[i])
	}
	margin := 0.05 * max(most-least, 1e-6)
	return x, Scale{Lo: least - margin, Hi: most + margin}
}

func (v *Surrogate) Place(i int) (px, py float64) {
	x, y := v.scales()
	x.From, x.To, y.From, y.To = 0, 1, 1, 0
	p, k := v.item(i)
	if k >= 0 {
		return x.At(v.along(v.slice.At[k])), y.At(v.model.Scores[k])
	}
	return x.At(v.along(v.slice.Positions[p])), y.At(v.slice.Mean[p])
}

// Classes of a trial by how near it lies: the nearer the larger its mark.
var nearness = []struct {
	least, radius float64
	words         string
}{{0.9, 5, "trial near the slice"}, {0.6, 3.5, ""}, {0, 2.5, "far from it"}}

func nearPaint(near float64) Paint { return Between(Muted, Second, near*near*near) }

func (v *Surrogate) Layout(f Frame) *Scene {
	s := f.scene(0)
	items := []key{{words: "expected (mean)", paint: Ink(First), form: keyLine}, {words: "± 1 and ± 2 standard deviations", paint: Ink(First), form: keyBand}}
	for _, c := range nearness {
		if c.words != "" {
			items = append(items, key{words: c.words, paint: nearPaint(c.least * 1.1), form: keyDot, mark: Disc, radius: c.radius})
		}
	}
	items = append(items, key{words: "chosen", paint: Ink(Text), form: keyDot, mark: Ring})
	claimAt, within := v.score(v.claimed)
	if within {
		items = append(items, key{words: "claimed (dashed)", paint: Ink(Text), form: keyDash})
	}
	items = append(items, key{words: "louder than any trial", paint: Ink(Panel), form: keyRegion})
	top := s.legend(items, 4) + 22
	height := min(400, max(240, f.Width*0.5))
	s.Height = top + height + 44
	x, y := v.scales()
	y.From, y.To = top+height, top
	y = y.Zoomed(Window{1 - f.Camera.Y.Hi, 1 - f.Camera.Y.Lo})
	levels, names := v.levels(y)
	x.From, x.To = 12, f.Width-14
	for _, name := range names {
		x.From = max(x.From, s.wide(name)+12)
	}
	x = x.Zoomed(f.Camera.X)
	box := Rect{x.From, top, x.To - x.From, height}
	s.Plot = box
	clip := around(box, 6)
	title := v.quantity + ", spaced by the trials’ ranks"
	if s.wide(title) > f.Width {
		title = clipWords(s, v.quantity, f.Width-10)
	}
	s.label(0, top-9, title, Start, Muted)
	v.band(s, x, y, box)
	if edge := min(y.At(v.loudest().score), box.Bottom()); edge > box.Y {
		beyond := Rect{box.X, box.Y, box.W, edge - box.Y}
		s.hatch(beyond, Ink(Hatch).At(0.7), beyond)
	}
	for i, level := range levels {
		s.line(box.X, y.At(level), box.Right(), y.At(level), 1, Ink(Line), Rect{})
		s.label(box.X-6, y.At(level)+4, names[i], End, Muted)
	}
	v.mean(s, x, y, box)
	v.level(s, x, box)
	if within {
		s.dash([]Point{{box.X, y.At(claimAt)}, {box.Right(), y.At(claimAt)}}, 1.5, Ink(Text), box)
	}
	v.dots(s, x, y, clip)
	return s
}

// levels are about six scores of the upright axis, as far apart as room allows, and
// the values that they stand for.
func (v *Surrogate) levels(y Scale) (scores []float64, names []string) {
	lo, hi := max(y.Lo, v.knots[0].score), min(y.Hi, v.loudest().score)
	const n = 6
	if !(hi > lo) {
		return nil, nil
	}
	for k := range n {
		scores = append(scores, lo+(hi-lo)*float64(k)/(n-1))
	}
	if math.Abs(y.At(lo)-y.At(hi)) < 16*n {
		scores = []float64{lo, hi}
	}
	if math.Abs(y.At(lo)-y.At(hi)) < 16 {
		scores = []float64{hi}
	}
	for _, figures := range []int{3, 4} {
		names = nil
		for _, score := range scores {
			name := "nothing"
			if value := v.value(score); value >= audit.Silence {
				name = Short(round(value, figures))
			}
			names = append(names, name)
		}
		if len(slices.Compact(slices.Clone(names))) == len(names) {
			break // told apart
		}
	}
	return scores, names
}

// level draws the level axis.
func (v *Surrogate) level(s *Scene, x Scale, box Rect) {
	s.line(box.X, box.Bottom(), box.Right(), box.Bottom(), 1, Ink(Axis), Rect{})
	whole := !slices.ContainsFunc(v.slice.Positions, func(p float64) bool { return p != math.Round(p) })
	var marks []float64
	n := int(max(2, box.W/56))
	switch p := v.slice.Positions; {
	case v.slice.Geometric || whole && len(p) <= max(n, 8):
		marks = p
	default:
		for _, m := range x.Marks(n) {
			if m >= p[0] && m <= p[len(p)-1] && (!whole || m == math.Round(m)) {
				marks = append(marks, m)
			}
		}
	}
	// Words that have no room are left out, beginning at the lower end.
	end := math.Inf(-1)
	for _, m := range marks {
		at := x.At(v.along(m))
		if at < box.X-0.5 || at > box.Right()+0.5 {
			continue
		}
		s.line(at, box.Bottom(), at, box.Bottom()+4, 1, Ink(Axis), Rect{})
		words := Short(m)
		if half := s.wide(words) / 2; at-half > end && at+half < s.Width+10 {
			s.label(at, box.Bottom()+18, words, Middle, Muted)
			end = at + half + 6
		}
	}
	words := v.slice.Parameter
	if s.wide(words)*1.1 > s.Width {
		words = clipWords(s, words, s.Width-10)
	}
	middle := min(max((box.X+box.Right())/2, s.wide(words)/2), s.Width-s.wide(words)/2)
	s.label(middle, box.Bottom()+37, words, Middle, Muted)
}

// line is the mean and so many standard deviations.
func (v *Surrogate) line(x, y Scale, deviations float64) []Point {
	var out []Point
	for i, p := range v.slice.Positions {
		out = append(out, Point{x.At(v.along(p)), y.At(v.slice.Mean[i] + deviations*v.slice.SD[i])})
	}
	return out
}

// band paints what lies within two and within one standard deviation. Paints are
// opaque: the quarters that it is made of overlap by a soft edge.
func (v *Surrogate) band(s *Scene, x, y Scale, box Rect) {
	for _, d := range []float64{2, 1} {
		up, low := v.line(x, y, d), v.line(x, y, -d)
		for i := 1; i < len(up); i++ {
			s.add(Shape{Kind: Fill, Points: []Point{up[i-1], up[i], low[i], low[i-1]}, Paint: Between(Panel, First, 0.4-0.14*d), Clip: box})
		}
	}
}

// mean draws the mean and the bands' edges, so that they are told apart without
// colour.
func (v *Surrogate) mean(s *Scene, x, y Scale, box Rect) {
	edge := Between(Panel, First, 0.65)
	for _, sign := range []float64{1, -1} {
		s.add(Shape{Kind: Stroke, Points: v.line(x, y, sign), Width: 1, Paint: edge, Clip: box})
		s.add(Shape{Kind: Segments, Points: dashed(v.line(x, y, 2*sign), 3, 3), Width: 1, Paint: edge, Clip: box})
	}
	mean := v.line(x, y, 0)
	s.add(Shape{Kind: Stroke, Points: mean, Width: 2, Paint: Ink(First), Clip: box})
	for i, p := range mean {
		from, to := box.X, box.Right()
		if i > 0 {
			from = (mean[i-1].X + p.X) / 2
		}
		if i+1 < len(mean) {
			to = (p.X + mean[i+1].X) / 2
		}
		// Its middle is the mean, so that it does not stand before a trial's dot.
		half := max(p.Y-box.Y, box.Bottom()-p.Y)
		s.Items = append(s.Items, Item{Box: Rect{from, p.Y - half, to - from, 2 * half}, Mark: intersect(Rect{p.X - 1.5, box.Y, 3, box.H}, box)})
	}
}

// dots draws the trials that lie on the axis, the farthest first.
func (v *Surrogate) dots(s *Scene, x, y Scale, clip Rect) {
	at := func(k int) Point { return Point{x.At(v.along(v.slice.At[k])), y.At(v.model.Scores[k])} }
	far := slices.Clone(v.on)
	slices.SortStableFunc(far, func(a, b int) int { return cmp.Compare(v.slice.Near[a], v.slice.Near[b]) })
	for c := len(nearness) - 1; c >= 0; c-- {
		d := Shape{Kind: Dots, Form: Disc, Radius: nearness[c].radius, Paint: Ink(Second), Clip: clip}
		for _, k := range far {
			near := v.slice.Near[k]
			if near >= nearness[c].least && (c == 0 || near < nearness[c-1].least) {
				d.Points, d.Paints = append(d.Points, at(k)), append(d.Paints, nearPaint(near))
			}
		}
		s.add(d)
	}
	for _, k := range v.on {
		p := at(k)
		if v.trials[k].Chosen {
			s.add(Shape{Kind: Dots, Form: Ring, Radius: 9, Points: []Point{p}, Paint: Ink(Text), Clip: clip})
		}
		s.Items = append(s.Items, Item{Box: Rect{p.X - 9, p.Y - 9, 18, 18}, Mark: intersect(Rect{p.X - 8, p.Y - 8, 16, 16}, clip)})
	}
}
