package bounds

import (
	"fmt"
	"math"
	"strconv"
)

// CanaryStakes are the stakes of the betting intervals on a [CanaryTable], mixed
// with equal weights. They are fixed before the runs that certify: by
// [TuneCanary], or, where a list is empty, once and for all, which costs a
// factor of two to three in runs.
type CanaryStakes struct {
	Paired []float64 `json:"paired,omitempty"` // of CanaryPairedBetting; each above 0
	In     []float64 `json:"in,omitempty"`     // of CanaryBetting on the canaries of the data
	Out    []float64 `json:"out,omitempty"`    // the same on the fresh ones
}

// maxStakes bounds the work that a document can ask for.
const maxStakes = 64

// Validate reports a stake that is not positive and finite, or a list of more than
// 64.
func (s CanaryStakes) Validate() error {
	for _, list := range []struct {
		name   string
		stakes []float64
	}{{"paired", s.Paired}, {"in", s.In}, {"out", s.Out}} {
		if len(list.stakes) > maxStakes {
			return fmt.Errorf("stakes: %s has %d, must have at most %d", list.name, len(list.stakes), maxStakes)
		}
		for i, lambda := range list.stakes {
			if !(lambda > 0 && !math.IsInf(lambda, 1)) {
				return fmt.Errorf("stakes: %s[%d] is %v, must be above 0 and finite", list.name, i, lambda)
			}
		}
	}
	return nil
}

func (s CanaryStakes) must() {
	if s.Validate() != nil {
		panic("bounds: canary stakes out of range; call CanaryStakes.Validate first")
	}
}

// Without exploration: powers of two.
var pairedStakes, sideStakes = powersOfTwo(-9, 1), powersOfTwo(-8, 7)

func powersOfTwo(from, to int) []float64 {
	var v []float64
	for i := from; i <= to; i++ {
		v = append(v, math.Ldexp(1, i))
	}
	return v
}

func stakesOr(tuned, fixed []float64) []float64 {
	if len(tuned) > 0 {
		return tuned
	}
	return fixed
}

// topShare is the largest share of the wealth at risk in one run by paired
// betting, sideShare by betting on one side.
const (
	topShare  = 0.995
	sideShare = 0.95
)

// TuneCanary returns the stakes that would give the best bounds on n pairs of runs
// if certification repeated the exploration, from exploration runs alone, which
// is what keeps the bounds valid. Half a run in which one canary falls on the
// other side is added to the exploration, so that what never happened in it is
// not taken as impossible. Where the best stake is the largest that is allowed at
// the bound it promises, it is raised so that it still is at bounds down to
// log(modesty) below. Rounded to three digits, so that platforms agree. It panics
// on arguments out of range.
func TuneCanary(explored CanaryTable, n int, delta, beta float64) CanaryStakes {
	mustBeCanaries(explored, delta, beta)
	mustBeRuns(n)
	tune := func(p prospect, beta float64) []float64 {
		x, lambda := p.best(goal(beta, n) / float64(n))
		if lambda*(x+p.c) > 0.9*p.share {
			lambda = p.share / (x/modesty + p.c)
		}
		return []float64{roundStake(lambda)}
	}
	return CanaryStakes{
		Paired: tune(explored.prospect(delta), beta),
		In:     tune(explored.In().prospect(), beta/2),
		Out:    tune(explored.Out().mirror().prospect(), beta/2),
	}
}

// modesty is how much smaller than promised e^eps is taken to be: the exploration
// chose the event that looked best in it.
const modesty = 1.3

// CanaryValue returns the bound of paired betting at delta that n pairs of runs
// would give if they repeated the exploration, with the stake that is best for it
// (see [TuneCanary]): what a sweep over thresholds maximises on the exploration
// runs, the smallest threshold of equal ones. Rounded down to six decimals, -Inf
// where nothing would be certified. Some 100 passes over the cells. It panics on
// arguments out of range.
func CanaryValue(explored CanaryTable, n int, delta, beta float64) float64 {
	mustBeCanaries(explored, delta, beta)
	mustBeRuns(n)
	th, _ := explored.prospect(delta).best(goal(beta, n) / float64(n))
	if !(th > 0) {
		return math.Inf(-1)
	}
	return RoundDown(math.Log(th))
}

