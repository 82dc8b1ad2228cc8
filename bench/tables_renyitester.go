package main

import (
	"fmt"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/bounds/published"
	"github.com/dpscope/dpscope/core/pair"
	"github.com/dpscope/dpscope/internal/try"
)

type renyiMechanism struct {
	name, mechanism string
	broken          bool
	params          audit.Params
	renyi           bool      // claims the Rényi divergence
	all             [3]string // table 2: RényiTester, aDPTester, DP-Sniper
}

// revealing are the queries of an SVT under add/remove: the paper names none.
var revealing = audit.Params{"queries": {Text: "reveal-records"}}

var renyiMechanisms = []renyiMechanism{
	{name: "DPMean", mechanism: "laplace-mean", all: [3]string{"passed", "passed", "passed"}},
	{name: "NonDPMean1", mechanism: "laplace-mean-raw-count", broken: true, all: [3]string{"false", "passed", "passed"}},
	{name: "NonDPMean2", mechanism: "laplace-mean-raw-denominator", broken: true, all: [3]string{"false", "false", "passed"}},
	{name: "SVT1", mechanism: "svt1", params: revealing, all: [3]string{"passed", "-", "passed"}},
	{name: "SVT2", mechanism: "svt2", params: revealing, all: [3]string{"passed", "-", "passed"}},
	{name: "SVT3", mechanism: "svt3", params: revealing, broken: true, all: [3]string{"passed", "-", "passed"}},
	{name: "SVT4", mechanism: "svt4", params: revealing, broken: true, all: [3]string{"passed", "-", "passed"}},
	{name: "SVT5", mechanism: "svt5", params: revealing, broken: true, all: [3]string{"false", "-", "false"}},
	{name: "SVT6", mechanism: "svt6", params: revealing, broken: true, all: [3]string{"passed", "-", "passed"}},
	{name: "Joint", mechanism: "exponential-median", all: [3]string{"passed", "-", "passed"}},
	{name: "WrongSensitivitySGD", mechanism: "dp-sgd-microbatch", broken: true, renyi: true, all: [3]string{"false", "passed", "-"}},
	{name: "ScaledSGD", mechanism: "dp-sgd-scaled-noise", broken: true, renyi: true,
		params: audit.Params{"sigma": number(10), "s": number(0.15)}, all: [3]string{"false", "passed", "-"}},
	{name: "NonADPMean", mechanism: "gaussian-mean-raw-count-renyi", broken: true, renyi: true, all: [3]string{"false", "passed", "-"}},
}

func renyiNamed(name string) renyiMechanism {
	return try.Get(audit.Find("RényiTester", name, renyiMechanisms, func(m renyiMechanism) string { return m.name }))
}

// budget of a search: the paper's is 25 trials and some 400 000 outputs.
func (p tablesPlan) renyiSearch(m renyiMechanism, finder string, epsilon, alpha float64) pair.Plan {
	claim := audit.DPClaim(epsilon, 0)
	if m.renyi {
		claim = audit.Claim{Kind: audit.Renyi, Alpha: alpha, Epsilon: epsilon}
		if m.mechanism[:3] == "dp-" {
			claim.Epsilon = 0 // what its parameters imply
		}
	}
	return pair.Plan{Mechanism: m.mechanism, Parameters: m.params, Claim: &claim, Relation: audit.AddRemove, Finder: finder,
		Trials: ifQuick(p, 15, 25), Explore: ifQuick(p, 10_000, 20_000), Samples: ifQuick(p, 50_000, 200_000)}
}

const searchNote = "a run explores up to %d pairs that a finder proposes, which is not told any; refuted: a pair's audit on new outputs refutes, the k-th with an error of beta/(k(k+1))"

