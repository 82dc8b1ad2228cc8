package membership

import (
	"math"
	"slices"
	"sort"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/audit/stream"
	"github.com/dpscope/dpscope/bounds"
)

// Explored are the scores of exploration runs, each run's sorted.
type Explored struct {
	k, m    int
	in, out []float64 // K and M a run
	pooled  []float64 // all that are of use, sorted
}

// NewExplored sorts scores of runs: of k canaries inside each, then of m outside.
func NewExplored(k, m int, v []float64) *Explored {
	e := &Explored{k: k, m: m}
	for ; len(v) >= k+m; v = v[k+m:] {
		e.in, e.out = append(e.in, v[:k]...), append(e.out, v[k:k+m]...)
		slices.Sort(e.in[len(e.in)-k:])
		slices.Sort(e.out[len(e.out)-m:])
	}
	e.pooled = slices.DeleteFunc(slices.Concat(e.in, e.out), func(x float64) bool { return !(x > -math.MaxFloat64) })
	slices.Sort(e.pooled)
	return e
}

func (e *Explored) Runs() int { return len(e.in) / e.k }

func (e *Explored) Table(cut float64) bounds.CanaryTable { return e.table(cut, e.Runs()) }

func (e *Explored) table(cut float64, runs int) bounds.CanaryTable {
	if (e.k+1)*(e.m+1) > 16*runs {
		return bounds.CountCells(e.k, e.m, audit.Listed(runs, func(i int) bounds.CanaryCell {
			return bounds.CanaryCell{X: AboveSorted(e.in[i*e.k:][:e.k], cut), Y: AboveSorted(e.out[i*e.m:][:e.m], cut), Runs: 1}
		}))
	}
	counts := make([]int, (e.k+1)*(e.m+1))
	for i := range runs {
		counts[AboveSorted(e.in[i*e.k:][:e.k], cut)*(e.m+1)+AboveSorted(e.out[i*e.m:][:e.m], cut)]++
	}
	t := bounds.NewCanaryTable(e.k, e.m)
	for c, n := range counts {
		if n > 0 {
			t.Cells = append(t.Cells, bounds.CanaryCell{X: c / (e.m + 1), Y: c % (e.m + 1), Runs: n})
		}
	}
	return t
}

// Above counts scores of a side beyond a threshold.
func Above(side []float64, cut float64) int {
	return audit.Count(side, func(x float64) bool { return x > cut })
}

// AboveSorted is Above of a sorted side.
func AboveSorted(side []float64, cut float64) int {
	return len(side) - sort.Search(len(side), func(i int) bool { return side[i] > cut })
}

// Cut is a threshold on scores.
type Cut struct {
	At    float64
	Value float64 // about what it is predicted to certify; -Inf: nothing
	Ties  bool    // all scores are the same
}

// The largest of many noisy values is one whose noise is upwards, so values are smoothed and lowered:
// on the Gaussian sum (n = 256, 1024 and 4096, K = 16, 32 and 1) this gains about .006, .01 and .2.
const (
	cutRatio   = 1.1  // of successive tails
	cutSpread  = 0.5  // of the normal kernel, in the logit of the rank
	cutCaution = 0.25 // standard errors off a value
)

// Aim is what a threshold is chosen for.
type Aim struct {
	Interval    bounds.CanaryInterval
	Quantile    float64 // see [Explored.rankRange]
	Delta, Beta float64
	Runs        int // that certify
}

// Choose sweeps thresholds by what they are predicted to certify, and tunes the stakes.
func (e *Explored) Choose(a Aim) Gathered {
	least, most := e.rankRange(a.Quantile)
	c := SweepCuts(e.pooled, least, most, func(at float64) (float64, float64, float64) { return e.value(a, at) })
	t := e.Table(c.At)
	return Gathered{Threshold: c.At, Ties: c.Ties, Stakes: bounds.TuneCanary(t, a.Runs, a.Delta, a.Beta), Explored: Counted{Table: &t}}
}

