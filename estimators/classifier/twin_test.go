package classifier

import (
	"crypto/sha256"
	"encoding/json"
	"flag"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/audit/stream"
	"github.com/dpscope/dpscope/bounds"
	"github.com/dpscope/dpscope/internal/must"
	"github.com/dpscope/dpscope/internal/testsize"
)

// path are the nodes from the root to the leaf of a row, found by the walk that the
// words of treeNode say.
func path(t *tree, columns []audit.Column, row []float64) []int {
	at := []int{0}
	for {
		n := t.Nodes[at[len(at)-1]]
		if len(n.Kids) == 0 {
			return at
		}
		place := audit.Width(columns[:n.Column])
		next := -1
		if n.Cut != nil {
			if columns[n.Column].Kind == audit.Mixed {
				place++
			}
			next = 1
			if row[place] <= *n.Cut {
				next = 0
			}
		} else {
			for k, s := range n.Symbols {
				if s == row[place] {
					next = k
				}
			}
			if next < 0 {
				if len(n.Kids) == len(n.Symbols) {
					return at
				}
				next = len(n.Kids) - 1
			}
		}
		at = append(at, n.Kids[next])
	}
}

// slowOdds are the log odds at the end of a path, of counts by node.
func slowOdds(path []int, shrinkage float64, count func(node, side int) float64) float64 {
	p := 0.5
	for _, k := range path[1:] {
		p = (count(k, 0) + shrinkage*p) / (count(k, 0) + count(k, 1) + shrinkage)
	}
	return math.Log(p / (1 - p))
}

const twinTolerance = 1e-9

// A tree's counts are those of the outputs below each node; its odds, with all outputs,
// without one and without a fold, follow from them by the definition.
func TestTreeTwin(t *testing.T) {
	for _, o := range slices.Concat(telling, odd) {
		d := o.data(5, 150)
		if d.width > 20 {
			continue
		}
		tree, leaf := newTree(d)
		counts := make([][2]float64, len(tree.Nodes))
		for i, n := range d.count {
			p := path(tree, d.columns, d.row(i))
			if last := p[len(p)-1]; last != int(leaf[i]) || tree.find(d.columns, d.at, d.row(i)) != last {
				t.Fatalf("%s: output %d is in leaf %d, want %d", o.name, i, leaf[i], last)
			}
			for _, k := range p {
				counts[k][0] += n[0]
				counts[k][1] += n[1]
			}
		}
		for k, n := range tree.Nodes {
			if counts[k] != [2]float64{float64(n.N[0]), float64(n.N[1])} {
				t.Fatalf("%s: node %d counts %v, want %v", o.name, k, n.N, counts[k])
			}
		}
		for s, shrinkage := range shrinkages {
			left := [2][]float64{tree.without(shrinkage, 0), tree.without(shrinkage, 1)}
			folded := tree.withoutFolds(shrinkage, d, leaf)
			for i := range d.count {
				p := path(tree, d.columns, d.row(i))
				want := slowOdds(p, shrinkage, func(k, side int) float64 { return counts[k][side] })
				if got := tree.odds[s][leaf[i]]; math.Abs(got-want) > twinTolerance {
					t.Fatalf("%s: odds %v, want %v", o.name, got, want)
				}
				for side := range 2 {
					if d.count[i][side] == 0 {
						continue
					}
					want := slowOdds(p, shrinkage, func(k, of int) float64 {
						if of == side {
							return counts[k][of] - 1
						}
						return counts[k][of]
					})
					if got := left[side][leaf[i]]; math.Abs(got-want) > twinTolerance {
						t.Fatalf("%s: odds without an output of side %d %v, want %v", o.name, side, got, want)
					}
				}
				if i%10 > 0 {
					continue
				}
				for f := range folds {
					want := slowOdds(p, shrinkage, func(k, side int) float64 {
						n := counts[k][side]
						for j := range d.count {
							if in := d.inFold(j, f); in[side] > 0 && slices.Contains(path(tree, d.columns, d.row(j)), k) {
								n -= in[side]
							}
						}
						return n
					})
					if got := folded[f][i]; math.Abs(got-want) > twinTolerance {
						t.Fatalf("%s: odds without fold %d %v, want %v", o.name, f, got, want)
					}
				}
			}
		}
	}
}

// Folds part the outputs: each is in one.
func TestFolds(t *testing.T) {
	for _, o := range telling {
		d := o.data(6, 400)
		var in [folds][2]float64
		for i, n := range d.count {
			var sum [2]float64
			for f := range folds {
				for side, x := range d.inFold(i, f) {
					sum[side] += x
					in[f][side] += x
				}
			}
			if sum != n {
				t.Fatalf("%s: output %d, seen %v times, is %v times in folds", o.name, i, n, sum)
			}
		}
		for f := range in {
			if n := in[f][0] + in[f][1]; n < 0.1*800 || n > 0.4*800 {
				t.Errorf("%s: fold %d has %v of 800 outputs", o.name, f, n)
			}
		}
	}
}

