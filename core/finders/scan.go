package finders

import (
	"fmt"
	"math"

	"github.com/dpscope/dpscope/audit"
)

// scanned is how many shares of the way through the domain a scan tries.
const scanned = audit.MostScanned

// Scan implements [audit.Scanner]: pairs whose rows spread over the domain, so that a fault
// which shows in a hundredth of it alone shows in one of the first pairs. Each value is that
// of the row that changes once. A mechanism that names pairs of its own has none, nor have
// answers of queries, which all move.
func (a *arms) Scan() []audit.Pair {
	r, d := a.search.problem.Relation, a.search.problem.Domain
	if len(a.search.problem.Candidates) > 0 || r == audit.LInfinity {
		return nil
	}
	fewest, most := smallerSizes(r, d)
	stay := min(most, max(fewest, scanned-1)) // rows that both datasets have
	if r != audit.AddRemove {
		stay = max(0, stay-1)
	}
	apart := (scanned + stay) / (stay + 1)
	row := func(share float64) []float64 {
		v := make([]float64, d.Columns)
		for c := range v {
			v[c] = along(d, c, share)
		}
		return v
	}
	var pairs []audit.Pair
	for k := range scanned {
		// The row that changes stands on a hundredth, the others between two: windows with
		// and without their ends are met.
		changed := row(float64(k) / scanned)
		var rest []float64
		for i := range stay {
			rest = append(rest, row((float64((k+(i+1)*apart)%scanned)+0.5)/scanned)...)
		}
		p := audit.Pair{Label: fmt.Sprintf("scan %d: %d rows over the domain, one more at %d %% of it", k+1, stay, k*100/scanned),
			First:  audit.Dataset{Columns: d.Columns, Values: rest},
			Second: audit.Dataset{Columns: d.Columns, Values: append(append([]float64{}, rest...), changed...)}}
		if r != audit.AddRemove {
			to := row(float64((k+scanned/2)%scanned) / scanned)
			if r.HasReach() {
				for c := range to {
					to[c] = toward(d, c, changed[c], changed[c]+math.Copysign(d.Reach, to[c]-changed[c]))
				}
			}
			p.Label = fmt.Sprintf("scan %d: %d rows over the domain, one of them moved from %d %% of it", k+1, stay+1, k*100/scanned)
			p.First.Values = append(append([]float64{}, rest...), to...)
		}
		if !same(p) && r.Check(p, d) == nil {
			pairs = append(pairs, p)
		}
	}
	return pairs
}