func renyiTable1(p tablesPlan) paperTable {
	t := paperTable{id: "table-1", title: "Outputs a side, exploration among them, until an audit refutes the claim on a fixed pair",
		published: "RényiTester, table 1: sample complexity of its theorem 4.3, of aDPTester with a universe of m outcomes, and what DP-Sniper draws",
		notes: []string{"the published numbers are what theorems ask for, beforehand and for any mechanism; ours are what these mechanisms took",
			"the paper's numbers follow from the first of the theorem's two terms; corrected: both terms, with e^(2 alpha C) (SPEC A1)",
			"one audit a rung, each with an error of its own: no test"}}
	rungs := []int{100, 200, 500, 1000, 2000, 5000, 10_000, 20_000, 50_000, 100_000, 200_000}
	if !p.quick {
		rungs = append(rungs, 500_000)
	}
	for _, cell := range []struct {
		epsilon, alpha, eta float64
		figures             [5]string
	}{
		{0.01, 1.5, 0.00348, [5]string{"520K", "810K", "8.1M", "81M", "10M"}},
		{0.1, 1.5, 0.0086, [5]string{"360K", "810K", "8.1M", "81M", "10M"}},
		{0.01, 2, 0.00348, [5]string{"610K", "890K", "8.9M", "89M", "10M"}},
		{0.1, 2, 0.0086, [5]string{"1.8M", "890K", "8.9M", "89M", "10M"}},
	} {
		for _, name := range []string{"NonDPMean1", "NonDPMean2"} {
			for _, through := range []float64{0, cell.alpha} {
				row := &auditRow{name: name, runs: p.runsOf(5, 3), ladder: rungs, setting: "event",
					plan: pair.Plan{Mechanism: renyiNamed(name).mechanism, Claim: new(audit.DPClaim(cell.epsilon, 0)), Relation: audit.AddRemove, Pair: meanPair(), ThroughRenyi: through}}
				row.figures = printedAs([]string{"RényiTester", "aDPTester m=10", "m=100", "m=1000", "DP-Sniper"}, cell.figures[:])
				switch {
				case through > 0:
					row.setting = fmt.Sprintf("Rényi, alpha = %g", through)
					row.figures = append(row.figures, printed{"ours: its first term again", thousands(published.RenyiSamples(cell.alpha, 16*cell.epsilon, cell.eta, 1.0/3))},
						printed{"ours: corrected", thousands(published.CorrectedRenyiSamples(cell.alpha, 16*cell.epsilon, cell.eta, 1.0/3))})
				case cell.alpha == 2:
					continue // the event test has no alpha
				default:
					row.figures[0].value = "-"
				}
				t.rows = append(t.rows, row)
			}
		}
	}
	return t
}

// thousands is a number of outputs as the paper prints one.
func thousands(n float64) string {
	if n < 999_500 {
		return fmt.Sprintf("%.3gK", n/1000)
	}
	return fmt.Sprintf("%.3gM", n/1e6)
}

func renyiTable3(p tablesPlan) paperTable {
	t := paperTable{id: "table-3", title: "Refuted claims of the SVT at 0.1, by relation and outputs",
		published: "RényiTester, table 3 and the one after it without a caption: outcome; passed: not refuted, failed: refuted",
		notes:     []string{"add/remove: the finder gp-ucb, as in table 2; replace: each query moves by 1, 5 up and 5 down, as l-infinity", fmt.Sprintf("400K: %d certification outputs a side", ifQuick(p, 50_000, 200_000))}}
	for i, name := range []string{"SVT1", "SVT2", "SVT3", "SVT4", "SVT5", "SVT6"} {
		m := renyiNamed(name)
		for k, outputs := range []string{"400K", "10M"} {
			if p.quick && (k > 0 || i < 2) {
				continue
			}
			row := &auditRow{name: name, setting: outputs + ", add/remove", runs: p.runsOf(2, 1), plan: p.renyiSearch(m, "gp-ucb", 0.1, 2)}
			fixed := &auditRow{name: name, setting: outputs + ", l-infinity", runs: p.runsOf(3, 2), plan: row.plan}
			fixed.plan.Parameters, fixed.plan.Relation, fixed.plan.Finder, fixed.plan.Pair = nil, "", "", flipPair(5, 5)
			for _, r := range []*auditRow{row, fixed} {
				if k == 1 {
					r.plan.Samples = 5_000_000
				}
				verdict := audit.Pick(i == 4, "failed", "passed")
				r.figures = []printed{{"RényiTester", verdict}, {"DP-Sniper", audit.Pick(r == fixed && (i == 5 || k == 1 && i == 2), "failed", verdict)}}
				t.rows = append(t.rows, r)
			}
		}
	}
	return t
}

