package bounds

import (
	"math"
	"slices"
	"sort"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/audit/stream"
)

// ROC counts membership scores of two classes above thresholds: high ones speak for in.
type ROC struct {
	In    int       `json:"in"` // scores of canaries that were in, and that were out
	Out   int       `json:"out"`
	Steps []ROCStep `json:"steps"` // thresholds from the highest down
	// Wins are the pairs of a score in and a lower one out; Ties those of two equal scores.
	Wins int `json:"wins"`
	Ties int `json:"ties"`
}

// ROCStep counts the scores that are at least At.
type ROCStep struct {
	At  float64 `json:"at"`
	In  int     `json:"in"`
	Out int     `json:"out"`
}

// ROCPoint is a threshold's rates: the seen shares, and a rectangle that holds those of the laws.
type ROCPoint struct {
	FPR, FPRLower, FPRUpper float64
	TPR, TPRLower, TPRUpper float64
}

// MostScores bounds the scores of a class in an [ROC], so that pairs can be counted.
const MostScores = 1 << 26

// rocCounts are the counts at which the band of n scores is as narrow as one threshold's limits: 0
// to 4, then a factor of 1.3 apart, and the same from the other end.
func rocCounts(n int) []int {
	var all []int
	for k := 0; 2*k <= n; k = max(k+1, int(math.Ceil(float64(1.3*float64(k))))) {
		all = append(all, k, n-k)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// SortedROC counts finite scores of both classes, in ascending order, at the thresholds that
// [ROC.Band] and [ROC.TPRAt] want.
func SortedROC(in, out []float64, rates []float64, beta float64) ROC {
	Must(CheckBeta(beta))
	Refuse(len(in) < 1 || len(out) < 1 || max(len(in), len(out)) > MostScores, "number of scores out of range")
	r := ROC{In: len(in), Out: len(out), Steps: []ROCStep{}}
	var cuts []float64
	for _, x := range [][]float64{in, out} {
		for _, k := range rocCounts(len(x)) {
			if k > 0 {
				cuts = append(cuts, x[len(x)-k])
			}
		}
	}
	// next is the lowest threshold with fewer than k scores out above.
	next := func(k int) {
		least := inf
		for _, x := range [][]float64{in, out} {
			if i := sort.Search(len(x), func(i int) bool { return k > len(out) || x[i] > out[len(out)-k] }); i < len(x) {
				least = min(least, x[i])
			}
		}
		if least != inf {
			cuts = append(cuts, least)
		}
	}
	for _, rate := range rates {
		few, many := rocRanks(len(out), rate, beta)
		if many <= len(out) {
			cuts = append(cuts, out[len(out)-many])
		}
		if few > 0 {
			next(few)
		}
		next(seenRank(len(out), rate))
	}
	slices.Sort(cuts)
	slices.Reverse(cuts)
	for _, at := range slices.Compact(cuts) {
		at += 0 // no negative zero
		from := func(x []float64) int { return len(x) - sort.SearchFloat64s(x, at) }
		r.Steps = append(r.Steps, ROCStep{At: at, In: from(in), Out: from(out)})
	}
	r.Wins, r.Ties = won(in, out)
	return r
}

// AUROC is [ROC.AUROC] of scores in any order.
func AUROC(in, out []float64) float64 {
	r := ROC{In: len(in), Out: len(out)}
	r.Wins, r.Ties = won(audit.Ascending(in), audit.Ascending(out))
	return r.AUROC()
}

func won(in, out []float64) (wins, ties int) {
	first, last := 0, 0 // of those out, how many are below, and at most, the score in
	for _, x := range in {
		for first < len(out) && out[first] < x {
			first++
		}
		for last < len(out) && out[last] <= x {
			last++
		}
		wins += first
		ties += last - first
	}
	return wins, ties
}

// Sound reports whether scores can give these counts.
func (r ROC) Sound() bool {
	if r.In < 1 || r.Out < 1 || max(r.In, r.Out) > MostScores || r.Wins < 0 || r.Ties < 0 || r.Wins > r.In*r.Out || r.Ties > r.In*r.Out-r.Wins {
		return false
	}
	last := ROCStep{At: inf}
	won, open := 0, 0 // pairs that the steps decide, and those between two of them
	for _, s := range append(slices.Clone(r.Steps), ROCStep{At: -inf, In: r.In, Out: r.Out}) {
		if !(s.At < last.At) || s.In < last.In || s.Out < last.Out || s.In > r.In || s.Out > r.Out {
			return false
		}
		won += (s.In - last.In) * (r.Out - s.Out)
		open += (s.In - last.In) * (s.Out - last.Out)
		last = s
	}
	return r.Wins >= won && r.Wins+r.Ties <= won+open
}

// Band is the curve at its steps, from (0, 0) to (1, 1), and a band about it: all rectangles
// together, and at all other thresholds too, hold the rates of the two laws with probability at
// least 1 - beta if the scores of each class are independent draws of one law, ties or not.
//
// Half of beta goes to each class. Of that, half goes to the inequality of Dvoretzky, Kiefer and
// Wolfowitz with Massart's constant (1990), better in the middle, and half to order statistics,
// better in the tails: the share of a law above its k-th largest of n draws is Beta(k, n-k+1), or
// below that where there are ties, which limits the share above any threshold with at least, or
// fewer than, k draws above; by the union bound over k of a list that depends on n alone.
func (r ROC) Band(beta float64) []ROCPoint {
	Must(CheckBeta(beta))
	Refuse(!r.Sound(), "counts out of range")
	in, out := shareBand(r.In, beta/2), shareBand(r.Out, beta/2)
	point := func(x, y int) (p ROCPoint) {
		p.TPR, p.TPRLower, p.TPRUpper = in(x)
		p.FPR, p.FPRLower, p.FPRUpper = out(y)
		return p
	}
	points := []ROCPoint{point(0, 0)}
	for _, s := range r.Steps {
		if s.In+s.Out > 0 && s.In+s.Out < r.In+r.Out {
			points = append(points, point(s.In, s.Out))
		}
	}
	return append(points, point(r.In, r.Out))
}

// shareBand bounds the share of a law above every threshold, by how many of n draws are above.
func shareBand(n int, beta float64) func(k int) (seen, lower, upper float64) {
	counts := rocCounts(n)
	each := beta / 4 / float64(len(counts))
	width := math.Sqrt(math.Log(4/beta)/float64(2*float64(n))) + 1e-12
	return func(k int) (seen, lower, upper float64) {
		seen = float64(k) / float64(n)
		i, exact := slices.BinarySearch(counts, k) // 0 and n are among them
		upper = UpperProportion(counts[i], n, each)
		if !exact {
			i--
		}
		return seen, max(seen-width, LowerProportion(counts[i], n, each)), min(seen+width, upper)
	}
}

// MethodROCRanks names [ROC.TPRAt].
const MethodROCRanks Method = "roc-ranks"

// seenRank is the least that more than a share of rate lie at or above.
func seenRank(n int, rate float64) int { return int(float64(rate*float64(n))+1e-9) + 1 }

// rocRanks are ranks from above of n draws: with probability 1 - beta/4 each, at most the given
// share of their law lies above the one of rank few, 0 where there is none, and more than it at or
// above the one of rank many, n + 1 where there is none.
func rocRanks(n int, rate, beta float64) (few, many int) {
	few = sort.Search(n, func(k int) bool { return UpperProportion(k, n, beta/4) > rate })
	many = 1 + sort.Search(n, func(k int) bool { return LowerProportion(k+1, n, beta/4) > rate })
	return few, many
}

// TPRAt is the largest true positive rate of thresholds whose false positive rate is at most rate:
// as seen, and an interval for that of the two laws. The intervals of several rates do not hold
// together.
//
// The thresholds are scores of those out, of ranks that depend on their number alone, so that what
// of their law lies above has a known law (beta/4 a side; David and Nagaraja, Order Statistics,
// section 7.1); and given them the scores in above are binomial (Clopper and Pearson, beta/4 a
// side). Other steps than those that [SortedROC] takes at this rate and beta leave it valid and wider.
func (r ROC) TPRAt(rate, beta float64) (seen, lower, upper float64) {
	Must(CheckBeta(beta))
	Refuse(!r.Sound() || !(rate > 0 && rate < 1), "counts or rate out of range")
	few, many := rocRanks(r.Out, rate, beta)
	steps := append(slices.Clone(r.Steps), ROCStep{In: r.In, Out: r.Out})
	most := func(out int) (in int) { // of the scores in, above thresholds with so many out
		for _, s := range steps {
			if s.Out <= out {
				in = s.In
			}
		}
		return in
	}
	upper = 1
	if many <= r.Out {
		i := slices.IndexFunc(steps, func(s ROCStep) bool { return s.Out >= many })
		upper = UpperProportion(steps[i].In, r.In, beta/4)
	}
	if few > 0 {
		lower = LowerProportion(most(few-1), r.In, beta/4)
	}
	return float64(most(seenRank(r.Out, rate)-1)) / float64(r.In), lower, upper
}

// MethodAUROC names [AUROCInterval].
const MethodAUROC Method = "auroc-chernoff"

// AUROC is the share of pairs of a score in and one out of which that in is higher, equal ones
// counted half (Mann and Whitney).
func (r ROC) AUROC() float64 {
	return (float64(r.Wins) + float64(0.5*float64(r.Ties))) / (float64(r.In) * float64(r.Out))
}

// AUROCInterval is an interval for the expected area, of which area was seen, at level beta. n is
// the smaller number of scores of a class, all independent and those of a class of one law. Then
// the area is a U-statistic of two samples, the mean over all pairings of a mean of n independent
// values in [0, 1], and by Jensen's inequality the bound for these holds for it (Hoeffding 1963,
// theorem 1, equation 2.1, and section 5). For independent runs, area is the mean of the areas of n
// of them.
func AUROCInterval(area float64, n int, beta float64) (lower, upper float64) {
	Must(CheckBeta(beta))
	Refuse(!(area >= 0 && area <= 1) || n < 1, "area or number out of range")
	level := stream.Log(2/beta) / float64(n)
	return max(0, leastShare(area, level)-1e-12), min(1, 1-leastShare(1-area, level)+1e-12)
}

// ROCLimit is the largest true positive rate at a false positive rate that (epsilon, delta)
// differential privacy allows (Kairouz, Oh and Viswanath 2015).
func ROCLimit(fpr, eps, delta float64) float64 {
	return min(1, min(float64(math.Exp(eps)*fpr)+delta, 1-float64(math.Exp(-eps)*max(0, 1-delta-fpr))))
}

// AUROCLimit is the area under [ROCLimit].
func AUROCLimit(eps, delta float64) float64 {
	return 1 - float64((1-delta)*(1-delta))/(1+math.Exp(eps))
}
