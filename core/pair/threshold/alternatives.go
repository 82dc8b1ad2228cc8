package threshold

import (
	"math"
	"slices"

	"github.com/dpscope/dpscope/audit/stream"
)

// The bound spends most of the error on one event and the rest on alternatives: the report
// has the largest of their bounds, each at its share. All are chosen here, on exploration, for so many certification outputs, and none by the claim's epsilon.
// Constants weigh power only.
const (
	AlternativeShare = 0.05 // of the error, for each of the alternatives; the main event has the rest
	MostAlternatives = 3
	// apart is by which factor alternatives of one direction differ in size.
	apart = 2.0
	// doubt is how many standard errors of an event's ratio are taken off for having
	// been chosen among many.
	doubt = 0.5
	// fear is the same for the first alternative, which is the safe choice.
	fear = 3.0
	// surest is the largest weight of the fit, in outputs of the rarer side.
	surest = 100.0
)

// Alternative is an event besides the main one, with its share of the error.
type Alternative struct {
	Event
	Share float64 `json:"share"`
}

// In is the event by the bins that have these edges.
func (c Choice) In(edges []float64) Event {
	return Event{Edge: slices.Index(edges, c.Threshold), Above: c.above, Reversed: c.reversed}
}

// step is a group of neighbouring scores: how many of both sides lie at and below its
// threshold, and how many of the first side the fit expects there.
type step struct {
	threshold, score float64
	below            [2]int
	expected         float64
}

// steps cuts sorted scores into groups whose ends are cutStep apart, at least.
func steps(s1, s2 []float64) []step {
	n1, n2 := len(s1), len(s2)
	total := n1 + n2
	var out []step
	next, sum, count := 1, 0.0, 0
	for i, j := 0, 0; i+j < total; {
		u := smallest(s1, s2, i, j)
		from := i + j
		for i < n1 && s1[i] == u {
			i++
		}
		for j < n2 && s2[j] == u {
			j++
		}
		rank := i + j
		sum += float64(u * float64(rank-from))
		count += rank - from
		if rank < next && rank < total {
			continue
		}
		s := step{score: sum / float64(count), below: [2]int{i, j}}
		if rank < total {
			s.threshold = between(u, smallest(s1, s2, i, j))
		}
		out = append(out, s)
		sum, count = 0, 0
		next = rank + max(1, int(cutStep*float64(min(rank, total-rank))))
	}
	return out
}

// candidate is an event that might be certified.
type candidate struct {
	Choice
	size   float64 // outputs of both sides
	ratio  float64 // log of the rates' ratio, counts and fit weighed together
	spread float64 // its standard error

	rare, guess float64 // outputs of the side that is rarer by the fit, and how many that expects
	second      bool    // which side that is
}

// candidates are all events of the steps, likelier on either side. The rate on the rarer side
// has a gamma law whose mean is the fit's and whose shape is [trust] of that end of the
// scores, before the counts are seen, and its mean thereafter; without a fit half a count
// is added.
func candidates(s1, s2 []float64) []candidate {
	all := steps(s1, s2)
	n := [2]float64{float64(len(s1)), float64(len(s2))}
	odds, fits := bendOf(all)
	expected := 0.0
	last := 0
	for k := range all {
		if rank := all[k].below[0] + all[k].below[1]; fits {
			expected += float64(float64(rank-last) * odds(all[k].score))
			all[k].expected = expected
			last = rank
		}
	}
	var out []candidate
	for _, s := range all[:len(all)-1] {
		for _, above := range []bool{true, false} {
			x, y, e := float64(s.below[0]), float64(s.below[1]), s.expected
			if above {
				x, y, e = n[0]-x, n[1]-y, expected-e
			}
			r := candidate{size: x + y}
			r.Threshold, r.above = s.threshold, above
			if o := x + y - e; float64(e*n[1]) > float64(o*n[0]) {
				r.second, r.rare, r.guess = true, y, o
			} else {
				r.rare, r.guess = x, e
			}
			if r.guess = max(r.guess, 1e-3); !fits {
				r.second, r.rare = y < x, min(x, y)
			}
			out = append(out, r)
		}
	}
	shape := [2]float64{trust(out, 0), trust(out, 1)}
	for k := range out {
		r := &out[k]
		rare, weight := r.rare+0.5, r.rare+0.5
		if fits {
			c := shape[k&1]
			rare, weight = (c+r.rare)/(c/r.guess+1), c+r.rare
		}
		rare = min(rare, r.size)
		common, sides := r.size-rare+0.5, n
		if !r.second {
			sides[0], sides[1] = n[1], n[0]
		}
		r.ratio = stream.Log(float64(common*sides[1]) / float64(rare*sides[0]))
		r.spread = math.Sqrt(1/weight + 1/common)
		if r.reversed = !r.second; r.ratio < 0 {
			r.reversed, r.ratio = !r.reversed, -r.ratio
		}
	}
	return out
}

