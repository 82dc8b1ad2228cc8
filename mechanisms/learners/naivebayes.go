package learners

import (
	"fmt"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/audit/stream"
	"github.com/dpscope/dpscope/mechanisms/train"
)

// bayes is the Gaussian naive Bayes classifier of Vaidya et al. (2013) for features in [-1, 1].
// With d features, n_y rows of class y, their sums S_yj of x_j and Q_yj of x_j², Laplace noise
// of scale
//
//	3 s/epsilon on n_y,  3 d s/epsilon on S_yj,  3 d s/epsilon on Q_yj
//
// and ñ_y at least 1, it releases mu = S/ñ, sigma² = Q/ñ - mu², also below 0, and the share
// ñ_1/(ñ_0+ñ_1).
//
// s is 1 where a row is added or removed and 2 where one is replaced. Proof sketch: a row is
// in one class, so that it moves n by 1 in all, and each of S_.j and Q_.j by at most 1. So n, S
// and Q, in sum over classes and features, move by at most s, d s and d s, and cost epsilon/3
// each (Dwork, McSherry, Nissim and Smith 2006, proposition 1). A row at a corner whose label
// is flipped moves all of them as far as that.
type bayes struct {
	name, title, source, fault, mended string

	counts     bool // fault: exposes counts of the classes that sum to n
	dataBounds bool // fault: scales features to the range that they have in the data
}

const bayesSource = "Vaidya, Shafiq, Basu and Hong, Differentially Private Naive Bayes Classification, WI 2013"

var (
	naiveBayes       = bayes{name: "naive-bayes", title: "Gaussian naive Bayes classifier", source: bayesSource}
	naiveBayesCounts = bayes{name: "naive-bayes-counts", title: "Gaussian naive Bayes classifier that exposes its class counts", counts: true,
		source: bayesSource + luSource + ", on diffprivlib: \"the sum of class counts is enforced to be the dataset size. This means whenever (D, D') differ by one row in length no privacy is guaranteed.\"",
		fault:  "forces the noisy class counts to sum to the number of rows, which reveals a row that is added or removed", mended: "naive-bayes"}
	naiveBayesDataBounds = bayes{name: "naive-bayes-data-bounds", title: "Gaussian naive Bayes classifier with bounds from the data", dataBounds: true,
		source: bayesSource + "; the fault: bounds that default to the smallest and largest value of each feature",
		fault:  "scales each feature to its range in the data: one row changes the range, and with it all means and their noise", mended: "naive-bayes"}
)

func (f *bayes) spec(tables []*Table) audit.MechanismSpec {
	params := []audit.ParamSpec{epsilonParam, neighboursParam}
	if f.counts { // it cannot hide them
		params[1].Choices = params[1].Choices[1:]
	}
	return spec{
		MechanismSpec: audit.MechanismSpec{Name: f.name, Title: f.title, Source: f.source, Fault: f.fault, Mended: f.mended, Params: params, Relations: neighbours,
			Truth: func(p audit.Params) string {
				switch {
				case f.counts:
					return "not private for any epsilon: the counts reveal the number of rows"
				case f.dataBounds:
					return "not private for any epsilon: a feature that is equal in all rows is released exactly"
				}
				return "epsilon = " + audit.Number(p.Num("epsilon"))
			}},
		pairs: f.pairs,
		known: func(audit.Params, *Table) audit.Table { return audit.Table{Learning: audit.NaiveBayes} },
		build: func(p audit.Params, t *Table) (audit.Mechanism, error) {
			m := &bayesModel{bayes: f, table: t, scale: 3 / p.Num("epsilon")}
			if !f.counts && p.Word("neighbours") == train.Replace {
				m.scale *= 2
			}
			return m, nil
		},
	}.over(tables)
}

func (f *bayes) pairs(_ audit.Params, t *Table, r audit.Relation) []audit.Pair {
	n := t.Rows.Len()
	corner, opposite := ends(t.Lower, 0), ends(t.Upper, 1)
	middle := make([]float64, t.Rows.Columns)
	if r == audit.AddRemove {
		alike, joined := crafted("all rows alike, and one more at a corner", n, middle, nil, opposite), t.join("the table, and one row more at a corner", opposite)
		return audit.Pick(f.dataBounds, []audit.Pair{alike, joined}, []audit.Pair{joined, alike})
	}
	flipped := t.flip("the longest row with its label flipped", t.longest())
	if f.dataBounds {
		return []audit.Pair{crafted("all rows alike, and one of them moved to a corner", n-1, middle, middle, opposite), flipped}
	}
	moved := crafted("all rows at the origin, and one at a corner with its label flipped", n-1, middle, corner, ends(t.Lower, 1))
	for i := range n - 1 {
		moved.First.Row(i)[len(t.Features)], moved.Second.Row(i)[len(t.Features)] = float64(i%2), float64(i%2)
	}
	return []audit.Pair{moved, flipped}
}

