// Package poison attacks learners: a table against the same table with one row poisoned, or several
// copies of it where pairs may differ by more rows.
//
// The attacks are those of Lu et al., A general framework for auditing differentially private machine
// learning (NeurIPS 2022), section 4.1, and those that it compares them with. They look at the learner's
// twin without noise: "As long as E[M(D, b)] ≈ M∞(D), meaning the DP model is on average equivalent to
// the non-private version, it is sufficient to find the optimal poisoning with respect to the
// non-private model" (step 2). Proposals have the same bits on every platform.
package poison

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/audit/stream/linalg"
)

const paper = "Lu et al., A general framework for auditing differentially private machine learning (2022), "

// All are the attacks, those that fit a learner best first.
func All() []audit.FinderSpec { return audit.Each(attacks, attack.spec) }

// Pairs are what fits a problem's learner best; none without a learner.
func Pairs(p audit.FinderProblem) []audit.Pair {
	var list []audit.Pair
	for _, a := range attacks {
		if p.Table != nil && slices.Contains(a.best, p.Table.Learning) {
			if pairs, err := a.pairs(p); err == nil {
				list = append(list, pairs...)
			}
		}
	}
	return list
}

type attack struct {
	name, title, source string
	of                  []audit.Learning
	best                []audit.Learning // those that it fits best
	points              func(*problem) []point
}

// point is a poisoned row, and which rows it takes the place of: as many as there are copies.
type point struct {
	what string
	row  []float64 // features, then the label
	out  []int
}

var (
	every    = []audit.Learning{audit.Logistic, audit.Network, audit.NaiveBayes, audit.Forest}
	gradient = []audit.Learning{audit.Logistic, audit.Network}
	logistic = []audit.Learning{audit.Logistic}
	bayes    = []audit.Learning{audit.NaiveBayes}
	forest   = []audit.Learning{audit.Forest}
	network  = []audit.Learning{audit.Network}
)

var attacks = []attack{
	{"influence", "The row that moves the coefficients of a logistic regression most, by its influence function",
		paper + "section 4.1, logistic regression: \"we optimize the L2 norm of the influence function using projected gradient ascent\"",
		logistic, logistic, influence},
	{"corner-flip", "The row nearest to a corner of the domain, its label flipped",
		paper + "section 4.1, naive Bayes: \"We combine the two ideas by flipping the class label of the point closest to a corner\"",
		bayes, bayes, cornerFlip},
	{"majority", "A row that agrees with the majority around it, in place of one that does not",
		paper + "section 4.1, random forest, aims at even leaves; this attack aims at the others, where the losing label is rare and one row changes its odds by nearly all that epsilon allows",
		every, forest, majority},
	{"farthest-flip", "The row that is most distant from all others, its label flipped",
		paper + "section 4.1, random forest: \"we select the point most distant from the rest of the training set as measured by L1-distance and flip its label\"",
		every, forest, farthestFlip},
	{"clipbkd", "A row along the axis of least variance, with the unlikelier label",
		"ClipBKD: Jagielski, Ullman and Oprea, Auditing differentially private machine learning: how private is private SGD? (2020); as in " + paper + "section 4.1, DP-SGD: \"constructs a data point along the axis of least variance in the dataset\"",
		every, network, clipBKD},
	{"shadow", "A row moved to where models trained on parts of the table are most wrong",
		"Nasr, Song, Thakurta, Papernot and Carlini, Adversary instantiation: lower bounds for differentially private machine learning (2021); as in " + paper + "section 4.1, DP-SGD: \"selects a random datum and maximizes the loss with gradient ascent\", of \"a set of trained shadow models\"",
		gradient, network, shadow},
	{"coefficient", "A row that pulls the coefficients of a logistic regression to a perpendicular target",
		"Ma, Zhu and Hsu, Data poisoning against differentially-private learners: attacks and defenses (2019); as in " + paper + "section 5: \"we constructed a perpendicular vector to the original coefficients\"",
		logistic, nil, coefficient},
	{"corner-mean", "The row nearest to a corner of the domain moved to the opposite one, its label kept",
		paper + "section 4.1, naive Bayes: \"selecting a point on the corner of the hyper-rectangle C nearest the data points of class y and placing it on the corner furthest away\"",
		every, nil, cornerMean},
	{"row-swap", "A random row that takes the features of one of the other class: a baseline",
		paper + "section 5: \"a baseline where a random data point x is changed to a random point from the opposite class without changing labels (Swap-X)\"",
		every, nil, rowSwap},
}

func (a attack) spec() audit.FinderSpec {
	return audit.FinderSpec{Name: a.name, Title: a.title, Source: a.source, Attacks: a.of, New: func(p audit.FinderProblem) (audit.Finder, error) {
		pairs, err := a.pairs(p)
		return (*audit.PairList)(&pairs), err
	}}
}

type problem struct {
	audit.FinderProblem
	n, d   int         // rows, features
	x      [][]float64 // features as the learner sees them
	y      []float64   // labels, 0 or 1
	copies []int       // of the poisoned row, ascending
	failed error       // the first of the learner's twin
}

