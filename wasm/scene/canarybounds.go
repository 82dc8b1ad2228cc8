package scene

import (
	"fmt"
	"math"
	"slices"

	"github.com/dpscope/dpscope/wasm/scene/plot"

	"strings"

	"github.com/dpscope/dpscope/core/report"
)

// NewCanaryBounds shows what every interval makes of the same counts, nil where there is none.
func NewCanaryBounds(r *CanaryReport) *plot.View {
	claimed := r.Claim.Epsilon
	bars := slices.DeleteFunc(slices.Clone(report.Report(r.head).Rows(report.Bounds)), func(row report.Row) bool { return row.LowerBound == nil })
	if len(bars) == 0 {
		return nil
	}
	valid := plot.Points{Key: "valid", Paint: plot.Ink(plot.First), Radius: 5}
	assumed := plot.Points{Key: "asymptotic, or by an assumption", Paint: plot.Ink(plot.Muted), Form: plot.Ring, Radius: 5}
	own := plot.Points{Key: "the audit's own", Paint: plot.Ink(plot.Event), Radius: 5}
	least, most := 0.0, claimed
	for _, b := range bars {
		least, most = min(least, *b.LowerBound), max(most, *b.LowerBound)
	}
	least = max(least, -most) // far below 0 a bound says nothing
	pad := max(0.06*(most-least), 1e-9)
	p := plot.Plot{X: plot.Axis{Title: "epsilon", Scale: plot.Scale{Lo: least - pad, Hi: most + pad}, Words: plot.Short}}
	p.Caption = fmt.Sprintf("Lower bounds on epsilon from the same canaries; claimed: %s. Each valid bound holds with the report's confidence; the largest of them does not, unless it was chosen in advance.", plot.Short(claimed))
	p.Numbers = plot.Numbers{Title: "Bounds", Head: []string{"interval", "bound", "kind"}}
	p.Y.Bold = func(i float64) bool { return bars[int(i)].Chosen }
	for i, b := range bars {
		at := [2]float64{max(*b.LowerBound, p.X.Lo), float64(i) + 0.5}
		of := plot.If(b.Chosen, &own, plot.If(b.Valid, &valid, &assumed))
		of.At = append(of.At, at)
		p.Marks = append(p.Marks, plot.Line{Paint: of.Paint.At(0.5), Width: 1, Points: [][2]float64{{max(0, p.X.Lo), at[1]}, at}})
		p.Y.Names, p.Items, p.Within = append(p.Y.Names, string(b.Method)), append(p.Items, at), append(p.Within, plot.Row(i))
		p.Rows = append(p.Rows, []any{string(b.Method), plot.Down(*b.LowerBound), plot.If(b.Valid, valid.Key, assumed.Key) + plot.If(b.Chosen, ", the audit's own", "")})
	}
	p.Marks = append([]plot.Mark{valid, assumed, own, plot.Rule{Key: "claimed (dashed)", Paint: plot.Ink(plot.Text), At: claimed, Upright: true}}, p.Marks...)
	return plot.View{ID: "intervals", Title: "Bounds"}.Always(p)
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
	lifted []canaryLine // those that end above 0
}

// NewCanariesOverRuns shows a line for every interval, told apart by letters at their ends,
// by weight and by dashes; nil where there are no bounds.
func NewCanariesOverRuns(c *CanaryCourse) *plot.View {
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
	return plot.View{ID: "bounds", Title: "Bounds on epsilon over the number of runs"}.Of(v.plot)
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
	return fmt.Sprintf("%s: %s after %s runs", l.words(), plot.ShortDown(l.last()), plot.Grouped(v.Points[l.at[len(l.at)-1]].Runs))
}

func (v canaryCourse) plot(string) plot.Plot {
	p := plot.Plot{Height: plot.Px(270), Right: 20, Caption: v.caption(), Tooltip: v.tooltip}
	most, own, head := v.Claimed, plot.Line{Key: "the audit's own", Paint: plot.Ink(plot.First), Width: 3.2}, []string{"runs"}
	var lines, points []plot.Mark
	for _, l := range v.lines {
		most, head = max(most, slices.Max(l.epsilon)), append(head, l.words())
		line := plot.Line{Width: 1.6, Paint: l.ink(), Dash: !l.valid}
		for k, at := range l.at {
			line.Points = append(line.Points, [2]float64{float64(v.Points[at].Runs), max(0, l.epsilon[k])})
		}
		if len(l.at) == 1 {
			points = append(points, plot.Points{At: line.Points, Radius: 3, Paint: line.Paint})
		}
		if l.own {
			own.Key, own.Points = l.letter+", "+l.name+": the audit's own", line.Points
		} else {
			lines = append([]plot.Mark{line}, lines...)
		}
	}
	p.Marks = append([]plot.Mark{own, plot.Line{Key: "others that hold at every number of runs", Paint: plot.Ink(plot.Muted)}, plot.Line{Key: "asymptotic only (dashed)", Paint: plot.Ink(plot.Second), Dash: true}}, lines...)
	p.Marks = append(append(p.Marks, plot.Rule{Key: "claimed (dashed)", Paint: plot.Ink(plot.Text), At: v.Claimed}), points...)
	ends := plot.Ends{Item: true}
	for _, l := range v.lifted {
		ends.Words, ends.At = append(ends.Words, l.letter), append(ends.At, [2]float64{float64(v.Points[l.at[len(l.at)-1]].Runs), l.last()})
		ends.Paint, ends.Bold = append(ends.Paint, l.ink()), append(ends.Bold, l.own)
	}
	p.Marks = append(p.Marks, ends)
	end := most * 1.08
	for _, e := range []float64{100, 50, 30, 20, 15, 10, 8, 6, 5, 4, 3, 2.5, 2, 1.5, 1, 0.5} { // so that it seldom jumps
		if e >= most*1.08 {
			end = e
		}
	}
	p.X = plot.Axis{Title: "certification runs", Scale: plot.Scale{Hi: float64(max(1, v.Planned))}, Words: func(v float64) string { return plot.Grouped(int(math.Round(v))) }}
	p.Y = plot.Axis{Title: "lower bound on epsilon, had the audit been planned to end there", Short: "lower bound on epsilon, if planned to end there", Scale: plot.Scale{Hi: end}, Words: plot.Short}
	p.Numbers = plot.Numbers{Title: "The bounds", Head: head}
	for at, point := range v.Points {
		row := []any{point.Runs}
		for _, l := range v.lines {
			var cell any = "–"
			if k := slices.Index(l.at, at); k >= 0 {
				cell = plot.Down(l.epsilon[k])
			}
			row = append(row, cell)
		}
		p.Rows = append(p.Rows, row)
	}
	return p
}

// ink is how a line is painted.
func (l canaryLine) ink() plot.Paint {
	return plot.Ink(plot.If(l.own, plot.First, plot.If(l.valid, plot.Muted, plot.Second)))
}
