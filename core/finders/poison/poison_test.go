package poison

import (
	"cmp"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"math"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/audit/stream"
	"github.com/dpscope/dpscope/audit/stream/linalg"
	"github.com/dpscope/dpscope/internal/must"
	"github.com/dpscope/dpscope/mechanisms/learners"
)

// at is the problem of attacking a learner at its defaults, on a table.
func at(t testing.TB, mechanism, table string, group int) audit.FinderProblem {
	t.Helper()
	for _, m := range learners.All() {
		if m.Name != mechanism {
			continue
		}
		p := must.Get(audit.ResolveParams(m.Params, audit.Params{"table": {Text: table}}, audit.Claim{}))(t)
		r := m.Relations(p)[0]
		return audit.FinderProblem{Relation: r, Domain: m.Domain(p, r), Table: m.Table(p), Stream: stream.New(stream.Key{Seed: 2, Purpose: "attack"}), Trials: 8, Group: group}
	}
	t.Fatalf("no learner %s", mechanism)
	return audit.FinderProblem{}
}

// proposed are the pairs of an attack.
func proposed(t testing.TB, name string, p audit.FinderProblem) []audit.Pair {
	t.Helper()
	i := slices.IndexFunc(attacks, func(a attack) bool { return a.name == name })
	pairs, err := attacks[i].pairs(p)
	if err != nil || len(pairs) == 0 {
		t.Fatalf("%s: %d pairs, %v", name, len(pairs), err)
	}
	return pairs
}

// looked is the problem as an attack has it.
func looked(t testing.TB, p audit.FinderProblem) *problem {
	t.Helper()
	var q *problem
	must.Get((attack{of: every, points: func(x *problem) []point { q = x; return nil }}).pairs(p))(t)
	return q
}

// fitted is the fit of the learner's own table.
func fitted(t testing.TB, q *problem) *fit {
	t.Helper()
	f := q.fit(q.Table.Base)
	if q.failed != nil {
		t.Fatal(q.failed)
	}
	return f
}

// change is which row differs, and to what.
func change(t testing.TB, p audit.Pair) (from, to []float64) {
	t.Helper()
	at := differs(t, p)
	return p.First.Row(at), p.Second.Row(at)
}

func differs(t testing.TB, p audit.Pair) int {
	t.Helper()
	for i := range p.First.Len() {
		if !slices.Equal(p.First.Row(i), p.Second.Row(i)) {
			return i
		}
	}
	t.Fatal("no row differs")
	return 0
}

func norm(x []float64) float64 { return math.Sqrt(linalg.Dot(x, x)) }

func less(a, b []float64) []float64 { return floats.SubTo(make([]float64, len(a)), a, b) }

// disc is a dense grid of the features of two that are no longer than 1.
func disc(visit func(x []float64)) {
	for i := -60; i <= 60; i++ {
		for j := -60; j <= 60; j++ {
			if x := []float64{float64(i) / 60, float64(j) / 60}; norm(x) <= 1 {
				visit(x)
			}
		}
	}
	for i := range 720 {
		s, c := math.Sincos(2 * math.Pi * float64(i) / 720)
		visit([]float64{0.99999 * c, 0.99999 * s})
	}
}

// TestInfluenceIsTheDerivative: where every row is there 200 times, replacing one of
// them moves the trained coefficients by the difference of two influences over 200.
func TestInfluenceIsTheDerivative(t *testing.T) {
	for _, table := range []string{"iris", "stretched"} {
		q := looked(t, at(t, "logistic-output", table, 1))
		f := fitted(t, q)
		many := audit.Dataset{Columns: q.d + 1, Values: slices.Repeat(q.Table.Base.Values, 200)}
		before := must.Get(q.Table.Train(many))(t)
		for i, x := range [][]float64{{0.9, 0, 0, 0}, {0, -0.3, 0.5, 0.1}, {-0.2, 0.1, 0, 0.9}} {
			y := float64(i % 2)
			changed := audit.Dataset{Columns: many.Columns, Values: slices.Clone(many.Values)}
			copy(changed.Row(i), append(slices.Clone(x), y))
			after := must.Get(q.Table.Train(changed))(t)
			got, want := less(f.influence(x, y), f.influence(q.x[i], q.y[i])), less(after, before)
			floats.Scale(200, want)
			if away := norm(less(got, want)); away > 0.03*norm(want) {
				t.Errorf("%s, row %d: influence %v, the coefficients move by %v", table, i, got, want)
			}
		}
	}
}

