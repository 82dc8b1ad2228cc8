package scene

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/dpscope/dpscope/wasm/scene/plot"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/core/pair"
)

// search are the pairs that were tried, what each showed, and how its datasets differ.
type search struct {
	trials   []pair.TrialNote
	learners []string
	quantity string
	claimed  float64
	rows     int // of the datasets, 0 where they are too large or too unlike to draw
	most     float64
}

const mostPictured = 64 // values of a dataset

// NewSearch shows a report's trials, nil where there are none.
func NewSearch(trials []pair.TrialNote, quantity string, claimed float64) *plot.View {
	if len(trials) == 0 {
		return nil
	}
	return plot.View{ID: "search", Title: "Search"}.Always(newSearch(trials, quantity, claimed).plot())
}

func newSearch(trials []pair.TrialNote, quantity string, claimed float64) *search {
	v := &search{trials: trials, quantity: quantity, claimed: claimed}
	for _, t := range trials {
		if !slices.Contains(v.learners, t.Learner) {
			v.learners = append(v.learners, t.Learner)
		}
		n := max(len(t.Pair.First.Values), len(t.Pair.Second.Values))
		v.rows = max(v.rows, n)
		if t.Pair.First.Columns > 1 || t.Pair.Second.Columns > 1 {
			v.rows = mostPictured + 1
		}
		for k := range n {
			v.most = max(v.most, math.Abs(difference(t, k)))
		}
	}
	if v.rows > mostPictured || v.most == 0 {
		v.rows = 0
	}
	return v
}

// difference is by how much record k of the first dataset lies above that of the
// second; a record that is in one only counts as its value.
func difference(t pair.TrialNote, k int) float64 {
	at := func(d audit.Dataset) float64 {
		if k < len(d.Values) {
			return d.Values[k]
		}
		return 0
	}
	return at(t.Pair.First) - at(t.Pair.Second)
}

func (v *search) plot() plot.Plot {
	n := float64(len(v.trials))
	pairs := plot.Axis{Scale: plot.Scale{Lo: 0.5, Hi: n + 0.5}, Zooms: true, Whole: true}
	values := plot.Plot{X: pairs, Height: plot.Px(220)}
	least, most := 0.0, v.claimed
	for _, t := range v.trials {
		if t.Value > audit.NoEvidence {
			least, most = min(least, t.Value), max(most, t.Value)
		}
	}
	least = max(least, -0.25*most)
	pad := cmp.Or((most-least)*0.08, 0.5)
	values.Y = plot.Axis{Title: v.quantity + ", as each pair's validation outputs showed", Short: v.quantity, Scale: plot.Scale{Lo: least - pad, Hi: most + pad}, Words: plot.Short}
	radius := math.Round(2*min(5.5, max(2, 240/n))) / 2
	var best, chosen [][2]float64
	dots, loudest := make([]plot.Points, len(v.learners)), math.Inf(-1)
	for i, l := range v.learners {
		dots[i] = plot.Points{Key: l, Paint: plot.Ink(plot.Muted), Form: plot.Form(i % int(plot.Ring)), Radius: radius}
	}
	for i, t := range v.trials {
		at := [2]float64{float64(i + 1), max(t.Value, least-pad)}
		loudest = max(loudest, at[1])
		best = append(best, [2]float64{at[0] - 0.5, loudest}, [2]float64{at[0] + 0.5, loudest})
		d := &dots[slices.Index(v.learners, t.Learner)]
		d.At, d.Paints = append(d.At, at), append(d.Paints, v.paint(t))
		if t.Chosen {
			chosen = append(chosen, at)
		}
		values.Items, values.Within = append(values.Items, at), append(values.Within, plot.Column(at[0]-0.5, at[0]+0.5))
	}
	values.Marks = []plot.Mark{plot.Rule{Key: "claimed (dashed)", Paint: plot.Ink(plot.Text), At: v.claimed}, plot.Points{Key: "above it", Paint: plot.Ink(plot.Bad)}, plot.Points{Key: "chosen", Paint: plot.Ink(plot.Text), At: chosen, Form: plot.Ring, Radius: radius + 5},
		plot.Line{Key: "best so far", Paint: plot.Ink(plot.Muted), Points: best, Width: 1.2}}
	for _, d := range dots {
		values.Marks = append(values.Marks, d)
	}
	p := plot.Plot{Panels: []plot.Plot{values}, Caption: v.caption()}
	if v.rows > 0 {
		p.Panels = append(p.Panels, v.differences(pairs))
	}
	last := &p.Panels[len(p.Panels)-1].X
	last.Title, last.Words = "pair", plot.Short
	p.Numbers = plot.Numbers{Title: "Every pair that was tried", Head: []string{"pair", "label", v.quantity + " as seen", "learner", "chosen"}}
	for _, t := range v.trials {
		p.Rows = append(p.Rows, []any{t.Trial + 1, t.Pair.Label, plot.If(t.Value < audit.NoEvidence, math.NaN(), t.Value), t.Learner, t.Chosen})
	}
	return p
}

// differences shows by how much the datasets of every pair differ, record by record: up
// where the first lies higher, down where the second does.
func (v *search) differences(pairs plot.Axis) plot.Plot {
	n := float64(v.rows)
	p := plot.Plot{X: pairs, Height: plot.Px(min(16, max(7, 240/n)) * n)}
	p.Y = plot.Axis{Title: "how the datasets differ, a row a record", Scale: plot.Scale{Lo: -n - 0.5, Hi: -0.5}, Words: func(v float64) string { return plot.Short(-v) }, Whole: true}
	sides := [2]plot.Bars{{Key: "first dataset higher (up)", Paint: plot.Ink(plot.First)}, {Key: "second higher (down)", Paint: plot.Ink(plot.Second)}}
	for i, t := range v.trials {
		for k := range v.rows {
			if d := difference(t, k); d != 0 {
				of, middle, high := &sides[plot.If(d > 0, 0, 1)], -float64(k+1), 0.46*d/v.most
				of.Boxes = append(of.Boxes, plot.Span(float64(i)+0.6, float64(i)+1.4, middle, middle+high))
			}
		}
	}
	p.Marks = []plot.Mark{sides[0], sides[1]}
	return p
}

func (v *search) caption() string {
	loud := 0
	for _, t := range v.trials {
		if t.Value > v.claimed {
			loud++
		}
	}
	return fmt.Sprintf("%s pairs of datasets were tried; %s showed more on their validation outputs than is claimed (%s). The pair with the largest value was certified, on fresh outputs. A value ranks pairs; it certifies nothing.", plot.Grouped(len(v.trials)), plot.Grouped(loud), plot.Short(v.claimed))
}

// paint is stronger the more a pair showed, and another colour above the claim.
func (v *search) paint(t pair.TrialNote) plot.Paint {
	switch {
	case t.Value > v.claimed:
		return plot.Ink(plot.Bad)
	case v.claimed > 0:
		return plot.Between(plot.Muted, plot.Calm, t.Value/v.claimed)
	}
	return plot.Ink(plot.Calm)
}
