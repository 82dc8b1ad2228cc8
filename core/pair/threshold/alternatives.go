package threshold

import (
	"math"
	"slices"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/audit/stream"
)

// The bound spends most of the error on one event and the rest on alternatives: it is the largest
// of theirs, each at its share. All are chosen on exploration. Constants weigh power only.
const (
	AlternativeShare = 0.05 // of the error, for each of the alternatives; the main event has the rest
	MostAlternatives = 3
	Nearly           = 0.02 // share of what an event promises that a simpler one may promise less

	apart     = 2.0   // factor by which alternatives of one direction differ in size
	nearlyAll = 1.25  // the same for one that is taken because it is simpler
	doubt     = 0.5   // standard errors of a ratio that are taken off for a choice among many
	fear      = 3.0   // the same for the first alternative, which is the safe choice
	surest    = 100.0 // the largest weight of the fit, in outputs of the rarer side
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

// step is a group of neighbouring scores: how many of both sides lie at and below its threshold.
type step struct {
	threshold, score float64
	below            [2]int
}

// steps cuts sorted scores into groups whose ends are cutStep apart, at least.
func steps(s1, s2 []float64) []step {
	total := len(s1) + len(s2)
	var out []step
	next, sum, count, from := 1, 0.0, 0, 0
	for u, below := range Values(s1, s2) {
		rank := below[0] + below[1]
		sum += float64(u * float64(rank-from))
		count += rank - from
		if from = rank; rank < next && rank < total {
			continue
		}
		s := step{score: sum / float64(count), below: below}
		if rank < total {
			s.threshold = between(u, smallest(s1, s2, below))
		}
		out = append(out, s)
		sum, count = 0, 0
		next = rank + max(1, int(cutStep*float64(min(rank, total-rank))))
	}
	return out
}

// candidate is an event that might be certified: one end of the scores.
type candidate struct {
	Choice
	n      [2]float64 // outputs of either side
	size   float64    // of both
	ratio  float64    // log of the rates' ratio, counts and fit weighed together
	spread float64    // its standard error

	far         [2]float64 // how far out lies what it adds to the candidate before: by score, by rank
	rare, guess float64    // outputs of the side that is rarer by the fit, and how many that expects
	second      bool       // which side that is
}

// candidates are all events of the steps, likelier on either side. The rarer side's rate has,
// before the counts, a gamma law whose mean is the fit's and whose shape is that end's [trust], and
// is its mean thereafter; without a fit half a count is added.
func candidates(s1, s2 []float64) []candidate {
	all := steps(s1, s2)
	n := [2]float64{float64(len(s1)), float64(len(s2))}
	var out []candidate
	for _, above := range []bool{true, false} {
		end := endOf(all, above)
		fitted := expect(end, n)
		shape := trust(end[:fitted])
		for k := range end {
			r := &end[k]
			rare, weight := r.rare+0.5, r.rare+0.5
			if k < fitted {
				rare, weight = (shape+r.rare)/(shape/r.guess+1), shape+r.rare
			}
			rare = min(rare, r.size)
			common, sides := r.size-rare+0.5, audit.Pick(r.second, n, [2]float64{n[1], n[0]})
			r.ratio = stream.Log(float64(common*sides[1]) / float64(rare*sides[0]))
			r.spread = math.Sqrt(1/weight + 1/common)
			if r.reversed = !r.second; r.ratio < 0 {
				r.reversed, r.ratio = !r.reversed, -r.ratio
			}
		}
		out = append(out, end...)
	}
	return out
}

// endOf are the events of one end of the scores, from the smallest on.
func endOf(all []step, above bool) []candidate {
	end := make([]candidate, len(all)-1)
	whole, size := all[len(all)-1].below, 0.0
	for i := range end {
		r := &end[i]
		s, score := all[i], -all[i].score
		if above {
			s, score = all[len(all)-2-i], all[len(all)-1-i].score
			s.below = [2]int{whole[0] - s.below[0], whole[1] - s.below[1]}
		}
		r.Threshold, r.above = s.threshold, above
		r.n = [2]float64{float64(s.below[0]), float64(s.below[1])}
		r.size = r.n[0] + r.n[1]
		r.far = [2]float64{score, -stream.Log((size + r.size) / 2)}
		size = r.size
	}
	return end
}

// expect says which side of every event is rarer, and how many outputs it has: by the fit for the
// smallest events, whose number is returned, else by the counts. Log odds are the mean of two fits:
// over the score, which a learner may stretch or squeeze in the tail, and over the log of the rank,
// over which those of a Laplace tail are a line.
func expect(end []candidate, n [2]float64) (fitted int) {
	for fitted < len(end) && end[fitted].size <= max(fitTail*(n[0]+n[1]), fitEnough) {
		fitted++
	}
	var fits [2]bend
	var ok [2]bool
	for by := range fits {
		fits[by], ok[by] = bent(end[:fitted], by)
	}
	if !ok[0] && !ok[1] {
		fitted = 0
	}
	expected, size := 0.0, 0.0
	for k := range end {
		r := &end[k]
		first := r.n[0]
		if k < fitted {
			var z, of float64
			for by, m := range fits {
				if ok[by] {
					z += m.logOdds(r.far[by])
					of++
				}
			}
			expected += float64((r.size - size) / (1 + stream.Exp(-z/of)))
			first, size = expected, r.size
		}
		if r.second = float64(first*n[1]) > float64((r.size-first)*n[0]); r.second {
			r.rare, r.guess = r.n[1], r.size-first
		} else {
			r.rare, r.guess = r.n[0], first
		}
		r.guess = max(r.guess, 1e-3)
	}
	return fitted
}

// trust is the shape that makes the rare counts, negative binomial, of doubling events likeliest.
func trust(end []candidate) float64 {
	var doubled []candidate
	for _, r := range end {
		if r.rare <= 200 && r.guess <= 200 && (len(doubled) == 0 || r.size >= 2*doubled[len(doubled)-1].size) {
			doubled = append(doubled, r)
		}
	}
	best, most := surest, math.Inf(-1)
	for c := surest; c > 0.2; c /= 2 {
		sum := 0.0
		for _, r := range doubled {
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

const (
	fitTail   = 0.125 // share of the outputs at either end that is fitted
	fitEnough = 250.0 // outputs that are fitted, if there are so many
	fitLeast  = 4.0   // outputs of a bin of the fit, and fitGrows of all up to there, at least
	fitGrows  = 0.25
	fitPrice  = 4.0 // in deviance, of a line that ends before the outputs do
)

// bend is a line of log odds a + b (x - mean) scale of x, how far out an output lies. Beyond hi
// they do not change, like those of a mechanism that keeps pure DP.
type bend struct{ hi, a, b, mean, scale, deviance float64 }

func (m bend) logOdds(x float64) float64 {
	return m.a + float64(m.b*float64((min(x, m.hi)-m.mean)*m.scale))
}

// bent fits a bend to an end of the scores. Where it ends is chosen by deviance.
func bent(end []candidate, by int) (best bend, ok bool) {
	var bins []scoreBin
	var b scoreBin
	var last candidate
	for k, r := range end {
		b.n[0] += r.n[0] - last.n[0]
		b.n[1] += r.n[1] - last.n[1]
		b.score += float64((r.size - last.size) * r.far[by])
		last = r
		if n := b.n[0] + b.n[1]; n >= max(fitLeast, fitGrows*r.size) || k == len(end)-1 {
			b.score /= n
			bins, b = append(bins, b), scoreBin{}
		}
	}
	for k := range len(bins) - 3 {
		kept, m := slices.Clone(bins), bend{hi: math.Inf(1)}
		if k > 0 {
			m.hi, m.deviance = bins[k].score, fitPrice
		}
		for i := range k {
			kept[i].score = m.hi
		}
		fits := m.fit(kept)
		for _, b := range kept {
			p := 1 / (1 + stream.Exp(-m.logOdds(b.score)))
			fits = fits && p > 0 && p < 1
			m.deviance -= 2 * (float64(b.n[0]*stream.Log(p)) + float64(b.n[1]*stream.Log(1-p)))
		}
		if fits && (!ok || m.deviance < best.deviance-1e-6) {
			best, ok = m, true
		}
	}
	return best, ok
}

// promise is about the lower limit of the log ratio, less delta, that n outputs a side show of an
// event: by Zou and Donner's combination of Wilson limits at z (2008).
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

// improves is about the mean by which a normal value exceeds 0: by the logistic law.
func improves(mean, deviation float64) float64 {
	const wide = 1.702
	u := float64(wide*mean) / deviation
	if u > 30 {
		return mean
	}
	return deviation / wide * stream.Log(1+stream.Exp(u))
}

// like is of events of one direction, their sizes no more than a factor apart.
func (r candidate) like(c candidate, factor float64) bool {
	return c.above == r.above && c.reversed == r.reversed && max(c.size, r.size) < factor*min(c.size, r.size)
}

// Choose returns the main event and its alternatives, the best first, on sorted scores, for a
// certification by so many outputs with error beta. Of events that promise nearly as much as the
// best, the one of fewest pieces is taken; nil: all are alike.
func Choose(s1, s2 []float64, delta, beta float64, samples int, pieces func(Choice) int) (main Choice, others []Choice) {
	main = bestCut(s1, s2, delta) // where nothing else is said
	all := candidates(s1, s2)
	total := float64(len(s1) + len(s2))
	promised := func(r candidate, less, z float64) float64 {
		return promise(r.ratio-float64(less*r.spread), r.size/total, delta, samples, z)
	}
	values := make([]float64, len(all))
	// best is the place of the event that is worth most, and more than least; -1: none is.
	best := func(least float64, worth func(candidate) float64) int {
		at := -1
		for k, r := range all {
			if values[k] = worth(r); values[k] > least && (at < 0 || values[k] > values[at]) {
				at = k
			}
		}
		if pieces == nil || at < 0 {
			return at
		}
		most, fewest := all[at], pieces(all[at].Choice)
		enough := float64(values[at] * (1 - Nearly))
		for k, r := range all {
			if values[k] < enough || fewest == 1 || !r.like(most, nearlyAll) {
				continue
			}
			if n := pieces(r.Choice); n < fewest || n == fewest && values[k] > values[at] {
				at, fewest = k, n
			}
		}
		return at
	}
	// The alternatives: the safe choice, and what promises most beyond the main event.
	var chosen []candidate
	have, spread := 0.0, 0.5
	z := normalUpper(beta - float64(MostAlternatives*AlternativeShare*beta))
	if at := best(0, func(r candidate) float64 { return promised(r, doubt, z) }); at >= 0 {
		main.Threshold, main.above, main.reversed = all[at].Threshold, all[at].above, all[at].reversed
		have, spread = max(0, promised(all[at], 0, z)), all[at].spread
		chosen = append(chosen, all[at])
	}
	z = normalUpper(AlternativeShare * beta)
	for i := range MostAlternatives {
		at := best(1e-6, func(r candidate) float64 {
			switch {
			case slices.ContainsFunc(chosen, func(c candidate) bool { return r.like(c, apart) }):
				return Worthless
			case i == 0:
				return promised(r, fear, z)
			}
			return improves(promised(r, 0, z)-have, math.Sqrt(float64(r.spread*r.spread)+float64(spread*spread)))
		})
		if at >= 0 {
			chosen = append(chosen, all[at])
			others = append(others, all[at].Choice)
		}
	}
	return main, others
}

// normalUpper is the normal quantile exceeded with probability beta, to three digits (Abramowitz
// and Stegun 26.2.22), alike on every platform.
func normalUpper(beta float64) float64 {
	t := math.Sqrt(-2 * stream.Log(beta))
	return t - (2.30753+float64(0.27061*t))/(1+float64(t*(0.99229+float64(0.04481*t))))
}
