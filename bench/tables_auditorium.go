package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/core/pair"
)

func ifQuick[T any](p tablesPlan, a, b T) T { return audit.Pick(p.quick, a, b) }

func (p tablesPlan) runsOf(full, quick int) int { return cmp.Or(p.runs, ifQuick(p, quick, full)) }

// meanPair is the fixed pair of the means: where they are loudest.
func meanPair() *audit.Pair {
	return &audit.Pair{Label: "{1} against {1, 0}", First: audit.Records(1), Second: audit.Records(1, 0)}
}

// flipPair is 1^a 0^b against 0^a 1^b, for a threshold of 0.5.
func flipPair(a, b int) *audit.Pair {
	first := slices.Concat(slices.Repeat([]float64{1}, a), slices.Repeat([]float64{0}, b))
	second := audit.Each(first, func(x float64) float64 { return 1 - x })
	return &audit.Pair{Label: fmt.Sprintf("%d+%d", a, b), First: audit.Records(first...), Second: audit.Records(second...)}
}

func number(x float64) audit.ParamValue { return audit.ParamValue{Number: x} }

// oneRecord is a pair whose sum, clipped to 1, moves by 1.
func oneRecord() *audit.Pair {
	return &audit.Pair{Label: "none against {2}", First: audit.Records(), Second: audit.Records(2)}
}

// auditoriumCell is a claim on a broken mechanism at delta = 0: what paper and oracle found there.
type auditoriumCell struct {
	name, mechanism string // name: as the paper has it
	epsilon         float64
	detections      string // in ten runs by Histogram, HS, Rényi and MMD, each at 50, 100 and 500 thousand samples
	ceiling         string // power of the oracle's exact test at 50k a side, beta 0.05
	hockey          string // hockey-stick divergence at the claim, on the best known pair
}

// auditoriumCells are in the order of the paper's tables, the means before the SVTs.
var auditoriumCells = []auditoriumCell{
	{"NonDPLaplace1", "laplace-mean-raw-count", 0.01, "0 0 0 9 8 9 10 10 10 10 9 10", "1", ".25"},
	{"NonDPLaplace1", "laplace-mean-raw-count", 1, "0 0 0 10 10 10 0 0 0 0 0 0", "1", ".10"},
	{"NonDPLaplace2", "laplace-mean-raw-denominator", 0.01, "10 10 10 10 10 10 10 7 5 0 1 0", "1", ".10"},
	{"NonDPLaplace2", "laplace-mean-raw-denominator", 1, "0 0 0 0 0 0 0 0 0 0 0 0", "1", ".019"},
	{"NonDPGaussian1", "gaussian-mean-raw-count", 0.01, "0 0 0 0 0 0 10 10 10 10 4 10", "1", ".32"},
	{"NonDPGaussian1", "gaussian-mean-raw-count", 1, "0 0 0 10 10 10 0 0 0 0 0 0", "1", ".20"},
	{"NonDPGaussian2", "gaussian-mean-raw-denominator", 0.01, "0 0 0 6 5 5 10 10 10 0 0 0", "1", ".03"},
	{"NonDPGaussian2", "gaussian-mean-raw-denominator", 1, "0 0 0 0 0 0 0 0 0 0 0 0", "0", "0"},
	{"SVT3", "svt3", 0.01, "- - - 0 0 0 0 0 0 0 0 0", ".07", ".0002"},
	{"SVT3", "svt3", 1, "- - - 0 0 0 0 0 0 0 0 0", ".99", ".022"},
	{"SVT4", "svt4", 0.01, "- - - 0 0 0 0 0 0 1 2 0", ".07", ".0002"},
	{"SVT4", "svt4", 1, "- - - 10 10 10 0 0 0 0 0 0", "1", ".027"},
	{"SVT5", "svt5", 0.01, "- - - 0 0 0 0 0 0 0 0 0", "1", ".0025"},
	{"SVT5", "svt5", 1, "- - - 10 10 10 0 0 0 0 0 0", "1", ".22"},
	{"SVT6", "svt6", 0.01, "- - - 0 0 0 0 0 0 0 0 0", ".11", ".0009"},
	{"SVT6", "svt6", 1, "- - - 10 10 10 0 0 0 0 0 0", "1", ".12"},
}

