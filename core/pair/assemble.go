package pair

import (
	"slices"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/bounds"
)

// limitations stand in every report.
var limitations = []string{
	"A lower bound shows what leaks at least, on one pair of datasets and one test. It never shows that a mechanism is private: another pair or another test may show more.",
	"The certificate holds for independent runs of the mechanism as it was given here, parameters and randomness included. Other parameters, versions or data domains are other mechanisms.",
	"The confidence is that of one audit. Of many audits of private mechanisms, a share of up to beta may report a violation by chance.",
	"The verdict rests on the first result. Each further result holds with its own confidence; that all of them hold together is less sure.",
}

const splitWords = "pair, learner, bins, events, witnesses and stakes chosen on exploration outputs (half to train, half to validate); all bounds certified on fresh outputs"

// report assembles what there is.
func (s *state) report(end audit.Termination) Report {
	p := s.audit.Plan
	spec := s.audit.Spec
	end.SamplesUsed = s.counted.rows
	r := Report{
		Schema: SchemaName, SchemaVersion: SchemaVersion, Generator: s.Generator,
		Inputs: Inputs{Mechanism: spec.Name, Parameters: p.Parameters, Relation: p.Relation, PrivacyUnit: p.Relation.Unit(), Samples: s.audit.recording(), Brought: spec.Brought, Unseeded: spec.Unseeded},
		Claim:  s.audit.Claim,
		Settings: Settings{Learner: p.Learner, Finder: p.Finder, Pair: p.Pair, Samples: p.Samples, Explore: p.Explore,
			Trials: p.Trials, Confidence: 1 - p.Beta, Beta: p.Beta, Seed: p.Seed, Split: splitWords, Anytime: p.Anytime, ThroughRenyi: p.ThroughRenyi},
		Results: []Finding{}, Renyi: []RenyiFinding{}, Tradeoff: []bounds.TradeoffPoint{}, Published: []Published{},
		Trials: s.trials, Surrogate: s.surrogate, Warnings: append(append([]string{}, s.audit.Notes...), s.warnings...),
		Termination: end, Timing: s.timing, Reproduce: s.audit.Reproduce(),
		Limitations: limitations, References: references(spec, s),
	}
	if spec.Recording != nil {
		r.Settings.Split, r.Limitations = recordedSplitWords, slices.Concat(limitations, audit.RecordedLimitations)
	}
	if spec.Brought != nil {
		r.Limitations = slices.Concat(r.Limitations, spec.Brought.Limitations())
	}
	if spec.Unseeded != "" {
		r.Limitations = append(slices.Clone(r.Limitations), "The counts cannot be drawn again from the seed: "+spec.Unseeded+". A replay checks that all else follows from them.")
	}
	if r.Trials == nil {
		r.Trials = []TrialNote{}
	}
	if s.best != nil && s.counted.table.Bins > 0 {
		r.Evidence = s.evidence()
		r.Results = append(r.Results, s.findings()...)
	}
	if c := s.certified; c != nil {
		r.Renyi, r.Tradeoff, r.Published = c.Renyi, c.Tradeoff, c.Published
		if r.Tradeoff == nil {
			r.Tradeoff = []bounds.TradeoffPoint{}
		}
		if r.Published == nil {
			r.Published = []Published{}
		}
	}
	r.Verdict = s.verdict(end)
	if end.Reason == audit.Completed && r.Verdict != audit.Violation {
		r.Power = s.certified.Power
	}
	r.Summary = Headline(r)
	return r
}

func (s *state) verdict(end audit.Termination) audit.Verdict {
	c := s.certified
	switch {
	case end.Reason == audit.Failed:
		return audit.Invalid
	case c == nil:
		return audit.Inconclusive
	case *c.Findings[0].LowerBound > s.audit.Claim.Limit():
		return audit.Violation
	case end.Reason == audit.Stopped:
		return audit.Inconclusive
	case c.Power != nil && c.Power.LargestBound <= s.audit.Claim.Limit():
		return audit.Inconclusive
	}
	return audit.NoViolation
}

