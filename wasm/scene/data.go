package scene

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/core/pair"
	"github.com/dpscope/dpscope/wasm/scene/plot"
)

// data are the two tables of a learner, by two features, and the rows in which they differ.
type data struct {
	names  []string     // of features, then the label
	bounds [][2]float64 // declared, alike
	class  [2]string
	rows   []example
	n, odd [2]int // rows of either dataset, and those that the other has not

	axes   [2]int
	points []example // rows that are alike are one
}

type example struct {
	row   []float64
	at    [2]float64
	class int
	in    [2]bool // which datasets have it, the first of several
	count [2]int  // rows in either dataset
}

func (e example) odd() bool { return e.in[0] != e.in[1] }

// Places that are drawn, and features that are looked at.
const mostExamples, mostFeatures = 2000, 4096

// DataOf shows the tables of a report's pair; nil where it is of no learner.
func DataOf(r *Report) *plot.View {
	p := pair.Shown(r.Evidence, r.Sequential)
	if p == nil {
		return nil
	}
	return newData(r.Inputs.Examples, *p).view()
}

func (v *data) view() *plot.View {
	if v == nil {
		return nil
	}
	return plot.View{ID: "data", Title: "The data"}.Always(v.plot())
}

// newData is nil where there is nothing to draw, or nothing fits together.
func newData(e *pair.Examples, p audit.Pair) *data {
	if e == nil || len(e.Features) == 0 || len(e.Features) > mostFeatures || len(e.Lower) != len(e.Features) || len(e.Upper) != len(e.Features) {
		return nil
	}
	v := &data{class: e.Classes, names: append(e.Features[:len(e.Features):len(e.Features)], "label")}
	for j := range v.names {
		b := [2]float64{0, 1}
		if j < len(e.Lower) {
			b = [2]float64{e.Lower[j], e.Upper[j]}
		}
		if v.bounds = append(v.bounds, b); !(b[1] > b[0]) || math.IsInf(4*(b[1]-b[0]), 0) {
			return nil
		}
	}
	sides := [2]audit.Dataset{p.First, p.Second}
	for k, d := range sides {
		if d.Columns != len(v.names) || len(d.Values)%d.Columns != 0 {
			return nil
		}
		v.n[k] = d.Len()
	}
	for k, d := range sides {
		alone := d.Alone(sides[1-k])
		v.odd[k] = len(alone)
		for i := range v.n[k] {
			if _, odd := slices.BinarySearch(alone, i); k == 0 || odd {
				e := example{row: d.Row(i), in: [2]bool{k == 0 || !odd, k == 1 || !odd}}
				e.class = plot.If(e.row[d.Columns-1] >= 0.5, 1, 0)
				v.rows = append(v.rows, e)
			}
		}
	}
	if len(v.rows) == 0 {
		return nil
	}
	v.choose()
	v.place()
	return v
}

// choose takes the two features in which a row that one dataset lacks lies farthest from the mean
// of its class, or if there is none those that tell the classes apart, in shares of the bounds.
func (v *data) choose() {
	d := len(v.names) - 1
	var n [2]float64
	means := [2][]float64{make([]float64, d), make([]float64, d)}
	for _, r := range v.rows {
		c := r.class
		n[c]++
		for j := range d {
			means[c][j] += (r.row[j] - means[c][j]) / n[c]
		}
	}
	worth := func(j int) (most float64) {
		if v.odd == [2]int{} && n[0]*n[1] > 0 {
			most = math.Abs(means[0][j] - means[1][j])
		}
		for _, r := range v.rows {
			if r.odd() {
				most = max(most, math.Abs(r.row[j]-means[r.class][j]))
			}
		}
		return most / (v.bounds[j][1] - v.bounds[j][0])
	}
	order := audit.Listed(d, func(j int) int { return j })
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(worth(b), worth(a)) })
	order = append(order, d)
	v.axes = [2]int{order[0], order[1]}
}

