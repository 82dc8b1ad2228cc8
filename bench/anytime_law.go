package main

import (
	"math"
	"sort"

	"github.com/dpscope/dpscope/bounds"
	"github.com/dpscope/dpscope/stream"
)

// pairLaw is the joint distribution of a pair of outputs over bins, first output
// by second as in a [bounds.Table].
type pairLaw struct {
	bins       int
	cumulative []float64 // P of all cells up to and with this one; the last is 1
}

func newPairLaw(bins int, cell func(a, b int) float64) pairLaw {
	l := pairLaw{bins: bins}
	sum := 0.0
	for a := range bins {
		for b := range bins {
			sum += cell(a, b)
			l.cumulative = append(l.cumulative, sum)
		}
	}
	if math.Abs(sum-1) > 1e-12 {
		panic("dpscope: probabilities of pairs do not add up to 1")
	}
	l.cumulative[bins*bins-1] = 1
	return l
}

// independent pairs an output of p with one of q.
func independent(p, q []float64) pairLaw {
	return newPairLaw(len(p), func(a, b int) float64 { return p[a] * q[b] })
}

// The ways in which the outputs of a pair may hang together.
type coupling int

const (
	apart    coupling = iota // independent
	together                 // as often in the event at once as can be
	opposite                 // as seldom
)

// eventLaw has bins outside (0) and inside (1) of an event with probability p1
// on the first dataset and p0 <= p1 on the second.
func eventLaw(p1, p0 float64, c coupling) pairLaw {
	both := [...]float64{apart: p1 * p0, together: p0, opposite: max(0, p1+p0-1)}[c]
	cells := [2][2]float64{{1 - p1 - p0 + both, p0 - both}, {p1 - both, both}}
	return newPairLaw(2, func(a, b int) float64 { return cells[a][b] })
}

// draw adds n pairs to the table.
func (l pairLaw) draw(s *stream.Stream, t bounds.Table, n int) {
	for range n {
		u := s.Float64()
		i := 0
		if len(l.cumulative) > 8 {
			i = sort.Search(len(l.cumulative)-1, func(i int) bool { return u < l.cumulative[i] })
		} else {
			for u >= l.cumulative[i] {
				i++
			}
		}
		t.N[i]++
	}
}

// lookTimes are the numbers of pairs at which a run is looked at: every pair at
// first, then at equal ratios, so that early and late crossings are seen alike.
// They increase, looks of them, the last at pairs; looks is at most pairs.
func lookTimes(looks, pairs int) []int {
	times := make([]int, looks)
	last := 0
	for i := range times {
		x := stream.Exp(float64(i+1) / float64(looks) * stream.Log(float64(pairs)))
		last = min(max(last+1, int(math.Round(x))), pairs-(looks-1-i))
		times[i] = last
	}
	return times
}
