package recorded

import (
	"fmt"
	"math"

	"github.com/dpscope/dpscope/audit"
)

// Bin is one bar of a histogram.
type Bin struct {
	Label  string  `json:"label"` // of a symbol; empty for a range
	Lower  float64 `json:"lower"` // of a range
	Upper  float64 `json:"upper"`
	Counts [2]int  `json:"counts"` // rows of the first and of the second dataset
}

// Histogram counts the values of a column on both datasets: numbers in so many
// ranges of equal width, symbols by themselves, the first bins-1 of them and
// the rest together.
func (s *Samples) Histogram(column, bins int) []Bin {
	bins = max(bins, 2)
	a := s.columns[0][column]
	var out []Bin
	symbols := 0
	if a.Kind != audit.Real {
		for i, w := range a.Symbols {
			if symbols == bins-1 && len(a.Symbols) > bins {
				out = append(out, Bin{Label: fmt.Sprintf("%d others", len(a.Symbols)-i)})
				symbols++
				break
			}
			out = append(out, Bin{Label: w})
			symbols++
		}
	}
	lower, upper := math.Inf(1), math.Inf(-1)
	each := func(see func(side int, c *Column, i int)) {
		for side := range s.columns {
			for i := range s.n[side] {
				see(side, s.columns[side][column], s.row(side, i))
			}
		}
	}
	isNumber := func(c *Column, i int) bool {
		return c.Kind == audit.Real || c.Kind == audit.Mixed && c.codes.at(i) == 0
	}
	each(func(side int, c *Column, i int) {
		if isNumber(c, i) {
			lower, upper = min(lower, c.reals.at(i)), max(upper, c.reals.at(i))
			return
		}
		out[min(int(c.codes.at(i)), symbols-1)].Counts[side]++
	})
	if lower > upper {
		return out
	}
	if a.Kind == audit.Mixed { // the numbers have ranges of their own
		out = out[1:]
		symbols--
	}
	width := (float64(upper/2) - float64(lower/2)) / float64(bins) * 2
	for k := range bins {
		out = append(out, Bin{Lower: lower + float64(width*float64(k)), Upper: lower + float64(width*float64(k+1))})
	}
	out[len(out)-1].Upper = upper
	each(func(side int, c *Column, i int) {
		if isNumber(c, i) {
			k := 0
			if width > 0 {
				k = min(bins-1, int((float64(c.reals.at(i)/2)-float64(lower/2))/width*2))
			}
			out[symbols+k].Counts[side]++
		}
	})
	return out
}