// place makes rows that are alike one point, those that a dataset lacks first.
func (v *data) place() {
	slices.SortStableFunc(v.rows, func(a, b example) int { return plot.If(b.odd(), 1, 0) - plot.If(a.odd(), 1, 0) })
	type place struct {
		at    [2]float64
		class int
		first bool // only in the first
	}
	known := map[place]int{}
	for _, r := range v.rows {
		r.at = [2]float64{r.row[v.axes[0]], r.row[v.axes[1]]}
		key := place{r.at, r.class, !r.in[1]}
		i, is := known[key]
		if !is {
			i = len(v.points)
			known[key], v.points = i, append(v.points, r)
		}
		for side, in := range r.in {
			v.points[i].count[side] += plot.If(in, 1, 0)
		}
	}
}

func (v *data) drawn() []example { return v.points[:min(len(v.points), mostExamples)] }

func (v *data) called(p example) string {
	switch {
	case !p.odd():
		return "in both tables"
	case !p.in[0]:
		return "poisoned row"
	}
	return plot.If(v.odd[1] > 0, "replaced row", "removed row")
}

func (v *data) caption() string {
	of := plot.Grouped(v.n[0]) + plot.If(v.n[0] != v.n[1], " and "+plot.Grouped(v.n[1]), "")
	words := plot.Say("The two tables that models are trained on, of %s rows and %s features. The axes end at the declared bounds.", of, len(v.names)-1)
	if v.odd == [2]int{} {
		return words + " Both hold the same rows."
	}
	const most = 3
	for _, p := range v.points[:min(most, len(v.points))] {
		if p.odd() {
			words += plot.Say(" %s, %s = %s, %s = %s: %s, only in the %s table.", upperFirst(v.called(p)), v.names[v.axes[0]], p.at[0], v.names[v.axes[1]], p.at[1], v.class[p.class], plot.If(p.in[0], "first", "second"))
		}
	}
	if v.odd[0]+v.odd[1] > most {
		words += plot.Say(" In all, %s rows are in the first table only and %s in the second only.", v.odd[0], v.odd[1])
	}
	if left := len(v.points) - len(v.drawn()); left > 0 {
		words += plot.Say(" %s places are not drawn; the table has them.", left)
	}
	return words
}

func upperFirst(words string) string { return strings.ToUpper(words[:1]) + words[1:] }

func (v *data) plot() plot.Plot {
	p := plot.Plot{Height: plot.Large, Caption: v.caption(), Hit: [2]float64{20, 20}, Outline: 12}
	for k, axis := range []*plot.Axis{&p.X, &p.Y} {
		b := v.bounds[v.axes[k]]
		*axis = plot.Linear(v.names[v.axes[k]], b[0], b[1]).Zooming()
	}
	p.Numbers = plot.Numbers{Title: "The rows by two features", Head: []string{"row", p.X.Title, p.Y.Title, "class", "rows of the first table", "rows of the second table"}}
	for _, q := range v.points {
		p.Rows = append(p.Rows, []any{v.called(q), q.at[0], q.at[1], v.class[q.class], q.count[0], q.count[1]})
	}
	var dots, odd [2][][2]float64
	var notes [2]plot.Note // of an odd row of either dataset
	for _, q := range v.drawn() {
		p.Items, dots[q.class] = append(p.Items, q.at), append(dots[q.class], q.at)
		if q.odd() {
			side := plot.If(q.in[0], 0, 1)
			odd[side] = append(odd[side], q.at)
			notes[side] = plot.Note{At: q.at, Words: v.called(q), Must: true}
		}
	}
	for c, at := range dots {
		p.Mark(plot.Points{Key: v.class[c], Paint: plot.If(c == 0, plot.Accent, plot.Event).At(0.8), At: at, Form: plot.If(c == 0, plot.Disc, plot.Triangle), Radius: 4})
	}
	if v.odd[1] > 0 {
		p.Mark(plot.Points{Key: "only in the second table (ringed)", Paint: plot.Bad, At: odd[1], Form: plot.Ring, Radius: 9})
	}
	if v.odd[0] > 0 {
		p.Mark(plot.Points{Key: "only in the first table (diamond)", At: odd[0], Form: plot.Diamond, Radius: 8})
	}
	for side, n := range notes {
		if odd[side] != nil {
			p.Mark(n)
		}
	}
	return p
}
