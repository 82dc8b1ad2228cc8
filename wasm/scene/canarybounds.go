package scene

import (
	"fmt"
	"math"
	"slices"

	"github.com/dpscope/dpscope/wasm/scene/plot"

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

func (v *canaryBounds) view() *plot.View {
	if v == nil {
		return nil
	}
	p := plot.Plot{Caption: v.caption(), Tooltip: v.tooltip, Name: func(i int) string { return v.bars[i].words }}
	valid := plot.Points{Key: "valid", Paint: plot.Ink(plot.First), Radius: 5}
	assumed := plot.Points{Key: "asymptotic, or by an assumption", Paint: plot.Ink(plot.Muted), Form: plot.Ring, Radius: 5}
	own := plot.Points{Key: "the audit's own", Paint: plot.Ink(plot.Event), Radius: 5}
	least, most := 0.0, v.claimed
	for _, b := range v.bars {
		least, most = min(least, b.bound), max(most, b.bound)
	}
	least = max(least, -most) // far below 0 a bound says nothing
	pad := max(0.06*(most-least), 1e-9)
	p.X = plot.Axis{Title: "epsilon", Scale: plot.Scale{Lo: least - pad, Hi: most + pad}, Words: plot.Short}
	p.Y.Bold = func(i float64) bool { return v.bars[int(i)].chosen }
	for i, b := range v.bars {
		at := [2]float64{max(b.bound, p.X.Lo), float64(i) + 0.5}
		of := plot.If(b.chosen, &own, plot.If(b.valid, &valid, &assumed))
		of.At = append(of.At, at)
		p.Marks = append(p.Marks, plot.Line{Paint: of.Paint.At(0.5), Width: 1, Points: [][2]float64{{max(0, p.X.Lo), at[1]}, at}})
		p.Y.Names, p.Items, p.Within = append(p.Y.Names, b.words), append(p.Items, at), append(p.Within, plot.Row(i))
	}
	p.Marks = append([]plot.Mark{valid, assumed, own, plot.Rule{Key: "claimed (dashed)", Paint: plot.Ink(plot.Text), At: v.claimed, Upright: true}}, p.Marks...)
	p.Table = plot.Rows("Bounds", []string{"interval", "bound", "kind"}, len(v.bars), func(fig plot.Figures, i int) []string {
		b := v.bars[i]
		return []string{b.words, fig.Of(b.bound), plot.If(b.valid, "valid", "asymptotic, or by an assumption") + plot.If(b.chosen, ", the audit's own", "")}
	})
	return plot.View{ID: "intervals", Title: "Bounds"}.Always(p)
}

func (v *canaryBounds) caption() string {
	return fmt.Sprintf("Lower bounds on epsilon from the same canaries; claimed: %s. Each valid bound holds with the report's confidence; the largest of them does not, unless it was chosen in advance.", plot.Short(v.claimed))
}

func (v *canaryBounds) tooltip(i int) string {
	b := v.bars[i]
	words := fmt.Sprintf("%s: epsilon ≥ %s", b.words, plot.Short(plot.Floor(b.bound, 4)))
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
	p.Table = plot.Rows("The bounds", head, len(v.Points), func(fig plot.Figures, at int) []string {
		row := []string{fmt.Sprint(v.Points[at].Runs)}
		for _, l := range v.lines {
			cell := "–"
			if k := slices.Index(l.at, at); k >= 0 {
				cell = fig.Down(l.epsilon[k])
			}
			row = append(row, cell)
		}
		return row
	})
	return p
}

// ink is how a line is painted.
func (l canaryLine) ink() plot.Paint {
	return plot.Ink(plot.If(l.own, plot.First, plot.If(l.valid, plot.Muted, plot.Second)))
}