// slowLoss is the penalised loss that a regression makes small.
func slowLoss(r *regression, w []float64) float64 {
	n, sum := r.points.width, 0.0
	for i := range n {
		for j := range n {
			sum += r.penalty[i*n+j] * w[i] * w[j] / 2
		}
	}
	for i, c := range r.points.n {
		z := 0.0
		for j, v := range r.points.x[i*n : (i+1)*n] {
			z += v * w[j]
		}
		sum += c[0]*math.Log1p(math.Exp(-z)) + c[1]*math.Log1p(math.Exp(z))
	}
	return sum
}

// regressions are a dense one, and one of hats with the penalty of a spline.
func regressions(n int) (dense, hats *regression) {
	s := outputs{name: "regressions", kinds: repeat(audit.Real, 3), row: telling[1].row}
	p := &points{width: 4}
	q := &points{width: 6}
	for side := range 2 {
		rows := s.draw(7, "points", side, n)
		for i := range n {
			row := rows[3*i : 3*i+3]
			p.x = append(p.x, row[0], row[1], row[2], 1)
			place := math.Max(0, math.Min(5, row[1]+2))
			k := min(int(place), 4)
			hat := make([]float64, 6)
			hat[k], hat[k+1] = 1-(place-float64(k)), place-float64(k)
			q.x = append(q.x, hat...)
			var c [2]float64
			c[side] = float64(1 + i%2)
			p.n, q.n = append(p.n, c), append(q.n, c)
		}
	}
	dense = &regression{points: p, penalty: diagonal(4, 2), w: make([]float64, 4)}
	hats = &regression{points: q, penalty: diagonal(6, 0.5), w: make([]float64, 6)}
	for j := range 4 {
		for a, x := range []float64{1, -2, 1} {
			for b, y := range []float64{1, -2, 1} {
				hats.penalty[(j+a)*6+j+b] += 3 * x * y
			}
		}
	}
	return dense, hats
}

// Newton's method finds the bottom of the loss, from wherever it starts; and what it says
// of an output that was left out is what a fit without it says, nearly.
func TestNewtonTwin(t *testing.T) {
	const (
		bottom  = 1e-5 // of the loss, that a step of any direction gains at most
		nearRMS = 0.02 // log odds without an output against a refit, root mean square
		nearMax = 0.15
	)
	dense, hats := regressions(60)
	for name, r := range map[string]*regression{"dense": dense, "hats": hats} {
		r.fit(newtonSteps)
		at := slowLoss(r, r.w)
		for j := range r.w {
			for _, h := range []float64{1e-3, -1e-3, 0.1, -0.1} {
				w := slices.Clone(r.w)
				w[j] += h
				if gain := at - slowLoss(r, w); gain > bottom {
					t.Errorf("%s: weight %d moved by %v gains %v", name, j, h, gain)
				}
			}
		}
		far := &regression{points: r.points, penalty: r.penalty, w: slices.Repeat([]float64{3}, r.points.width)}
		far.fit(40)
		for j := range r.w {
			if math.Abs(far.w[j]-r.w[j]) > 1e-3 {
				t.Errorf("%s: from afar weight %d is %v, want %v", name, j, far.w[j], r.w[j])
			}
		}
		left := r.without()
		squares, most, n := 0.0, 0.0, 0.0
		for i := range r.points.n {
			for side := range 2 {
				if r.points.n[i][side] == 0 {
					continue
				}
				fewer := *r.points
				fewer.n = slices.Clone(fewer.n)
				fewer.n[i][side]--
				again := &regression{points: &fewer, penalty: r.penalty, w: make([]float64, fewer.width)}
				again.fit(60)
				miss := math.Abs(left[side][i] - fewer.dot(i, again.w))
				squares, most, n = squares+miss*miss, math.Max(most, miss), n+1
			}
		}
		rms := math.Sqrt(squares / n)
		if t.Logf("%s: root mean square %.4f, largest %.4f", name, rms, most); rms > nearRMS || most > nearMax {
			t.Errorf("%s: log odds without an output are %v off at root mean square, %v at most", name, rms, most)
		}
	}
}

// logOf is what a bet makes of 1 with the outputs of a table.
func logOf(s *bounds.Stakes, bet int, reversed bool, t *Table) float64 {
	cells := make([]int, Cells)
	var counts [2][]float64
	for c := range cells {
		cells[c] = c
		for side := range counts {
			counts[side] = append(counts[side], float64(t[side][c]))
		}
	}
	return s.LogAt(bet, reversed, cells, counts[0], counts[1])
}

var grid = func() (odds []float64) {
	for c := range Cells {
		odds = append(odds, Logit(c))
	}
	return odds
}()

