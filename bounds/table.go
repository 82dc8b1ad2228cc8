package bounds

import (
	"fmt"
	"math"
	"sort"

	"github.com/dpscope/dpscope/audit"
	"gonum.org/v1/gonum/floats"
)

// Table counts pairs of outputs by bin: N[a*Bins+b] pairs with the output of the first dataset in
// bin a and that of the second in b. Bins are fixed beforehand, and all outputs are independent. A
// witness is a value for each bin.
type Table struct {
	Bins int   `json:"bins"` // 1 to 1024
	N    []int `json:"n"`
}

// maxBins keeps a table within 8 MB.
const maxBins = 1024

// NewTable returns an empty table. It panics unless 1 <= bins <= 1024.
func NewTable(bins int) Table {
	Refuse(bins < 1 || bins > maxBins, "a table has 1 to 1024 bins")
	return Table{Bins: bins, N: make([]int, bins*bins)}
}

// Validate reports the first field that is out of range. A table needs a pair.
func (t Table) Validate() error {
	err := audit.First(require(t.Bins >= 1 && t.Bins <= maxBins, "table: bins is %d, must be 1 to %d", t.Bins, maxBins),
		require(len(t.N) == t.Bins*t.Bins, "table: n has %d counts, must have bins squared = %d", len(t.N), t.Bins*t.Bins))
	if err != nil {
		return err
	}
	total := 0
	for i, n := range t.N {
		if n < 0 || n > maxTrials-total {
			return fmt.Errorf("table: n[%d] is %d, must be at least 0, and all counts together at most %d", i, n, maxTrials)
		}
		total += n
	}
	return require(total > 0, "table: it holds no pair: draw at least one output of each dataset")
}

// Add returns the table of both shards, of as many bins.
func (t Table) Add(u Table) Table {
	Refuse(t.Bins != u.Bins || len(t.N) != len(u.N), "tables with different bins do not add up")
	sum := NewTable(t.Bins)
	for i := range sum.N {
		sum.N[i] = t.N[i] + u.N[i]
	}
	return sum
}

// Swap exchanges the datasets. The direction to certify must not be chosen on the same pairs.
func (t Table) Swap() Table {
	u := NewTable(t.Bins)
	for i, n := range t.N {
		u.N[i%t.Bins*t.Bins+i/t.Bins] = n
	}
	return u
}

// Pairs is the number of pairs.
func (t Table) Pairs() int { return audit.Total(t.N) }

// First counts the outputs of the first dataset by bin.
func (t Table) First() []int { return t.marginal(func(cell int) int { return cell / t.Bins }) }

// Second counts the outputs of the second dataset by bin.
func (t Table) Second() []int { return t.marginal(func(cell int) int { return cell % t.Bins }) }

func (t Table) marginal(bin func(cell int) int) []int {
	m := make([]int, t.Bins)
	for i, n := range t.N {
		m[bin(i)] += n
	}
	return m
}

// Event returns the counts of a set of bins.
func (t Table) Event(in []bool) Counts {
	Refuse(len(in) != t.Bins, "an event needs one value for each bin")
	var c Counts
	for i, n := range t.N {
		if in[i/t.Bins] {
			c.X += n
		}
		if in[i%t.Bins] {
			c.Y += n
		}
		c.N1 += n
	}
	c.N0 = c.N1
	return c
}

func mustBeTable(t Table, values []float64) {
	Must(t.Validate())
	Refuse(len(values) != t.Bins, "a witness needs one value for each bin")
}

// tableCell is a cell of a table that holds something; n need not be whole.
type tableCell struct {
	a, b int
	n    float64
}

func (t Table) cells() []tableCell {
	var cells []tableCell
	for i, n := range t.N {
		if n > 0 {
			cells = append(cells, tableCell{i / t.Bins, i % t.Bins, float64(n)})
		}
	}
	return cells
}

// halfCount is added to every bin, so that an empty one is not taken as impossible (Jeffreys).
const halfCount = 0.5

// Smoothed are counts as probabilities, half a count added to each.
func Smoothed(n []int) []float64 {
	total := 0.0
	for _, k := range n {
		total += float64(k) + halfCount
	}
	return audit.Each(n, func(k int) float64 { return (float64(k) + halfCount) / total })
}

// tuningBins is the number of pools a side up to which tuning is quick.
const tuningBins = 48

