package scene

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"sort"

	"strings"

	"github.com/dpscope/dpscope/core/report"
)

// canaryBounds are what every interval makes of the same counts.
type canaryBounds struct {
	claimed float64
	bars    []bar
}

// bar is a row.
type bar struct {
	words  string
	bound  float64
	valid  bool
	chosen bool
}

func newCanaryBounds(r *CanaryReport) *canaryBounds {
	v := &canaryBounds{claimed: r.Claim.Epsilon}
	for _, row := range report.Report(r.head).Rows(report.Bounds) {
		if row.LowerBound != nil {
			v.bars = append(v.bars, bar{words: string(row.Method), bound: *row.LowerBound, valid: row.Valid, chosen: row.Chosen})
		}
	}
	if len(v.bars) == 0 {
		return nil
	}
	return v
}

func (v *canaryBounds) view() *View {
	if v == nil {
		return nil
	}
	p := Plot{Caption: v.caption(), Tooltip: v.tooltip, Name: func(i int) string { return v.bars[i].words }, Draw: v.draw}
	p.Table = rows("Bounds", []string{"interval", "bound", "kind"}, len(v.bars), func(fig Figures, i int) []string {
		b := v.bars[i]
		return []string{b.words, fig.of(b.bound), choose(b.valid, "valid", "asymptotic, or by an assumption") + choose(b.chosen, ", the audit's own", "")}
	})
	return View{ID: "intervals", Title: "Bounds"}.of(func(string) Plot { return p })
}

func (v *canaryBounds) caption() string {
	return fmt.Sprintf("Lower bounds on epsilon from the same canaries; claimed: %s. Each that is valid holds with the report's confidence, the largest of them does not, unless it was named before.", Short(v.claimed))
}

func (v *canaryBounds) tooltip(i int) string {
	b := v.bars[i]
	words := fmt.Sprintf("%s: epsilon ≥ %s", b.words, Short(floor(b.bound, 4)))
	switch {
	case b.chosen:
		words += ", the audit's own"
	case !b.valid:
		words += ", asymptotic or by an assumption only"
	}
	if b.bound > v.claimed {
		words += "; more than is claimed"
	}
	return words
}

func (v *canaryBounds) draw(f Frame) *Scene {
	s := f.scene(0)
	items := []key{{words: "valid", paint: Ink(First), form: keyDot, mark: Disc}, {words: "asymptotic, or by an assumption", paint: Ink(Muted), form: keyDot, mark: Ring},
		{words: "claimed (dashed)", paint: Ink(Text), form: keyDash}}
	top := s.legend(items, 4) + 20
	narrow := f.Width < 560
	pitch, left := 28.0, 0.0
	if narrow {
		pitch, left = 40, 8
	} else {
		for _, b := range v.bars {
			left = max(left, s.wide(b.words)*1.1)
		}
		left = min(left, 0.42*f.Width) + 18
	}
	height := pitch * float64(len(v.bars))
	s.Height = top + height + 44
	least, most := 0.0, v.claimed
	for _, b := range v.bars {
		least, most = min(least, b.bound), max(most, b.bound)
	}
	least = max(least, -most) // far below 0 a bound says nothing
	pad := 0.06 * (most - least)
	x := Scale{Lo: least - pad, Hi: most + pad, From: left, To: f.Width - 14}
	if !(x.Hi > x.Lo) {
		x.Hi = x.Lo + 1
	}
	box := Rect{left, top, x.To - x.From, height}
	s.Plot = Rect{0, top, f.Width, height}
	marks := x.Marks(int(max(2, box.W/70)))
	for _, m := range marks {
		s.line(x.At(m), top, x.At(m), top+height, 1, atZero(m), Rect{})
	}
	s.ticksUnder(x, marks, top+height, Short, left-12, f.Width)
	s.label((x.From+x.To)/2, top+height+37, "epsilon", Middle, Muted)
	s.dash([]Point{{x.At(v.claimed), top}, {x.At(v.claimed), top + height}}, 1.5, Ink(Text), Rect{})
	at := func(v float64) float64 { return x.At(math.Max(v, x.Lo)) }
	for i, b := range v.bars {
		y := top + float64(i)*pitch
		row := Rect{0, y, f.Width, pitch}
		s.Items = append(s.Items, Item{Box: row, Mark: row})
		middle := y + pitch/2
		l := Label{X: left - 10, Y: middle + 4, Words: b.words, Align: End, Role: Text, Size: textSize, Bold: b.chosen}
		if narrow {
			middle += 8
			l.X, l.Y, l.Align = 2, y+14, Start
		}
		s.Labels = append(s.Labels, l)
		form, paint := Disc, Ink(First)
		if !b.valid {
			form, paint = Ring, Ink(Muted)
		}
		if b.chosen {
			paint = Ink(Event)
		}
		s.line(x.At(max(0, x.Lo)), middle, at(b.bound), middle, 1, paint.At(0.5), Rect{})
		s.add(Shape{Kind: Dots, Form: form, Radius: 5, Points: []Point{{at(b.bound), middle}}, Paint: paint})
	}
	return s
}