// Where there is nothing to learn, no candidate's table promises growth: over many sets
// of outputs with equal laws, against the claim that these are equal, and of randomised
// response against its own claim, no bet has grown on average; and a bet of each grows by
// e or more no more often than a fair one may.
func TestNothingToLearn(t *testing.T) {
	testsize.Native(t)
	const n = 100
	sets := testsize.Of(60, 1500)
	even := func(o outputs) outputs {
		row := o.row
		o.row = func(s *stream.Stream, _ int, out []float64) { row(s, 0, out) }
		return o
	}
	fair := outputs{"randomised response", repeat(audit.Symbol, 1), func(s *stream.Stream, side int, out []float64) {
		if out[0] = float64(1 - side); s.Float64() < 1/(1+math.E) {
			out[0] = 1 - out[0]
		}
	}}
	for _, c := range []struct {
		o       outputs
		epsilon float64
	}{{even(telling[0]), 0}, {even(telling[1]), 0}, {even(telling[3]), 0}, {even(telling[4]), 0}, {even(telling[5]), 0}, {fair, 1}, {even(telling[0]), 0.2}} {
		s := bounds.NewStakes([]bounds.Point{{Epsilon: c.epsilon}}, grid)
		type key struct {
			candidate Candidate
			bet       int
			reversed  bool
		}
		sum, squares, large := map[key]float64{}, map[key]float64{}, map[key]int{}
		for set := range sets {
			var l Learner
			_, tables := l.Learn(c.o.data(uint64(1000+set), n))
			for _, k := range learnt(tables) {
				for bet := 0; bet < s.Len(); bet += 3 { // slope 1
					for _, reversed := range []bool{false, true} {
						g := max(-20, logOf(s, bet, reversed, tables[k]))
						at := key{k, bet, reversed}
						sum[at] += g
						squares[at] += g * g
						if g >= 1 {
							large[at]++
						}
					}
				}
			}
		}
		worst, most := math.Inf(-1), 0
		var which key
		for k, v := range sum {
			mean := v / float64(sets)
			deviation := math.Sqrt(math.Max(0, squares[k]/float64(sets)-mean*mean) / float64(sets))
			if x := mean - 4*deviation; x > worst {
				worst, which = x, k
			}
			most = max(most, large[k])
		}
		allowed := testsize.Most(sets, math.Exp(-1), 1e-6)
		if worst > 0 || most > allowed {
			t.Errorf("%s at %v: %v, bet %d grows by %v of nothing, or %d of %d times by e", c.o.name, c.epsilon, which.candidate, which.bet, worst, most, sets)
		}
	}
}

// Where there is something to learn, a table promises what its candidate's bets earn on
// fresh outputs.
func TestPromises(t *testing.T) {
	testsize.Native(t)
	const (
		n     = 400
		fresh = 4000
		off   = 0.15 // of the growth on fresh outputs, on average
	)
	sets := testsize.Of(24, 400)
	for _, o := range telling {
		s := bounds.NewStakes([]bounds.Point{{Epsilon: 0.1}}, grid)
		var promised, earned [Candidates]float64
		var seen [Candidates]int
		for set := range sets {
			var l Learner
			m, tables := l.Learn(o.data(uint64(2000+set), n))
			list := learnt(tables)
			var rest [2][][]uint16
			for side := range rest {
				rest[side] = score(m, list, o.draw(uint64(2000+set), "promises", side, fresh), audit.Width(o.columns()))
			}
			for k, c := range list {
				best, which, reversed := math.Inf(-1), 0, false
				for bet := range s.Len() {
					for _, r := range []bool{false, true} {
						if g := logOf(s, bet, r, tables[c]); g > best {
							best, which, reversed = g, bet, r
						}
					}
				}
				again := new(Table)
				for side := range rest {
					for _, cell := range rest[side][k] {
						again[side][cell]++
					}
				}
				promised[c] += best / n
				earned[c] += logOf(s, which, reversed, again) / fresh
				seen[c]++
			}
		}
		for c := range Candidates {
			if seen[c] < sets {
				continue
			}
			p, e := promised[c]/float64(sets), earned[c]/float64(sets)
			if math.Abs(p-e) > off*e+0.008 {
				t.Errorf("%s, %v: promises %v nats an output of each side, earns %v", o.name, c, p, e)
			}
		}
	}
}

var update = flag.Bool("update", false, "write testdata/digests.txt anew; that changes every saved report")

// Every platform learns the same models and counts the same tables, bit by bit.
func TestSameBitsOfClassifiers(t *testing.T) {
	const file = "testdata/digests.txt"
	var got strings.Builder
	for _, o := range telling {
		var l Learner
		d := NewData(o.columns())
		for at, n := range []int{48, 200} {
			for side := range 2 {
				d.Add(side, o.draw(uint64(at), "bits", side, n))
			}
			m, tables := l.Learn(d)
			data := must.Get(json.Marshal([]any{m, tables}))(t)
			fmt.Fprintf(&got, "%d outputs a side of %s %x\n", d.Len(), o.name, sha256.Sum256(data))
		}
	}
	if *update {
		must.Do(t, os.MkdirAll("testdata", 0o755))
		must.Do(t, os.WriteFile(file, []byte(got.String()), 0o644))
	}
	want := must.Get(os.ReadFile(file))(t)
	if got.String() != string(want) {
		t.Errorf("models changed; digests are now\n%swant\n%s", got.String(), want)
	}
}
