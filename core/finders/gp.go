package finders

import (
	"cmp"
	"math"
	"slices"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/audit/stream"
	"github.com/dpscope/dpscope/audit/stream/linalg"
)

var (
	lengthLevels = []float64{0.15, 0.3, 0.6, 1.2, 2.4} // times the root of the number of axes of a kind
	noiseLevels  = []float64{0.01, 0.05, 0.2, 0.6}     // variance of the noise over that of the signal
)

const (
	usualLength = 2 // where the search of the levels begins
	usualNoise  = 1
	sweeps      = 2
	leastSignal = 0.01 // where all values are equal
)

// process is a Gaussian process with mean 0 and the squared-exponential kernel
//
//	k(x, x') = s² exp(-½ Σ_kinds |x-x'|²/l²)
//
// with one length l for each kind of axis, and noise of variance r s². It has the same bits on every
// platform: it decides which pairs are tried.
type process struct {
	axes   []axis
	x      [][]float64
	y      []float64
	length [axisKinds]float64
	noise  float64 // r
	signal float64 // s²

	chol  []float64 // lower Cholesky factor of the kernel over s², noise added
	alpha []float64 // the kernel's inverse times y
}

// fitProcess fits lengths and noise by the marginal likelihood, over levels one after the other; the
// signal's variance is its maximum in closed form (Rasmussen and Williams 2006, section 5.4). A weak
// prior holds the levels near the middle. Scores y are centred at 0.
func fitProcess(all []axis, x [][]float64, y []float64) *process {
	g := &process{axes: all, x: x, y: y, signal: 1}
	var axes [axisKinds]float64
	for _, a := range all {
		axes[a.kind]++
	}
	level := [axisKinds + 1]int{usualLength, usualLength, usualLength, usualNoise}
	evidence := func() float64 {
		prior := 0.0
		for k := range axisKinds {
			g.length[k] = float64(lengthLevels[level[k]] * math.Sqrt(max(axes[k], 1)))
			off := float64(level[k] - usualLength)
			prior -= float64(0.25 * off * off)
		}
		g.noise = noiseLevels[level[axisKinds]]
		return g.factor() + prior
	}
	best := evidence()
	if len(x) < 3 {
		return g
	}
	for range sweeps {
		for k := range level {
			levels := len(lengthLevels)
			if k == int(axisKinds) {
				levels = len(noiseLevels)
			} else if axes[k] == 0 {
				continue
			}
			chosen := level[k]
			for level[k] = 0; level[k] < levels; level[k]++ {
				if e := evidence(); e > best+margin {
					best, chosen = e, level[k]
				}
			}
			level[k] = chosen
		}
	}
	evidence()
	return g
}

// factor makes chol, alpha and signal; it is the log marginal likelihood but for a constant.
func (g *process) factor() float64 {
	n := len(g.x)
	if n == 0 {
		return 0
	}
	g.chol = make([]float64, n*n)
	for i := range n {
		for j := range i {
			g.chol[i*n+j] = g.kernel(g.x[i], g.x[j])
		}
		g.chol[i*n+i] = 1 + g.noise
	}
	if !linalg.Cholesky(g.chol, n, 0) {
		panic("finder: a kernel with noise is not positive definite")
	}
	var logs float64 // half the log determinant
	for i := range n {
		logs += stream.Log(g.chol[i*n+i])
	}
	g.alpha = slices.Clone(g.y)
	linalg.Forward(g.chol, g.alpha, n)
	linalg.Back(g.chol, g.alpha, n)
	g.signal = max(linalg.Dot(g.y, g.alpha)/float64(n), leastSignal)
	return -float64(float64(float64(n)*stream.Log(g.signal))/2) - logs
}

func (g *process) kernel(a, b []float64) float64 {
	var square [axisKinds]float64
	for i, x := range g.axes {
		d := a[i] - b[i]
		square[x.kind] += float64(d * d)
	}
	var sum float64
	for k, q := range square {
		sum += q / float64(g.length[k]*g.length[k])
	}
	return stream.Exp(-sum / 2)
}

func (g *process) predict(x []float64) (mean, sd float64) {
	if len(g.x) == 0 {
		return 0, math.Sqrt(g.signal)
	}
	k := audit.Listed(len(g.x), func(i int) float64 { return g.kernel(x, g.x[i]) })
	mean = linalg.Dot(k, g.alpha)
	linalg.Forward(g.chol, k, len(k))
	return mean, math.Sqrt(float64(g.signal * max(1-linalg.Dot(k, k), 0)))
}

// imagine adds a trial that was not heard yet, as loud as its mean: deviations near it shrink.
func (g *process) imagine(x []float64) {
	mean, _ := g.predict(x)
	g.x, g.y = append(slices.Clip(g.x), x), append(slices.Clip(g.y), mean)
	signal := g.signal
	g.factor()
	g.signal = signal
}

// normalScores are log(p/(1-p)) of the ranks, p = (rank - 1/2)/n: one pair whose loss is unbounded does
// not flatten the rest. Values within sameValue share a rank.
func normalScores(y []float64) []float64 {
	n := len(y)
	order := audit.Listed(n, func(i int) int { return i })
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(y[i], y[j]) })
	scores := make([]float64, n)
	for lo := 0; lo < n; {
		hi := lo + 1
		for hi < n && y[order[hi]] <= y[order[hi-1]]+sameValue {
			hi++
		}
		p := (float64(lo+hi) / 2) / float64(n)
		for _, i := range order[lo:hi] {
			scores[i] = stream.Log(p / (1 - p))
		}
		lo = hi
	}
	return scores
}

// sameValue is a difference that may be none on another platform.
const sameValue = 1e-9
