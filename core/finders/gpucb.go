package finders

import (
	"math"
	"slices"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/audit/stream"
)

// gpUCB explores spread pairs, then, a few at a time, pairs whose value may be large as far as a Gaussian
// process knows: points drawn on the lattice, which linear algebra only ranks, by a margin.
var gpUCB = audit.FinderSpec{
	Name:  "gp-ucb",
	Title: "Gaussian-process bandit with upper confidence bounds",
	Source: "Srinivas, Krause, Kakade and Seeger, Gaussian process optimization in the bandit setting (2010); batches: Desautels, Krause and Burdick (2014), GP-BUCB;" +
		" for datasets: DP-Auditorium (Kong et al. 2023), section 5",
	New: func(p audit.FinderProblem) (audit.Finder, error) {
		l, err := newLearner(p, "gp-ucb", mostDesign)
		return &bandit{l, p.Stream}, err
	},
}

// spreadOf is how many points a search begins with.
func spreadOf(p audit.FinderProblem, most int) int { return min(max(budget(p)/5, 4), most) }

// newLearner is the ledger of a search that learns from trial to trial, open to spread points.
func newLearner(p audit.FinderProblem, name string, most int) (*ledger, error) {
	s, err := newSpace(p.Relation, p.Domain)
	if err != nil {
		return nil, err
	}
	if p.Trials == 1 {
		return nil, &audit.InputError{Field: "trials", Found: "1", Want: "at least 2 for finder " + name,
			Remedy: "it learns from one trial what to try next; give more, or use finder auto or random"}
	}
	return newLedger(s, name, s.spread(p.Stream, spreadOf(p, most))), nil
}

const (
	mostDesign = 20
	batch      = 4   // pairs at a time, for any number of workers
	curiosity  = 1.8 // deviations added to the mean

	mostFitted = 100  // trials fitted: half the loudest, half the latest
	drawn      = 300  // random points to choose from
	incumbents = 5    // loudest points,
	around     = 40   // and points near each
	polish     = 40   // points near the best
	margin     = 1e-7 // by which a choice displaces an earlier one
)

type bandit struct {
	*ledger
	random *stream.Stream
}

// Propose returns what is left of the design, then a batch; fewer where no more new pairs are found.
func (b *bandit) Propose(history []audit.Trial, budget int) []audit.Pair {
	b.note(history)
	pairs := b.next(budget, func(int, []float64) []float64 { return b.space.anywhere(b.random) })
	if len(pairs) > 0 || budget < 1 {
		return pairs
	}
	g := b.fit()
	for len(pairs) < min(budget, batch) {
		u, ok := b.choose(g)
		if !ok {
			break
		}
		p, _ := b.propose(u)
		pairs = append(pairs, p)
		g.imagine(b.space.features(u))
	}
	return pairs
}

// fit imagines the trials that are not done.
func (b *bandit) fit() *process {
	done := b.loudest()
	if len(done) > mostFitted {
		late := slices.Sorted(slices.Values(done))[len(done)-mostFitted/2]
		loud := slices.DeleteFunc(slices.Clone(done), func(i int) bool { return i >= late })[:mostFitted/2]
		done = slices.DeleteFunc(done, func(i int) bool { return i < late && !slices.Contains(loud, i) })
	}
	slices.Sort(done)
	open := b.which(false)
	x := audit.Each(done, func(i int) []float64 { return b.space.features(b.tried[i].at) })
	y := audit.Each(done, func(i int) float64 { return b.tried[i].value })
	g := fitProcess(b.space.axes, x, normalScores(y))
	for _, i := range open[max(0, len(open)-batch):] {
		g.imagine(b.space.features(b.tried[i].at))
	}
	return g
}

// choose is the new point of the largest upper confidence bound: of any, of those near the loudest, and
// of those near the best.
func (b *bandit) choose(g *process) (best []float64, ok bool) {
	most := math.Inf(-1)
	try := func(u []float64) {
		if _, ok := b.fresh(u); !ok {
			return
		}
		mean, sd := g.predict(b.space.features(u))
		if ucb := mean + float64(curiosity*sd); ucb > most+margin {
			best, most = u, ucb
		}
	}
	for range drawn {
		try(b.space.anywhere(b.random))
	}
	loud := b.loudest()
	for _, i := range loud[:min(len(loud), incumbents)] {
		for range around {
			try(b.space.near(b.random, b.tried[i].at))
		}
	}
	for k := 0; best != nil && k < polish; k++ {
		try(b.space.near(b.random, best))
	}
	return best, best != nil
}

// near differs from u in a few coordinates: by a little, or altogether.
func (s *space) near(r *stream.Stream, u []float64) []float64 {
	v := slices.Clone(u)
	must := r.Intn(len(v))
	for i := range v {
		switch {
		case i != must && r.Intn(len(v)) > 0:
		case r.Intn(3) == 0:
			v[i] = onLattice(r.Float64())
		default:
			var z [1]float64
			r.Gaussian(z[:], 0.15)
			v[i] = onLattice(v[i] + z[0])
		}
	}
	return v
}