// trust is the shape that makes the rare counts of events that double in size likeliest:
// of those above their thresholds (0) or below (1). Counts are negative binomial.
func trust(all []candidate, at int) float64 {
	var ends []candidate
	for k := at; k < len(all); k += 2 {
		if r := all[k]; r.size > 0 && r.rare <= 200 && r.guess <= 200 && (len(ends) == 0 || r.size >= 2*ends[len(ends)-1].size || r.size <= ends[len(ends)-1].size/2) {
			ends = append(ends, r)
		}
	}
	best, most := surest, math.Inf(-1)
	for c := surest; c > 0.2; c /= 2 {
		sum := 0.0
		for _, r := range ends {
			sum += float64(c*stream.Log(c/(c+r.guess))) + float64(r.rare*stream.Log(r.guess/(c+r.guess)))
			for i := 0.0; i < r.rare; i++ {
				sum += stream.Log(c + i)
			}
		}
		if sum > most+1e-6 {
			best, most = c, sum
		}
	}
	return best
}

// bendOf fits the share of the first side over the score: its log odds are a line between
// two scores and do not change beyond them, as those of a mechanism do that keeps pure
// DP. Where the ends lie is chosen by deviance, each end at a price.
func bendOf(all []step) (odds func(score float64) float64, ok bool) {
	var bins []scoreBin
	total := all[len(all)-1].below[0] + all[len(all)-1].below[1]
	usual := max(fitLeast, total/fitBins)
	var b scoreBin
	last := [2]int{}
	width := fitLeast
	for _, s := range all {
		k := [2]float64{float64(s.below[0] - last[0]), float64(s.below[1] - last[1])}
		last = s.below
		b.n[0] += k[0]
		b.n[1] += k[1]
		b.score += float64((k[0] + k[1]) * s.score)
		rank := last[0] + last[1]
		if n := b.n[0] + b.n[1]; n >= float64(width) || rank == total {
			b.score /= n
			bins, b = append(bins, b), scoreBin{}
			width = min(usual, max(fitLeast, min(rank, (total-rank)/2)))
		}
	}
	lo, hi := 0, len(bins)-1
	best, ok := bent(bins, lo, hi)
	if !ok {
		return nil, false
	}
	for range 2 {
		for _, low := range []bool{false, true} {
			for k := 1; k < len(bins)-1; k++ {
				i, j := lo, k
				if low {
					i, j = k, hi
				}
				if i >= j || k > 6 && k < len(bins)-7 && k%3 != 0 {
					continue
				}
				if m, ok := bent(bins, i, j); ok && m.deviance < best.deviance-1e-6 {
					best, lo, hi = m, i, j
				}
			}
		}
	}
	return best.odds, true
}

const (
	fitBins  = 40 // of the fit, about, and fitLeast outputs in each
	fitLeast = 4
	fitPrice = 4.0
)

// bend is a line of log odds a + b (score - mean) scale of the score kept in [lo, hi].
type bend struct{ lo, hi, a, b, mean, scale, deviance float64 }

func (m bend) odds(score float64) float64 {
	x := float64((min(max(score, m.lo), m.hi) - m.mean) * m.scale)
	return 1 / (1 + stream.Exp(-(m.a + float64(m.b*x))))
}

