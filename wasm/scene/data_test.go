package scene

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/dpscope/dpscope/wasm/scene/plot"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/core/pair"
	"github.com/dpscope/dpscope/internal/must"
	"github.com/dpscope/dpscope/mechanisms/learners"
)

// table is a dataset of rows.
func table(rows ...[]float64) audit.Dataset {
	return audit.Dataset{Columns: len(rows[0]), Values: slices.Concat(rows...)}
}

var cells = &pair.Examples{Features: []string{"a", "b", "c"}, Classes: [2]string{"no", "yes"}, Lower: []float64{-1, -1, 0}, Upper: []float64{1, 1, 4}}

// Two tables of five rows, worked by hand: a row of class yes takes the place of one of
// class no and stands out in b and c; the classes differ in a.
func TestDataByHand(t *testing.T) {
	same := [][]float64{{-0.5, 0, 1, 0}, {-0.5, 0, 1, 0}, {0.5, 0, 1, 1}, {0.5, 0.5, 1, 1}}
	first, second := table(append(same, []float64{-0.5, 0.25, 2, 0})...), table(append([][]float64{{0.5, -1, 4, 1}}, same...)...)
	v := newData(cells, audit.Pair{First: first, Second: second})
	if v.n != [2]int{5, 5} || v.odd != [2]int{1, 1} || len(v.rows) != 6 {
		t.Fatalf("%v, %v of %d", v.n, v.odd, len(v.rows))
	}
	// The poisoned row lies 2 of 4 above the mean of its class in c, and 5/6 of 2 below it in b.
	if v.axes != [2]int{2, 1} {
		t.Errorf("it is drawn by %v", v.axes)
	}
	view := v.view()
	for i, want := range map[int]string{0: "replaced row: c 2, b 0.25, class no, rows of the first table 1, rows of the second table 0", 1: "poisoned row: c 4, b −1, class yes, rows of the first table 0, rows of the second table 1", 2: "in both tables: c 1, b 0, class no, rows of the first table 2, rows of the second table 2"} {
		if got := view.Tooltip(i); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	if words := v.caption(); !strings.Contains(words, "of 5 rows and 3 features") || !strings.Contains(words, "Poisoned row, c = 4, b = −1: yes, only in the second table.") || !strings.Contains(words, "Replaced row, c = 2") {
		t.Errorf("%q", words)
	}
	s := v.view().Layout(plot.Frame{Width: 600, Camera: plot.Everything})
	var said []string
	for _, l := range s.Labels {
		said = append(said, l.Words)
	}
	for _, want := range []string{"poisoned row", "replaced row", "b", "c"} {
		if !slices.Contains(said, want) {
			t.Errorf("no label %q of %q", want, said)
		}
	}
	// The axes end at the declared bounds: the poisoned row lies in a corner.
	box := s.Items[1].Box
	if math.Abs(box.X+box.W/2-s.Plot.Right()) > 1e-9 || math.Abs(box.Y+box.H/2-s.Plot.Bottom()) > 1e-9 {
		t.Errorf("it lies at %v of %v", box, s.Plot)
	}
	// A row less, and the same rows; of one feature, by it and the label.
	less := newData(cells, audit.Pair{First: first, Second: table(same...)})
	if less.odd != [2]int{1, 0} || !strings.Contains(less.caption(), "Removed row, ") || !strings.Contains(less.caption(), "of 5 and 4 rows") {
		t.Errorf("%v: %q", less.odd, less.caption())
	}
	if none := newData(cells, audit.Pair{First: first, Second: first}); none.odd != [2]int{} || none.axes[0] != 0 || !strings.Contains(none.caption(), "the same rows") {
		t.Errorf("%v by %v: %q", none.odd, none.axes, none.caption())
	}
	one := newData(&pair.Examples{Features: []string{"a"}, Classes: cells.Classes, Lower: []float64{0}, Upper: []float64{1}}, audit.Pair{First: table([]float64{0, 0}), Second: table([]float64{1, 1})})
	if one.axes != [2]int{0, 1} || one.view().Head[2] != "label" {
		t.Errorf("%v", one.axes)
	}
}

// TestDataTwin: rows are matched as a slow search matches them, and every row is in the
// table once for each dataset that has it.
func TestDataTwin(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		draw := func() audit.Dataset {
			d := audit.Dataset{Columns: 4}
			for range 1 + r.IntN(12) {
				d.Values = append(d.Values, float64(r.IntN(2)), float64(r.IntN(2)), 1, float64(r.IntN(2)))
			}
			return d
		}
		p := audit.Pair{First: draw(), Second: draw()}
		v := newData(cells, p)
		free := make([]bool, p.Second.Len())
		alone := 0
	rows:
		for i := range p.First.Len() {
			for j := range free {
				if !free[j] && slices.Equal(p.First.Row(i), p.Second.Row(j)) {
					free[j] = true
					continue rows
				}
			}
			alone++
		}
		other := 0
		for _, taken := range free {
			if !taken {
				other++
			}
		}
		var shown [2]int
		for _, row := range v.view().Table(plot.Exact).Rows {
			for side := range 2 {
				var n int
				must.Get(fmt.Sscan(row[4+side], &n))(t)
				shown[side] += n
			}
		}
		if v.odd != [2]int{alone, other} || shown != [2]int{p.First.Len(), p.Second.Len()} {
			t.Fatalf("%v: odd %v, want %d and %d; the table holds %v", p, v.odd, alone, other, shown)
		}
	}
}