// SweepCuts returns the threshold whose neighbourhood, of ranks that grow by cutRatio from both ends, has
// the largest value; where none certifies anything, the one that separates the rates most. of gives a
// threshold's value, -Inf where it certifies nothing, its standard error and the difference of the rates.
func SweepCuts(pooled []float64, least, most int, of func(at float64) (value, caution, gap float64)) Cut {
	best := Cut{Value: math.Inf(-1)}
	n := len(pooled)
	if n == 0 || pooled[0] == pooled[n-1] {
		if best.Ties = true; n > 0 {
			best.At = pooled[0]
		}
		return best
	}
	type point struct{ at, place, value, caution, gap float64 }
	var points []point
	for _, rank := range sweepRanks(n, least, most) {
		at := pooled[n-1-rank]
		if at == pooled[n-1] { // ties: none is above
			i, _ := slices.BinarySearch(pooled, at)
			at = pooled[i-1]
		}
		if len(points) > 0 && points[len(points)-1].at == at {
			continue
		}
		x := point{at: at}
		x.value, x.caution, x.gap = of(at)
		above := float64(AboveSorted(pooled, at))
		x.place = stream.Log(above / (float64(n) - above))
		points = append(points, x)
	}
	bestGap := math.Inf(-1)
	for _, x := range points {
		if math.IsInf(best.Value, -1) && x.gap > bestGap {
			best.At, bestGap = x.at, x.gap
		}
		if math.IsInf(x.value, -1) {
			continue
		}
		sum, weight := 0.0, 0.0
		for _, y := range points {
			z := (x.place - y.place) / cutSpread
			w := stream.Exp(float64(-z*z) / 2)
			// What certifies nothing is taken as a bound of -1.
			v := math.Max(-1, y.value) - float64(cutCaution*y.caution)
			sum, weight = sum+float64(w*v), weight+w
		}
		if v := sum / weight; v > best.Value {
			best.At, best.Value = x.at, v
		}
	}
	return best
}

// rankRange are the ranks between the q and the 1-q quantile of the scores inside.
func (e *Explored) rankRange(q float64) (least, most int) {
	n := len(e.pooled)
	inside := slices.DeleteFunc(slices.Clone(e.in), Unscored)
	if q == 0 || len(inside) == 0 {
		return 1, n - 1
	}
	slices.Sort(inside)
	tail := int(math.Ceil(float64(q * float64(len(inside)))))
	lo, hi := inside[min(tail, len(inside)-1)], inside[max(0, len(inside)-1-tail)]
	i, _ := slices.BinarySearch(e.pooled, lo)
	j, found := slices.BinarySearch(e.pooled, hi)
	if !found {
		j--
	}
	least = min(max(n-1-j, 1), n-1)
	return least, min(max(n-1-i, least), n-1)
}

// sweepRanks in [least, most] are few in the middle and all in the tails.
func sweepRanks(n, least, most int) []int {
	ranks := []int{least, most}
	for r := 1; r <= n/2; r = max(r+1, int(float64(r)*cutRatio)) {
		for _, x := range []int{r, n - r} {
			if x >= least && x <= most {
				ranks = append(ranks, x)
			}
		}
	}
	slices.Sort(ranks)
	return slices.Compact(ranks)
}

// MostCaution bounds the standard error of a value.
const MostCaution = 1.0

// value is what a threshold is predicted to certify, the standard error of log((p1 - delta)/p0) in the
// exploration, by the delta method, and the difference of the rates. Intervals but paired betting are
// computed on as many runs as certify; where there are fewer, each counts more than once.
func (e *Explored) value(a Aim, at float64) (value, caution, gap float64) {
	delta := a.Delta
	all := e.Table(at)
	x, y := Shares(all)
	if x <= delta || x <= y {
		return math.Inf(-1), MostCaution, x - y
	}
	n := float64(e.Runs())
	// Half a fresh canary, where there was none.
	y0 := math.Max(y, 0.5/float64(n*float64(e.m)))
	for _, c := range all.Cells {
		z := (float64(c.X)/float64(e.k)-x)/(x-delta) - (float64(c.Y)/float64(e.m)-y)/y0
		caution += float64(float64(c.Runs) * float64(z*z))
	}
	caution = math.Min(MostCaution, math.Sqrt(caution)/n)
	if a.Interval.Paired() {
		return bounds.CanaryValue(all, a.Runs, delta, a.Beta), caution, x - y
	}
	t := all
	if e.Runs() > a.Runs {
		t = e.table(at, a.Runs)
	}
	if times := a.Runs / e.Runs(); times > 1 {
		for i := range t.Cells {
			t.Cells[i].Runs *= times
		}
	}
	return bounds.CanaryEpsilon(a.Interval, t, delta, a.Beta, bounds.TuneCanary(t, a.Runs, delta, a.Beta)), caution, x - y
}

// Shares are those of canaries inside and of fresh ones in the event.
func Shares(t bounds.CanaryTable) (in, out float64) {
	x, y, n := 0, 0, 0
	for _, c := range t.Cells {
		x, y, n = x+c.X*c.Runs, y+c.Y*c.Runs, n+c.Runs
	}
	if n == 0 {
		return 0, 0
	}
	return float64(x) / (float64(n) * float64(t.K)), float64(y) / (float64(n) * float64(t.M))
}
