package scene

import (
	"fmt"
	"slices"

	"github.com/dpscope/dpscope/core/report"
	"github.com/dpscope/dpscope/wasm/scene/plot"
)

// NewCanaryBounds shows what every interval makes of the same counts, nil where there is none.
func NewCanaryBounds(r *CanaryReport) *plot.View {
	claimed := r.Claim.Epsilon
	bars := slices.DeleteFunc(slices.Clone(report.Report(r.head).Rows(report.Bounds)), func(row report.Row) bool { return row.LowerBound == nil })
	if len(bars) == 0 {
		return nil
	}
	valid := plot.Points{Key: "valid", Paint: plot.Ink(plot.First), Radius: 5}
	assumed := plot.Points{Key: "asymptotic, or by an assumption", Paint: plot.Ink(plot.Muted), Form: plot.Ring, Radius: 5}
	own := plot.Points{Key: "the audit's own", Paint: plot.Ink(plot.Event), Radius: 5}
	least, most := 0.0, claimed
	for _, b := range bars {
		least, most = min(least, *b.LowerBound), max(most, *b.LowerBound)
	}
	least = max(least, -most) // far below 0 a bound says nothing
	pad := max(0.06*(most-least), 1e-9)
	p := plot.Plot{X: plot.Axis{Title: "epsilon", Scale: plot.Scale{Lo: least - pad, Hi: most + pad}, Words: plot.Short}}
	p.Caption = fmt.Sprintf("Lower bounds on epsilon from the same canaries; claimed: %s. Each valid bound holds with the report's confidence; the largest of them does not, unless it was chosen in advance.", plot.Short(claimed))
	p.Numbers = plot.Numbers{Title: "Bounds", Head: []string{"interval", "bound", "kind"}}
	p.Y.Bold = func(i float64) bool { return bars[int(i)].Chosen }
	for i, b := range bars {
		at := [2]float64{max(*b.LowerBound, p.X.Lo), float64(i) + 0.5}
		of := plot.If(b.Chosen, &own, plot.If(b.Valid, &valid, &assumed))
		of.At = append(of.At, at)
		p.Marks = append(p.Marks, plot.Line{Paint: of.Paint.At(0.5), Width: 1, Points: [][2]float64{{max(0, p.X.Lo), at[1]}, at}})
		p.Y.Names, p.Items, p.Within = append(p.Y.Names, string(b.Method)), append(p.Items, at), append(p.Within, plot.Row(i))
		p.Rows = append(p.Rows, []any{string(b.Method), plot.Down(*b.LowerBound), plot.If(b.Valid, valid.Key, assumed.Key) + plot.If(b.Chosen, ", the audit's own", "")})
	}
	p.Marks = append([]plot.Mark{valid, assumed, own, plot.Rule{Key: "claimed (dashed)", Paint: plot.Ink(plot.Text), At: claimed, Upright: true}}, p.Marks...)
	return plot.View{ID: "intervals", Title: "Bounds"}.Always(p)
}