// TestDataOfEveryLearner: every pair of every learner is drawn, within its frame.
func TestDataOfEveryLearner(t *testing.T) {
	seen := map[string]bool{}
	for _, spec := range learners.All() {
		params := must.Get(audit.ResolveParams(spec.Params, nil, audit.Claim{}))(t)
		for _, relation := range spec.Relations(params) {
			known, domain := spec.Table(params), spec.Domain(params, relation)
			d := len(known.Features)
			e := &pair.Examples{Features: known.Features, Classes: known.Classes, Lower: domain.Lower[:d], Upper: domain.Upper[:d]}
			for _, p := range spec.Pairs(params, relation) {
				if what := fmt.Sprint(e.Features, p); seen[what] {
					continue
				} else {
					seen[what] = true
				}
				v := newData(e, p)
				if v == nil || v.odd == [2]int{} {
					t.Fatalf("%s: pair %q is not drawn", spec.Name, p.Label)
				}
				everyChoice(t, spec.Name+" "+p.Label, v.view())
				if f := v.view().Rows; len(f) != len(v.points) {
					t.Errorf("%s: %d rows in the table", spec.Name, len(f))
				}
			}
		}
	}
	if len(seen) < 10 {
		t.Errorf("%d pairs", len(seen))
	}
}

// TestDataRefuses: what does not fit together is not drawn.
func TestDataRefuses(t *testing.T) {
	p := audit.Pair{First: table([]float64{0, 0, 1, 0}), Second: table([]float64{0, 0, 2, 0})}
	if newData(cells, p) == nil {
		t.Fatal("it is not drawn")
	}
	short, empty, flat := *cells, *cells, *cells
	short.Lower = short.Lower[:2]
	empty.Features, empty.Lower, empty.Upper = nil, nil, nil
	flat.Upper = []float64{1, -1, 4}
	for _, e := range []*pair.Examples{nil, &short, &empty, &flat} {
		if newData(e, p) != nil {
			t.Errorf("%+v is drawn", e)
		}
	}
	for _, p := range []audit.Pair{{}, {First: p.First, Second: table([]float64{1, 0})}, {First: p.First, Second: audit.Dataset{Columns: 4, Values: make([]float64, 5)}}} {
		if newData(cells, p) != nil {
			t.Errorf("%+v is drawn", p)
		}
	}
}