func renyiFigure1(p tablesPlan) paperTable {
	const alpha, sigma = 1.5, 10
	t := paperTable{id: "figure-1", title: "ScaledSGD: certified Rényi divergence of order 1.5 by effective sigma, of 10 in theory",
		published: `RényiTester, figure 1, of which the text says: "we detect the error for sigma_effective <= 3"`,
		notes:     []string{"renyi-tester: as the paper has it, C = 16 epsilon", "the pair is the paper's, {-2, 2} against {-2}"}}
	pair := &audit.Pair{Label: "{-2, 2} against {-2}", First: audit.Records(-2, 2), Second: audit.Records(-2)}
	for _, effective := range []float64{1, 1.5, 2, 3, 4, 5, 7, 9, 10} {
		row := p.scaled("ScaledSGD", fmt.Sprintf("sigma = %g", effective), sigma, effective/sigma, alpha, pair, effective <= 3)
		p.testers(row, 3, ifQuick(p, 4000, 50_000), "renyi-tester")
		t.rows = append(t.rows, row)
	}
	return t
}

func renyiFigure2(p tablesPlan) paperTable {
	t := paperTable{id: "figure-2", title: "Regularised kernel Rényi divergence of N(0, 1) from N(1, 1) by lambda and sample size",
		published: "RényiTester, figure 2, curves without numbers: highly sensitive to lambda, .001 is best at 100 outputs and worst at 1000, which cost more",
		notes:     []string{"estimate: without a certificate, mean and range of the runs; n: outputs a side that the kernel is of; bound: what our audit certifies by its score on 10000", "ours takes n r^2 steps for a kernel of rank r, here some 30, where the paper's takes n^3"}}
	for _, alpha := range []float64{1.5, 2} {
		for _, n := range []int{100, 1000} {
			for _, lambda := range []float64{1e-5, 1e-4, 1e-3, 1e-2, 1e-1} {
				row := p.gaussians(alpha, 10_000, fmt.Sprintf("n = %d, lambda = %g", n, lambda))
				row.runs, row.plan.Learner = p.runsOf(5, 2), fmt.Sprintf("kernel-renyi:outputs=%d:lambda=%g", n, lambda)
				t.rows = append(t.rows, row)
			}
		}
	}
	return t
}

// gaussians is a row of N(0, 1) against N(1, 1).
func (p tablesPlan) gaussians(alpha float64, n int, setting string) *auditRow {
	return &auditRow{name: "N(0,1), N(1,1)", setting: setting, runs: p.runsOf(10, 4),
		plan: pair.Plan{Mechanism: "dp-sgd", Claim: new(audit.Claim{Kind: audit.Renyi, Alpha: alpha}), Samples: n, Explore: n, Parameters: audit.Params{"sigma": number(1), "alpha": number(alpha)},
			Pair: &audit.Pair{Label: "none against {2}", First: audit.Records(), Second: audit.Records(2)}}}
}

func renyiTable2(p tablesPlan) paperTable {
	t := paperTable{id: "table-2", title: "Refuted claims under add/remove, claim 0.1 (means, SVT, median) or Rényi at alpha = 2",
		published: "RényiTester, table 2: outcome of five equal runs; passed: not refuted, false: refuted, -: does not apply",
		notes:     []string{fmt.Sprintf(searchNote, ifQuick(p, 15, 25)), "SVT: ten queries, c = 1, T = 0.5, of which nine ask for the last record and one for the record before it"}}
	for _, m := range renyiMechanisms {
		t.rows = append(t.rows, &auditRow{name: m.name, runs: p.runsOf(5, 2), plan: p.renyiSearch(m, "gp-ucb", 0.1, 2),
			figures: printedAs([]string{"RényiTester", "aDPTester", "DP-Sniper"}, m.all[:])})
	}
	return t
}