// TestInfluenceFindsTheLargest: no row of a dense grid moves coefficients that are trained
// anew by more than a twentieth more, and the influence of the row is a summit: none near
// it is larger.
func TestInfluenceFindsTheLargest(t *testing.T) {
	p := at(t, "logistic-output", "iris-petals", 1)
	q := looked(t, p)
	f := fitted(t, q)
	pairs := proposed(t, "influence", p)
	_, to := change(t, pairs[0])
	distance := func(d audit.Dataset) float64 {
		w := must.Get(q.Table.Train(d))(t)
		return norm(less(w, f.w))
	}
	most, moved := 0.0, 0.0
	trial := audit.Dataset{Columns: 3, Values: slices.Clone(pairs[0].First.Values)}
	replaced, n := differs(t, pairs[0]), 0
	disc(func(x []float64) {
		n++
		for _, y := range []float64{0, 1} {
			if y == to[2] && squared(x, to[:2]) < 0.01 {
				most = max(most, norm(f.influence(x, y)))
			}
			if n%13 == 0 {
				copy(trial.Row(replaced), append(slices.Clone(x), y))
				moved = max(moved, distance(trial))
			}
		}
	})
	if got := norm(f.influence(to[:2], to[2])); got < 0.99*most {
		t.Errorf("the influence is %v, near it up to %v", got, most)
	}
	if got := distance(pairs[0].Second); got < 0.95*moved {
		t.Errorf("the coefficients move by %v, of a grid up to %v", got, moved)
	}
	// The second proposal puts it where the removal helps most.
	if a, b := distance(pairs[0].Second), distance(pairs[1].Second); b < a {
		t.Errorf("in place of another row the coefficients move by %v, of %v", b, a)
	}
}

// TestCoefficientsAreDrawn: no row of a dense grid brings the coefficients nearer to
// either target than the nearest proposal does, by more than a fiftieth.
func TestCoefficientsAreDrawn(t *testing.T) {
	p := at(t, "logistic-output", "iris-petals", 1)
	q := looked(t, p)
	w := must.Get(q.Table.Train(q.Table.Base))(t)
	targets := [][]float64{{-w[1], w[0]}, {w[1], -w[0]}}
	nearest := func(d audit.Dataset) (best [2]float64) {
		to := must.Get(q.Table.Train(d))(t)
		for k, target := range targets {
			best[k] = norm(less(to, target))
		}
		return best
	}
	pairs := proposed(t, "coefficient", p)
	got := [2]float64{math.Inf(1), math.Inf(1)}
	for _, pair := range pairs {
		near := nearest(pair.Second)
		got = [2]float64{min(got[0], near[0]), min(got[1], near[1])}
	}
	at := differs(t, pairs[0])
	label := pairs[0].Second.Row(at)[2]
	trial := audit.Dataset{Columns: 3, Values: slices.Clone(pairs[0].First.Values)}
	n := 0
	disc(func(x []float64) {
		if n++; n%7 != 0 {
			return
		}
		copy(trial.Row(at), append(slices.Clone(x), label))
		for k, v := range nearest(trial) {
			if v < got[k]*0.98 {
				t.Fatalf("the row %v brings the coefficients to %v of target %d, the best proposal to %v", x, v, k, got[k])
			}
		}
	})
}