func (c auditoriumCell) mean() bool { return strings.HasPrefix(c.name, "NonDP") }

// testers audit the same by single learners, on fewer outputs, as networks take seconds for a thousand.
func (p tablesPlan) testers(row *auditRow, runs, explore int, learners ...string) {
	for _, l := range learners {
		x := *row
		x.runs, x.testers, x.plan.Learner, x.plan.Explore = p.runsOf(runs, 1), nil, l, min(explore, row.plan.Explore)
		row.testers = append(row.testers, &x)
	}
}

func auditoriumTable1(p tablesPlan) paperTable {
	most := ifQuick(p, 50_000, 300_000) // explored; more outputs of 50 numbers fill the memory
	rows := crossed([]int{50_000, 100_000, 500_000}, auditoriumCells, func(n int, c auditoriumCell) []*auditRow {
		if p.quick && n == 100_000 {
			return nil
		}
		row := &auditRow{name: c.name, setting: fmt.Sprintf("n = %dk", n/1000), runs: p.runsOf(10, audit.Pick(n == 50_000, 3, 1)),
			truth: fmt.Sprintf("H = %s, oracle %s", c.hockey, c.ceiling)}
		row.plan = pair.Plan{Mechanism: c.mechanism, Claim: new(audit.DPClaim(c.epsilon, 0)), Samples: n, Explore: min(n, most), Pair: flipPair(5, 5)}
		if c.mean() {
			row.plan.Pair, row.plan.Relation = meanPair(), audit.AddRemove
		}
		of := map[int]int{50_000: 0, 100_000: 1, 500_000: 2}[n]
		found := strings.Fields(c.detections)
		row.printing("Histogram,HS,Rényi,MMD", strings.Join([]string{found[of], found[3+of], found[6+of], found[9+of]}, " "))
		wide := *row
		if !p.quick || n == 50_000 {
			p.testers(row, 3, ifQuick(p, 4000, 50_000), "histogram-tester", "hockeystick-tester", "renyi-tester", "mmd-tester")
		}
		if c.mechanism != "svt6" || c.epsilon == 1 {
			return []*auditRow{row}
		}
		wide.setting, wide.truth = wide.setting+", 25+25", "H = .0043, oracle .50"
		wide.plan.Pair, wide.plan.Parameters = flipPair(25, 25), audit.Params{"m": number(50)}
		return []*auditRow{row, &wide}
	})
	return paperTable{id: "table-1", title: "Detection of broken mechanisms on a fixed pair, delta = 0",
		published: "DP-Auditorium, table 1: detections in ten runs, beta = 1/3",
		notes: []string{fmt.Sprintf("n: certification outputs a side; exploration draws as many, at most %d", most),
			"truth: hockey-stick divergence at the claim on the best known pair, and power of the oracle's exact test there at 50k, beta = 0.05",
			"SVT6 has a second line at 0.01 with 50 queries, 25+25, where 500k outputs suffice",
			fmt.Sprintf("learners named by a paper's tester: our bound of what that learns, from %d outputs a side at most, and the tester's own verdict", ifQuick(p, 4000, 50_000))},
		rows: slices.Concat(rows...)}
}

// auditoriumTrials is table 2 of the means: average trials, at most 50; Histogram, Rényi, MMD, HS.
var auditoriumTrials = map[string][4]string{
	"gp-ucb": {"50 1.0 1.0 1.2", "8.3 9.5 12.3 2.5", "50.0 1.0 1.0 50.0", "50.0 3.6 47.3 19.1"},
	"random": {"50.0 1.0 1.0 1.3", "10.1 3.6 12.3 1.5", "50.0 1.0 1.0 50", "50.0 1.2 47.3 45.6"},
	"grid":   {"50.0 1.0 1.0 1.1", "50.0 3.0 12.3 30.2", "50.0 1.0 1.0 50.0", "50.0 11.3 47.3 50.0"},
}

