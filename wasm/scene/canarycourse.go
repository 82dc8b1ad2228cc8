package scene

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
)

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

// CanariesOverRuns shows them, a line an interval, told apart by letters at their
// ends, by weight and by dashes.
type CanariesOverRuns struct {
	still
	CanaryCourse
	lines  []canaryLine
	lifted []canaryLine // those that end above 0, by their ends
}

// canaryLine is an interval with a bound somewhere.
type canaryLine struct {
	name, letter string
	own, valid   bool
	at           []int // of Points
	epsilon      []float64
}

// NewCanariesOverRuns is nil where there are no bounds.
func NewCanariesOverRuns(c *CanaryCourse) *CanariesOverRuns {
	v := &CanariesOverRuns{CanaryCourse: *c}
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
	slices.SortStableFunc(v.lifted, func(a, b canaryLine) int { return cmp.Compare(b.last(), a.last()) })
	return v
}

func (l canaryLine) words() string { return l.letter + " " + l.name }

func (l canaryLine) last() float64 { return l.epsilon[len(l.epsilon)-1] }

func (v *CanariesOverRuns) ID() string    { return "bounds" }
func (v *CanariesOverRuns) Title() string { return "Bounds on epsilon over the number of runs" }

func (v *CanariesOverRuns) Words() string {
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

func (v *CanariesOverRuns) Reading(i int) string {
	l := v.lifted[i]
	return fmt.Sprintf("%s: %s after %s runs", l.words(), ShortDown(l.last()), Grouped(v.Points[l.at[len(l.at)-1]].Runs))
}

func (v *CanariesOverRuns) Facts(fig Figures) Table {
	t := Table{Title: "The bounds", Head: []string{"runs"}}
	for _, l := range v.lines {
		t.Head = append(t.Head, l.words())
	}
	for at, p := range v.Points {
		row := []string{fmt.Sprint(p.Runs)}
		for _, l := range v.lines {
			cell := "–"
			if k := slices.Index(l.at, at); k >= 0 {
				cell = fig.down(l.epsilon[k])
			}
			row = append(row, cell)
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

func (v *CanariesOverRuns) Layout(f Frame) *Scene {
	s := f.scene(0)
	most := v.Claimed
	for _, l := range v.lines {
		most = max(most, slices.Max(l.epsilon))
	}
	end := most * 1.08
	for _, e := range []float64{100, 50, 30, 20, 15, 10, 8, 6, 5, 4, 3, 2.5, 2, 1.5, 1, 0.5} { // so that it seldom jumps
		if e >= most*1.08 {
			end = e
		}
	}
	own := "the audit's own"
	for _, l := range v.lines {
		if l.own {
			own = l.letter + ", " + l.name + ": the audit's own"
		}
	}
	keys := []key{{words: own, paint: Ink(First), form: keyThick}, {words: "others that hold at every number of runs", paint: Ink(Muted), form: keyLine},
		{words: "asymptotic only (dashed)", paint: Ink(Second), form: keyDash}, {words: "claimed (dashed)", paint: Ink(Text), form: keyDash}}
	inner := f
	inner.Width -= 20 // for the letters
	count := func(v float64) string { return Grouped(int(math.Round(v))) }
	title := "lower bound on epsilon, had the audit been planned to end there"
	if s.wide(title) > f.Width {
		title = "lower bound on epsilon, if planned to end there"
	}
	x, y, box := s.curves(inner, keys, Scale{Lo: 0, Hi: float64(max(1, v.Planned))}, Scale{Lo: 0, Hi: end}, 270, [2]string{"certification runs", title}, [2]func(float64) string{count, Short})
	s.dash([]Point{{box.X, y.At(v.Claimed)}, {box.Right(), y.At(v.Claimed)}}, 1.8, Ink(Text), Rect{})
	draw := func(l canaryLine) {
		paint, width := l.look()
		var line []Point
		for k, at := range l.at {
			line = append(line, Point{x.At(float64(v.Points[at].Runs)), y.At(max(0, l.epsilon[k]))})
		}
		s.add(Shape{Kind: Stroke, Points: line, Width: width, Dash: !l.own && !l.valid, Paint: paint})
		if len(line) == 1 {
			s.add(Shape{Kind: Dots, Points: line, Radius: 3, Paint: paint})
		}
	}
	last := 0.0
	for _, l := range v.lines {
		last = max(last, x.At(float64(v.Points[l.at[len(l.at)-1]].Runs)))
		if !l.own {
			draw(l)
		}
	}
	for _, l := range v.lines { // on top
		if l.own {
			draw(l)
		}
	}
	const apart = 13 // px between two letters
	places := make([]float64, len(v.lifted))
	for i, l := range v.lifted {
		places[i] = y.At(l.last())
		if i > 0 {
			places[i] = max(places[i], places[i-1]+apart)
		}
	}
	floor := box.Bottom()
	for i := len(places) - 1; i >= 0; i-- {
		places[i] = min(places[i], floor)
		floor = places[i] - apart
	}
	for i, l := range v.lifted {
		paint, _ := l.look()
		end := Point{x.At(float64(v.Points[l.at[len(l.at)-1]].Runs)), y.At(l.last())}
		s.line(end.X, end.Y, last+12, places[i], 0.8, Ink(Axis), Rect{})
		s.label(last+15, places[i]+4, l.letter, Start, paint.Role).Bold = l.own
		r := Rect{last + 10, places[i] - 7, 20, 14}
		s.Items = append(s.Items, Item{Box: r, Mark: r})
	}
	return s
}

// look is how a line is painted.
func (l canaryLine) look() (Paint, float64) {
	switch {
	case l.own:
		return Ink(First), 3.2
	case l.valid:
		return Ink(Muted), 1.6
	}
	return Ink(Second), 1.6
}