func (a attack) pairs(p audit.FinderProblem) ([]audit.Pair, error) {
	refuse := func(field, found, want string) error {
		return &audit.InputError{Field: field, Found: found, Want: want, Remedy: "use the finder auto"}
	}
	if p.Table == nil || !slices.Contains(a.of, p.Table.Learning) {
		kinds := audit.Each(a.of, func(l audit.Learning) string { return string(l) })
		return nil, refuse("finder", fmt.Sprintf("%q", a.name), "another for this mechanism; this one poisons the tables of learners: "+strings.Join(kinds, ", "))
	}
	if p.Relation != audit.Replace && p.Relation != audit.AddRemove {
		return nil, refuse("relation", fmt.Sprintf("%q", p.Relation), "replace or add-remove, to poison a row")
	}

	q := &problem{FinderProblem: p, n: p.Table.Base.Len(), d: p.Table.Base.Columns - 1}
	room := audit.Pick(p.Relation == audit.AddRemove, p.Domain.MaxRows-q.n, q.n)
	for k := 1; k <= min(room, max(1, p.Group)); k *= 2 {
		q.copies = append(q.copies, k)
	}
	for i := range q.n {
		row := p.Table.Base.Row(i)
		q.x, q.y = append(q.x, q.seen(row[:q.d])), append(q.y, audit.Pick(row[q.d] >= 0.5, 1.0, 0))
	}
	if len(q.copies) == 0 || q.d < 1 || !slices.Contains(q.y, 0) || !slices.Contains(q.y, 1) {
		return nil, refuse("table", fmt.Sprintf("of %d rows and %d features", q.n, q.d), "one with room for a row, a feature, and rows of both labels")
	}
	points := a.points(q)
	if q.failed != nil {
		return nil, q.failed
	}
	var pairs []audit.Pair
	for _, at := range points {
		for _, k := range q.copies {
			pair := q.pair(at, k)
			if same := func(o audit.Pair) bool { return slices.Equal(o.Second.Values, pair.Second.Values) }; slices.ContainsFunc(pairs, same) || slices.Equal(pair.First.Values, pair.Second.Values) {
				continue
			}
			if _, err := p.Relation.Steps(pair, p.Domain, k); err != nil {
				return nil, err
			}
			pair.Label = fmt.Sprintf("%s %d: %s", a.name, len(pairs)+1, pair.Label)
			pairs = append(pairs, pair)
		}
	}
	return pairs, nil
}

func (q *problem) pair(at point, copies int) audit.Pair {
	base := q.Table.Base
	row := slices.Clone(at.row)
	for j := range row {
		row[j] = min(max(row[j], q.Domain.Lower[j]), q.Domain.Upper[j])
	}
	second := audit.Dataset{Columns: base.Columns, Values: slices.Clone(base.Values)}
	how := "added"
	if q.Relation == audit.AddRemove {
		for range copies {
			second.Values = append(second.Values, row...)
		}
	} else {
		how = fmt.Sprintf("in place of row %d", at.out[0]+1)
		for _, i := range at.out[:min(copies, len(at.out))] {
			copy(second.Row(i), row)
		}
	}
	what := at.what + ", " + how
	if copies > 1 {
		what += fmt.Sprintf(", %d copies", copies)
	}
	return audit.Pair{Label: what, First: base, Second: second}
}

// with is the table with such a row in the place of the first of those.
func (q *problem) with(row []float64, out []int) audit.Dataset {
	return q.pair(point{"", row, out}, 1).Second
}

// seen are features as the learner sees them: within the radius.
func (q *problem) seen(x []float64) []float64 {
	x = slices.Clone(x)
	if r, norm := q.Table.Radius, math.Sqrt(linalg.Dot(x, x)); r > 0 && norm > r {
		for j := range x {
			x[j] = float64(x[j] * r / norm)
		}
	}
	return x
}

// project moves features in place to the nearest in the radius, then in the bounds.
func (q *problem) project(x []float64) {
	copy(x, q.seen(x))
	for j := range x {
		x[j] = min(max(x[j], q.Domain.Lower[j]), q.Domain.Upper[j])
	}
}

// reach is about how far features may lie from each other.
func (q *problem) reach() float64 {
	if r := q.Table.Radius; r > 0 {
		return r
	}
	sum := 0.0
	for j := range q.d {
		half := (q.Domain.Upper[j] - q.Domain.Lower[j]) / 2
		sum += float64(half * half)
	}
	return math.Sqrt(sum)
}

// fine is the step to which poisoned features are rounded, towards 0: reports hold them.
const fine = 0x1p-14

func poisoned(x []float64, y float64) []float64 {
	row := make([]float64, 0, len(x)+1)
	for _, v := range x {
		row = append(row, float64(math.Trunc(v/fine)*fine)+0) // no -0
	}
	return append(row, y)
}

// nearest are all rows by a distance; of equals the first.
func (q *problem) nearest(distance func(i int) float64) []int {
	order, far := audit.Listed(q.n, func(i int) int { return i }), audit.Listed(q.n, distance)
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(far[a], far[b]) })
	return order
}

func (q *problem) alike(i int) []int {
	order := q.near(q.x[i], q.y[i])
	return append([]int{i}, slices.DeleteFunc(order, func(k int) bool { return k == i })...)
}

func (q *problem) near(x []float64, y float64) []int {
	return q.nearest(func(k int) float64 {
		return squared(q.x[k], x) + audit.Pick(q.y[k] != y, 1e12, 0)
	})
}

func (q *problem) mean(y float64) []float64 {
	m, n := make([]float64, q.d), 0.0
	for i, x := range q.x {
		if q.y[i] == y {
			n++
			for j, v := range x {
				m[j] += v
			}
		}
	}
	return audit.Each(m, func(v float64) float64 { return v / n })
}

func squared(a, b []float64) float64 {
	sum := 0.0
	for i, v := range a {
		sum += float64((v - b[i]) * (v - b[i]))
	}
	return sum
}
