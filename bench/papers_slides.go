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

type account = accounting.Account

var slidesPaper = paper{"slides", []paperPart{
	accounted("Rényi divergence, definition", func(a account) pairs {
		second := flipped(2)
		return pairs{
			{"log E_P(P/Q) = " + four(second), four(*a.KL)},
			{four(second), four(a.Curve[0].Divergence)},
			{"log(p/(1-p)) = " + four(math.Log(3)), four(*a.MaxDivergence)},
		}
	}),
	accounted("\"Bad Outcomes\" property",
		func(a account) pairs { return pairs{{"", four(a.Outcomes[0].Orders[0].Upper)}} }),
	accounted("Corollary, Bayes factor", func(a account) pairs {
		return audit.Listed(len(a.Curve), func(i int) [2]string {
			p, x := a.Curve[i], a.Factors[0].Orders[i]
			return [2]string{"e^D/20^(1/(alpha-1)) = " + four(math.Exp(p.Divergence)/math.Pow(20, 1/(p.Alpha-1))), four(x.Probability)}
		})
	}),
	accounted("Table of bounds for epsilon = 0.1", func(a account) (rows pairs) {
		for _, o := range a.Outcomes {
			for _, r := range o.Orders {
				rows = append(rows, [2]string{"", fmt.Sprintf("[%.5g, %.5g]", r.Lower, r.Upper)})
			}
		}
		return rows
	}),
	accounted("Figure, summary of properties: composition", func(a account) pairs { return divergence(a, 8) }),
	accounted("Figure, summary of properties: group privacy", func(a account) pairs { return divergence(a, 4) }),
	accounted("Theorem, from RDP to (epsilon, delta)-DP", func(a account) pairs {
		printed := four(0.1 + math.Log(1e5)/9)
		return pairs{{printed, guaranteed(a, accounting.MethodClassical)}, {printed, guaranteed(a, accounting.MethodRenyiOptimal)}}
	}),
	accounted("Lemma, advanced composition", func(a account) pairs {
		return audit.Each(a.Curve, func(p accounting.Point) [2]string {
			return [2]string{"2 alpha epsilon^2 = " + four(*p.Lemma), four(p.Divergence)}
		})
	}),
	accounted("Advanced composition theorem and corollary", func(a account) (rows pairs) {
		for _, o := range a.Outcomes {
			rows = append(rows, [2]string{four(*o.Composed), four(o.Upper)})
		}
		return append(rows, [2]string{guaranteed(a, accounting.MethodPublished), guaranteed(a, accounting.MethodOptimal)})
	}),
	accounted("Composition of heterogeneous mechanisms", func(a account) pairs {
		return pairs{{"", fmt.Sprintf("between %.5g and %.5g", *a.Epsilons[0].AtLeast, *a.Epsilon)}}
	}),
	accounted("Randomised response, theorem", func(a account) pairs {
		return append(curveRows(a, flipped), [2]string{"(2p-1) log(p/(1-p)) = " + four(0.5*math.Log(3)), four(*a.KL)})
	}),
	accounted("Laplace noise, theorem", func(a account) pairs {
		return curveRows(a, func(a float64) float64 {
			return math.Log(a/(2*a-1)*math.Exp(a-1)+(a-1)/(2*a-1)*math.Exp(-a)) / (a - 1)
		})
	}),
	accounted("Gaussian noise, theorem",
		func(a account) pairs { return curveRows(a, func(a float64) float64 { return a / 2 }) }),
}}

// flipped is D_alpha of randomised response at p = 0.75, as its theorem has it.
func flipped(a float64) float64 {
	return math.Log(math.Pow(0.75, a)*math.Pow(0.25, 1-a)+math.Pow(0.25, a)*math.Pow(0.75, 1-a)) / (a - 1)
}

func four(x float64) string { return fmt.Sprintf("%.4g", x) }

// accounted is a part whose figures are those of the page's command, dpscope account and flags.
func accounted(name string, figures func(account) pairs) paperPart {
	return paperPart{name, true, func(r *papersRun) []paperRow {
		texts := settings.Texts{}
		try.Do(audit.Require(len(r.command)%2 == 0, papersPage, fmt.Sprintf("with the command %q", r.command), "dpscope account, and flags with their values"))
		for flag := range slices.Chunk(r.command[2:], 2) {
			texts[flag[0][1:]] = flag[1]
		}
		var q accounting.Query
		try.Do(settings.Read(accounting.Keys(), texts, &q))
		return beside(figures(try.Get(accounting.Answer(q)))...)
	}}
}

func divergence(a account, order int) pairs {
	return pairs{{"", fmt.Sprintf("(%d, %v)", order, a.Curve[0].Divergence)}}
}

func guaranteed(a account, m accounting.Method) string {
	for _, g := range a.Epsilons {
		if g.Method == m {
			return four(g.Epsilon)
		}
	}
	return ""
}

func curveRows(a account, printed func(alpha float64) float64) pairs {
	return audit.Each(a.Curve, func(p accounting.Point) [2]string { return two("%.4g", printed(p.Alpha), p.Divergence) })
}
