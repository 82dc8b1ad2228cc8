package finders

import (
	"cmp"
	"math"
	"slices"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/stream"
)

// cmaES is the covariance matrix adaptation evolution strategy, a generation at
// a time, on the unit box. Samples outside the box are reflected into it.
//
// It does not use optimize.CmaEsChol of gonum (v0.17), which draws its samples
// without the step size: on a sphere in 8 dimensions that stops a thousand
// times farther from the optimum.
//
// Samples are rounded to the lattice of the space.
func cmaES() audit.FinderSpec {
	return audit.FinderSpec{
		Name:  "cma-es",
		Title: "Covariance matrix adaptation evolution strategy",
		Source: "Hansen, The CMA evolution strategy: a tutorial (2016), figure 6, with a Cholesky factor in place of the symmetric root (Krause, Arbonès and Igel 2016);" +
			" restarts: Auger and Hansen (2005)",
		New: func(p audit.FinderProblem) (audit.Finder, error) {
			s, err := newSearchSpace(p, "cma-es")
			if err != nil {
				return nil, err
			}
			return &strategy{ledger: newLedger(s, "cma-es"), random: p.Stream, first: s.openings(), offspring: offspring(s.dim(), budget(p))}, nil
		},
	}
}

const (
	firstStep = 0.3  // standard deviation of the first generation, in a box of width 1
	lastStep  = 0.01 // a distribution this narrow in every direction has converged

	// stale is how many generations in a row may hold no new pair before the
	// strategy starts anew, and fruitless how often it may do so.
	stale, fruitless = 3, 20
)

// offspring is the tutorial's 4 + 3 ln(dim), fewer where the budget is below
// five generations of that, but at least 4.
func offspring(dim, budget int) int {
	usual := 4 + int(3*stream.Log(float64(dim)))
	return max(4, min(usual, budget/5))
}

// strategy is a cmaES under way.
type strategy struct {
	*ledger
	random    *stream.Stream
	offspring int
	starts    int
	dist      *adapted // nil: to start anew

	first   [][]float64 // points that are proposed before the first generation
	current [][]float64 // points of the generation under way
	next    int         // the first of them that was not looked at
}

// Propose begins with the openings. Then it returns what is left of a
// generation, at most budget pairs in all; samples whose pair was explored before
// take its value. It returns none where it has found no new pair for long.
func (c *strategy) Propose(history []audit.Trial, budget int) []audit.Pair {
	c.note(history)
	var pairs []audit.Pair
	for len(c.first) > 0 && len(pairs) < budget {
		if p, ok := c.propose(c.first[0]); ok {
			pairs = append(pairs, p)
		}
		c.first = c.first[1:]
	}
	for idle, restarts := 0, 0; len(pairs) == 0 && budget > 0; {
		if c.next == len(c.current) {
			if idle++; idle > stale {
				c.dist = nil
			}
			if c.generation() {
				idle = 0
				if restarts++; restarts > fruitless {
					return nil
				}
			}
		}
		for c.next < len(c.current) && len(pairs) < budget {
			if p, ok := c.propose(c.current[c.next]); ok {
				pairs = append(pairs, p)
			}
			c.next++
		}
	}
	return pairs
}

// generation learns from the samples that are done and draws the next ones. It
// reports whether it started anew: the first time from the louder of the
// openings, then from a random point.
func (c *strategy) generation() (anew bool) {
	if c.dist != nil {
		values := make([]float64, len(c.current))
		for i, u := range c.current {
			values[i] = c.value(u)
		}
		if !c.dist.learn(values) {
			c.dist = nil
		}
	}
	if anew = c.dist == nil; anew {
		mean := c.space.anywhere(c.random)
		if c.starts == 0 {
			mean = slices.MaxFunc(c.space.openings(), func(a, b []float64) int { return cmp.Compare(c.value(a), c.value(b)) })
		}
		c.starts++
		c.dist = newAdapted(mean, firstStep, c.offspring)
	}
	c.current, c.next = c.dist.draw(c.random), 0
	for _, x := range c.current {
		for i := range x {
			x[i] = onLattice(reflected(x[i]))
		}
	}
	return anew
}

// reflected folds the line into the unit interval.
func reflected(x float64) float64 {
	return min(math.Abs(x-float64(2*math.Floor(float64(x/2)+0.5))), 1) // the distance to the nearest even number
}

// adapted is the normal distribution of a CMA-ES and what it remembers. Names
// are those of the tutorial.
type adapted struct {
	n, lambda        int
	weights          []float64 // of the best lambda/2, the best first; they add up to 1
	muEff            float64
	cs, ds           float64 // step size: rate and damping
	cc, c1, cmu, chi float64 // covariance: rates; chi is E|N(0, I)|

	mean     []float64
	sigma    float64
	cov      [][]float64 // C; row i has i+1 entries
	root     [][]float64 // its lower Cholesky factor
	ps, pc   []float64
	g        int
	z, steps [][]float64 // of the last draw: N(0, I), and the same times the factor of C
}

