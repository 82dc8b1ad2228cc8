package main

import (
	"math"

	"github.com/dpscope/dpscope/bounds"
	"github.com/dpscope/dpscope/stream"
)

// anytimeCell is one simulated experiment: pairs whose law is known, and a
// monitor of a quantity whose true value follows from the law.
type anytimeCell struct {
	name   string
	method bounds.Method
	law    pairLaw
	delta  float64 // of the event's claims
	truth  float64 // true value of what the monitor bounds, above 0 or 0
	// watch starts a monitor of one run against a claim; what it returns takes
	// the pairs so far and reports whether the claim is refuted by now.
	watch func(claim, beta float64) func(bounds.Table) bool

	reference float64 // median pairs to refute half of the truth at beta .05, by testdata/anytime_reference.py; 0: none
	stops     bool    // measure that
	peeks     bool    // the foil is run on these pairs too
}

// eventCell is an event with probability p0 on the second dataset and
// e^epsilon p0 + delta on the first.
func eventCell(name string, epsilon, delta, p0 float64, c coupling) anytimeCell {
	return ratesCell(name, stream.Exp(epsilon)*p0+delta, p0, delta, c)
}

// ratesCell is an event with these probabilities.
func ratesCell(name string, p1, p0, delta float64, c coupling) anytimeCell {
	return anytimeCell{
		name: name, method: bounds.MethodEventMixture, law: eventLaw(p1, p0, c), delta: delta, truth: math.Max(0, math.Log((p1-delta)/p0)),
		watch: func(claim, beta float64) func(bounds.Table) bool {
			m := bounds.NewMonitor(claim, delta, beta)
			return func(t bounds.Table) bool {
				m.Observe(t.N[3], t.N[2], t.N[1], t.N[0])
				return m.ClaimRejected()
			}
		},
	}
}

// tableCell is a monitor of a witness by bin, on independent outputs.
func tableCell(name string, method bounds.Method, p, q []float64, truth float64, start func(beta float64) *bounds.TableMixture) anytimeCell {
	if !(truth > 0) {
		panic("dpscope: a witness that sees nothing")
	}
	return anytimeCell{
		name: name, method: method, law: independent(p, q), truth: truth,
		watch: func(claim, beta float64) func(bounds.Table) bool {
			m := start(beta)
			return func(t bounds.Table) bool {
				m.Observe(t)
				return m.Rejected(claim)
			}
		},
	}
}

// renyiCell bounds D_alpha by the log ratio of the bins, cut at top, and
// shifted so that the mean of exp(alpha h) on the second dataset is 1. The truth
// is what that shows of D_alpha,
//
//	alpha/(alpha-1) log E_P exp((alpha-1)h) - log E_Q exp(alpha h),
//
// all of it with top = +Inf.
func renyiCell(name string, p, q []float64, alpha, top float64) anytimeCell {
	h := make([]float64, len(p))
	for i := range p {
		h[i] = math.Min(math.Log(p[i]/q[i]), top)
	}
	shift := logMoment(q, h, alpha) / alpha
	for i := range h {
		h[i] -= shift
	}
	truth := alpha/(alpha-1)*logMoment(p, h, alpha-1) - logMoment(q, h, alpha)
	return tableCell(name, bounds.MethodRenyiMixture, p, q, truth, func(beta float64) *bounds.TableMixture {
		return bounds.NewRenyiMonitor(h, alpha, beta)
	})
}

// logMoment is log E exp(scale h).
func logMoment(p, h []float64, scale float64) float64 {
	sum := 0.0
	for i := range p {
		sum += p[i] * math.Exp(scale*h[i])
	}
	return math.Log(sum)
}

func mean(p, f []float64) float64 {
	sum := 0.0
	for i := range p {
		sum += p[i] * f[i]
	}
	return sum
}

// binned are the probabilities of the bins between the edges and beyond the
// outer ones, by the distribution function.
func binned(edges []float64, cdf func(float64) float64) []float64 {
	var p []float64
	last := 0.0
	for _, x := range edges {
		p = append(p, cdf(x)-last)
		last = cdf(x)
	}
	return append(p, 1-last)
}

