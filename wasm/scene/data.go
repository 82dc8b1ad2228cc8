package scene

import (
	"fmt"
	"math"
	"strings"

	"github.com/dpscope/dpscope/wasm/scene/plot"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/core/pair"
)

// data are the two tables of labelled examples that a learner is trained on, by two
// of their features, and the rows in which they differ.
type data struct {
	names  []string     // of features, then the label
	bounds [][2]float64 // declared, alike
	class  [2]string
	rows   []exampleRow
	n, odd [2]int // rows of either dataset, and those that the other has not

	axes   [2]int
	points []examplePoint
}

// exampleRow is a row of either dataset, or of both.
type exampleRow struct {
	row []float64
	in  [2]bool
}

// examplePoint is what rows have in common that are drawn at one place.
type examplePoint struct {
	x, y  float64
	class int
	in    [2]bool
	count [2]int // rows in either dataset
}

// odd says whether one of the datasets lacks it.
func (p examplePoint) odd() bool { return p.in[0] != p.in[1] }

// mostExamples is how many places are drawn, and mostFeatures how many features are
// looked at.
const mostExamples, mostFeatures = 2000, 4096

// DataOf shows the tables of a report's pair, nil where it is of no learner.
func DataOf(r *Report) *plot.View {
	p := r.pair()
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

// newData is nil where there is nothing to draw, or it does not fit together.
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
	left := map[string]int{} // rows of the second dataset that the first may hold too
	for i := range v.n[1] {
		left[rowKey(p.Second.Row(i))]++
	}
	for k, d := range sides {
		for i := range v.n[k] {
			row := d.Row(i)
			key := rowKey(row)
			both := left[key] > 0
			if both {
				left[key]--
			}
			if k == 0 || both {
				v.rows = append(v.rows, exampleRow{row, [2]bool{k == 0, both}})
				if k == 1 || !both {
					v.odd[k]++
				}
			}
		}
	}
	if len(v.rows) == 0 {
		return nil
	}
	v.choose()
	return v
}

// choose takes the two features that are shown: those in which a row that one dataset lacks
// stands out most, or if there is none those that tell the classes apart, or of one feature
// it and the label.
func (v *data) choose() {
	d := len(v.names) - 1
	v.axes = [2]int{d, d}
	var worth [2]float64
	for j := range d {
		w := v.apart(j)
		if v.odd != [2]int{} {
			w = v.outstanding(j)
		}
		if v.axes[0] == d || w > worth[0] {
			v.axes[1], worth[1] = v.axes[0], worth[0]
			v.axes[0], worth[0] = j, w
		} else if v.axes[1] == d || w > worth[1] {
			v.axes[1], worth[1] = j, w
		}
	}
	v.place()
}

// moments are number, mean and standard deviation of a feature in the rows that both
// datasets hold, of a class or, where it is -1, of all.
func (v *data) moments(j, class int) (n, mean, deviation float64) {
	for _, r := range v.rows {
		if r.in[0] && r.in[1] && (class < 0 || class == labelOf(r.row)) {
			n++
			off := r.row[j] - mean
			mean += off / n
			deviation += off * (r.row[j] - mean)
		}
	}
	return n, mean, math.Sqrt(deviation / max(n, 1))
}

func labelOf(row []float64) int { return plot.If(row[len(row)-1] >= 0.5, 1, 0) }

// unit is what a feature's differences are measured in: a deviation, and no less than a
// twentieth of its bounds.
func (v *data) unit(j int, deviation float64) float64 {
	return deviation + (v.bounds[j][1]-v.bounds[j][0])/20
}

// apart is by how much the means of the classes differ in a feature.
func (v *data) apart(j int) float64 {
	n, a, s := v.moments(j, 0)
	m, b, r := v.moments(j, 1)
	if n*m == 0 {
		return 0
	}
	return math.Abs(a-b) / v.unit(j, (s+r)/2)
}

// outstanding is how far a row that one dataset lacks lies from the mean of its class in
// a feature, at most.
func (v *data) outstanding(j int) float64 {
	most := 0.0
	var means, units [2]float64
	for c := range 2 {
		n, mean, deviation := v.moments(j, c)
		if n == 0 {
			_, mean, deviation = v.moments(j, -1)
		}
		means[c], units[c] = mean, v.unit(j, deviation)
	}
	for _, r := range v.rows {
		if r.in[0] != r.in[1] {
			c := labelOf(r.row)
			most = max(most, math.Abs(r.row[j]-means[c])/units[c])
		}
	}
	return most
}

// place makes points of rows: those that lie on one another and are of the same class and
// datasets are one. Rows that a dataset lacks come last, over the others.
func (v *data) place() {
	at := map[string]int{}
	v.points = nil
	for _, odd := range []bool{false, true} {
		for _, r := range v.rows {
			p := examplePoint{x: r.row[v.axes[0]], y: r.row[v.axes[1]], class: labelOf(r.row), in: r.in}
			if p.odd() != odd {
				continue
			}
			key := rowKey([]float64{p.x, p.y, float64(p.class), float64(plot.If(odd && p.in[0], 1, 0))})
			i, known := at[key]
			if !known {
				i = len(v.points)
				at[key], v.points = i, append(v.points, p)
			}
			for side, in := range r.in {
				if in {
					v.points[i].count[side]++
				}
			}
		}
	}
}

