package scene

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/dpscope/dpscope/core/report"
	"github.com/dpscope/dpscope/wasm/scene/plot"
)

// Views are the pictures of what the page sends.
func Views(in Input) []*plot.View {
	var out []*plot.View
	if p := in.Progress; p != nil {
		if l := p.Live; l != nil {
			words := fmt.Sprintf("So far, %s of %s outputs a side.", plot.Grouped(l.Rows), plot.Grouped(l.Samples))
			out = append(out, liveOutputs(p).divergence(words))
		}
		out = append(out, NewOverTime(in.Course, nil, 0))
	}
	if in.Canary != nil {
		out = append(out, canaryViews(in.Canary, in.Cloud)...)
	} else if in.Report == nil {
		out = append(out, in.Cloud.Live(math.MaxInt))
	}
	if r := in.Report; r != nil {
		quantity := "value"
		var final *float64
		if row := report.Report(r.head).Deciding(); row != nil {
			quantity, final = row.Quantity, row.LowerBound
		}
		if r.Evidence != nil {
			out = append(out, outputsIn(r).divergence(""))
		}
		pairs := cmp.Or(r.Termination.SamplesUsed, r.Termination.Outputs/2) // of bets alone, which are of all pairs of datasets
		out = append(out, DataOf(r), NewTradeoff(in.Curves.Tradeoff), NewSearch(r.Trials, quantity, r.Claim.Limit()), NewOverTime(in.Course, final, pairs))
	}
	return present(out)
}

func present(views []*plot.View) []*plot.View {
	return slices.DeleteFunc(views, func(v *plot.View) bool { return v == nil })
}
