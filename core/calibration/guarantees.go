package calibration

import (
	"fmt"

	"github.com/dpscope/dpscope/accounting"
	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/bounds"
	"github.com/dpscope/dpscope/stream"
)

// guarantee is a claim that the first pair of a mechanism meets exactly.
type guarantee struct {
	mechanism  string
	parameters audit.Params
	claim      audit.Claim
	through    float64 // order, for a pure claim; 0: tested by an event
}

func (g guarantee) kind() string {
	if g.through > 0 {
		return "pure, through Rényi"
	}
	return string(g.claim.Kind)
}

// guarantees on three pairs of laws whose every quantity is known: randomised
// response (answers), Laplace noise of scale 1/epsilon on a count that moves by
// 1 (noisy-histogram of one bin), and Gaussians mu = 1/sigma apart (dp-sgd).
func guarantees() []guarantee {
	answers := func(epsilon float64, claim audit.Claim, through float64) guarantee {
		return guarantee{"randomised-response", params("epsilon", epsilon), claim, through}
	}
	laplace := func(epsilon float64, claim audit.Claim) guarantee {
		return guarantee{"noisy-histogram", params("epsilon", epsilon, "bins", 1.0), claim, 0}
	}
	gaussian := func(sigma float64, claim audit.Claim) guarantee {
		return guarantee{"dp-sgd", params("sigma", sigma, "clip", 1.0), claim, 0}
	}
	renyi := func(alpha, epsilon float64) audit.Claim {
		return audit.Claim{Kind: audit.Renyi, Alpha: alpha, Epsilon: epsilon}
	}
	mu := func(mu float64) audit.Claim { return audit.Claim{Kind: audit.GaussianDP, Mu: mu} }
	rho := func(rho float64) audit.Claim { return audit.Claim{Kind: audit.ZCDP, Rho: rho} }
	all := []guarantee{
		answers(1, audit.DPClaim(1, 0), 0),
		answers(0.1, audit.DPClaim(0.1, 0), 0),
		answers(4, audit.DPClaim(4, 0), 0),
		laplace(1, audit.DPClaim(1, 0)),

		gaussian(2, audit.DPClaim(0.5, accounting.GaussianDelta(2, 1, 0.5))),
		gaussian(1, audit.DPClaim(1, accounting.GaussianDelta(1, 1, 1))),
		gaussian(1, audit.DPClaim(accounting.GaussianEpsilon(1, 1, 0.01), 0.01)),
		// Laplace noise at e < epsilon: delta = 1 - e^((e-epsilon)/2).
		laplace(1, audit.DPClaim(0.5, 1-stream.Exp(-0.25))),
	}
	for _, alpha := range []float64{1.25, 2, 8} {
		all = append(all, gaussian(2, renyi(alpha, accounting.Gaussian{Sigma: 2, Sensitivity: 1}.At(alpha))))
	}
	for _, alpha := range []float64{2, 16} {
		all = append(all, laplace(1, renyi(alpha, accounting.Laplace{Scale: 1, Sensitivity: 1}.At(alpha))))
	}
	return append(all,
		answers(1, renyi(4, bounds.RandomisedResponseRenyi(1, 4)), 0),
		gaussian(2, rho(0.125)), gaussian(1, rho(0.5)),
		gaussian(2, mu(0.5)), gaussian(1, mu(1)),
		answers(1, mu(bounds.GaussianMuOfPure(1)), 0),
		answers(1, audit.DPClaim(1, 0), 2), answers(1, audit.DPClaim(1, 0), 8), answers(0.1, audit.DPClaim(0.1, 0), 2),
	)
}

// guarantees lists the cells of all kinds of claims, fixed and anytime, on the
// first pair and with histograms, which see all that one number shows.
func (l *list) guarantees() error {
	for _, anytime := range []bool{false, true} {
		for _, g := range guarantees() {
			m, err := l.cat.Mechanism(g.mechanism)
			if err != nil || !l.wants(m.Name) {
				continue // a catalogue may be without it
			}
			plan := l.base(m, setting{parameters: g.parameters})
			claim := g.claim
			plan.Claim, plan.ThroughRenyi, plan.Learner, plan.Anytime = &claim, g.through, "histogram", anytime
			runs := guaranteeRuns * l.Runs
			if anytime {
				runs = anytimeRuns * l.Runs
				plan.Samples = max(plan.Samples, AnytimeSamples)
			}
			a, err := plan.Resolve(l.cat)
			if err != nil {
				return err
			}
			plan.Pair = &m.Pairs(a.Plan.Parameters, a.Plan.Relation)[0]
			name := fmt.Sprintf("%s on %s", claim, g.mechanism)
			if g.through > 0 {
				name = fmt.Sprintf("%s through alpha = %g on %s", claim, g.through, g.mechanism)
			}
			if err := l.add(Cell{Block: Guarantees, Name: name, Subject: g.kind(), Plan: plan, Runs: runs, Met: true}); err != nil {
				return err
			}
		}
	}
	return nil
}
