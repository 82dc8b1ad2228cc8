package scene

import (
	"fmt"
	"math"
	"slices"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/core/pair/chart"
	"github.com/dpscope/dpscope/core/report"
	"github.com/dpscope/dpscope/wasm/scene/plot"
)

// divergenceKind is a sum over bins: p are shares on the likelier dataset, q on the other. But for
// chance it is at most the divergence of the outputs.
type divergenceKind struct {
	id, words string
	part      func(p, q float64) float64
	of        string // what the sum is, in words
	share     bool   // only its share of the sum has a meaning
}

func hockeyStick(id, words string, epsilon float64, of string) divergenceKind {
	return divergenceKind{id: id, words: words, of: of, part: func(p, q float64) float64 { return math.Max(0, p-math.Exp(epsilon)*q) }}
}

func kinds(c audit.Claim) []divergenceKind {
	total := hockeyStick("tv", "total variation (hockey-stick at ε = 0)", 0, "total variation")
	kl := divergenceKind{id: "kl", words: "Kullback-Leibler (Rényi at α = 1)", of: "Kullback-Leibler divergence in nats", part: func(p, q float64) float64 {
		return plot.If(p == 0, 0, p*math.Log(p/q))
	}}
	switch e, ok := epsilonOf(c); {
	case ok && e > 0:
		return []divergenceKind{hockeyStick("claim", "hockey-stick at the claimed ε = "+plot.Short(e), e, "hockey-stick divergence at ε = "+plot.Short(e)), total, kl}
	case c.Kind == "renyi" && c.Alpha > 1:
		a := c.Alpha
		return []divergenceKind{{id: "claim", words: "Rényi at the claimed order α = " + plot.Short(a), share: true, of: "the sum of p^α q^(1−α) at α = " + plot.Short(a), part: func(p, q float64) float64 {
			return plot.If(p == 0, 0, math.Exp(a*math.Log(p)+(1-a)*math.Log(q)))
		}}, kl, total}
	case c.Kind == "zcdp":
		return []divergenceKind{kl, total}
	}
	return []divergenceKind{total, kl}
}

// divergence shows each mark's part, or the plane, its words after these; nil for no counts.
func (v *outputs) divergence(words string) *plot.View {
	if v == nil {
		return nil
	}
	kinds := kinds(v.Claim)
	x := plot.View{ID: "divergence", Title: "Divergence", ChoiceLabel: "Divergence"}
	x.Choices = audit.Each(kinds, func(k divergenceKind) plot.Choice { return plot.Choice{ID: k.id, Words: k.words} })
	var flat *plane
	if v.Chart.Kind == chart.Score {
		flat = newPlane(v.Chart, v.Claim)
	}
	if flat != nil {
		x.ChoiceLabel, x.Choices = "Show", append(x.Choices, plot.Choice{ID: planeID, Words: "plane: the score and one more direction"})
	}
	return x.Of(func(choice string) plot.Plot {
		if flat != nil && choice == planeID {
			p := flat.plot(v.Claim)
			p.Caption = words + p.Caption
			return p
		}
		kind := kinds[max(0, slices.IndexFunc(kinds, func(k divergenceKind) bool { return k.id == choice }))]
		parts, sum := v.parts(kind)
		p := v.plot(parts, kind.of)
		p.Caption, p.Numbers = words+v.divergenceCaption(kind, sum), v.numbers()
		p.Title, p.Head = "Ratio and part of every "+plot.If(v.outcomes, "outcome", "bin"), append(p.Head, "part: "+kind.of)
		for i := range p.Rows {
			var part any = "" // of the event
			if i < len(parts) {
				part = parts[i]
			}
			p.Rows[i] = append(p.Rows[i], part)
		}
		return p
	})
}

func (v *outputs) parts(kind divergenceKind) (parts []float64, sum float64) {
	for _, m := range v.marks {
		p, q := m.share(0), m.share(1)
		if v.Direction == report.SecondOverFirst {
			p, q = q, p
		}
		parts = append(parts, kind.part(p, q))
		sum += parts[len(parts)-1]
	}
	return parts, sum
}

func (v *outputs) divergenceCaption(kind divergenceKind, sum float64) (words string) {
	from, to := "A", "B"
	if v.Direction == report.SecondOverFirst {
		from, to = to, from
	}
	what := plot.If(v.outcomes, "outcomes", "bins")
	switch {
	case math.IsInf(sum, 1):
		words = fmt.Sprintf("The observed %s of %s from %s is infinite: there are %s that were never seen on %s.", kind.of, from, to, what, to)
	case kind.share:
		words = fmt.Sprintf("Parts are shares of %s, of %s from %s, as observed.", kind.of, from, to)
	case sum == 0 && kind.id == "claim":
		words = plot.Say("None of the %s is observed more than e^%s times as often on %s as on %s.", what, v.epsilon, from, to)
	default:
		words = plot.Say("The observed %s of %s from %s, over these %s, is %s", kind.of, from, to, what, sum)
		if v.corridor && kind.id == "claim" {
			words += plot.Say("; claimed: at most δ = %s", v.Claim.Delta)
		}
		words += "."
	}
	return words + " Observed figures vary by chance; the report has the certified bound."
}
