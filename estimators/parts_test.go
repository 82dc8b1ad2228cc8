package estimators

import (
	"math"
	"slices"
	"sort"
	"testing"

	"pgregory.net/rapid"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/internal/must"
)

func TestSearchesAgreeWithScans(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		number := rapid.OneOf(rapid.Float64Range(-3, 3), rapid.SampledFrom([]float64{0, math.Copysign(0, -1), 1, -1, 2, 1e300, -1e300, math.MaxFloat64, 5e-324}))
		size := rapid.SampledFrom([]int{0, 1, 3, 15, 16, 40, 64, 65, 128, 255}).Draw(t, "size")
		list := rapid.SliceOfN(number, size, size).Draw(t, "list")
		for i := range list {
			list[i] += 0
		}
		slices.Sort(list)
		list = slices.Compact(list)
		in := rapid.SliceOfN(number, 1, 60).Draw(t, "in")
		in = append(in, list...)
		var v floats
		var bins, found codes
		n := copy(v[:], in)
		newEdgeSearch(list).find(&v, n, &bins)
		newSymbolIndex(list, 999).find(in, 1, 0, n, &found)
		for i, x := range in[:n] {
			k := sort.SearchFloat64s(list, x)
			if bins[i] != uint32(k) {
				t.Fatalf("bin of %v is %d, want %d", x, bins[i], k)
			}
			want := uint32(999)
			if k < len(list) && list[k] == x {
				want = uint32(k)
			}
			if found[i] != want {
				t.Fatalf("symbol %v found at %d, want %d", x, found[i], want)
			}
		}
	})
}

func TestQuantileEdges(t *testing.T) {
	var spread []float64
	for i := range 1000 {
		spread = append(spread, float64(i))
	}
	if got := quantileEdges(spread, 4, false); !slices.Equal(got, []float64{249, 499, 749}) {
		t.Errorf("quartiles of 0 to 999: %v", got)
	}
	// Tails halve: 125, 62, 31, 15 values at either end, of bins of 250.
	if got, want := quantileEdges(spread, 4, true), []float64{14, 30, 61, 124, 249, 499, 749, 874, 937, 968, 984}; !slices.Equal(got, want) {
		t.Errorf("tails of 0 to 999: %v, want %v", got, want)
	}
	with := append(slices.Repeat([]float64{400.5}, 300), spread...)
	slices.Sort(with)
	got := quantileEdges(with, 4, false)
	if k := slices.Index(got, 400.5); k < 1 || !isAtom(got[k-1], got[k]) {
		t.Errorf("a value that occurs 300 times has no bin of its own: %v", got)
	}
	if got := quantileEdges([]float64{3, 3, 5, 7}, 8, true); !slices.Equal(got, []float64{3, 5}) {
		t.Errorf("few distinct values: %v, want a bin each", got)
	}
	if got := quantileEdges(nil, 8, true); got != nil {
		t.Errorf("edges of nothing: %v", got)
	}
}

// Of equally frequent symbols the smallest are listed, in whatever order a map has them.
func TestFrequentSymbols(t *testing.T) {
	var seen symbolCount
	seen.add(audit.Listed(2*mostSymbols, func(i int) float64 { return float64(i) }), 1, 0, 0)
	for i, s := range seen.frequent() {
		if s.symbol != float64(i) {
			t.Fatalf("symbol %v is listed at place %d", s.symbol, i)
		}
	}
}

func TestCautious(t *testing.T) {
	loud, _ := logRatio(1000, 10000, 0, 10000)
	if want := math.Log(1000.5 / 0.5); math.Abs(loud-want) > 1e-12 {
		t.Errorf("log ratio of 1000 to 0 is %v, want %v", loud, want)
	}
	score := func(a, b int) float64 { return cautious(logRatio(a, 10000, b, 10000)) }
	order := []float64{score(0, 1000), score(0, 8), score(0, 1), score(5, 5), score(2, 1), score(1, 0), score(8, 0), score(30, 1), score(1000, 0)}
	if !slices.IsSorted(order) {
		t.Errorf("scores are not in the order of what the counts say: %v", order)
	}
	if score(7, 7) != 0 || score(3, 9) != -score(9, 3) {
		t.Error("scores are not antisymmetric")
	}
}

func TestSmoothingKeepsToItsRuns(t *testing.T) {
	counts := func(middle int) sideCounts {
		return sideCounts{cells: [2][]int{{10, 12, middle, 9, 10, 14}, {10, 10, 10, 10, 10, 10}}, total: [2]int{950, 60}}
	}
	run := []int{1, 1, 0, 2, 2, 2}
	quiet, loud := smoothed(counts(10), run, 4), smoothed(counts(900), run, 4)
	for i := range run {
		if (quiet[i] == loud[i]) != (i != 2) {
			t.Errorf("cell %d scores %v and %v as the count of cell 2, which stands alone, changes", i, quiet[i], loud[i])
		}
	}
	if want := smoothed(counts(900), run, 0); loud[2] != want[2] {
		t.Errorf("a value that stands alone was smoothed: %v, want %v", loud[2], want[2])
	}
	joined := smoothed(counts(900), []int{1, 1, 1, 1, 1, 1}, 1)
	if !(joined[1] > loud[1]) || joined[5] == smoothed(counts(900), run, 0)[5] {
		t.Errorf("neighbours of one run do not share: %v", joined)
	}
}