// CanaryCourse are the bounds of a canary audit over the number of runs, as they
// came: each as if the audit had been planned to end there.
type CanaryCourse struct {
	Points    []CanaryMoment `json:"points"`
	Planned   int            `json:"planned"` // certification runs
	Claimed   float64        `json:"claimed"`
	Chosen    string         `json:"chosen"` // the audit's own interval
	Intervals []struct {
		Name   string `json:"name"`
		Letter string `json:"letter"`
		Valid  bool   `json:"valid"`
	} `json:"intervals"` // all that there are
}

// CanaryMoment are the bounds after so many runs.
type CanaryMoment struct {
	Runs   int `json:"runs"`
	Bounds []struct {
		Interval string  `json:"interval"`
		Epsilon  float64 `json:"epsilon"`
	} `json:"bounds"`
}

// canaryLine is an interval with a bound somewhere.
type canaryLine struct {
	name, letter string
	own, valid   bool
	at           []int // of Points
	epsilon      []float64
}

// canaryCourse is a course's lines.
type canaryCourse struct {
	*CanaryCourse
	lines  []canaryLine
	lifted []canaryLine // those that end above 0, by their ends
}

// NewCanariesOverRuns shows a line for every interval, told apart by letters at their ends,
// by weight and by dashes; nil where there are no bounds.
func NewCanariesOverRuns(c *CanaryCourse) *View {
	v := canaryCourse{CanaryCourse: c}
	for _, i := range c.Intervals {
		l := canaryLine{name: i.Name, letter: i.Letter, valid: i.Valid, own: i.Name == c.Chosen}
		for at, p := range c.Points {
			for _, b := range p.Bounds {
				if b.Interval == l.name {
					l.at, l.epsilon = append(l.at, at), append(l.epsilon, b.Epsilon)
				}
			}
		}
		if len(l.at) > 0 {
			v.lines = append(v.lines, l)
		}
	}
	if len(v.lines) == 0 {
		return nil
	}
	for _, l := range v.lines {
		if l.last() > 0 {
			v.lifted = append(v.lifted, l)
		}
	}
	sort.SliceStable(v.lifted, func(i, j int) bool { return cmp.Less(v.lifted[j].last(), v.lifted[i].last()) })
	return View{ID: "bounds", Title: "Bounds on epsilon over the number of runs"}.of(v.plot)
}

func (l canaryLine) words() string { return l.letter + " " + l.name }

func (l canaryLine) last() float64 { return l.epsilon[len(l.epsilon)-1] }

func (v canaryCourse) caption() string {
	var none []string
	for _, i := range v.Intervals {
		if !slices.ContainsFunc(v.lifted, func(l canaryLine) bool { return l.name == i.Name }) {
			none = append(none, i.Letter+" "+i.Name)
		}
	}
	if len(none) == 0 {
		return ""
	}
	return "Nothing above 0: " + strings.Join(none, ", ") + "."
}

func (v canaryCourse) tooltip(i int) string {
	l := v.lifted[i]
	return fmt.Sprintf("%s: %s after %s runs", l.words(), ShortDown(l.last()), Grouped(v.Points[l.at[len(l.at)-1]].Runs))
}