// rowKey is the same for equal numbers.
//
//go:noinline
func rowKey(row []float64) string { return fmt.Sprint(row) }

// drawn are the points that a picture holds: the last ones.
func (v *data) drawn() []examplePoint { return v.points[max(0, len(v.points)-mostExamples):] }

// called is what an odd point is.
func (v *data) called(p examplePoint) string {
	what := "poisoned row"
	if p.in[0] {
		what = plot.If(v.odd[1] > 0, "replaced row", "removed row")
	}
	if n := p.count[0] + p.count[1]; n > 1 {
		what += ", " + plot.Grouped(n) + " times"
	}
	return what
}

func (v *data) caption() string {
	of := plot.Grouped(v.n[0])
	if v.n[0] != v.n[1] {
		of += " and " + plot.Grouped(v.n[1])
	}
	words := fmt.Sprintf("The two tables that models are trained on, of %s rows and %s features. The axes end at the declared bounds.", of, plot.Grouped(len(v.names)-1))
	if v.odd == [2]int{} {
		return words + " Both hold the same rows."
	}
	const most = 3
	drawn := v.drawn()
	for i := max(0, len(drawn)-most); i < len(drawn); i++ {
		if drawn[i].odd() {
			words += " " + upperFirst(v.tooltip(i)) + "."
		}
	}
	if v.odd[0]+v.odd[1] > most {
		words += fmt.Sprintf(" In all, %s rows are in the first table only and %s in the second only.", plot.Grouped(v.odd[0]), plot.Grouped(v.odd[1]))
	}
	if left := len(v.points) - len(drawn); left > 0 {
		words += fmt.Sprintf(" %s places are not drawn; the table has them.", plot.Grouped(left))
	}
	return words
}

func upperFirst(words string) string { return strings.ToUpper(words[:1]) + words[1:] }

func (v *data) tooltip(i int) string {
	p := v.drawn()[i]
	words := fmt.Sprintf("%s = %s, %s = %s: %s", v.names[v.axes[0]], plot.Short(p.x), v.names[v.axes[1]], plot.Short(p.y), v.class[p.class])
	switch n := p.count[0]; {
	case p.odd():
		words = v.called(p) + ", " + words + ", only in the " + plot.If(p.in[0], "first", "second") + " table"
	case n > 1:
		words += ", " + plot.Grouped(n) + " rows"
	}
	return words
}

func (v *data) table(fig plot.Figures) plot.Table {
	t := plot.Table{Title: "The rows by two features", Head: []string{v.names[v.axes[0]], v.names[v.axes[1]], "class", "rows of the first table", "rows of the second table"}}
	for i := len(v.points) - 1; i >= 0; i-- { // those in which the tables differ first
		p := v.points[i]
		t.Rows = append(t.Rows, []string{fig.Of(p.x), fig.Of(p.y), v.class[p.class], fmt.Sprint(p.count[0]), fmt.Sprint(p.count[1])})
	}
	return t
}

// classMark is how a class is drawn.
func classMark(class int) (plot.Form, plot.Paint) {
	return plot.If(class == 0, plot.Disc, plot.Triangle), plot.Ink(plot.If(class == 0, plot.Accent, plot.Event))
}

func (v *data) plot() plot.Plot {
	p := plot.Plot{Height: plot.Large, Caption: v.caption(), Table: v.table, Hit: [2]float64{20, 20}, Outline: 12, Tooltip: v.tooltip}
	for k, axis := range []*plot.Axis{&p.X, &p.Y} {
		b := v.bounds[v.axes[k]]
		*axis = plot.Axis{Title: v.names[v.axes[k]], Scale: plot.Scale{Lo: b[0], Hi: b[1]}, Words: plot.Short, Zooms: true}
	}
	var dots, odd [2][][2]float64
	for _, q := range v.drawn() {
		at := [2]float64{q.x, q.y}
		p.Items, dots[q.class] = append(p.Items, at), append(dots[q.class], at)
		if q.odd() {
			side := plot.If(q.in[0], 0, 1)
			odd[side] = append(odd[side], at)
		}
	}
	for c, at := range dots {
		form, paint := classMark(c)
		p.Marks = append(p.Marks, plot.Points{Key: v.class[c], Paint: paint.At(0.8), At: at, Form: form, Radius: 4})
	}
	if v.odd[1] > 0 {
		p.Marks = append(p.Marks, plot.Points{Key: "only in the second table (ringed)", Paint: plot.Ink(plot.Bad), At: odd[1], Form: plot.Ring, Radius: 9})
	}
	if v.odd[0] > 0 {
		p.Marks = append(p.Marks, plot.Crosses{Key: "only in the first table (crossed)", Paint: plot.Ink(plot.Text), At: odd[0]})
	}
	var last [2]*examplePoint // odd rows of either dataset
	for i, q := range v.drawn() {
		if q.odd() {
			last[plot.If(q.in[0], 0, 1)] = &v.drawn()[i]
		}
	}
	for _, q := range last {
		if q != nil {
			p.Marks = append(p.Marks, plot.Note{At: [2]float64{q.x, q.y}, Words: v.called(*q), Role: plot.Text, Must: true})
		}
	}
	return p
}
