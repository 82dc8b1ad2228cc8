package main

import (
	"fmt"
	"math"
	"slices"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/audit/settings"
	"github.com/dpscope/dpscope/bounds/accounting"
	"github.com/dpscope/dpscope/internal/try"
)

var slidesPaper = paper{
	Name:  "slides",
	Title: "Cohen and Pot, *Rényi Differential Privacy*, slides",
	Parts: []paperPart{
		accounted("Rényi divergence, definition", "-mechanism randomised-response -p 0.75 -orders 1,2", func(a accounting.Account) []paperRow {
			second := flipped(2)
			return []paperRow{
				{"D_1 of randomised response, p = 0.75", "log E_P(P/Q) = " + four(second), four(*a.KL), "the logarithm belongs inside the mean; as printed it is D_2, as the slides' own theorem on randomised response shows"},
				{"D_2", four(second), four(a.Curve[0].Divergence), ""},
				{"D at infinity", "log(p/(1-p)) = " + four(math.Log(3)), four(*a.MaxDivergence), ""},
			}
		}),
		accounted("\"Bad Outcomes\" property", "-mechanism pure -epsilon 0 -orders 2 -event 0.5", func(a accounting.Account) []paperRow {
			return []paperRow{{"upper end at order 2 for two equal laws, Q(A) = 0.5", "(e^0 0.5)^2 = 0.25", four(a.Outcomes[0].Orders[0].Upper), "the exponent is upside down on this page, and right in the slides' table and section 3 ([finding](findings/renyi-slides.md))"}}
		}),
		accounted("Corollary, Bayes factor", "-mechanism pure -epsilon 3 -orders 1.5,2,8 -odds 20", func(a accounting.Account) (rows []paperRow) {
			for i, why := range []string{
				"false: randomised response exceeds the factor with probability " + four(1/(1+math.Exp(-3))) + "; Markov's inequality gives (e^epsilon/beta)^(alpha-1)", "",
				"valid and looser: the printed exponent of beta is the reciprocal of the right one",
			} {
				p, x := a.Curve[i], a.Factors[0].Orders[i]
				rows = append(rows, paperRow{fmt.Sprintf("P(factor > 20) at order %v, epsilon = 3", x.Alpha), "e^D/20^(1/(alpha-1)) = " + four(math.Exp(p.Divergence)/math.Pow(20, 1/(p.Alpha-1))), four(x.Probability), why})
			}
			return rows
		}),
		accounted("Table of bounds for epsilon = 0.1", "-mechanism renyi -alpha 100 -epsilon 0.1 -orders 1.1,10,100 -event 0.5,0.001,1e-6", func(a accounting.Account) (rows []paperRow) {
			printed := []string{"[0.00044, 0.94751]", "[0.419, 0.586]", "[0.449, 0.556]", "[9.05e-34, 0.5385]", "[0.00042, 0.00218]", "[0.00084, 0.00118]", "[9.04e-67, 0.2874]", "[0.195e-6, 4.36e-6]", "[7.87e-7, 1.27e-6]"}
			for _, o := range a.Outcomes {
				for _, r := range o.Orders {
					rows = append(rows, paperRow{What: fmt.Sprintf("probability %v, order %v", o.Event, r.Alpha), Published: printed[len(rows)], Ours: fmt.Sprintf("[%.5g, %.5g]", r.Lower, r.Upper)})
				}
			}
			return rows
		}),
		accounted("Figure, summary of properties: composition", "-mechanism renyi -alpha 8 -epsilon 0.1 -steps 2 -orders 8", func(a accounting.Account) []paperRow {
			return []paperRow{{What: "two (8, 0.1)-RDP mechanisms", Published: "(8, 0.2)", Ours: fmt.Sprintf("(8, %v)", a.Curve[0].Divergence)}}
		}),
		accounted("Figure, summary of properties: group privacy", "-mechanism renyi -alpha 8 -epsilon 0.1 -group 2 -orders 4", func(a accounting.Account) []paperRow {
			return []paperRow{{What: "(8, 0.1)-RDP for a group of 2 (c = 1)", Published: "(8/2, 3 · 0.1)", Ours: fmt.Sprintf("(4, %v)", a.Curve[0].Divergence)}}
		}),
		accounted("Theorem, from RDP to (epsilon, delta)-DP", "-mechanism renyi -alpha 10 -epsilon 0.1", func(a accounting.Account) []paperRow {
			printed := four(0.1 + math.Log(1e5)/9)
			return []paperRow{
				{"epsilon at delta = 1e-5 of (10, 0.1)-RDP, classical conversion", printed, guaranteed(a, accounting.MethodClassical), ""},
				{"the same, optimal conversion", printed, guaranteed(a, accounting.MethodRenyiOptimal), "later work: Balle et al. 2020, Asoodeh et al. 2021; nothing better follows from one order"},
			}
		}),
		accounted("Lemma, advanced composition", "-mechanism pure -epsilon 0.1 -orders 2,16", func(a accounting.Account) []paperRow {
			return audit.Each(a.Curve, func(p accounting.Point) paperRow {
				return paperRow{fmt.Sprintf("bound at order %v, epsilon = 0.1", p.Alpha), "2 alpha epsilon^2 = " + four(*p.Lemma), four(p.Divergence), "the lemma holds and is loose; ours is that of randomised response, which attains it"}
			})
		}),
		accounted("Advanced composition theorem and corollary", "-mechanism pure -epsilon 0.1 -steps 100 -event 0.001,1e-6", func(a accounting.Account) (rows []paperRow) {
			for _, o := range a.Outcomes {
				rows = append(rows, paperRow{fmt.Sprintf("P(f(D) in S) for n = 100, epsilon = 0.1, P(f(D') in S) = %v", o.Event), four(*o.Composed), four(o.Upper), "the theorem holds and is loose, and its proof gives 3 in the place of 2 ([finding](findings/renyi-slides.md)); ours is the best order of the exact curve"})
			}
			return append(rows, paperRow{"epsilon at delta = 1e-5, corollary", guaranteed(a, accounting.MethodPublished), guaranteed(a, accounting.MethodOptimal), "the corollary holds and is loose; ours is exact for the worst such mechanisms"})
		}),
		accounted("Composition of heterogeneous mechanisms", "-mechanism gaussian -sigma 2 -steps 10 -with 'laplace scale=2 steps=3; pure epsilon=0.1'", func(a accounting.Account) []paperRow {
			return []paperRow{{"epsilon at delta = 1e-5", "none: computing it exactly is #P-complete", fmt.Sprintf("between %.5g and %.5g", *a.Epsilons[0].AtLeast, *a.Epsilon), "bounds from both sides by distributions of the loss take a second"}}
		}),
		accounted("Randomised response, theorem", "-mechanism randomised-response -p 0.75 -orders 1,2,16", func(a accounting.Account) []paperRow {
			return append(curveRows(a, flipped), paperRow{What: "order 1", Published: "(2p-1) log(p/(1-p)) = " + four(0.5*math.Log(3)), Ours: four(*a.KL)})
		}),
		accounted("Laplace noise, theorem", "-mechanism laplace -scale 1 -orders 2,16", func(a accounting.Account) []paperRow {
			return curveRows(a, func(a float64) float64 {
				return math.Log(a/(2*a-1)*math.Exp(a-1)+(a-1)/(2*a-1)*math.Exp(-a)) / (a - 1)
			})
		}),
		accounted("Gaussian noise, theorem", "-mechanism gaussian -sigma 1 -orders 2,16", func(a accounting.Account) []paperRow {
			return curveRows(a, func(a float64) float64 { return a / 2 })
		}),
	},
}

