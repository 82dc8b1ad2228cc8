package learners

import (
	"fmt"
	"slices"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/audit/stream"
	"github.com/dpscope/dpscope/mechanisms/train"
)

// forest is a random forest after Fletcher and Islam (2017): its trees are built without
// looking at the data, each split by a uniform feature at a uniform threshold in what is left
// of the declared domain; and a leaf's label is drawn by the exponential mechanism (McSherry
// and Talwar, FOCS 2007): y with probability ∝ exp(w n_y), where n_y rows in the leaf have it,
// w the same whatever the data (the smooth sensitivity of the paper is not used).
//
// Each of m trees costs epsilon/m. A row that is added or removed moves one count of one leaf
// by 1, and the odds of its label by exp(w): w = epsilon/m. A row that is replaced is removed
// and added, in one leaf or two: w = epsilon/(2m).
//
// The output is the label of the leaf of one point in each tree: of the point x* in which the
// pair differs, or else of the zero vector. No other leaf is built.
type forest struct {
	name, title, source, fault, mended string

	wrongNeighbours bool // epsilon is for a row that is added or removed
}

const forestSource = "Fletcher and Islam, Differentially Private Random Decision Forests using Smooth Sensitivity, Expert Systems with Applications 78 (2017), with the exponential mechanism on counts"

var (
	randomForest                = forest{name: "random-forest", title: "Random forest, with the vote of each tree", source: forestSource}
	randomForestWrongNeighbours = forest{name: "random-forest-wrong-neighbours", title: "Random forest calibrated for add/remove but claimed for replace", wrongNeighbours: true,
		source: forestSource + luSource + ": \"Our estimated ε̂ using the second definition exceeded the theoretical level until the definitions were reconciled.\"",
		fault:  "calibrates the distribution of its labels for a row that is added or removed, but claims epsilon for one that is replaced, which costs twice as much", mended: "random-forest"}
)

func (f *forest) spec(tables []*Table) audit.MechanismSpec {
	params, relations := []audit.ParamSpec{epsilonParam,
		{Name: "trees", Doc: "number of trees, which share epsilon", Default: audit.Pick(f.wrongNeighbours, 1.0, 3), Min: 1, Max: 64, Integer: true},
		{Name: "depth", Doc: "number of splits from the root to a leaf", Default: 3, Min: 1, Max: 16, Integer: true},
		neighboursParam}, neighbours
	if f.wrongNeighbours {
		params, relations = params[:3], func(audit.Params) []audit.Relation { return []audit.Relation{audit.Replace} }
	}
	return spec{
		MechanismSpec: audit.MechanismSpec{Name: f.name, Title: f.title, Source: f.source, Fault: f.fault, Mended: f.mended, Params: params, Relations: relations,
			Truth: func(p audit.Params) string {
				epsilon := p.Num("epsilon")
				return "epsilon = " + audit.Pick(f.wrongNeighbours, audit.Number(2*epsilon)+" where a row is replaced", audit.Number(epsilon))
			}},
		pairs: f.pairs,
		known: func(audit.Params, *Table) audit.Table { return audit.Table{Learning: audit.Forest} },
		build: func(p audit.Params, t *Table) (audit.Mechanism, error) {
			m := &forestModel{table: t, trees: p.Int("trees"), depth: p.Int("depth"), point: make([]float64, len(t.Features))}
			m.weight = p.Num("epsilon") / float64(m.trees)
			if !f.wrongNeighbours && p.Word("neighbours") == train.Replace {
				m.weight /= 2
			}
			return m, nil
		},
	}.over(tables)
}

// pairs: where most rows of a leaf agree, one row moves the odds of the other label by nearly
// as much as any may.
func (f *forest) pairs(p audit.Params, t *Table, r audit.Relation) []audit.Pair {
	middle := make([]float64, t.Rows.Columns)
	most := ends(middle[1:], 1)
	if r == audit.AddRemove {
		return []audit.Pair{crafted("a few rows alike, and one more with the other label", 3, middle, nil, most), t.join("the table, and one row more at the origin", most)}
	}
	return []audit.Pair{crafted("a few rows alike, and the label of one flipped", 3, middle, middle, most), t.flip("the longest row with its label flipped", t.longest())}
}

type forestModel struct {
	table        *Table
	trees, depth int
	weight       float64 // of a row in the logarithm of its label's odds
	point        []float64
}

// For is the forest's votes on the point in which a pair differs.
func (m *forestModel) For(p audit.Pair) audit.Mechanism {
	at, to := poison(p), *m
	if len(at) != len(m.point) {
		return m
	}
	for j, v := range at {
		at[j] = max(m.table.Lower[j], min(m.table.Upper[j], v))
	}
	to.point = at
	return &to
}

func (m *forestModel) Columns() []audit.Column {
	return audit.Listed(m.trees, func(i int) audit.Column {
		return audit.Column{Name: fmt.Sprintf("vote of tree %d", i+1), Kind: audit.Symbol}
	})
}

// Sample draws, for each tree, a feature and a threshold for each split, then the label.
func (m *forestModel) Sample(d audit.Dataset, s *stream.Stream, out []float64) error {
	e, err := m.table.examples(d, 0)
	if err != nil {
		return err
	}
	var lower, upper []float64
	draws, features := make([]float64, m.depth+1), make([]float64, m.depth)
	all, in := audit.Listed(e.n, func(i int) int { return i }), make([]int, e.n)
	for k := range out {
		lower = append(lower[:0], m.table.Lower...)
		upper = append(upper[:0], m.table.Upper...)
		in = append(in[:0], all...)
		s.Uniform(features, 0, float64(e.d))
		s.Uniform(draws, 0, 1)
		for h, u := range draws[:m.depth] {
			j := int(features[h])
			at := lower[j] + float64(u*(upper[j]-lower[j]))
			below := m.point[j] < at
			if below {
				upper[j] = at
			} else {
				lower[j] = at
			}
			in = slices.DeleteFunc(in, func(i int) bool { return (e.X[i*e.d+j] < at) != below })
		}
		margin := 0
		for _, i := range in {
			margin += 2*int(e.Labels[i]) - 1
		}
		out[k] = audit.Pick(draws[m.depth] < stream.Logistic(float64(m.weight*float64(margin))), 1.0, 0)
	}
	return nil
}
