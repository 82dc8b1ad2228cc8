package main

import (
	"fmt"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/core/pair"
)

// sniperRows are the lower bounds in DP-Sniper's shipped logs: claim 0.1, 90 %
// confidence, 2*10^8 outputs, seconds on a machine that it does not name; what
// the mechanism really keeps; and what is to be reached at 95 % with 10^7 outputs
// a side. Exploration is as large as memory for outputs of so many numbers
// allows, and as the seconds do. Where signals are faintest one pair is tried, the
// mechanism's first: of several, noise would choose.
var sniperRows = []struct {
	name, mechanism, truth string
	params                 audit.Params
	bound, seconds, target float64
	explore, trials        int
}{
	{"LaplaceMechanism", "laplace-parallel", "0.1", audit.Params{"copies": number(1)}, 0.0968, 21, 0.095, 1_000_000, 2},
	{"TruncatedGeometric", "truncated-geometric", "0.1178", nil, 0.1156, 19, 0.113, 1_000_000, 2},
	{"NoisyHist1", "noisy-histogram", "0.1", nil, 0.0978, 38, 0.095, 400_000, 2},
	{"NoisyHist2", "noisy-histogram-wrong-scale", "10", nil, 4.60, 41, 9, 400_000, 2},
	{"ReportNoisyMax1", "noisy-max-laplace", "<= 0.1", nil, 0.0923, 62, 0.088, 1_000_000, 8},
	{"ReportNoisyMax2", "noisy-max-exponential", "0.1", nil, 0.0975, 58, 0.092, 1_000_000, 8},
	{"ReportNoisyMax3", "noisy-max-value-laplace", "0.25", nil, 0.2478, 62, 0.24, 2_400_000, 4},
	{"ReportNoisyMax4", "noisy-max-value-exponential", "unbounded", nil, 0.3463, 63, 0.34, 400_000, 8},
	{"SVT1", "svt1", "0.1", nil, 0.0858, 126, 0.078, 1_600_000, 3},
	{"SVT2", "svt2", "0.1", audit.Params{"threshold": number(1)}, 0.0859, 160, 0.078, 1_600_000, 3},
	{"SVT3", "svt3", "unbounded", audit.Params{"threshold": number(1)}, 0.1716, 160, 0.17, 400_000, 4},
	{"SVT4", "svt4", "0.175", audit.Params{"threshold": number(1)}, 0.1687, 130, 0.160, 1_600_000, 3},
	{"SVT5", "svt5", "unbounded", audit.Params{"threshold": number(1)}, 1.761, 59, 9, 400_000, 6},
	{"SVT6", "svt6", "unbounded", audit.Params{"threshold": number(1)}, 0.2720, 96, 0.30, 400_000, 6},
	{"Rappor", "rappor", "0.400", audit.Params{"f": number(0.75)}, 0.2930, 145, 0.35, 800_000, 1},
	{"OneTimeRappor", "rappor-once", "0.801", audit.Params{"f": number(0.95)}, 0.5978, 89, 0.70, 800_000, 1},
	{"LaplaceParallel", "laplace-parallel", "0.1", nil, 0.0350, 104, 0.045, 800_000, 1},
	{"SVT34Parallel", "svt34-parallel", "unbounded", audit.Params{"threshold": number(1)}, 0.2610, 364, 0.25, 550_000, 3},
	{"PrefixSum", "prefix-sum", "1.0", audit.Params{"epsilon": number(0.1), "data": {Text: "answers"}}, 0.5040, 97, 0.80, 800_000, 2},
	{"NumericalSVT", "numeric-svt", "0.1", audit.Params{"c": number(2), "threshold": number(1)}, 0.0343, 152, 0.034, 3_300_000, 1},
}

func sniperTables(p tablesPlan) []paperTable {
	const samples, quickly = 10_000_000, 1_000_000
	t := paperTable{ID: "bounds", Title: fmt.Sprintf("Lower bounds on epsilon at %g outputs a side, claim 0.1", float64(ifQuick(p, quickly, samples))),
		Published: "DP-Sniper (Bichsel et al. 2021), its shipped logs: 90 % confidence, 2*10^8 outputs, events of probability 0.01 and more",
		Notes: []string{"the pairs are the mechanism's own, of the same shapes as DP-Sniper's; each row runs alone, on all workers",
			"PrefixSum claims 0.1 an answer, ten of which move"}}
	if p.Quick {
		t.Notes = append(t.Notes, "-quick: a tenth of the outputs that the targets are for, and no target")
	}
	for _, s := range sniperRows {
		row := &tableRow{Name: s.name, Kind: tableAudit, Runs: p.runsOf(1, 1), Truth: s.truth, wide: true,
			plan: pair.Plan{Mechanism: s.mechanism, Parameters: s.params, Samples: ifQuick(p, quickly, samples),
				Explore: ifQuick(p, min(s.explore, 200_000), s.explore), Finder: "candidates", Trials: s.trials},
			Figures: []figure{{"DP-Sniper", fmt.Sprint(s.bound)}, {"its seconds", fmt.Sprint(s.seconds)}}}
		claim := audit.DPClaim(0.1, 0)
		switch s.mechanism {
		case "prefix-sum":
			// Its parameter is the budget of one answer.
			claim = audit.DPClaim(1, 0)
		case "rappor", "rappor-once":
			claim = audit.Claim{} // that of f
		}
		if claim != (audit.Claim{}) {
			row.plan.Claim = &claim
		}
		if !p.Quick {
			target := s.target
			row.Target = &target
		}
		t.Rows = append(t.Rows, row)
	}
	t.judge = func(rows []*tableRow) (checks []tableCheck) {
		for _, r := range rows {
			if r.Target != nil {
				checks = append(checks, atLeast(r.Name+": median bound", *r.Median, *r.Target))
			}
		}
		return checks
	}
	return []paperTable{t}
}
