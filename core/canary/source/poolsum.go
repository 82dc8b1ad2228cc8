package source

import (
	"math"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/stream"
)

// poolSum draws canaries from given vectors, with replacement or, where distinct,
// without. A run costs O((K + M) d).
type poolSum struct {
	*gaussianSum
	pool     matrix
	distinct bool

	order     []int // of the vectors, where distinct
	drawn     []int
	with, but []float64 // outputs with all canaries, and with all but the last
}

func newPoolSum(g *gaussianSum, pool matrix, distinct bool) *poolSum {
	return &poolSum{gaussianSum: g, pool: pool, distinct: distinct, order: make([]int, pool.rows),
		with: make([]float64, pool.columns), but: make([]float64, pool.columns)}
}

// Run implements [Source].
func (p *poolSum) Run(st *stream.Stream, in, out []float64) (bool, error) {
	p.draw(st, len(in)+len(out))
	inside, fresh := p.drawn[:len(in)], p.drawn[len(in):]
	st.Gaussian(p.with, p.Sigma)
	for _, i := range inside {
		p.add(p.with, i)
	}
	seen := p.with
	if p.Relation == audit.AddRemove {
		seen = p.but
		st.Gaussian(seen, p.Sigma)
		for _, i := range inside[:len(inside)-1] {
			p.add(seen, i)
		}
	}
	for k, i := range inside {
		in[k] = dot(p.pool.row(i), p.with)
	}
	for k, i := range fresh {
		out[k] = dot(p.pool.row(i), seen)
	}
	return false, nil
}

func (p *poolSum) add(to []float64, i int) {
	for j, x := range p.pool.row(i) {
		to[j] += x
	}
}

// draw chooses n vectors.
func (p *poolSum) draw(st *stream.Stream, n int) {
	if cap(p.drawn) < n {
		p.drawn = make([]int, n)
	}
	p.drawn = p.drawn[:n]
	if !p.distinct {
		for k := range p.drawn {
			p.drawn[k] = st.Intn(p.pool.rows)
		}
		return
	}
	for i := range p.order {
		p.order[i] = i
	}
	for k := range p.drawn {
		at := k + st.Intn(len(p.order)-k)
		p.order[k], p.order[at] = p.order[at], p.order[k]
		p.drawn[k] = p.order[k]
	}
}

func dot(x, y []float64) float64 {
	sum := 0.0
	for j, v := range x {
		sum += float64(v * y[j])
	}
	return sum
}

func norm(x []float64) float64 { return math.Sqrt(squared(x)) }
