package core

import (
	"math"

	"github.com/dpscope/dpscope/core/bound"
	"github.com/dpscope/dpscope/core/stream"
)

// limitations stand in every report.
var limitations = []string{
	"A lower bound on epsilon shows what leaks at least, on one pair of datasets and one event. It never shows that a mechanism is private: another pair or another test may show more.",
	"The certificate holds for independent runs of the mechanism as it was given here, parameters and randomness included. Other parameters, versions or data domains are other mechanisms.",
	"The confidence is that of one audit. Of many audits of private mechanisms, a share of up to beta may report a violation by chance.",
}

const splitWords = "pair, direction, learner and threshold chosen on exploration outputs (half to train, half to validate); the bound certified on fresh outputs"

// report assembles what there is.
func (s *state) report(end Termination) Report {
	p := s.audit.Plan
	spec := s.audit.Spec
	end.SamplesUsed = s.counted.Rows
	r := Report{
		Schema: SchemaName, SchemaVersion: SchemaVersion, Generator: s.Generator,
		Inputs: Inputs{Mechanism: spec.Name, Parameters: p.Parameters, Relation: p.Relation, PrivacyUnit: p.Relation.unit()},
		Claim:  s.audit.Claim,
		Settings: Settings{Learner: p.Learner, Finder: p.Finder, Pair: p.Pair, Samples: p.Samples, Explore: p.Explore,
			Trials: p.Trials, Confidence: 1 - p.Beta, Beta: p.Beta, Seed: p.Seed, Split: splitWords},
		Results: []Finding{}, Trials: s.trials, Warnings: append(append([]string{}, s.audit.Notes...), s.warnings...),
		Termination: end, Timing: s.timing, Reproduce: s.audit.Reproduce(),
		Limitations: limitations, References: references(spec, s),
	}
	if r.Trials == nil {
		r.Trials = []TrialNote{}
	}
	if s.best != nil {
		r.Results = append(r.Results, s.finding())
	}
	r.Verdict = s.verdict(end)
	if end.Reason == Completed && r.Verdict != Violation {
		r.Power = s.power
	}
	r.Summary = Headline(r)
	return r
}

func (s *state) verdict(end Termination) Verdict {
	p := s.audit.Plan
	switch {
	case end.Reason == Failed:
		return Invalid
	case end.Reason == Stopped || s.bound == nil:
		return Inconclusive
	case s.bound.Epsilon > p.Claim.Epsilon:
		return Violation
	case s.power.LargestBound <= p.Claim.Epsilon:
		return Inconclusive
	}
	return NoViolation
}

// finding describes what was certified on the best pair.
func (s *state) finding() Finding {
	p := s.audit.Plan
	f := Finding{ID: "epsilon", Quantity: "epsilon at delta", Delta: p.Claim.Delta, Confidence: 1 - p.Beta,
		Direction: FirstOverSecond, Explored: s.best.Counts, Learners: s.best.Learners,
		Witness: s.best.Witness, Pair: s.trials[s.bestAt].Pair, Chart: s.best.Chart.with(s.counted.Chart)}
	if s.best.Reversed {
		f.Direction = SecondOverFirst
	}
	if ev, err := s.best.Witness.decode(s.Catalogue, s.audit.Columns); err == nil {
		f.Event = ev.model.Describe(ev.threshold, ev.above)
	}
	if s.counted.Rows == 0 {
		return f
	}
	c := s.counted.counts(s.best.Reversed)
	f.Counts = &c
	if ratio := (float64(c.X)/float64(c.N1) - p.Claim.Delta) / (float64(c.Y) / float64(c.N0)); ratio > 0 && !math.IsInf(ratio, 1) {
		e := stream.Log(ratio)
		f.Estimate = &e
	}
	if s.bound != nil {
		f.LowerBound, f.Method, f.Split = &s.bound.Epsilon, s.bound.Method, s.bound.Split
	}
	return f
}

// lowerBound is a bound on epsilon, which is never negative. Bounds come
// rounded down to six decimals.
func lowerBound(x float64) float64 { return max(0, x) }

// floorTo rounds down to that many decimals.
func floorTo(x float64, decimals int) float64 {
	if !(math.Abs(x) < 1e15) { // whole, infinite or not a number
		return x
	}
	scale := math.Pow10(decimals)
	y := math.Floor(x*scale) / scale
	for y > x { // the division may round up
		y = math.Nextafter(y, math.Inf(-1))
	}
	return y
}

// power says what the sample size could have shown, for an event as frequent
// as the explored one.
func power(p Plan, explored bound.Counts) *Power {
	n := p.Samples
	out := &Power{LargestBound: lowerBound(bound.MaxCertifiable(n, n, p.Claim.Delta, p.Beta))}
	if n > bound.ExactReach {
		return out // it would take longer than the audit
	}
	rate := (float64(explored.Y) + 0.5) / (float64(explored.N0) + 1)
	if e := bound.SmallestDetectable(p.Claim.Epsilon, p.Claim.Delta, p.Beta, n, n, rate); !math.IsInf(e, 0) && !math.IsNaN(e) {
		// Rounded up: it is what could have been seen, not what was.
		e = max(p.Claim.Epsilon, -floorTo(-e, 4))
		out.SmallestEpsilon = &e
	}
	return out
}

// boundSources says where a bound comes from.
var boundSources = map[bound.Method]string{
	bound.MethodExact:          "exact unconditional score test: Miettinen and Nurminen, Statistics in Medicine 4 (1985); nuisance parameter: Berger and Boos, JASA 89 (1994)",
	bound.MethodClopperPearson: "Clopper and Pearson, Biometrika 26 (1934); error split tuned on exploration counts",
}

func references(spec MechanismSpec, s *state) []string {
	refs := []string{spec.Source}
	if s.best != nil {
		if l, err := s.Catalogue.Learner(s.best.Witness.Learner); err == nil && l.Source != "" {
			refs = append(refs, l.Source)
		}
	}
	if s.bound != nil {
		refs = append(refs, boundSources[s.bound.Method])
	}
	return refs
}

// unit says what a privacy unit is under the relation.
func (r Relation) unit() string {
	switch r {
	case AddRemove:
		return "one row, added or removed"
	case Replace:
		return "one row, replaced"
	}
	return "one individual, who moves each query's answer by at most its sensitivity"
}
