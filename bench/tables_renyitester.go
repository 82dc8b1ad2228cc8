package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/bounds/published"
	"github.com/dpscope/dpscope/core/pair"
	"github.com/dpscope/dpscope/internal/try"
)

// renyiMechanism is one by the paper's name, and what table 2 has of RényiTester, aDPTester and DP-Sniper.
type renyiMechanism struct {
	name, mechanism string
	params          audit.Params
	all             string
}

// revealing are the queries of an SVT under add/remove: the paper names none.
var revealing = audit.Params{"queries": {Text: "reveal-records"}}

var renyiMechanisms = []renyiMechanism{
	{"DPMean", "laplace-mean", nil, "passed passed passed"},
	{"NonDPMean1", "laplace-mean-raw-count", nil, "false passed passed"},
	{"NonDPMean2", "laplace-mean-raw-denominator", nil, "false false passed"},
	{"SVT1", "svt1", revealing, "passed - passed"},
	{"SVT2", "svt2", revealing, "passed - passed"},
	{"SVT3", "svt3", revealing, "passed - passed"},
	{"SVT4", "svt4", revealing, "passed - passed"},
	{"SVT5", "svt5", revealing, "false - false"},
	{"SVT6", "svt6", revealing, "passed - passed"},
	{"Joint", "exponential-median", nil, "passed - passed"},
	{"WrongSensitivitySGD", "dp-sgd-microbatch", nil, "false passed -"},
	{"ScaledSGD", "dp-sgd-scaled-noise", audit.Params{"sigma": number(10), "s": number(0.15)}, "false passed -"},
	{"NonADPMean", "gaussian-mean-raw-count-renyi", nil, "false passed -"},
}

func (m renyiMechanism) sgd() bool { return strings.HasSuffix(m.name, "SGD") }

func (m renyiMechanism) renyi() bool { return m.sgd() || m.name == "NonADPMean" }

func renyiNamed(name string) renyiMechanism {
	return try.Get(audit.Find("RényiTester", name, renyiMechanisms, func(m renyiMechanism) string { return m.name }))
}

// renyiSearch is a row of a search. The paper's budget is 25 trials and some 400 000 outputs.
func (p tablesPlan) renyiSearch(name, finder string, epsilon, alpha float64, full, quick int) *auditRow {
	m := renyiNamed(name)
	claim := audit.DPClaim(epsilon, 0)
	if m.renyi() { // at DP-SGD what its parameters imply
		claim = audit.Claim{Kind: audit.Renyi, Alpha: alpha, Epsilon: audit.Pick(m.sgd(), 0, epsilon)}
	}
	return &auditRow{name: name, runs: p.runsOf(full, quick), plan: pair.Plan{Mechanism: m.mechanism, Parameters: m.params,
		Claim: &claim, Relation: audit.AddRemove, Finder: finder, Trials: ifQuick(p, 15, 25),
		Explore: ifQuick(p, 10_000, 20_000), Samples: ifQuick(p, 50_000, 200_000)}}
}

// through is the row whose claim is tested by what it implies for the divergence at alpha.
func (r *auditRow) through(alpha float64) *auditRow {
	r.setting, r.plan.ThroughRenyi = fmt.Sprintf("Rényi, alpha = %g", alpha), alpha
	return r
}

const searchNote = "a run explores up to %d pairs that a finder proposes, which is not told any; refuted: a pair's audit on new outputs refutes, the k-th with an error of beta/(k(k+1))"

func (p tablesPlan) searchNote() string { return fmt.Sprintf(searchNote, ifQuick(p, 15, 25)) }