// TestRowsAreThoseOfTheirDefinition: each by its sentence in the paper, the long way.
func TestRowsAreThoseOfTheirDefinition(t *testing.T) {
	for _, table := range []string{"iris", "spherical"} {
		p := at(t, "naive-bayes", table, 1)
		base := p.Table.Base
		d := base.Columns - 1
		far := func(x, y []float64, power float64) float64 {
			sum := 0.0
			for j := range d {
				sum += math.Pow(math.Abs(x[j]-y[j]), power)
			}
			return sum
		}
		corners := [][]float64{{}}
		for range d {
			var more [][]float64
			for _, c := range corners {
				more = append(more, append(slices.Clone(c), -1), append(slices.Clone(c), 1))
			}
			corners = more
		}
		toCorner := func(x []float64) float64 {
			best := math.Inf(1)
			for _, c := range corners {
				best = min(best, far(x, c, 2))
			}
			return best
		}
		from, to := change(t, proposed(t, "corner-flip", p)[0])
		if !slices.Equal(from[:d], to[:d]) || from[d]+to[d] != 1 {
			t.Errorf("%s: %v became %v, want its label flipped", table, from, to)
		}
		for i := range base.Len() {
			if toCorner(base.Row(i)) < toCorner(from)-1e-12 {
				t.Errorf("%s: row %d is nearer to a corner than %v", table, i, from)
			}
		}

		_, moved := change(t, proposed(t, "corner-flip", p)[1])
		if moved[d] != to[d] || toCorner(moved) != 0 || far(moved, from, 2) > toCorner(from)+1e-12 {
			t.Errorf("%s: %v, in its corner with its label flipped, is %v", table, from, moved)
		}

		from, to = change(t, proposed(t, "farthest-flip", at(t, "random-forest", table, 1))[0])
		nearest := func(row []float64) float64 {
			best, self := math.Inf(1), false
			for i := range base.Len() {
				if other := base.Row(i); !self && slices.Equal(other, row) {
					self = true
				} else {
					best = min(best, far(row, other, 1))
				}
			}
			return best
		}
		if !slices.Equal(from[:d], to[:d]) || from[d]+to[d] != 1 {
			t.Errorf("%s: %v became %v, want its label flipped", table, from, to)
		}
		for i := range base.Len() {
			if nearest(base.Row(i)) > nearest(from)+1e-12 {
				t.Errorf("%s: row %d is lonelier than %v", table, i, from)
			}
		}

		from, to = change(t, proposed(t, "corner-mean", p)[0])
		if from[d] != to[d] {
			t.Errorf("%s: the label of %v is flipped", table, from)
		}
		for _, v := range to[:d] {
			if math.Abs(v) != 1 {
				t.Errorf("%s: %v is no corner", table, to)
			}
		}
		q := looked(t, p)
		if near, mean := slices.Clone(to[:d]), q.mean(from[d]); true {
			for j := range near {
				if near[j] = -near[j]; near[j]*mean[j] < 0 {
					t.Errorf("%s: the class is about %v, and a row was moved to %v", table, mean, to)
				}
			}
		}

		for _, pair := range proposed(t, "row-swap", p) {
			from, to := change(t, pair)
			other := append(slices.Clone(to[:d]), 1-to[d])
			there := false
			for i := range base.Len() {
				there = there || slices.Equal(base.Row(i), other)
			}
			if from[d] != to[d] || !there {
				t.Errorf("%s: %v became %v, want the features of a row of the other class", table, from, to)
			}
		}
	}
}

// TestMajorityGrows: each row that joins has the label that most of its neighbours have, and
// takes the place of one that has not, none of which is nearer.
func TestMajorityGrows(t *testing.T) {
	for _, table := range []string{"iris", "stretched"} {
		p := at(t, "random-forest", table, 1)
		base := p.Table.Base
		d := base.Columns - 1
		pairs := proposed(t, "majority", p)
		if len(pairs) != 5 {
			t.Errorf("%s: %d pairs", table, len(pairs))
		}
		for n, pair := range pairs {
			from, to := change(t, pair)
			if from[d] == to[d] || (n == 0) != slices.Equal(from[:d], to[:d]) {
				t.Errorf("%s, %s: %v became %v", table, pair.Label, from, to)
			}
			votes := map[float64]int{}
			order := make([]int, base.Len())
			for i := range order {
				order[i] = i
			}
			slices.SortStableFunc(order, func(a, b int) int {
				return cmp.Compare(away(base.Row(a)[:d], to[:d]), away(base.Row(b)[:d], to[:d]))
			})
			for _, i := range order[:base.Len()/8] {
				votes[base.Row(i)[d]]++
			}
			if votes[to[d]] < votes[1-to[d]] {
				t.Errorf("%s, %s: it joins the minority, %v", table, pair.Label, votes)
			}
			for i := range base.Len() {
				if row := base.Row(i); row[d] == from[d] && squared(row[:d], to[:d]) < squared(from[:d], to[:d])-1e-6 {
					t.Errorf("%s, %s: %v is nearer than %v", table, pair.Label, row, from)
				}
			}
		}
	}
}