// evidence is what the findings rest on.
func (s *state) evidence() *Evidence {
	e := &Evidence{Pair: s.trials[s.bestAt].Pair, Witness: s.best.Witness, Learners: s.best.Learners, Edges: s.best.Edges,
		Prepared: s.prepared, Explored: s.best.Table, Chart: s.best.Chart}
	if s.counted.rows > 0 {
		e.Chart = e.Chart.with(s.counted.chart, s.counted.plane)
		t := s.counted.table
		e.Table = &t
	}
	return e
}

// findings puts what was certified into words. Where nothing was, it is the
// claim's event with its counts so far.
func (s *state) findings() []Finding {
	var out []Finding
	if s.certified != nil {
		out = append(out, s.certified.Findings...)
	} else {
		explored := s.prepared.Event.counts(s.best.Table)
		_, delta := s.audit.dpLimits()
		f := Finding{ID: Epsilon, Delta: delta, Confidence: 1 - s.audit.Plan.Beta, Direction: s.prepared.Event.direction(),
			Event: &Event{Edge: s.prepared.Event.Edge, Above: s.prepared.Event.Above}, Explored: &explored}
		if s.counted.rows > 0 {
			n := s.prepared.Event.counts(s.counted.table)
			f.Counts = &n
		}
		out = append(out, f)
	}
	model, err := s.best.Witness.decode(s.Catalogue, s.audit.Columns)
	for i := range out {
		f := &out[i]
		f.Quantity = f.words()
		if f.Event != nil && err == nil {
			f.Event = &Event{Edge: f.Event.Edge, Above: f.Event.Above, Words: eventWords(s.audit.Columns, s.best.Chart, model, s.best.Edges[f.Event.Edge], f.Event.Above)}
		}
	}
	return out
}

// lowerBound is a bound on a quantity that is never negative. Bounds come
// rounded down to six decimals.
func lowerBound(x float64) float64 { return max(0, x) }

// boundSources says where a bound comes from.
var boundSources = map[bounds.Method]string{
	bounds.MethodExact:            "exact unconditional score test: Miettinen and Nurminen, Statistics in Medicine 4 (1985); nuisance parameter: Berger and Boos, JASA 89 (1994)",
	bounds.MethodClopperPearson:   "Clopper and Pearson, Biometrika 26 (1934); error split tuned on exploration counts",
	bounds.MethodPairedBetting:    "betting on paired bounded scores: Waudby-Smith and Ramdas, JRSS B 86 (2024)",
	bounds.MethodGaussianMu:       "Gaussian differential privacy: Dong, Roth and Su, JRSS B 84 (2022), with Clopper-Pearson limits",
	bounds.MethodRenyiBetting:     "betting against a Rényi divergence, linearised: docs/statistics.md; Waudby-Smith and Ramdas, JRSS B 86 (2024)",
	bounds.MethodRenyiBerryEsseen: "paired Berry-Esseen bound on a Rényi divergence, linearised: docs/statistics.md; Shevtsova, arXiv:1111.6554 (2011)",
	bounds.MethodEventMixture:     "anytime-valid mixture of bets on an event: Ville 1939; Robbins, Annals of Mathematical Statistics 41 (1970)",
	bounds.MethodScoreMixture:     "anytime-valid mixture of bets on a bounded score: Ville 1939; Robbins, Annals of Mathematical Statistics 41 (1970)",
	bounds.MethodRenyiMixture:     "anytime-valid mixture of bets against a Rényi divergence: Ville 1939; Robbins, Annals of Mathematical Statistics 41 (1970)",
}

func references(spec audit.MechanismSpec, s *state) []string {
	refs := []string{spec.Source}
	add := func(ref string) {
		if ref != "" && !slices.Contains(refs, ref) {
			refs = append(refs, ref)
		}
	}
	if s.best != nil {
		if l, err := s.Catalogue.Learner(s.best.Witness.Learner); err == nil {
			add(l.Source)
		}
	}
	if s.certified != nil {
		for _, f := range s.certified.Findings {
			add(boundSources[f.Method])
		}
		for _, f := range s.certified.Renyi {
			add(boundSources[f.Method])
		}
	}
	return refs
}