func renyiTable1(p tablesPlan) paperTable {
	rungs := []int{100, 200, 500, 1000, 2000, 5000, 10_000, 20_000, 50_000, 100_000, 200_000}
	if !p.quick {
		rungs = append(rungs, 500_000)
	}
	type cell struct {
		epsilon, alpha, eta float64
		figures             string
	}
	cells := []cell{
		{0.01, 1.5, 0.00348, "520K 810K 8.1M 81M 10M"},
		{0.1, 1.5, 0.0086, "360K 810K 8.1M 81M 10M"},
		{0.01, 2, 0.00348, "610K 890K 8.9M 89M 10M"},
		{0.1, 2, 0.0086, "1.8M 890K 8.9M 89M 10M"},
	}
	rows := crossed(cells, []string{"NonDPMean1", "NonDPMean2"}, func(c cell, name string) []*auditRow {
		event := auditRow{name: name, setting: "event", runs: p.runsOf(5, 3), ladder: rungs,
			plan: pair.Plan{Mechanism: renyiNamed(name).mechanism, Claim: new(audit.DPClaim(c.epsilon, 0)), Relation: audit.AddRemove, Pair: meanPair()}}
		event.printing("RényiTester,aDPTester m=10,m=100,m=1000,DP-Sniper", c.figures)
		row := event
		needs := func(samples func(alpha, c, eta, beta float64) float64) string {
			return thousands(samples(c.alpha, 16*c.epsilon, c.eta, 1.0/3))
		}
		first, both := needs(published.RenyiSamples), needs(published.CorrectedRenyiSamples)
		row.through(c.alpha)
		row.figures = append(row.figures, printed{oursOnly + "its first term again", first}, printed{oursOnly + "corrected", both})
		if c.alpha == 2 {
			return []*auditRow{&row} // the event test has no alpha
		}
		event.figures = event.figures[1:]
		return []*auditRow{&event, &row}
	})
	return paperTable{id: "table-1", title: "Outputs a side, exploration among them, until an audit refutes the claim on a fixed pair",
		published: "RényiTester, table 1: sample complexity of its theorem 4.3, of aDPTester with a universe of m outcomes, and what DP-Sniper draws",
		notes: []string{"the published numbers are what theorems ask for, beforehand and for any mechanism; ours are what these mechanisms took",
			"the paper's numbers follow from the first of the theorem's two terms; corrected: both terms, with e^(2 alpha C) (SPEC A1)",
			"one audit a rung, each with an error of its own: no test"}, rows: slices.Concat(rows...)}
}

// thousands is a number of outputs as the paper prints one.
func thousands(n float64) string {
	if n < 999_500 {
		return fmt.Sprintf("%.3gK", n/1000)
	}
	return fmt.Sprintf("%.3gM", n/1e6)
}

func renyiTable2(p tablesPlan) paperTable {
	return paperTable{id: "table-2", title: "Refuted claims under add/remove, claim 0.1 (means, SVT, median) or Rényi at alpha = 2",
		published: "RényiTester, table 2: outcome of five equal runs; passed: not refuted, false: refuted, -: does not apply",
		notes:     []string{p.searchNote(), "SVT: ten queries, c = 1, T = 0.5, of which nine ask for the last record and one for the record before it"},
		rows: audit.Each(renyiMechanisms, func(m renyiMechanism) *auditRow {
			return p.renyiSearch(m.name, "gp-ucb", 0.1, 2, 5, 2).printing("RényiTester,aDPTester,DP-Sniper", m.all)
		})}
}

func renyiTable3(p tablesPlan) paperTable {
	names := ifQuick(p, []string{"SVT3", "SVT4", "SVT5", "SVT6"}, []string{"SVT1", "SVT2", "SVT3", "SVT4", "SVT5", "SVT6"})
	rows := crossed(names, ifQuick(p, []string{"400K"}, []string{"400K", "10M"}), func(name, outputs string) []*auditRow {
		row, fixed := p.renyiSearch(name, "gp-ucb", 0.1, 2, 2, 1), p.renyiSearch(name, "", 0.1, 2, 3, 2)
		row.setting, fixed.setting = outputs+", add/remove", outputs+", l-infinity"
		fixed.plan.Parameters, fixed.plan.Relation, fixed.plan.Pair = nil, "", flipPair(5, 5)
		verdict := audit.Pick(name == "SVT5", "failed", "passed")
		row.printing("RényiTester,DP-Sniper", verdict+" "+verdict)
		sniper := audit.Pick(name == "SVT6" || name == "SVT3" && outputs == "10M", "failed", verdict)
		fixed.printing("RényiTester,DP-Sniper", verdict+" "+sniper)
		if outputs == "10M" {
			row.plan.Samples, fixed.plan.Samples = 5_000_000, 5_000_000
		}
		return []*auditRow{row, fixed}
	})
	return paperTable{id: "table-3", title: "Refuted claims of the SVT at 0.1, by relation and outputs",
		published: "RényiTester, table 3 and the one after it without a caption: outcome; passed: not refuted, failed: refuted",
		notes:     []string{"add/remove: the finder gp-ucb, as in table 2; replace: each query moves by 1, 5 up and 5 down, as l-infinity", fmt.Sprintf("400K: %d certification outputs a side", ifQuick(p, 50_000, 200_000))},
		rows:      slices.Concat(rows...)}
}

// renyiCells are the lines of table 4: RényiTester's at each epsilon and alpha, aDPTester's at all.
var renyiCells = []struct{ name, tester, adp string }{
	{"DPMean", "passed passed passed passed", "passed"}, {"NonDPMean1", "false false false", "passed"},
	{"NonDPMean2", "false false false", "false"}, {"SVT1", "passed passed passed", "-"},
	{"SVT2", "passed passed passed", "-"}, {"SVT3", "passed passed passed", "-"},
	{"SVT4", "passed passed passed", "-"}, {"SVT5", "passed false passed false", "-"},
	{"SVT6", "passed passed passed", "-"}, {"Joint", "passed passed passed", "passed"},
	{"ScaledSGD", "false false false", "passed"}, {"NonADPMean", "false false false", "passed"},
}