// TestClipBKDIsTheLeastAxis: the row lies along the direction in which the rows vary
// least, as long as the median, with the unlikelier label.
func TestClipBKDIsTheLeastAxis(t *testing.T) {
	p := at(t, "logistic-output", "iris-petals", 1)
	q := looked(t, p)
	_, to := change(t, proposed(t, "clipbkd", p)[0])
	along := func(x []float64) float64 {
		sum := 0.0
		for _, row := range q.x {
			sum += linalg.Dot(row, x) * linalg.Dot(row, x)
		}
		return sum / linalg.Dot(x, x)
	}
	got := along(to[:2])
	for i := range 1000 {
		s, c := math.Sincos(math.Pi * float64(i) / 1000)
		if along([]float64{c, s}) < got*0.999 {
			t.Fatalf("along %v, %v the rows vary by %v, along %v by %v", c, s, along([]float64{c, s}), to, got)
		}
	}
	var norms []float64
	for _, row := range q.x {
		norms = append(norms, norm(row))
	}
	slices.Sort(norms)
	if got, want := norm(to[:2]), norms[len(norms)/2]; math.Abs(got-want) > 1e-3 {
		t.Errorf("it is %v long, the median row %v", got, want)
	}
	w := must.Get(q.Table.Train(q.Table.Base))(t)
	if likely := linalg.Dot(w, to[:2]) > 0; likely == (to[2] == 1) {
		t.Errorf("the label of %v is the likelier one", to)
	}
	// In more dimensions, against random directions.
	q = looked(t, at(t, "logistic-output", "stretched", 1))
	v, s := q.least(), stream.New(stream.Key{Seed: 1})
	for range 2000 {
		z := make([]float64, 4)
		s.Gaussian(z, 1)
		if along(z) < along(v) {
			t.Fatalf("along %v the rows vary less than along %v", z, v)
		}
	}
}

// TestShadowsAreWrong: no row of a dense grid is as wrong by more than a hundredth.
func TestShadowsAreWrong(t *testing.T) {
	p := at(t, "logistic-output", "iris-petals", 1)
	from, to := change(t, proposed(t, "shadow", p)[0])
	if from[2] != to[2] {
		t.Errorf("%v became %v, want the label kept", from, to)
	}
	w := must.Get(p.Table.Train(p.Table.Base))(t)
	wrong := func(x []float64) float64 { return math.Abs(to[2] - p.Table.Probability(w, x)) }
	most := 0.0
	disc(func(x []float64) { most = max(most, wrong(x)) })
	if got := wrong(to[:2]); got < 0.97*most {
		t.Errorf("wrong by %v, of a grid up to %v", got, most)
	}
}

// TestCopies: a group's rows are copies of the same row, in the place of rows or beside
// them, as many as allowed.
func TestCopies(t *testing.T) {
	p := at(t, "naive-bayes", "iris", 8)
	for _, r := range []audit.Relation{audit.Replace, audit.AddRemove} {
		if p.Relation = r; r == audit.AddRemove {
			p.Domain.MaxRows = p.Table.Base.Len() + 8
		}
		for _, a := range attacks {
			if !slices.Contains(a.of, audit.NaiveBayes) {
				continue
			}
			var sizes []int
			for _, pair := range proposed(t, a.name, p) {
				k := must.Get(r.Steps(pair, p.Domain, 8))(t)
				if sizes = append(sizes, k); k > 1 && !strings.Contains(pair.Label, fmt.Sprintf("%d copies", k)) {
					t.Errorf("%s, %s: %d rows differ", a.name, pair.Label, k)
				}
			}
			if !slices.Equal(sizes[:4], []int{1, 2, 4, 8}) {
				t.Errorf("%s under %s: groups of %v", a.name, r, sizes)
			}
		}
	}
}

// Proposals are the same on every platform that the tests run on.
func TestSameBitsOfAttacks(t *testing.T) {
	want := map[string]string{
		"majority":      "f7b14ad091ca5b38",
		"farthest-flip": "e2b3df90fe68189d",
		"influence":     "da0b0ab04de8279f",
		"corner-flip":   "6a91b82782030c23",
		"clipbkd":       "c7aec85c2a4eba00",
		"shadow":        "665054b2aa3333a9",
		"coefficient":   "572eb1517edebd06",
		"corner-mean":   "3bfb0c8eeccbce3f",
		"row-swap":      "7c27ac69f4594c39",
	}
	for _, a := range attacks {
		h := fnv.New64a()
		for _, mechanism := range []string{"logistic-output", "naive-bayes", "random-forest"} {
			for _, table := range []string{"iris", "stretched"} {
				p := at(t, mechanism, table, 2)
				if !slices.Contains(a.of, p.Table.Learning) {
					continue
				}
				data := must.Get(json.Marshal(proposed(t, a.name, p)))(t)
				h.Write(data)
			}
		}
		if got := fmt.Sprintf("%016x", h.Sum64()); got != want[a.name] {
			t.Errorf("%q: %q, want %q", a.name, got, want[a.name])
		}
	}
}