func newAdapted(mean []float64, sigma float64, lambda int) *adapted {
	n := len(mean)
	a := &adapted{n: n, lambda: lambda, mean: mean, sigma: sigma, cov: make([][]float64, n),
		ps: make([]float64, n), pc: make([]float64, n), weights: make([]float64, lambda/2)}
	var sum, squares float64
	for i := range a.weights {
		a.weights[i] = stream.Log(float64(lambda+1)/2) - stream.Log(float64(i+1))
		sum += a.weights[i]
	}
	for i := range a.weights {
		a.weights[i] /= sum
		squares += float64(a.weights[i] * a.weights[i])
	}
	a.muEff = 1 / squares
	d, mu := float64(n), a.muEff
	a.cs = (mu + 2) / (d + mu + 5)
	a.ds = 1 + 2*max(0, math.Sqrt((mu-1)/(d+1))-1) + a.cs
	a.cc = (4 + mu/d) / (d + 4 + 2*mu/d)
	a.c1 = 2 / (float64((d+1.3)*(d+1.3)) + mu)
	a.cmu = min(1-a.c1, 2*(mu-2+1/mu)/(float64((d+2)*(d+2))+mu))
	a.chi = math.Sqrt(d) * (1 - 1/(4*d) + 1/(21*d*d))
	for i := range n {
		a.cov[i] = make([]float64, i+1)
		a.cov[i][i] = 1
	}
	a.root, _ = cholesky(a.cov)
	return a
}

// draw is one generation.
func (a *adapted) draw(r *stream.Stream) [][]float64 {
	a.z, a.steps = make([][]float64, a.lambda), make([][]float64, a.lambda)
	points := make([][]float64, a.lambda)
	for k := range points {
		z, x := make([]float64, a.n), make([]float64, a.n)
		r.Gaussian(z, 1)
		a.z[k], a.steps[k] = z, make([]float64, a.n)
		for i, row := range a.root {
			a.steps[k][i] = dot(row, z)
			x[i] = a.mean[i] + float64(a.sigma*a.steps[k][i])
		}
		points[k] = x
	}
	return points
}

// learn adapts the distribution to the values of the last draw, which it wants
// large; false where it has converged.
func (a *adapted) learn(values []float64) bool {
	order := make([]int, a.lambda)
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(values[j], values[i]) })
	z, y := make([]float64, a.n), make([]float64, a.n) // weighted means of the best
	for k, w := range a.weights {
		for i := range a.n {
			z[i] += float64(w * a.z[order[k]][i])
			y[i] += float64(w * a.steps[order[k]][i])
		}
	}
	a.g++
	var norm float64
	for i := range a.n {
		a.mean[i] += float64(a.sigma * y[i])
		a.ps[i] = float64((1-a.cs)*a.ps[i]) + float64(math.Sqrt(a.cs*(2-a.cs)*a.muEff)*z[i])
		norm += float64(a.ps[i] * a.ps[i])
	}
	norm = math.Sqrt(norm)
	var h float64 // 0 holds the path back while the step grows fast
	if norm/math.Sqrt(1-decay(1-a.cs, 2*a.g)) < (1.4+2/float64(a.n+1))*a.chi {
		h = 1
	}
	for i := range a.n {
		a.pc[i] = float64((1-a.cc)*a.pc[i]) + float64(h*math.Sqrt(a.cc*(2-a.cc)*a.muEff)*y[i])
	}
	keep := 1 - a.c1 - a.cmu + float64((1-h)*a.c1*a.cc*(2-a.cc))
	for i := range a.n {
		for j := range i + 1 {
			c := float64(keep*a.cov[i][j]) + float64(a.c1*a.pc[i]*a.pc[j])
			for k, w := range a.weights {
				c += float64(a.cmu * w * a.steps[order[k]][i] * a.steps[order[k]][j])
			}
			a.cov[i][j] = c
		}
	}
	a.sigma *= stream.Exp(float64(a.cs/a.ds) * (norm/a.chi - 1))
	widest := 0.0
	for i := range a.n {
		widest = max(widest, float64(a.sigma*math.Sqrt(a.cov[i][i])))
	}
	root, ok := cholesky(a.cov)
	if ok {
		a.root = root
	}
	least, most := math.Inf(1), 0.0 // of the factor's diagonal, whose ratio squared bounds the condition from below
	for i, row := range a.root {
		least, most = min(least, row[i]), max(most, row[i])
	}
	return ok && widest > lastStep && widest < 1e3 && most < 1e7*least
}

// decay is x to the power n.
func decay(x float64, n int) float64 {
	p := 1.0
	for ; n > 0 && p > 1e-300; n-- {
		p *= x
	}
	return p
}