// renyiCells are the lines of table 4: epsilon, alpha, RényiTester, aDPTester.
var renyiCells = []struct {
	name           string
	epsilon, alpha float64
	tester, adp    string
}{
	{"DPMean", 0.01, 1.5, "passed", "passed"}, {"DPMean", 0.1, 1.5, "passed", "passed"}, {"DPMean", 0.01, 2, "passed", "passed"}, {"DPMean", 0.1, 2, "passed", "passed"},
	{"NonDPMean1", 0.01, 1.5, "false", "passed"}, {"NonDPMean1", 0.1, 1.5, "false", "passed"}, {"NonDPMean1", 0.01, 2, "false", "passed"},
	{"NonDPMean2", 0.01, 1.5, "false", "false"}, {"NonDPMean2", 0.1, 1.5, "false", "false"}, {"NonDPMean2", 0.01, 2, "false", "false"},
	{"SVT1", 0.01, 1.5, "passed", "-"}, {"SVT1", 0.1, 1.5, "passed", "-"}, {"SVT1", 0.01, 2, "passed", "-"},
	{"SVT2", 0.01, 1.5, "passed", "-"}, {"SVT2", 0.1, 1.5, "passed", "-"}, {"SVT2", 0.01, 2, "passed", "-"},
	{"SVT3", 0.01, 1.5, "passed", "-"}, {"SVT3", 0.1, 1.5, "passed", "-"}, {"SVT3", 0.01, 2, "passed", "-"},
	{"SVT4", 0.01, 1.5, "passed", "-"}, {"SVT4", 0.1, 1.5, "passed", "-"}, {"SVT4", 0.01, 2, "passed", "-"},
	{"SVT5", 0.01, 1.5, "passed", "-"}, {"SVT5", 0.1, 1.5, "false", "-"}, {"SVT5", 0.01, 2, "passed", "-"}, {"SVT5", 0.1, 2, "false", "-"},
	{"SVT6", 0.01, 1.5, "passed", "-"}, {"SVT6", 0.1, 1.5, "passed", "-"}, {"SVT6", 0.01, 2, "passed", "-"},
	{"Joint", 0.01, 1.5, "passed", "passed"}, {"Joint", 0.1, 1.5, "passed", "passed"}, {"Joint", 0.01, 2, "passed", "passed"},
	{"ScaledSGD", 0.0075, 1.5, "false", "passed"}, {"ScaledSGD", 0.01, 2, "false", "passed"}, {"ScaledSGD", 0.015, 3, "false", "passed"},
	{"NonADPMean", 0.01, 1.5, "false", "passed"}, {"NonADPMean", 0.1, 1.5, "false", "passed"}, {"NonADPMean", 0.01, 2, "false", "passed"},
}

// renyiTable4 is table 2 by epsilon and alpha: pure claims by an event, which
// has no alpha, and through the Rényi divergence at alpha.
func renyiTable4(p tablesPlan) paperTable {
	t := paperTable{id: "table-4", title: "Refuted claims under add/remove by epsilon and alpha",
		published: "RényiTester, table 4: outcome of five equal runs; passed: not refuted, false: refuted, -: does not apply",
		notes: []string{fmt.Sprintf(searchNote, ifQuick(p, 15, 25)), "event: the claim itself is tested; Rényi: what it implies for the divergence at alpha, exactly (randomised response), not 2 alpha epsilon^2",
			"the paper has a second line for ScaledSGD at 0.01 and alpha = 2 that passed: with a larger effective sigma, which it does not name"}}
	done := map[string]bool{}
	for _, cell := range renyiCells {
		m := renyiNamed(cell.name)
		if p.quick && (m.mechanism[:3] == "svt" && !m.broken || cell.alpha == 2 && !m.renyi) {
			continue
		}
		figures := []printed{{"RényiTester", cell.tester}, {"aDPTester", cell.adp}}
		add := func(setting string, through float64) {
			row := &auditRow{name: cell.name, setting: setting, runs: p.runsOf(5, 1), figures: figures, plan: p.renyiSearch(m, "gp-ucb", cell.epsilon, cell.alpha)}
			row.plan.ThroughRenyi = through
			t.rows = append(t.rows, row)
		}
		if m.renyi {
			add("", 0)
			continue
		}
		if key := fmt.Sprint(cell.name, cell.epsilon); !done[key] {
			done[key] = true
			add("event", 0)
		}
		if !p.quick {
			add(fmt.Sprintf("Rényi, alpha = %g", cell.alpha), cell.alpha)
		}
	}
	return t
}