func auditoriumTable2(p tablesPlan) paperTable {
	t := paperTable{id: "table-2", title: "Average trials until a pair refutes the claim, at most 50; no finder is told a pair",
		published: "DP-Auditorium, table 2: average trials of ten runs at 0.01, 500 000 samples, beta = 1/3, at most 50; the paper has no row at 1 and no other finder",
		notes: []string{"a trial explores one pair; one whose value exceeds the claim is audited on new outputs, the k-th with an error of beta/(k(k+1)), and only that can refute",
			"a run that refutes nothing counts as 50 trials"}}
	finders := ifQuick(p, []string{"gp-ucb", "random", "grid"}, []string{"gp-ucb", "nsga2", "random", "grid", "patterns"})
	for _, epsilon := range []float64{0.01, 1} {
		for i, c := range auditoriumCells {
			if c.epsilon != epsilon || epsilon == 1 && c.mean() {
				continue // as in the paper: means at 0.01
			}
			for _, f := range finders {
				// At 0.01 there is next to nothing to find in SVT 3, 4 and 6 (table 1).
				hopeless := epsilon == 0.01 && !c.mean() && c.mechanism != "svt5"
				if p.quick && (hopeless || epsilon == 1 && f != "gp-ucb") {
					continue
				}
				row := &auditRow{name: c.name, runs: p.runsOf(audit.Pick(hopeless, 2, 10), 2),
					plan: pair.Plan{Mechanism: c.mechanism, Claim: new(audit.DPClaim(epsilon, 0)), Relation: audit.Pick(c.mean(), audit.AddRemove, ""), Finder: f, Trials: 50, Explore: ifQuick(p, 10_000, audit.Pick(epsilon == 1, 50_000, 20_000)), Samples: ifQuick(p, 50_000, 200_000)}}
				if theirs, ok := auditoriumTrials[f]; ok && epsilon == 0.01 {
					row.printing("Histogram,Rényi,MMD,HS", append(theirs[:], "- 50.0 50.0 50.0")[min(i/2, 4)])
				}
				t.rows = append(t.rows, row)
			}
		}
	}
	return t
}

func auditoriumFigure1(p tablesPlan) paperTable {
	learners := []string{"", "histogram-tester", "hockeystick-tester:epochs=30:patience=30", "renyi-tester:epochs=5:patience=5", "mmd-tester"}
	sizes := ifQuick(p, []int{5000, 20_000}, []int{50_000, 100_000, 500_000})
	return paperTable{id: "figure-1", title: "Seconds and certified epsilon of one trial on NonDPLaplace1, claim 1, by tester and sample size",
		published: "DP-Auditorium, figure 1, curves without numbers: on a CPU the hockey-stick tester is slowest, 30 epochs against 5 of the Rényi tester",
		notes:     []string{"n: exploration and certification outputs a side, each; epochs as in the paper, without early stopping"},
		rows: crossed(sizes, learners, func(n int, learner string) *auditRow {
			return &auditRow{name: "NonDPLaplace1", setting: fmt.Sprintf("n = %d", n), runs: p.runsOf(10, 1),
				plan: pair.Plan{Mechanism: "laplace-mean-raw-count", Claim: new(audit.DPClaim(1, 0)), Samples: n, Explore: n, Learner: learner, Pair: meanPair()}}
		})}
}