// The penalty follows what held-out outputs bear: nearly exact log odds where
// the signal is strong, next to nothing where there is none.
func TestPenaltyFollowsTheSignal(t *testing.T) {
	spread := func(first, second audit.Samples) float64 {
		m := must.Get(logistic.Learn(exploring(first, second)))(t)
		out := make([]float64, 2)
		m.Score([]float64{-1, 2}, out)
		return out[0] - out[1]
	}
	c := laplaceShift(1)
	// The exact difference of log ratios is 2; the fit from 20000 outputs a side
	// has a standard error of some 0.05 there, so five of them is 0.25.
	if got := spread(c.samples("a", 0, 20000), c.samples("a", 1, 20000)); math.Abs(got-2) > 0.25 {
		t.Errorf("log odds between -1 and 2 differ by %v, want 2", got)
	}
	if got := spread(c.samples("a", 0, 20000), c.samples("b", 0, 20000)); math.Abs(got) > 0.1 {
		t.Errorf("log odds between -1 and 2 differ by %v on equal distributions, want 0", got)
	}
}

func TestQuantiseKeepsTwentyBits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := rapid.Float64Range(-mostWeight, mostWeight).Draw(t, "x")
		q := quantise(x)
		if math.Abs(q-x) > math.Abs(x)*0x1p-20 {
			t.Fatalf("quantise(%v) = %v", x, q)
		}
		if q != quantise(q) {
			t.Fatalf("quantise(%v) is not stable", x)
		}
	})
	if quantise(math.NaN()) != 0 || quantise(math.Inf(1)) != 0 {
		t.Error("quantise lets through what is not finite")
	}
}

// The gradient agrees with differences of the value, in any metric, to the
// error of a central difference.
func TestObjectiveGradient(t *testing.T) {
	ex := mixedScenario().exploration(900)
	list, carriers := candidateFeatures(ex)
	d := newDesign(ex, list, carriers, designRows)
	moments := d.secondMoments(ex.Check)
	n := len(d.features) + 1
	o := &objective{design: d, moments: moments, penalty: 0.01, held: 1, check: ex.Check}
	o.metric = newMetric(moments, n, o.penalty)
	u := make([]float64, n)
	for i := range u {
		u[i] = 0.1 * float64(i%5-2)
	}
	gradient, other := make([]float64, n), make([]float64, n)
	o.evaluate(gradient, u)
	for i := range u {
		const step = 1e-5
		at := u[i]
		u[i] = at + step
		up := o.evaluate(other, u)
		u[i] = at - step
		down := o.evaluate(other, u)
		u[i] = at
		if diff := (up - down) / (2 * step); math.Abs(diff-gradient[i]) > 1e-8 {
			t.Errorf("gradient %d is %v, differences say %v", i, gradient[i], diff)
		}
	}
	// And the metric is what it says: L L' = moments/4 + penalty.
	for i := range n {
		for j := range i + 1 {
			sum := 0.0
			for k := range j + 1 {
				sum += o.metric.tri[i*n+k] * o.metric.tri[j*n+k]
			}
			want := moments[i*n+j] / 4
			if i == j && i < n-1 {
				want += o.penalty
			}
			if math.Abs(sum-want) > 1e-12 {
				t.Fatalf("entry %d, %d of the metric is %v, want %v", i, j, sum, want)
			}
		}
	}
}

func TestStandardisedFeatures(t *testing.T) {
	ex := svt6(5, 1).exploration(4000)
	list, carriers := candidateFeatures(ex)
	d := newDesign(ex, list, carriers, designRows)
	outputs, held := 0.0, 0.0
	for _, w := range d.weights {
		outputs += w.sum()
		held += w.held[0] + w.held[1]
	}
	if outputs != 8000 || held != 2000 {
		t.Errorf("the design stands for %v outputs, %v of them held out; want 8000 and 2000", outputs, held)
	}
	for j := range d.features {
		var sum, square float64
		for i, w := range d.weights {
			v := d.blocks[i/block][j*block+i%block]
			sum += w.sum() * v
			square += w.sum() * v * v
		}
		if math.Abs(sum/outputs) > 1e-9 || math.Abs(square/outputs-1) > 1e-9 {
			t.Errorf("feature %d (%s): mean %v, mean square %v", j, d.features[j].Kind, sum/outputs, square/outputs)
		}
	}
}

// TestSmoothingIsChosenAcrossFolds: what one fold alone shows is no gain: the scores of either are held
// to the outputs of the other.
func TestSmoothingIsChosenAcrossFolds(t *testing.T) {
	const cells = 16
	flat, loud := make([]int, cells), [2][]int{make([]int, cells), make([]int, cells)}
	run := make([]int, cells)
	for i := range cells {
		run[i], flat[i] = 1, 50
		loud[i%2][i], loud[1-i%2][i] = 90, 10
	}
	quiet := sideCounts{[2][]int{flat, flat}, [2]int{50 * cells, 50 * cells}}
	noisy := sideCounts{loud, [2]int{50 * cells, 50 * cells}}
	for i, folds := range [][2]sideCounts{{noisy, quiet}, {quiet, noisy}} {
		if reach, gain := chooseSmoothing(folds, run); reach == 0 || gain > 1e-9 {
			t.Errorf("the noise of fold %d is not smoothed: reach %d, gain %g", i, reach, gain)
		}
	}
	if reach, gain := chooseSmoothing([2]sideCounts{noisy, noisy}, run); reach != 0 || gain < 0.1 {
		t.Errorf("what both folds show is smoothed: reach %d, gain %g", reach, gain)
	}
}
