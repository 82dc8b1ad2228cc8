package main

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"
)

const (
	// portfolioShare of the best single learner's bound is what the portfolio
	// has to reach.
	portfolioShare = 0.95
	// portfolioError is how often a bench of portfolios that all reach the
	// share, some only just, calls one of them short.
	portfolioError = 0.05
	// toldFromZero is how many standard errors the best learner's mean must be
	// above 0 for ratios to it to mean something. It decides what is printed,
	// not what is short.
	toldFromZero = 2
)

// Verdicts on a mechanism.
const (
	portfolioReached = "reached"
	portfolioOpen    = "within noise"    // below the share, but not short
	portfolioShort   = "short"           // below the share beyond noise
	portfolioNothing = "nothing to find" // no learner's mean is told from 0, nor is the portfolio short
)

// judge compares, once all bounds are there.
//
// The portfolio is short on a mechanism when for some learner the mean over
// seeds of P - portfolioShare L is below 0 by more than t standard errors, P and
// L the two bounds of one seed, on the same outputs: a one-sided t test of paired
// differences, at portfolioError over all comparisons of the bench (Bonferroni).
// The level is approximate as far as bounds are not normal. Limits are Fieller's
// at the same t, so they hold for whichever learner turns out best.
func (b *portfolioBench) judge() {
	b.Comparisons, b.Short = 0, 0
	for _, r := range b.Rows {
		for _, arm := range r.Learners {
			if arm.Learner != leftOut {
				b.Comparisons++
			}
		}
	}
	t := distuv.StudentsT{Sigma: 1, Nu: float64(b.Runs - 1)}.Quantile(1 - portfolioError/float64(max(1, b.Comparisons)))
	for i := range b.Rows {
		r := &b.Rows[i]
		r.judge(t)
		if r.Verdict == portfolioShort {
			b.Short++
		}
	}
}

func (r *portfolioRow) judge(t float64) {
	r.Portfolio.average()
	p := r.Portfolio.Bounds
	var singles []*portfolioArm
	for i := range r.Learners {
		arm := &r.Learners[i]
		if arm.average(); arm.Learner != leftOut {
			arm.Short = fallsShort(p, arm.Bounds, t)
			singles = append(singles, arm)
		}
	}
	r.Verdict = portfolioNothing
	if len(singles) == 0 {
		return
	}
	best := bestArm(singles, func(a *portfolioArm) float64 { return a.Mean })
	r.Best = best.Learner
	told := best.Mean > toldFromZero*best.Error
	if told {
		ratio := r.Portfolio.Mean / best.Mean
		r.Ratio = &ratio
		if mean := stat.Mean(heldOut(singles), nil); mean > 0 {
			ratio := r.Portfolio.Mean / mean
			r.HeldOut = &ratio
		}
		if low, high, ok := fieller(p, best.Bounds, t); ok {
			r.Low, r.High = &low, &high
		}
	}
	switch {
	case slices.ContainsFunc(singles, func(a *portfolioArm) bool { return a.Short }):
		r.Verdict = portfolioShort
	case told && *r.Ratio >= portfolioShare:
		r.Verdict = portfolioReached
	case told:
		r.Verdict = portfolioOpen
	}
}

func (a *portfolioArm) average() {
	mean, deviation := stat.MeanStdDev(a.Bounds, nil)
	a.Mean, a.Error = mean, stat.StdErr(deviation, float64(len(a.Bounds)))
}

// bestArm is the first of the arms with the largest value.
func bestArm(arms []*portfolioArm, value func(*portfolioArm) float64) *portfolioArm {
	best, most := arms[0], value(arms[0])
	for _, a := range arms[1:] {
		if v := value(a); v > most {
			best, most = a, v
		}
	}
	return best
}

// heldOut is, seed by seed, the bound of the arm that has the largest sum on
// the other seeds. Its mean is not raised by luck; but its values depend on each
// other, so their deviation tells nothing of the mean's error.
func heldOut(arms []*portfolioArm) []float64 {
	out := make([]float64, len(arms[0].Bounds))
	for i := range out {
		out[i] = bestArm(arms, func(a *portfolioArm) float64 {
			sum := 0.0
			for k, v := range a.Bounds {
				if k != i {
					sum += v
				}
			}
			return sum
		}).Bounds[i]
	}
	return out
}

// fallsShort reports whether the mean of p - portfolioShare l is below 0 by
// more than t standard errors.
func fallsShort(p, l []float64, t float64) bool {
	d := make([]float64, len(p))
	for i := range d {
		d[i] = p[i] - portfolioShare*l[i]
	}
	mean, deviation := stat.MeanStdDev(d, nil)
	return mean+t*stat.StdErr(deviation, float64(len(d))) < 0
}

// fieller gives the limits of E p / E l from pairs at t standard errors; false
// where they are unbounded, E l being within t of its own of 0 (Fieller, JRSS B
// 16, 1954).
func fieller(p, l []float64, t float64) (low, high float64, ok bool) {
	n := float64(len(p))
	mp, vp := stat.MeanVariance(p, nil)
	ml, vl := stat.MeanVariance(l, nil)
	k := t * t / n
	// Ratios r with (mp - r ml)^2 <= k Var(p - r l): a r^2 - 2 h r + c <= 0.
	a, h, c := ml*ml-k*vl, ml*mp-k*stat.Covariance(p, l, nil), mp*mp-k*vp
	if !(ml > 0 && a > 0) {
		return 0, 0, false
	}
	root := math.Sqrt(math.Max(0, h*h-a*c))
	return (h - root) / a, (h + root) / a, true
}