func normalCDF(mean float64) func(float64) float64 {
	return func(x float64) float64 { return math.Erfc((mean-x)/math.Sqrt2) / 2 }
}

func laplaceCDF(mean float64) func(float64) float64 {
	return func(x float64) float64 {
		if x < mean {
			return math.Exp(x-mean) / 2
		}
		return 1 - math.Exp(mean-x)/2
	}
}

// anytimeCells are the experiments.
func anytimeCells() []anytimeCell {
	response := func(name string, epsilon float64) anytimeCell {
		return ratesCell(name, stream.Logistic(epsilon), stream.Logistic(-epsilon), 0, apart)
	}
	with := func(c anytimeCell, reference float64, peeks bool) anytimeCell {
		c.stops, c.reference, c.peeks = true, reference, peeks
		return c
	}
	cells := []anytimeCell{
		with(response("randomised response, epsilon 1", 1), 89, true),
		with(response("randomised response, epsilon 4", 4), 62, false),
		// The events x > 2 under N(1, 1) and N(0, 1), x > 0.1 under Laplace
		// noise of scale 1 at 0.1 and 0.
		with(ratesCell("Gaussian tail, mu 1, delta 1e-5", 0.15865525393145705, 0.022750131948179209, 1e-5, apart), 348, false),
		with(eventCell("Laplace, epsilon 0.1", 0.1, 0, stream.Exp(-0.1)/2, apart), 7100, true),
		with(ratesCell("rare event, .02 against .001", 0.02, 0.001, 0, apart), 2750, true),
		eventCell("rarer event, epsilon 2, p0 1e-4", 2, 0, 1e-4, apart),
		eventCell("delta .05, epsilon .5, p0 .05", 0.5, 0.05, 0.05, apart),
		eventCell("no difference, p 1/2", 0, 0, 0.5, apart),
		eventCell("coupled, positively, epsilon .5", 0.5, 0, 0.3, together),
		eventCell("coupled, negatively, epsilon .5", 0.5, 0, 0.3, opposite),
	}
	middling := []float64{-1.5, -0.75, 0, 0.75, 1.5, 2.25}
	gaussP, gaussQ := binned(middling, normalCDF(0.5)), binned(middling, normalCDF(0))
	steps := []float64{0, 0.025, 0.05, 0.075, 0.1}
	laplaceP, laplaceQ := binned(steps, laplaceCDF(0.1)), binned(steps, laplaceCDF(0))
	wide := []float64{-0.5, 0.5, 1.5}
	wideP, wideQ := binned(wide, normalCDF(1)), binned(wide, normalCDF(0))
	// On this pair theorem 4.3 of DP-Auditorium errs with probability .92.
	pointsP, pointsQ := []float64{1 - 0.008884, 0.008884}, []float64{1 - 3.193e-6, 3.193e-6}
	f := []float64{0, 0.2, 0.7, 1}
	const delta, epsilon = 0.01, 0.3
	return append(cells,
		with(renyiCell("Gaussian, mu .5, alpha 2", gaussP, gaussQ, 2, math.Inf(1)), 1560, false),
		with(renyiCell("Laplace, epsilon .1, alpha 2", laplaceP, laplaceQ, 2, math.Inf(1)), 26_800, false),
		with(renyiCell("two points, .0089 against 3.2e-6", pointsP, pointsQ, 1.762, math.Inf(1)), 0, false),
		with(renyiCell("two points, log ratio cut at 3", pointsP, pointsQ, 1.762, 3), 14_500, false),
		with(tableCell("score, epsilon at delta .01", bounds.MethodScoreMixture, wideP, wideQ,
			math.Log((mean(wideP, f)-delta)/mean(wideQ, f)), func(beta float64) *bounds.TableMixture { return bounds.NewScoreMonitor(f, delta, beta) }), 122, false),
		with(tableCell("score, delta at epsilon .3", bounds.MethodScoreMixture, wideP, wideQ,
			mean(wideP, f)-math.Exp(epsilon)*mean(wideQ, f), func(beta float64) *bounds.TableMixture { return bounds.NewDeltaMonitor(f, epsilon, beta) }), 276, false),
	)
}
