package scene

import (
	"cmp"
	"fmt"
	"math"
	"sort"

	"github.com/dpscope/dpscope/wasm/scene/plot"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/core/pair/chart"
)

// Measure of divergence between the two output distributions, as a sum over
// bins: p are shares on the likelier dataset, q on the other. On bins it is at
// most that of the outputs themselves, but for chance.
type divergenceKind struct {
	id, words string
	part      func(p, q float64) float64
	of        string // what the sum is, in words
	share     bool   // only its share of the sum has a meaning
}

func hockeyStick(id, words string, epsilon float64, of string) divergenceKind {
	return divergenceKind{id: id, words: words, of: of, part: func(p, q float64) float64 { return math.Max(0, p-math.Exp(epsilon)*q) }}
}

// kinds are the divergences that a claim asks for, its own first.
func kinds(c audit.Claim) []divergenceKind {
	total := hockeyStick("tv", "total variation (hockey-stick at ε = 0)", 0, "total variation")
	kl := divergenceKind{id: "kl", words: "Kullback-Leibler (Rényi at α = 1)", of: "Kullback-Leibler divergence in nats", part: func(p, q float64) float64 {
		if p == 0 {
			return 0
		}
		return p * math.Log(p/q)
	}}
	switch e, ok := epsilonOf(c); {
	case ok && e > 0:
		return []divergenceKind{hockeyStick("claim", "hockey-stick at the claimed ε = "+plot.Short(e), e, "hockey-stick divergence at ε = "+plot.Short(e)), total, kl}
	case c.Kind == "renyi" && c.Alpha > 1:
		a := c.Alpha
		return []divergenceKind{{id: "claim", words: "Rényi at the claimed order α = " + plot.Short(a), share: true, of: "the sum of p^α q^(1−α) at α = " + plot.Short(a), part: func(p, q float64) float64 {
			if p == 0 {
				return 0
			}
			return math.Exp(a*math.Log(p) + (1-a)*math.Log(q))
		}}, kl, total}
	case c.Kind == "zcdp":
		return []divergenceKind{kl, total}
	}
	return []divergenceKind{total, kl}
}

// divergence are the two output distributions, the event over them, the log
// ratio of every bin and its part in a divergence.
type divergence struct {
	chart    chart.Chart
	claim    audit.Claim
	bins     []Bin
	reversed bool // the second dataset is the likelier
	live     string
	kinds    []divergenceKind
	kind     divergenceKind
	plane    *plane // nil where there is none
	flat     bool   // the plane is shown
}

// newDivergence shows a report's chart, or, with live words, that of a run on its
// way. Nil where nothing was counted.
func newDivergence(ch chart.Chart, claim audit.Claim, reversed bool, live string) *divergence {
	d := &divergence{chart: ch, claim: claim, reversed: reversed, live: live, kinds: kinds(claim)}
	d.kind = d.kinds[0]
	outcomes := d.outcomes()
	if ch.Kind == chart.Score {
		d.plane = newPlane(ch)
	}
	bins := binsOf(ch)
	if bins == nil {
		return nil
	}
	for i, b := range bins {
		end := i == 0 || i == len(bins)-1
		if outcomes {
			b.Words = outcomeWords(ch, i)
		} else {
			b = level{ch.Edges}.bin(i, b)
		}
		if b.First+b.Second > 0 || !outcomes && !end {
			d.bins = append(d.bins, b)
		}
	}
	if outcomes {
		// By the ratio seen; half an output is added on either side, so that rare
		// outcomes do not stand at the ends by chance. All others come last.
		smoothed := func(b Bin) float64 {
			if b.Words == others {
				return math.Inf(-1)
			}
			return math.Log((float64(b.First) + 0.5) / float64(b.firstOf+1) / (float64(b.Second) + 0.5) * float64(b.secondOf+1))
		}
		sort.SliceStable(d.bins, func(i, j int) bool { return cmp.Less(smoothed(d.bins[j]), smoothed(d.bins[i])) })
	}
	return d
}

// view is nil where nothing was counted.
func (d *divergence) view() *plot.View {
	if d == nil {
		return nil
	}
	v := plot.View{ID: "divergence", Title: "Divergence", ChoiceLabel: "Divergence", Choices: choices(d.kinds)}
	if d.plane != nil {
		v.ChoiceLabel, v.Choices = "Show", append(v.Choices, plot.Choice{ID: planeID, Words: "plane: the score and one more direction"})
	}
	return v.Of(func(choice string) plot.Plot {
		d.choose(choice)
		p := plot.Plot{Caption: d.caption(), Table: d.table, Tooltip: d.tooltip}
		if p.Name = func(i int) string { return d.bins[i].Words }; d.flat {
			p.Name, p.Panels = d.plane.name, d.plane.plot(d.claim)
		} else {
			p.Panels = d.panels()
		}
		return p
	})
}

func choices(kinds []divergenceKind) []plot.Choice {
	var out []plot.Choice
	for _, k := range kinds {
		out = append(out, plot.Choice{ID: k.id, Words: k.words})
	}
	return out
}