// bent fits a bend whose ends are the scores of two bins.
func bent(bins []scoreBin, lo, hi int) (m bend, ok bool) {
	m.lo, m.hi = bins[lo].score, bins[hi].score
	kept := slices.Clone(bins)
	for k := range kept {
		kept[k].score = min(max(kept[k].score, m.lo), m.hi)
	}
	if lo == 0 {
		m.lo = math.Inf(-1)
	} else {
		m.deviance += fitPrice
	}
	if hi == len(bins)-1 {
		m.hi = math.Inf(1)
	} else {
		m.deviance += fitPrice
	}
	if m.a, m.b, m.mean, m.scale, ok = lineThrough(kept); !ok {
		return m, false
	}
	for _, k := range kept {
		p := m.odds(k.score)
		if !(p > 0 && p < 1) {
			return m, false
		}
		m.deviance -= 2 * (float64(k.n[0]*stream.Log(p)) + float64(k.n[1]*stream.Log(1-p)))
	}
	return m, true
}

// promise is about the lower limit of the log ratio, less delta, that n outputs a side show
// of an event of so many of total explored outputs, whose log ratio is given: by
// Zou and Donner's combination of Wilson limits at z (2008).
func promise(ratio, share, delta float64, n int, z float64) float64 {
	// p1 + p0 = 2 share, p1/p0 = e^ratio.
	p0 := 2 * share / (1 + stream.Exp(ratio))
	p1 := min(1, 2*share-p0)
	if p1 <= delta || p0 <= 0 {
		return Worthless
	}
	m := float64(n)
	lo, _ := wilson(float64(p1*m), m, z)
	_, up := wilson(float64(p0*m), m, z)
	if lo <= delta {
		return Worthless
	}
	d1, d0 := stream.Log((p1-delta)/(lo-delta)), stream.Log(up/p0)
	return stream.Log((p1-delta)/p0) - math.Sqrt(float64(d1*d1)+float64(d0*d0))
}

// improves is about the mean by which a normal value exceeds 0, its mean and deviation
// given: by the logistic law.
func improves(mean, deviation float64) float64 {
	const wide = 1.702
	u := float64(wide*mean) / deviation
	if u > 30 {
		return mean
	}
	return deviation / wide * stream.Log(1+stream.Exp(u))
}

// Choose returns the main event and its alternatives, the best first: on sorted scores of
// both sides, for a certification by so many outputs with error beta.
func Choose(s1, s2 []float64, delta, beta float64, samples int) (main Choice, others []Choice) {
	main = bestCut(s1, s2, delta) // where nothing else is said
	all := candidates(s1, s2)
	if len(all) == 0 {
		return main, nil
	}
	total := float64(len(s1) + len(s2))
	z := normalUpper(beta - float64(MostAlternatives*AlternativeShare*beta))
	best, at := math.Inf(-1), -1
	for k, r := range all {
		if v := promise(r.ratio-float64(doubt*r.spread), r.size/total, delta, samples, z); v > best {
			best, at = v, k
		}
	}
	value := main.Value
	if at >= 0 && best > 0 {
		main = all[at].Choice
		main.Value = value
	}
	// The alternatives: the safe choice, and what promises most beyond the main event.
	chosen := []candidate{}
	have, spread := 0.0, 0.5
	if at >= 0 && best > 0 {
		have = promise(all[at].ratio, all[at].size/total, delta, samples, z)
		spread = all[at].spread
		chosen = append(chosen, all[at])
	}
	have = max(0, have)
	z = normalUpper(AlternativeShare * beta)
	for i := range MostAlternatives {
		most, at := 1e-6, -1
		for k, r := range all {
			if slices.ContainsFunc(chosen, func(c candidate) bool {
				return c.above == r.above && c.reversed == r.reversed && max(c.size, r.size) < apart*min(c.size, r.size)
			}) {
				continue
			}
			var g float64
			if i == 0 {
				g = promise(r.ratio-float64(fear*r.spread), r.size/total, delta, samples, z)
			} else {
				v := promise(r.ratio, r.size/total, delta, samples, z)
				g = improves(v-have, math.Sqrt(float64(r.spread*r.spread)+float64(spread*spread)))
			}
			if g > most {
				most, at = g, k
			}
		}
		if at < 0 {
			continue
		}
		chosen = append(chosen, all[at])
		others = append(others, all[at].Choice)
	}
	return main, others
}

// normalUpper is the normal quantile that is exceeded with probability beta, to three
// digits (Abramowitz and Stegun 26.2.22), alike on every platform.
func normalUpper(beta float64) float64 {
	t := math.Sqrt(-2 * stream.Log(beta))
	return t - (2.30753+float64(0.27061*t))/(1+float64(t*(0.99229+float64(0.04481*t))))
}