// poolMarginals stands for the expected table of one pair: a cell refers to one bin of a pool of
// similar w.
func poolMarginals(explore Table, w renyiWager) []tableCell {
	first := poolBins(w.z1, Smoothed(explore.First()))
	second := poolBins(w.z2, Smoothed(explore.Second()))
	cells := make([]tableCell, 0, len(first)*len(second))
	for _, p := range first {
		for _, q := range second {
			cells = append(cells, tableCell{p.bin, q.bin, p.weight * q.weight})
		}
	}
	return cells
}

type binPool struct {
	bin    int
	weight float64
}

// poolBins lets the middle bin of each run by value speak for it; the largest stays alone.
func poolBins(value, weight []float64) []binPool {
	order := audit.Listed(len(value), func(i int) int { return i })
	sort.Slice(order, func(i, j int) bool { return value[order[i]] < value[order[j]] })
	if len(order) <= tuningBins {
		return audit.Each(order, func(bin int) binPool { return binPool{bin, weight[bin]} })
	}
	last := len(order) - 1
	pools := make([]binPool, tuningBins)
	for i := range tuningBins - 1 {
		lo, hi := i*last/(tuningBins-1), (i+1)*last/(tuningBins-1)
		pools[i].bin = order[(lo+hi)/2]
		for _, bin := range order[lo:hi] {
			pools[i].weight += weight[bin]
		}
	}
	pools[tuningBins-1] = binPool{order[last], weight[order[last]]}
	return pools
}

// Exchangeable counts independent runs by how many of the K entries of a vector of zeros and ones,
// whose law is that of any order of them, were one (XBern of Pillutla et al., "Unleashing the power
// of randomization in auditing differentially private ML", 2023, definition 5; LiDP below).
type Exchangeable struct {
	K    int   // length of the vector, 1 to 65536
	Runs []int // K+1 counts; Runs[c] runs had c ones
}

// maxCanaries keeps a histogram within half a megabyte.
const maxCanaries = 1 << 16

// NewExchangeable returns an empty histogram. It panics unless 1 <= k <= 65536.
func NewExchangeable(k int) Exchangeable {
	Refuse(k < 1 || k > maxCanaries, "an exchangeable vector has 1 to 65536 entries")
	return Exchangeable{K: k, Runs: make([]int, k+1)}
}

func checkCanaries(k, m int) error {
	check := func(name string, n int) error {
		return require(n >= 1 && n <= maxCanaries, "canaries: %s is %d, must be 1 to %d", name, n, maxCanaries)
	}
	return audit.First(check("k", k), check("m", m))
}

// N is the number of runs.
func (e Exchangeable) N() int { return audit.Total(e.Runs) }

// Mean is the first moment.
func (e Exchangeable) Mean() float64 { return e.Moment(1) }

// Moment is the empirical l-th moment, 1 <= l <= K: the mean over the runs of
//
//	m_l = 1/C(K, l) sum over j_1 < ... < j_l of x_{j_1} ... x_{j_l}
//
// which for c ones is C(c, l)/C(K, l) (LiDP, proposition 6): an unbiased estimate of P(x_1 = ... =
// x_l = 1).
func (e Exchangeable) Moment(l int) float64 {
	Refuse(l < 1 || l > e.K, "a moment's order is 1 to K")
	sum, n := 0.0, 0
	for c, runs := range e.Runs {
		n += runs
		if runs == 0 || c < l {
			continue
		}
		m := 1.0
		for i := range l {
			m *= float64(c-i) / float64(e.K-i)
		}
		sum += float64(runs) * m
	}
	Refuse(n == 0, "no run, no moment")
	return sum / float64(n)
}

// Correlation is the empirical mu_2l - mu_l^2, 2l <= K (LiDP, equations 8 and 9).
func (e Exchangeable) Correlation(l int) float64 {
	m := e.Moment(l)
	return e.Moment(2*l) - m*m
}

func (e Exchangeable) variance() float64 {
	n, mean, k := float64(e.N()), e.Mean(), float64(e.K)
	sum := 0.0
	for c, runs := range e.Runs {
		d := float64(c)/k - mean
		sum += float64(runs) * d * d
	}
	return sum / (n - 1)
}

// spread bounds the variance of a mean x of runs by v(x) = slope x - bend x^2 + base.
type spread struct{ slope, bend, base float64 }

// bernoulli is x(1-x), above the variance of anything in [0, 1].
var bernoulli = spread{1, 1, 0}

func (v spread) at(x float64) float64 { return v.slope*x - v.bend*x*x + v.base }