func (d *divergence) choose(id string) {
	if d.flat = id == planeID && d.plane != nil; d.flat {
		epsilon, _ := epsilonOf(d.claim)
		d.plane.compare(epsilon)
	}
	for _, k := range d.kinds {
		if k.id == id {
			d.kind = k
		}
	}
}

func (d *divergence) outcomes() bool { return d.chart.Kind == chart.Outcomes }

// likelier names the dataset that the divergence starts from, and the other.
func (d *divergence) likelier() (string, string) {
	if d.reversed {
		return "second", "first"
	}
	return "first", "second"
}

// parts are what the bins contribute to the divergence, and their sum.
func (d *divergence) parts() (parts []float64, sum float64) {
	for _, b := range d.bins {
		p, q := b.Shares()
		if d.reversed {
			p, q = q, p
		}
		parts = append(parts, d.kind.part(p, q))
		sum += parts[len(parts)-1]
	}
	return parts, sum
}

func (d *divergence) caption() string {
	if d.flat {
		return d.planeCaption()
	}
	_, sum := d.parts()
	from, to := d.likelier()
	words := d.live
	if words != "" {
		words += " "
	}
	what := plot.If(d.outcomes(), "outcomes", "bins")
	switch e, dp := epsilonOf(d.claim); {
	case math.IsInf(sum, 1):
		words += fmt.Sprintf("The observed %s of the %s dataset from the %s is infinite: there are %s that were never seen on the %s.", d.kind.of, from, to, what, to)
	case d.kind.share:
		words += fmt.Sprintf("Parts are shares of %s, of the %s dataset from the %s, as observed.", d.kind.of, from, to)
	case sum == 0 && d.kind.id == "claim":
		words += fmt.Sprintf("None of the %s is observed more than e^%s times as often on the %s dataset as on the %s.", what, plot.Short(e), from, to)
	default:
		words += fmt.Sprintf("The observed %s of the %s dataset from the %s, over these %s, is %s", d.kind.of, from, to, what, plot.Short(sum))
		if dp && d.kind.id == "claim" {
			words += fmt.Sprintf("; claimed: at most δ = %s", plot.Short(d.claim.Delta))
		}
		words += "."
	}
	return words + " Observed figures vary by chance; the report has the certified bound."
}

// counted are the words of a bin's counts and their ratio.
func (d *divergence) counted(b Bin) string {
	p, q := b.Shares()
	words := fmt.Sprintf("%s: first dataset %s (%s), second dataset %s (%s)", b.Words, plot.Grouped(b.First), plot.Percent(p), plot.Grouped(b.Second), plot.Percent(q))
	switch r := b.LogRatio(); {
	case math.IsNaN(r):
		return words + "; never seen"
	case math.IsInf(r, 1):
		words += "; never seen on the second dataset"
	case math.IsInf(r, -1):
		words += "; never seen on the first dataset"
	default:
		words += fmt.Sprintf("; ln ratio %s ± %s", plot.Short(plot.Round(r, 3)), plot.Short(plot.Round(b.Spread(), 2)))
	}
	return words
}

func (d *divergence) tooltip(i int) string {
	if d.flat {
		return d.planeTooltip(i)
	}
	b := d.bins[i]
	words := d.counted(b)
	if b.First+b.Second == 0 {
		return words
	}
	parts, sum := d.parts()
	words += "; part " + plot.Short(plot.Round(parts[i], 4))
	if sum > 0 && !math.IsInf(sum, 1) && parts[i] > 0 {
		words += fmt.Sprintf(" of %s (%s)", plot.Short(plot.Round(sum, 4)), plot.Percent(parts[i]/sum))
	}
	switch s := b.inEvent(); {
	case s == 1:
		words += "; in the event"
	case s > 0:
		words += fmt.Sprintf("; %s of it in the event", plot.Percent(s))
	}
	return words
}

func (d *divergence) table(fig plot.Figures) plot.Table {
	if d.flat {
		return d.planeTable(fig)
	}
	first := []string{d.chart.AxisWords()}
	switch {
	case d.outcomes():
		first[0] = "outcome"
	case fig == plot.Exact:
		first = []string{"from", "below"}
	}
	t := plot.Table{Title: "Ratio and part of every " + map[bool]string{true: "outcome", false: "bin"}[d.outcomes()]}
	t.Head = append(first, "first dataset", "share", "in the event", "second dataset", "share", "in the event", "ln ratio", "±", "part: "+d.kind.of)
	parts, _ := d.parts()
	for i, b := range d.bins {
		x := b.figures(fig)
		row := []string{b.Words}
		if len(first) == 2 {
			row = []string{fig.Of(b.low), fig.Of(b.high)}
		}
		row = append(row, x[0], x[1], fmt.Sprint(b.FirstIn), x[2], x[3], fmt.Sprint(b.SecondIn), x[4], x[5], fig.Of(parts[i]))
		t.Rows = append(t.Rows, row)
	}
	return t
}
