package main

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/bounds"
)

var lidpPaper = paper{"LiDP", []paperPart{
	fixed("Figure 1", lidpBias),
	{"Figures 2 and 6", true, lidpIntervals},
	{"Algorithms 2 to 7", true, lidpCoverage},
	figures("Section 4", 2),
	figures("Figures 3 (left) and 7", 0, 2),
	figures("Figures 3 (middle) and 8", 2, 3),
	figures("Figures 3 (right) and 9", 2),
	figures("Figure 4 (left)", 0, 1),
	figures("Figures 4 (middle) and 10", 0, 1, 2, 5),
	figures("Figures 4 (right) and 11", 0, 1, 4),
	figures("Table 1, for the Gaussian mechanism", 2, 3, 4, 5),
	{"Table 1, figures 5, 12 and 13", false, lidpModel},
	{"Table 1, figures 12 and 14", false, lidpModel},
	{"Table 1, figures 12 and 15", false, lidpModel},
}}

// paperRows are rows of a table at some columns, or at all.
func (t *table) paperRows(columns ...int) (rows []paperRow) {
	for _, r := range t.rows {
		for i, cell := range r.cells {
			f := cell.(figure)
			if len(columns) > 0 && !slices.Contains(columns, i) || math.IsNaN(f.mean) && math.IsNaN(f.published) {
				continue
			}
			row := paperRow{what: r.name + ", " + t.columns[i], ours: "none: fewer than two bounds are clear of 0"}
			if !math.IsNaN(f.published) {
				row.published = fmt.Sprintf("%.3g", f.published)
			}
			if !math.IsNaN(f.mean) {
				row.ours = f.beside(math.NaN()).String()
			}
			rows = append(rows, row)
		}
	}
	return rows
}

// figures is a part that is a table at some columns.
func figures(name string, columns ...int) paperPart {
	return paperPart{name, false, func(r *papersRun) []paperRow { return r.tables()[0].paperRows(columns...) }}
}

// lidpBias is the logarithm of the ratio of rates, exactly, where a tenth of the canaries inside exceed.
func lidpBias() pairs {
	return audit.Each([]int{1, 32, 1024}, func(k int) [2]string {
		z, s := distuv.UnitNormal.Quantile(.9), canaryCell{eps: 2, k: k, d: 1000}.deviation()
		return [2]string{"", fmt.Sprintf("%.3f", math.Log(.1/distuv.UnitNormal.Survival(z+1/s)))}
	})
}

// lidpIntervals are the widths of intervals as the number of runs grows, and of one proportion.
func lidpIntervals(r *papersRun) []paperRow {
	const n, ones = 1 << 24, 1 << 22 // a quarter
	width := func(kind bounds.CanaryInterval, want float64) [2]string {
		_, hi := bounds.CanaryLimits(kind, singles(ones, n), canaryBeta, bounds.CanaryStakes{})
		return two("%.2f", want, (hi-.25)*math.Sqrt(n/(.25*.75)))
	}
	rows := beside(width(bounds.CanaryBernstein1, math.Sqrt(2*math.Log(2/canaryBeta))),
		width(bounds.CanaryWilson1, distuv.UnitNormal.Quantile(1-canaryBeta/2)))
	t := r.tables()[0]
	t.rows = t.rows[2:4] // n = 256 and 1024
	return append(rows, t.paperRows(1, 3, 5)...)
}

// lidpCoverage is the largest rate of bounds above the truth over all laws.
func lidpCoverage(r *papersRun) []paperRow {
	t := r.tables()[0]
	var rows pairs
	for i, name := range t.columns {
		if !strings.HasPrefix(name, "bernstein") && !strings.HasPrefix(name, "wilson") {
			continue
		}
		most := 0.0
		for _, row := range t.rows {
			if f := row.cells[i].(figure); f.mean > most {
				most = f.mean
			}
		}
		rows = append(rows, [2]string{"", fmt.Sprintf("%.2f", most)})
	}
	return beside(rows...)
}

func lidpModel(r *papersRun) []paperRow {
	tables := r.tables("-only", "gain,canaries")
	return append(tables[0].paperRows(), tables[1].paperRows(1, 4)...)
}