func auditoriumFigure2(p tablesPlan) paperTable {
	const alpha, sigma = 1.5, 2
	return paperTable{id: "figure-2", title: fmt.Sprintf("ScaleGD: certified Rényi divergence of order %g over the share s of the noise, sigma = %d, clip norm 1", alpha, sigma),
		published: `DP-Auditorium, figure 2, of which the text says: "the tester catches the bug for s <= 0.6"`,
		notes:     []string{"the paper names neither sigma nor the pair; ours: none against {2}, where the clipped sum moves by 1"},
		rows: audit.Each([]float64{0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 1}, func(s float64) *auditRow {
			return p.scaled("ScaleGD", fmt.Sprintf("s = %g", s), sigma, s, alpha, oneRecord(), s <= 0.6)
		})}
}

func (p tablesPlan) scaled(name, setting string, sigma, s, alpha float64, neighbours *audit.Pair, caught bool) *auditRow {
	return &auditRow{name: name, setting: setting, runs: p.runsOf(10, 3),
		plan: pair.Plan{Mechanism: "dp-sgd-scaled-noise", Claim: new(audit.Claim{Kind: audit.Renyi, Alpha: alpha}), Samples: ifQuick(p, 50_000, 500_000), Explore: ifQuick(p, 20_000, 50_000),
			Parameters: audit.Params{"sigma": number(sigma), "s": number(s), "alpha": number(alpha)}, Pair: neighbours},
		figures: []printed{{"Rényi", audit.Pick(caught, "caught", "not caught")}}}
}

// figure3 are the mechanisms of figure 3 with their hockey-stick divergence, by quadrature.
var figure3 = []figure3Mechanism{
	{"SVT4", "svt4", 0, 0.0296},
	{"SVT6", "svt6", 0, 0.1229},
	{"NonDPGaussian1", "gaussian-mean-raw-count", 0.01, 0.1988},
}

type figure3Mechanism struct {
	name, mechanism string
	delta, hockey   float64
}

// figure3Rows are those of each mechanism and size, of so many runs with -quick.
func (p tablesPlan) figure3Rows(quick int, set func(*auditRow, figure3Mechanism)) []*auditRow {
	sizes := []int{1000, 2000, 5000, 10_000, 20_000, 50_000, 100_000, 200_000, 500_000}
	return crossed(figure3, ifQuick(p, []int{1000, 10_000, 100_000}, sizes), func(m figure3Mechanism, n int) *auditRow {
		row := &auditRow{name: m.name, setting: fmt.Sprintf("n = %d", n), runs: p.runsOf(10, quick),
			plan: pair.Plan{Mechanism: m.mechanism, Claim: new(audit.DPClaim(1, m.delta)), Samples: n, Explore: n}}
		set(row, m)
		return row
	})
}

func auditoriumFigure3(p tablesPlan) paperTable {
	return paperTable{id: "figure-3a", title: "Certified epsilon on a fixed pair by sample size, claim 1",
		published: "DP-Auditorium, figure 3 (a), a curve without numbers: the divergence estimate rises with the sample size and its interval narrows",
		notes:     []string{"n: certification outputs a side; exploration draws as many"},
		rows: p.figure3Rows(4, func(row *auditRow, m figure3Mechanism) {
			row.truth = fmt.Sprintf("hockey-stick divergence %g at the claim", m.hockey)
			row.plan.Pair = audit.Pick(m.mechanism[:3] == "svt", flipPair(5, 5), meanPair())
		})}
}

func auditoriumFigure3Trials(p tablesPlan) paperTable {
	rows := p.figure3Rows(3, func(row *auditRow, _ figure3Mechanism) { row.plan.Finder, row.plan.Trials = "gp-ucb", 50 })
	return paperTable{id: "figure-3b", title: "Average trials of the Gaussian-process bandit until a pair refutes the claim 1, by sample size; at most 50",
		published: "DP-Auditorium, figure 3 (b), a curve without numbers: trials fall as the sample size grows",
		notes:     []string{"n: outputs a side of each trial and of each certification"},
		rows:      slices.DeleteFunc(rows, func(r *auditRow) bool { return r.plan.Samples > 100_000 })}
}