// limits solves |x - mean| <= shift + sqrt(scale v(x)) for x in [0, 1]: the limits of a Bernstein
// (shift > 0) or Wilson (shift = 0) interval.
func (v spread) limits(mean, shift, scale float64) (lo, hi float64) {
	a := 1 + scale*v.bend
	// (x - c)^2 = scale v(x)
	root := func(c float64) (float64, bool) {
		disc := scale*scale*v.slope*v.slope + 4*scale*(v.at(c)+scale*v.bend*v.base)
		return (2*c + scale*v.slope + math.Sqrt(max(0, disc))) / (2 * a), disc >= 0
	}
	lo, hi = 0, 1
	if c := mean + shift; v.at(c) >= 0 {
		hi, _ = root(c)
	} else {
		// All x with v(x) >= 0 lie below mean + shift.
		hi = (v.slope + math.Sqrt(max(0, v.slope*v.slope+4*v.bend*v.base))) / (2 * v.bend)
	}
	if c := mean - shift; c > 0 {
		// The product of the roots is (c^2 - scale base)/a.
		if other, ok := root(c); ok && other > 0 {
			lo = (c*c - scale*v.base) / (a * other)
		}
	}
	return min(mean, max(0, lo)), max(mean, min(1, hi))
}

// momentLimits are limits of the mean, each at level beta, from the first 1, 2 or 4 moments (LiDP,
// algorithms 2 to 7): Bernstein's, which hold at every n, or Wilson's, which hold as n grows. An
// order l > 1 divides beta by l: an upper limit of each higher moment feeds the variance of the
// lower one,
//
//	Var m_1 = x/K - x^2 + (K-1)/K mu_2                                  (17)
//	Var m_2 = 2x/(K(K-1)) - x^2 + 4(K-2)/(K(K-1)) mu_3
//	          + (K-2)(K-3)/(K(K-1)) mu_4                                (18)
//
// with x the first and the second moment. As printed, algorithms 3 and 4 lack the factor (K-1)/K,
// and 7 has the limit of mu_3 squared where (18) has mu_2 squared.
func (e Exchangeable) momentLimits(order int, wilson bool, beta float64) (lo, hi float64) {
	n, k := float64(e.N()), float64(e.K)
	each := beta / float64(order)
	shift, scale := 0.0, 0.0
	if wilson {
		// Z^2/n; a quantile below 0 would turn the interval inside out.
		z := upperNormal(min(each, 0.5))
		scale = z * z / n
	} else {
		scale = 2 * math.Log(1/each) / n
		shift = scale / 3
	}
	if order == 1 {
		return bernoulli.limits(e.Mean(), shift, scale)
	}
	upper := func(l int, v spread) float64 {
		_, hi := v.limits(e.Moment(l), shift, scale)
		return hi
	}
	of := bernoulli // of m_2
	if order == 4 {
		third, fourth := upper(3, bernoulli), upper(4, bernoulli)
		pairs := k * (k - 1)
		of = spread{2 / pairs, 1, 4*(k-2)/pairs*third + (k-2)*(k-3)/pairs*fourth}
	}
	return spread{1 / k, 1, (k - 1) / k * upper(2, of)}.limits(e.Mean(), shift, scale)
}

// empiricalBernstein is by Maurer and Pontil 2009, theorem 4, each side at level beta.
func (e Exchangeable) empiricalBernstein(beta float64) (lo, hi float64) {
	n, mean := float64(e.N()), e.Mean()
	if n < 2 {
		return 0, 1
	}
	l := math.Log(2 / beta)
	width := math.Sqrt(2*e.variance()*l/n) + 7*l/(3*(n-1))
	return max(0, mean-width), min(1, mean+width)
}

// chernoff is {x : n kl(mean, x) <= log(1/beta)}, each side at level beta (Hoeffding 1963).
func (e Exchangeable) chernoff(beta float64) (lo, hi float64) {
	mean, level := e.Mean(), math.Log(1/beta)/float64(e.N())
	return leastShare(mean, level), 1 - leastShare(1-mean, level)
}

// goal is the log wealth that rejects, with a margin for the rounding of a sum of n logarithms of
// at most 40 each.
func goal(beta float64, n int) float64 { return math.Log(1/beta) + 1e-9 + 1e-14*float64(n) }

func pValue(logWealth float64, n int) float64 {
	return min(1, math.Exp(-(logWealth - 1e-9 - 1e-14*float64(n))))
}

func logMean(v []float64) float64 { return floats.LogSumExp(v) - math.Log(float64(len(v))) }
