package scene

import (
	"cmp"
	"fmt"
	"math"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/core/pair"
	"github.com/dpscope/dpscope/wasm/scene/plot"
)

// NewSearch shows the pairs that a report tried and what each showed; nil for none.
func NewSearch(trials []pair.TrialNote, quantity string, claimed float64) *plot.View {
	if len(trials) == 0 {
		return nil
	}
	n := float64(len(trials))
	p := plot.Plot{X: plot.Axis{Title: "pair", Scale: plot.Scale{Lo: 0.5, Hi: n + 0.5}, Words: plot.Short, Zooms: true, Whole: true}, Height: plot.Px(220)}
	least, most, over := 0.0, claimed, 0
	for _, t := range trials {
		if t.Value > audit.NoEvidence {
			least, most = min(least, t.Value), max(most, t.Value)
		}
		if t.Value > claimed {
			over++
		}
	}
	least = max(least, -0.25*most)
	pad := cmp.Or((most-least)*0.08, 0.5)
	p.Y = plot.Axis{Title: quantity + ", as each pair's validation outputs showed", Short: quantity, Scale: plot.Scale{Lo: least - pad, Hi: most + pad}, Words: plot.Short}
	p.Caption = fmt.Sprintf("%s pairs of datasets were tried; %s showed more on their validation outputs than is claimed (%s). The pair with the largest value was certified, on fresh outputs. A value ranks pairs; it certifies nothing.", plot.Grouped(len(trials)), plot.Grouped(over), plot.Short(claimed))
	p.Numbers = plot.Numbers{Title: "Every pair that was tried", Head: []string{"pair", "label", quantity + " as seen", "learner", "chosen"}}
	radius := math.Round(2*min(5.5, max(2, 240/n))) / 2
	var best, chosen [][2]float64
	var dots []plot.Points // by learner
	of, highest := map[string]int{}, math.Inf(-1)
	for i, t := range trials {
		at := [2]float64{float64(i + 1), max(t.Value, least-pad)}
		highest = max(highest, at[1])
		best = append(best, [2]float64{at[0] - 0.5, highest}, [2]float64{at[0] + 0.5, highest})
		k, known := of[t.Learner]
		if !known {
			k = len(dots)
			of[t.Learner], dots = k, append(dots, plot.Points{Key: t.Learner, Paint: plot.Ink(plot.Muted), Form: plot.Form(k % int(plot.Ring)), Radius: radius})
		}
		// A pair is painted the stronger the more it showed, and otherwise above the claim.
		paint := plot.If(claimed > 0 && t.Value <= claimed, plot.Between(plot.Muted, plot.Calm, t.Value/claimed), plot.Ink(plot.If(t.Value > claimed, plot.Bad, plot.Calm)))
		dots[k].At, dots[k].Paints = append(dots[k].At, at), append(dots[k].Paints, paint)
		if t.Chosen {
			chosen = append(chosen, at)
		}
		p.Items, p.Within = append(p.Items, at), append(p.Within, plot.Column(at[0]-0.5, at[0]+0.5))
		p.Rows = append(p.Rows, []any{t.Trial + 1, t.Pair.Label, plot.If(t.Value < audit.NoEvidence, math.NaN(), t.Value), t.Learner, t.Chosen})
	}
	p.Marks = []plot.Mark{plot.Rule{Key: "claimed (dashed)", Paint: plot.Ink(plot.Text), At: claimed}, plot.Points{Key: "above it", Paint: plot.Ink(plot.Bad)}, plot.Points{Key: "chosen", Paint: plot.Ink(plot.Text), At: chosen, Form: plot.Ring, Radius: radius + 5},
		plot.Line{Key: "best so far", Paint: plot.Ink(plot.Muted), Points: best, Width: 1.2}}
	for _, d := range dots {
		p.Marks = append(p.Marks, d)
	}
	return plot.View{ID: "search", Title: "Search"}.Always(p)
}
