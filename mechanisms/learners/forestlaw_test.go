package learners

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/audit/stream"
)

// tree is a tree of a forest, all of its leaves labelled.
type tree struct {
	feature     int
	at          float64
	left, right *tree
	label       float64
}

// grow builds a whole tree, splits first, rows after them: slow and as the comment has
// it.
func grow(r *rand.Rand, lower, upper []float64, rows [][]float64, depth int, weight float64) *tree {
	d := len(lower)
	if depth == 0 {
		n := [2]float64{}
		for _, row := range rows {
			n[int(row[d])]++
		}
		one := math.Exp(weight*n[1]) / (math.Exp(weight*n[0]) + math.Exp(weight*n[1]))
		return &tree{feature: -1, label: audit.Pick(r.Float64() < one, 1.0, 0)}
	}
	t := &tree{feature: r.IntN(d)}
	t.at = lower[t.feature] + r.Float64()*(upper[t.feature]-lower[t.feature])
	var below, above [][]float64
	for _, row := range rows {
		if row[t.feature] < t.at {
			below = append(below, row)
		} else {
			above = append(above, row)
		}
	}
	up, low := slices.Clone(upper), slices.Clone(lower)
	up[t.feature], low[t.feature] = t.at, t.at
	t.left, t.right = grow(r, lower, up, below, depth-1, weight), grow(r, low, upper, above, depth-1, weight)
	return t
}

func (t *tree) vote(x []float64) float64 {
	for t.feature >= 0 {
		t = audit.Pick(x[t.feature] < t.at, t.left, t.right)
	}
	return t.label
}

// Votes have the frequency of those of whole trees, for either relation; and with one
// feature and one split, exactly the probability that an integral over the split gives.
func TestForestTwin(t *testing.T) {
	for _, c := range []struct {
		name, neighbours string
		share            float64 // of epsilon that weighs a row
	}{{"random-forest", "replace", 0.5}, {"random-forest", "add-remove", 1}, {"random-forest-wrong-neighbours", "", 1}} {
		args := []any{"epsilon", 2.0, "trees", 2.0, "depth", 4.0}
		if c.neighbours != "" {
			args = append(args, "neighbours", c.neighbours)
		}
		spec := specOf(t, c.name)
		m := made(t, c.name, args...).(*forestModel)
		two := spec.Pairs(set(t, c.name, args...), spec.Relations(set(t, c.name, args...))[0])[1]
		of := m.For(two).(*forestModel)
		r, twin := rand.New(rand.NewPCG(9, 10)), []float64{}
		for range drawn / 2 {
			twin = append(twin, grow(r, m.table.Lower, m.table.Upper, without(two.Second, nil), 4, c.share*2/2).vote(of.point))
		}
		rows := draw(t, of, two.Second, drawn/2)
		for k := range 2 {
			alike(t, c.name+" "+c.neighbours, column(rows, 2, k), slices.Clone(twin))
		}
	}
	table := &Table{Name: "one", Features: []string{"x"}, Classes: [2]string{"a", "b"}, Lower: []float64{-1}, Upper: []float64{1},
		Rows: audit.Dataset{Columns: 2, Values: []float64{-0.8, 0, -0.5, 1, 0.25, 1, 0.25, 1, 0.75, 0}}}
	m := &forestModel{table: table, trees: 1, depth: 1, weight: 0.7, point: []float64{0.25}}
	want, last := 0.0, -1.0
	for _, at := range []float64{-0.8, -0.5, 0.25, 0.75, 1} { // splits in (last, at]
		margin := 0.0
		for i := range 5 {
			if x := table.Rows.Row(i); (x[0] < at) == (0.25 < at) {
				margin += 2*x[1] - 1
			}
		}
		want += (at - last) / 2 / (1 + math.Exp(-0.7*margin))
		last = at
	}
	ones := 0
	for _, v := range draw(t, m, table.Rows, 10*drawn) {
		ones += int(v)
	}
	if limit := math.Sqrt(math.Log(2/1e-6) / (2 * 10 * drawn)); math.Abs(float64(ones)/(10*drawn)-want) > limit { // Hoeffding
		t.Errorf("the vote is 1 in a share of %v, want %v", float64(ones)/(10*drawn), want)
	}
}

// The odds of a leaf's label move by at most exp(epsilon/trees) over all counts of
// neighbours; by twice that where a row is replaced in the broken twin.
func TestLossOfVotes(t *testing.T) {
	for _, c := range []struct {
		name, neighbours string
		most             float64
	}{{"random-forest", "replace", 1}, {"random-forest", "add-remove", 1}, {"random-forest-wrong-neighbours", "replace", 2}} {
		args := []any{"epsilon", 1.5, "trees", 4.0}
		if c.name == "random-forest" {
			args = append(args, "neighbours", c.neighbours)
		}
		m, worst := made(t, c.name, args...).(*forestModel), 0.0
		logs := func(margin int) [2]float64 {
			p := stream.Logistic(m.weight * float64(margin))
			q := stream.Logistic(-m.weight * float64(margin))
			return [2]float64{math.Log(p), math.Log(q)}
		}
		step := audit.Pick(c.neighbours == "replace", 2, 1) // of n1 - n0 in a leaf
		for margin := -60; margin <= 60; margin++ {
			a, b := logs(margin), logs(margin+step)
			worst = max(worst, math.Abs(a[0]-b[0]), math.Abs(a[1]-b[1]))
			// Replaced by a row of another leaf: both leaves move by 1.
			if c.neighbours == "replace" {
				e, f := logs(margin), logs(margin+1)
				worst = max(worst, 2*math.Abs(e[0]-f[0]), 2*math.Abs(e[1]-f[1]))
			}
		}
		if want := c.most * 1.5 / 4; worst > want*(1+1e-9) || worst < 0.99*want {
			t.Errorf("%s under %s: the loss is at most %v, want %v", c.name, c.neighbours, worst, want)
		}
	}
}