// renyiTable5 is trials until a violation, with those of table 6 for WrongSensitivitySGD.
func renyiTable5(p tablesPlan) paperTable {
	t := paperTable{id: "table-5", title: fmt.Sprintf("Average trials until a pair refutes the claim, at most %d", ifQuick(p, 15, 25)),
		published: "RényiTester, tables 5 and 6: average trials of five runs, NSGA-II, at most 25",
		notes: []string{fmt.Sprintf(searchNote, ifQuick(p, 15, 25)), "WrongSensitivitySGD: the paper names neither sigma nor alpha; table 6 has the average over all that it tried. Claims of both are tested by divergence, those of means by an event",
			"gp-ucb and nsga2 begin with the same four pairs on any mechanism of records; the third, an end of the domain added to a record a quarter of the way in from the other, is the worst pair of WrongSensitivitySGD at clip norm 1"}}
	for _, cell := range []struct {
		name           string
		epsilon, alpha float64
		params         audit.Params
		figures        [4]string
	}{
		{"NonDPMean1", 0.01, 1.5, nil, [4]string{"1", "25", "25", "25"}},
		{"NonDPMean1", 0.1, 1.5, nil, [4]string{"1", "25", "25", "25"}},
		{"NonDPMean2", 0.01, 1.5, nil, [4]string{"1", "2.2", "3", "1.6"}},
		{"NonDPMean2", 0.1, 1.5, nil, [4]string{"25", "2.8", "1.4", "6.8"}},
		{"ScaledSGD", 0.0075, 1.5, nil, [4]string{"1.2", "25", "25", "-"}},
		{"ScaledSGD", 0.01, 2, nil, [4]string{"1.6", "25", "25", "-"}},
		{"WrongSensitivitySGD", 0, 2, nil, [4]string{"5", "25", "25", "-"}},
		{"WrongSensitivitySGD", 0, 2, audit.Params{"sigma": number(10)}, [4]string{"5", "25", "25", "-"}},
		{"NonADPMean", 0.01, 1.5, nil, [4]string{"1", "25", "25", "25"}},
		{"NonADPMean", 0.1, 1.5, nil, [4]string{"1", "25", "25", "25"}},
		{"NonADPMean", 0.01, 2, nil, [4]string{"1", "25", "25", "25"}},
	} {
		for _, f := range ifQuick(p, []string{"gp-ucb"}, []string{"gp-ucb", "nsga2", "random"}) {
			m := renyiNamed(cell.name)
			if cell.params != nil {
				m.params = cell.params
			}
			t.rows = append(t.rows, &auditRow{name: cell.name, runs: p.runsOf(10, 2), plan: p.renyiSearch(m, f, cell.epsilon, cell.alpha),
				figures: printedAs([]string{"RényiTester", "aDPTester m=10", "m=100", "m=1000"}, cell.figures[:])})
		}
	}
	return t
}

func renyiTable7(p tablesPlan) paperTable {
	t := paperTable{id: "table-7", title: fmt.Sprintf("Average trials until a pair refutes the claim, at most %d, by finder", ifQuick(p, 15, 25)),
		published: "RényiTester, table 7: average trials of five runs, at most 25",
		notes:     []string{fmt.Sprintf(searchNote, ifQuick(p, 15, 25))}}
	for _, cell := range []struct {
		name                 string
		epsilon, alpha       float64
		evolutionary, random string
	}{
		{"NonDPMean1", 0.01, 1.5, "1", "1"}, {"NonDPMean1", 0.1, 1.5, "1", "1"}, {"NonDPMean1", 0.01, 2, "1", "1"},
		{"NonDPMean2", 0.01, 1.5, "1", "1.8"}, {"NonDPMean2", 0.1, 1.5, "25", "25"}, {"NonDPMean2", 0.01, 2, "1.6", "1.8"},
	} {
		for _, f := range []string{"nsga2", "random"} {
			value := audit.Pick(f == "random", cell.random, cell.evolutionary)
			row := &auditRow{name: cell.name, setting: fmt.Sprintf("Rényi, alpha = %g", cell.alpha), runs: p.runsOf(10, 3),
				plan: p.renyiSearch(renyiNamed(cell.name), f, cell.epsilon, cell.alpha), figures: []printed{{"RényiTester", value}}}
			row.plan.ThroughRenyi = cell.alpha
			t.rows = append(t.rows, row)
		}
	}
	return t
}

func renyiFigure3(p tablesPlan) paperTable {
	t := paperTable{id: "figure-3", title: "Certified Rényi divergence of N(0, 1) from N(1, 1) by sample size",
		published: `RényiTester, figure 3, curves without numbers: "with 10K samples we can achieve tight estimates"; its estimates are no bounds`,
		notes:     []string{"n: certification outputs a side; exploration draws as many", "the mechanism is dp-sgd with sigma = 1 on none against {2}, clipped to 1: its claim is the truth, so a refutation is a false alarm"}}
	for _, alpha := range []float64{1.5, 2} {
		for _, n := range ifQuick(p, []int{1000, 10_000, 50_000}, []int{1000, 2000, 5000, 10_000, 20_000, 50_000, 100_000, 500_000}) {
			t.rows = append(t.rows, p.gaussians(alpha, n, fmt.Sprintf("n = %d", n)))
		}
	}
	return t
}