// flipped is D_alpha of randomised response at p = 0.75, as its theorem has it.
func flipped(a float64) float64 {
	return math.Log(math.Pow(0.75, a)*math.Pow(0.25, 1-a)+math.Pow(0.25, a)*math.Pow(0.75, 1-a)) / (a - 1)
}

func four(x float64) string { return fmt.Sprintf("%.4g", x) }

// accounted is a part whose figures are those of dpscope account with these flags.
func accounted(name, flags string, rows func(accounting.Account) []paperRow) paperPart {
	return paperPart{name, "dpscope account " + flags, true, func(*papersRun) []paperRow {
		texts := settings.Texts{}
		for flag := range slices.Chunk(try.Get(audit.ShellWords("account", flags)), 2) {
			texts[flag[0][1:]] = flag[1]
		}
		var q accounting.Query
		try.Do(settings.Read(accounting.Keys(), texts, &q))
		a := try.Get(accounting.Answer(q))
		return rows(a)
	}}
}

func guaranteed(a accounting.Account, m accounting.Method) string {
	for _, g := range a.Epsilons {
		if g.Method == m {
			return four(g.Epsilon)
		}
	}
	return ""
}

// curveRows hold a curve to a printed formula.
func curveRows(a accounting.Account, printed func(alpha float64) float64) []paperRow {
	return audit.Each(a.Curve, func(p accounting.Point) paperRow {
		return paperRow{What: fmt.Sprintf("order %v", p.Alpha), Published: four(printed(p.Alpha)), Ours: four(p.Divergence)}
	})
}