type bayesModel struct {
	*bayes
	table *Table
	scale float64 // of the noise on counts
}

func (m *bayesModel) Columns() []audit.Column {
	var columns []audit.Column
	add := func(name string) { columns = append(columns, audit.Column{Name: name, Kind: audit.Real}) }
	for _, what := range []string{"mean", "variance"} {
		for _, class := range m.table.Classes {
			for _, feature := range m.table.Features {
				add(fmt.Sprintf("%s of %s, %s", what, feature, class))
			}
		}
	}
	add("share of " + m.table.Classes[1])
	if m.counts {
		for _, class := range m.table.Classes {
			add("count of " + class)
		}
	}
	return columns
}

// sums are what a model is computed from, and how features were scaled to [-1, 1].
type sums struct {
	n            [2]float64
	s, q         []float64 // d of class 0, then d of class 1
	middle, half []float64 // of the features' range in the data; nil where bounds are declared
}

func (m *bayesModel) sums(e examples) sums {
	t := sums{s: make([]float64, 2*e.d), q: make([]float64, 2*e.d)}
	if m.dataBounds && e.n > 0 {
		t.middle, t.half = make([]float64, e.d), make([]float64, e.d)
		for j := range e.d {
			low, high := e.X[j], e.X[j]
			for i := range e.n {
				low, high = min(low, e.row(i)[j]), max(high, e.row(i)[j])
			}
			t.middle[j], t.half[j] = low+float64((high-low)/2), (high-low)/2
		}
	}
	for i := range e.n {
		y := int(e.Labels[i])
		t.n[y]++
		for j, x := range e.row(i) {
			if t.half != nil {
				if t.half[j] == 0 {
					continue
				}
				x = max(-1, min(1, (x-t.middle[j])/t.half[j]))
			}
			t.s[y*e.d+j] += x
			t.q[y*e.d+j] += float64(x * x)
		}
	}
	return t
}

func (t sums) model(n, s, q, out []float64) {
	d := len(s) / 2
	for k := range s {
		count := n[k/d]
		mean := s[k] / count
		variance := q[k]/count - float64(mean*mean)
		if t.half != nil {
			half := t.half[k%d]
			mean, variance = t.middle[k%d]+float64(half*mean), float64(float64(half*half)*variance)
		}
		out[k], out[2*d+k] = mean, variance
	}
	out[4*d] = n[1] / (n[0] + n[1])
}

func (m *bayesModel) Sample(d audit.Dataset, s *stream.Stream, out []float64) error {
	e, err := m.table.examples(d, 0)
	if err != nil {
		return err
	}
	exact, width := m.sums(e), len(m.Columns())
	n, both := make([]float64, 2), make([]float64, 4*e.d)
	for ; len(out) > 0; out = out[width:] {
		if m.counts {
			copy(n, m.fitted(exact.n, s))
			copy(out[4*e.d+1:], n)
		} else {
			s.Laplace(n, m.scale)
			for y, z := range n {
				n[y] = max(1, exact.n[y]+z)
			}
		}
		s.Laplace(both, float64(m.scale*float64(e.d)))
		for k := range exact.s {
			both[k] += exact.s[k]
			both[2*e.d+k] += exact.q[k]
		}
		exact.model(n, both[:2*e.d], both[2*e.d:], out)
	}
	return nil
}

// fitted are the counts with geometric noise, P(k) ∝ exp(-|k|/scale), at least 1 and at most
// their sum, made to sum to the number of rows: one is added to or taken from the classes in
// turn, to the larger first, from the smaller first.
func (m *bayesModel) fitted(exact [2]float64, s *stream.Stream) []float64 {
	n, total := []float64{1, 1}, exact[0]+exact[1]
	if total < 2 {
		return n // no two counts sum to it
	}
	var noise [4]float64
	s.Geometric(noise[:], -stream.Expm1(-1/m.scale))
	for y := range n {
		n[y] = max(1, min(total, exact[y]+noise[2*y]-noise[2*y+1]))
	}
	big := audit.Pick(n[1] > n[0], 1, 0)
	for y := big; n[0]+n[1] < total; y = 1 - y {
		n[y] = min(total, n[y]+1)
	}
	for y := 1 - big; n[0]+n[1] > total; y = 1 - y {
		n[y] = max(1, n[y]-1)
	}
	return n
}

// Train is the model without noise: means, variances and the share of class 1.
func (m *bayesModel) Train(d audit.Dataset) ([]float64, error) {
	e, err := m.table.examples(d, 0)
	if err != nil {
		return nil, err
	}
	exact, out := m.sums(e), make([]float64, 4*e.d+1)
	n := []float64{max(1, exact.n[0]), max(1, exact.n[1])}
	exact.model(n, exact.s, exact.q, out)
	return out, nil
}
