package finders

import (
	"slices"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/audit/stream"
)

// nsga2 is the search of RényiTester, which names no settings: they are Deb's, but for the population.
var nsga2 = audit.FinderSpec{
	Name:   "nsga2",
	Title:  "NSGA-II: evolutionary search for pairs with a large empirical epsilon",
	Source: "Deb, Pratap, Agarwal and Meyarivan, A fast and elitist multiobjective genetic algorithm: NSGA-II (2002), as in RényiTester (Kong et al. 2023), section 5",
	New: func(p audit.FinderProblem) (audit.Finder, error) {
		l, err := newLearner(p, "nsga2", mostPopulation)
		return &evolution{l, p.Stream, spreadOf(p, mostPopulation)}, err // for five generations
	},
}

const (
	mostPopulation = 100

	crossChance = 0.9 // of a pair of parents; Deb et al. 2002, section IV
	crossIndex  = 20  // of the distribution of children about their parents
	mutateIndex = 20
)

type evolution struct {
	*ledger
	random *stream.Stream
	size   int
}

func (e *evolution) Propose(history []audit.Trial, budget int) []audit.Pair {
	e.note(history)
	if len(e.open) == 0 && budget > 0 {
		parents := e.loudest() // with one objective every front holds points of one value
		parents = parents[:min(len(parents), e.size)]
		for range e.size {
			e.open = append(e.open, e.child(parents))
		}
	}
	return e.next(budget, func(k int, u []float64) []float64 {
		if k < attempts/2 {
			return e.mutated(u)
		}
		return e.space.anywhere(e.random)
	})
}

func (e *evolution) child(parents []int) []float64 {
	n := len(parents)
	if n == 0 {
		return e.space.anywhere(e.random)
	}
	parent := func() []float64 {
		return e.tried[parents[min(e.random.Intn(n), e.random.Intn(n))]].at
	}
	return e.mutated(e.crossed(parent(), parent()))
}

// crossed is a child of a simulated binary crossover: each coordinate lies about as far from one parent
// or the other as they lie apart, times a factor near 1.
func (e *evolution) crossed(a, b []float64) []float64 {
	r := e.random
	child := slices.Clone(a)
	if r.Float64() >= crossChance {
		return child
	}
	for i := range child {
		if r.Intn(2) == 0 {
			continue
		}
		u := r.Float64()
		spread := power(2*u, crossIndex+1)
		if u > 0.5 {
			spread = 1 / power(2*(1-u), crossIndex+1)
		}
		half := float64(float64((b[i]-a[i])*spread) / 2)
		if r.Intn(2) == 0 {
			half = -half
		}
		child[i] = onLattice(float64((a[i]+b[i])/2) + half)
	}
	return child
}

// mutated moves about one coordinate, by polynomial mutation.
func (e *evolution) mutated(u []float64) []float64 {
	r := e.random
	v := slices.Clone(u)
	for i := range v {
		if r.Intn(len(v)) > 0 {
			continue
		}
		t := r.Float64()
		move := power(2*t, mutateIndex+1) - 1
		if t > 0.5 {
			move = 1 - power(2*(1-t), mutateIndex+1)
		}
		v[i] = onLattice(v[i] + move)
	}
	return v
}

// power is x^(1/n), the same on every platform.
func power(x float64, n int) float64 {
	if x <= 0 {
		return 0
	}
	return stream.Exp(stream.Log(x) / float64(n))
}