// renyiTable4 has pure claims by an event, which has no alpha, and through the divergence at alpha.
func renyiTable4(p tablesPlan) paperTable {
	t := paperTable{id: "table-4", title: "Refuted claims under add/remove by epsilon and alpha",
		published: "RényiTester, table 4: outcome of five equal runs; passed: not refuted, false: refuted, -: does not apply",
		notes: []string{p.searchNote(), "event: the claim itself is tested; Rényi: what it implies for the divergence at alpha, exactly (randomised response), not 2 alpha epsilon^2",
			"the paper has a second line for ScaledSGD at 0.01 and alpha = 2 that passed: with a larger effective sigma, which it does not name"}}
	usual := [][2]float64{{0.01, 1.5}, {0.1, 1.5}, {0.01, 2}, {0.1, 2}}
	scaled := [][2]float64{{0.0075, 1.5}, {0.01, 2}, {0.015, 3}}
	for _, cell := range renyiCells {
		m := renyiNamed(cell.name)
		for i, tester := range strings.Fields(cell.tester) {
			at := audit.Pick(cell.name == "ScaledSGD", scaled, usual)[i]
			if p.quick && (m.name == "SVT1" || m.name == "SVT2" || at[1] == 2 && !m.renyi()) {
				continue
			}
			row := func() *auditRow {
				r := p.renyiSearch(cell.name, "gp-ucb", at[0], at[1], 5, 1).printing("RényiTester,aDPTester", tester+" "+cell.adp)
				t.rows = append(t.rows, r)
				return r
			}
			switch {
			case m.renyi():
				row()
				continue
			case at[1] == 1.5:
				row().setting = "event"
			}
			if !p.quick {
				row().through(at[1])
			}
		}
	}
	return t
}

type renyiTrials struct {
	name           string
	epsilon, alpha float64
	params         audit.Params
	figures        string
}

// renyiTable5 is trials until a violation, with those of table 6 for WrongSensitivitySGD.
func renyiTable5(p tablesPlan) paperTable {
	cells := []renyiTrials{
		{"NonDPMean1", 0.01, 1.5, nil, "1 25 25 25"}, {"NonDPMean1", 0.1, 1.5, nil, "1 25 25 25"},
		{"NonDPMean2", 0.01, 1.5, nil, "1 2.2 3 1.6"}, {"NonDPMean2", 0.1, 1.5, nil, "25 2.8 1.4 6.8"},
		{"ScaledSGD", 0.0075, 1.5, nil, "1.2 25 25 -"}, {"ScaledSGD", 0.01, 2, nil, "1.6 25 25 -"},
		{"WrongSensitivitySGD", 0, 2, nil, "5 25 25 -"},
		{"WrongSensitivitySGD", 0, 2, audit.Params{"sigma": number(10)}, "5 25 25 -"},
		{"NonADPMean", 0.01, 1.5, nil, "1 25 25 25"}, {"NonADPMean", 0.1, 1.5, nil, "1 25 25 25"},
		{"NonADPMean", 0.01, 2, nil, "1 25 25 25"},
	}
	finders := ifQuick(p, []string{"gp-ucb"}, []string{"gp-ucb", "nsga2", "random"})
	rows := crossed(cells, finders, func(c renyiTrials, finder string) *auditRow {
		row := p.renyiSearch(c.name, finder, c.epsilon, c.alpha, 10, 2)
		row.printing("RényiTester,aDPTester m=10,m=100,m=1000", c.figures)
		if c.params != nil {
			row.plan.Parameters = c.params
		}
		return row
	})
	return paperTable{id: "table-5", title: fmt.Sprintf("Average trials until a pair refutes the claim, at most %d", ifQuick(p, 15, 25)),
		published: "RényiTester, tables 5 and 6: average trials of five runs, NSGA-II, at most 25",
		notes: []string{p.searchNote(), "WrongSensitivitySGD: the paper names neither sigma nor alpha; table 6 has the average over all that it tried. Claims of both are tested by divergence, those of means by an event",
			"gp-ucb and nsga2 begin with the same four pairs on any mechanism of records; the third, an end of the domain added to a record a quarter of the way in from the other, is the worst pair of WrongSensitivitySGD at clip norm 1"}, rows: rows}
}