func mustBeRuns(n int) {
	if n < 1 || n > maxTrials {
		panic("bounds: number of runs out of range")
	}
}

// roundStake keeps three digits.
func roundStake(lambda float64) float64 {
	v, err := strconv.ParseFloat(strconv.FormatFloat(lambda, 'e', 2, 64), 64)
	if err != nil {
		panic("bounds: a stake that is no number")
	}
	return v
}

// prospect is a law of W(x) = a - x b - c, b in [0, 1], whose weights sum to 1.
type prospect struct {
	cells []prospectCell
	c     float64
	share float64 // largest share of the wealth at risk
}

type prospectCell struct{ weight, a, b float64 }

// prospect of paired betting, as a family in e^eps.
func (t CanaryTable) prospect(delta float64) prospect {
	n := float64(t.Runs())
	k, m := float64(t.K), float64(t.M)
	cells := make([]prospectCell, 0, len(t.Cells)+1)
	mean := 0.0
	for _, c := range t.Cells {
		cells = append(cells, prospectCell{float64(c.Runs) / (n + 0.5), float64(c.X) / k, float64(c.Y) / m})
		mean += float64(c.Runs) * float64(c.X) / k / n
	}
	cells = append(cells, prospectCell{0.5 / (n + 0.5), mean, 1 / m})
	return prospect{cells, delta, topShare}
}

// prospect of a lower limit of the mean x of one side.
func (e Exchangeable) prospect() prospect {
	n, k := float64(e.N()), float64(e.K)
	var cells []prospectCell
	for c, runs := range e.Runs {
		if runs > 0 {
			cells = append(cells, prospectCell{float64(runs) / (n + 0.5), float64(c) / k, 1})
		}
	}
	cells = append(cells, prospectCell{0.5 / (n + 0.5), (k - 1) / k, 1})
	return prospect{cells, 0, sideShare}
}

// best returns the largest x, over all stakes, at which the mean growth
// log(1 + lambda W(x)) is at least rate, and its stake. For given x the growth is
// concave in lambda and falls with x, so the stakes that reach an x form an
// interval and these are nested: reach has one peak, and a golden section finds
// it.
func (p prospect) best(rate float64) (x, lambda float64) {
	const golden = 0.6180339887498949
	lo, hi := math.Log(1e-7), math.Log(math.Min(1e4, p.share/p.c))
	at := func(l float64) float64 { return p.reach(math.Exp(l), rate) }
	l, r := hi-golden*(hi-lo), lo+golden*(hi-lo)
	atL, atR := at(l), at(r)
	for hi-lo > 1e-3 {
		if atL >= atR {
			hi, r, atR = r, l, atL
			l = hi - golden*(hi-lo)
			atL = at(l)
		} else {
			lo, l, atL = l, r, atR
			r = lo + golden*(hi-lo)
			atR = at(r)
		}
	}
	lambda = math.Exp((lo + hi) / 2)
	return p.reach(lambda, rate), lambda
}

// reach is the largest x, negative ones included, whose growth at this stake is at
// least rate and at which no factor could be negative. Growth falls with x and is
// concave: Newton's steps from the right approach the root from the right.
func (p prospect) reach(lambda, rate float64) float64 {
	var x, growth, slope float64
	for _, share := range [...]float64{0.5, 0.9, p.share} {
		x = share/lambda - p.c
		if growth, slope = p.growth(lambda, x); growth < rate {
			break
		}
	}
	for range 100 {
		if growth >= rate {
			break
		}
		step := (growth - rate) / slope
		x -= step
		if step <= 1e-9*math.Abs(x) {
			break
		}
		growth, slope = p.growth(lambda, x)
	}
	return x
}

// growth returns the mean of log(1 + lambda W(x)) and its derivative in x.
func (p prospect) growth(lambda, x float64) (mean, slope float64) {
	for _, c := range p.cells {
		f := lambda * (c.a - x*c.b - p.c)
		mean += c.weight * math.Log1p(f)
		slope -= c.weight * lambda * c.b / (1 + f)
	}
	return mean, slope
}