func (v canaryCourse) plot(string) Plot {
	p := Plot{Height: Height{270, 0, 270}, Right: 20, Caption: v.caption(), Tooltip: v.tooltip}
	most, own, head := v.Claimed, Line{Key: "the audit's own", Paint: Ink(First), Width: 3.2}, []string{"runs"}
	var lines, points []Mark
	for _, l := range v.lines {
		most, head = max(most, slices.Max(l.epsilon)), append(head, l.words())
		line := Line{Width: 1.6, Paint: l.ink(), Dash: !l.valid}
		for k, at := range l.at {
			line.Points = append(line.Points, [2]float64{float64(v.Points[at].Runs), max(0, l.epsilon[k])})
		}
		if len(l.at) == 1 {
			points = append(points, Points{At: line.Points, Radius: 3, Paint: line.Paint})
		}
		if l.own {
			own.Key, own.Points = l.letter+", "+l.name+": the audit's own", line.Points
		} else {
			lines = append([]Mark{line}, lines...)
		}
	}
	p.Marks = append([]Mark{own, Line{Key: "others that hold at every number of runs", Paint: Ink(Muted)}, Line{Key: "asymptotic only (dashed)", Paint: Ink(Second), Dash: true}}, lines...)
	p.Marks = append(append(p.Marks, Rule{Key: "claimed (dashed)", Paint: Ink(Text), At: v.Claimed}), points...)
	p.Marks = append(p.Marks, Drawn(v.letters))
	end := most * 1.08
	for _, e := range []float64{100, 50, 30, 20, 15, 10, 8, 6, 5, 4, 3, 2.5, 2, 1.5, 1, 0.5} { // so that it seldom jumps
		if e >= most*1.08 {
			end = e
		}
	}
	p.X = Axis{Title: "certification runs", Scale: Scale{Hi: float64(max(1, v.Planned))}, Words: func(v float64) string { return Grouped(int(math.Round(v))) }}
	p.Y = Axis{Title: "lower bound on epsilon, had the audit been planned to end there", Short: "lower bound on epsilon, if planned to end there", Scale: Scale{Hi: end}, Words: Short}
	p.Table = rows("The bounds", head, len(v.Points), func(fig Figures, at int) []string {
		row := []string{fmt.Sprint(v.Points[at].Runs)}
		for _, l := range v.lines {
			cell := "–"
			if k := slices.Index(l.at, at); k >= 0 {
				cell = fig.down(l.epsilon[k])
			}
			row = append(row, cell)
		}
		return row
	})
	return p
}

// letters name the lines at their ends, apart from one another.
func (v canaryCourse) letters(c canvas) {
	const apart = 13 // px between two
	ends, places, last := make([]Point, len(v.lifted)), make([]float64, len(v.lifted)), 0.0
	for _, l := range v.lines {
		last = max(last, c.x.At(v.end(l)[0]))
	}
	for i, l := range v.lifted {
		ends[i] = c.at(v.end(l))
		places[i] = ends[i].Y
		if i > 0 {
			places[i] = max(places[i], places[i-1]+apart)
		}
	}
	floor := c.box.Bottom()
	for i := len(places) - 1; i >= 0; i-- {
		places[i] = min(places[i], floor)
		floor = places[i] - apart
	}
	for i, l := range v.lifted {
		c.line(ends[i].X, ends[i].Y, last+12, places[i], 0.8, Ink(AxisLine), Rect{})
		c.label(last+15, places[i]+4, l.letter, Start, l.ink().Role).Bold = l.own
		r := Rect{last + 10, places[i] - 7, 20, 14}
		c.Items = append(c.Items, Item{Box: r, Mark: r})
	}
}

// end is where a line ends, in values.
func (v canaryCourse) end(l canaryLine) [2]float64 {
	return [2]float64{float64(v.Points[l.at[len(l.at)-1]].Runs), l.last()}
}

// ink is how a line is painted.
func (l canaryLine) ink() Paint {
	return Ink(choose(l.own, First, choose(l.valid, Muted, Second)))
}