func renyiTable7(p tablesPlan) paperTable {
	cells := []renyiTrials{ // figures: nsga2, random
		{"NonDPMean1", 0.01, 1.5, nil, "1 1"}, {"NonDPMean1", 0.1, 1.5, nil, "1 1"}, {"NonDPMean1", 0.01, 2, nil, "1 1"},
		{"NonDPMean2", 0.01, 1.5, nil, "1 1.8"}, {"NonDPMean2", 0.1, 1.5, nil, "25 25"},
		{"NonDPMean2", 0.01, 2, nil, "1.6 1.8"},
	}
	return paperTable{id: "table-7", title: fmt.Sprintf("Average trials until a pair refutes the claim, at most %d, by finder", ifQuick(p, 15, 25)),
		published: "RényiTester, table 7: average trials of five runs, at most 25", notes: []string{p.searchNote()},
		rows: crossed(cells, []string{"nsga2", "random"}, func(c renyiTrials, finder string) *auditRow {
			figures := strings.Fields(c.figures)
			row := p.renyiSearch(c.name, finder, c.epsilon, c.alpha, 10, 3).through(c.alpha)
			return row.printing("RényiTester", audit.Pick(finder == "random", figures[1], figures[0]))
		})}
}

func renyiFigure1(p tablesPlan) paperTable {
	const alpha, sigma = 1.5, 10
	pair := &audit.Pair{Label: "{-2, 2} against {-2}", First: audit.Records(-2, 2), Second: audit.Records(-2)}
	return paperTable{id: "figure-1", title: "ScaledSGD: certified Rényi divergence of order 1.5 by effective sigma, of 10 in theory",
		published: `RényiTester, figure 1, of which the text says: "we detect the error for sigma_effective <= 3"`,
		notes:     []string{"renyi-tester: as the paper has it, C = 16 epsilon", "the pair is the paper's, {-2, 2} against {-2}"},
		rows: audit.Each([]float64{1, 1.5, 2, 3, 4, 5, 7, 9, 10}, func(effective float64) *auditRow {
			row := p.scaled("ScaledSGD", fmt.Sprintf("sigma = %g", effective), sigma, effective/sigma, alpha, pair, effective <= 3)
			p.testers(row, 3, ifQuick(p, 4000, 50_000), "renyi-tester")
			return row
		})}
}

func (p tablesPlan) gaussians(alpha float64, n int, setting string) *auditRow {
	return &auditRow{name: "N(0,1), N(1,1)", setting: setting, runs: p.runsOf(10, 4),
		plan: pair.Plan{Mechanism: "dp-sgd", Claim: new(audit.Claim{Kind: audit.Renyi, Alpha: alpha}), Samples: n, Explore: n,
			Parameters: audit.Params{"sigma": number(1), "alpha": number(alpha)}, Pair: oneRecord()}}
}

func renyiFigure2(p tablesPlan) paperTable {
	rows := crossed([]float64{1.5, 2}, []int{100, 1000}, func(alpha float64, n int) []*auditRow {
		return audit.Each([]float64{1e-5, 1e-4, 1e-3, 1e-2, 1e-1}, func(lambda float64) *auditRow {
			row := p.gaussians(alpha, 10_000, fmt.Sprintf("n = %d, lambda = %g", n, lambda))
			row.runs, row.plan.Learner = p.runsOf(5, 2), fmt.Sprintf("kernel-renyi:outputs=%d:lambda=%g", n, lambda)
			return row
		})
	})
	return paperTable{id: "figure-2", title: "Regularised kernel Rényi divergence of N(0, 1) from N(1, 1) by lambda and sample size",
		published: "RényiTester, figure 2, curves without numbers: highly sensitive to lambda, .001 is best at 100 outputs and worst at 1000, which cost more",
		notes:     []string{"estimate: without a certificate, mean and range of the runs; n: outputs a side that the kernel is of; bound: what our audit certifies by its score on 10000", "ours takes n r^2 steps for a kernel of rank r, here some 30, where the paper's takes n^3"},
		rows:      slices.Concat(rows...)}
}

func renyiFigure3(p tablesPlan) paperTable {
	sizes := ifQuick(p, []int{1000, 10_000, 50_000}, []int{1000, 2000, 5000, 10_000, 20_000, 50_000, 100_000, 500_000})
	return paperTable{id: "figure-3", title: "Certified Rényi divergence of N(0, 1) from N(1, 1) by sample size",
		published: `RényiTester, figure 3, curves without numbers: "with 10K samples we can achieve tight estimates"; its estimates are no bounds`,
		notes:     []string{"n: certification outputs a side; exploration draws as many", "the mechanism is dp-sgd with sigma = 1 on none against {2}, clipped to 1: its claim is the truth, so a refutation is a false alarm"},
		rows: crossed([]float64{1.5, 2}, sizes, func(alpha float64, n int) *auditRow {
			return p.gaussians(alpha, n, fmt.Sprintf("n = %d", n))
		})}
}
