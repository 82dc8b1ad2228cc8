package main

import (
	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/bounds"
	"github.com/dpscope/dpscope/bounds/published"
)

var auditoriumPaper = paper{"DP-Auditorium", []paperPart{
	fixed("Theorem 4.3, corollary 4.4 and algorithm 2", func() pairs {
		return pairs{
			two("%.3g", published.RenyiSamples(1.5, 0.16, 1, 0.05), published.CorrectedRenyiSamples(1.5, 0.16, 1, 0.05)),
			two("%.4f", published.PureThreshold(0.1, 1.5), audit.RandomisedResponseRenyi(0.1, 1.5)),
		}
	}),
	fixed("Algorithms 3 and 4", func() pairs {
		return pairs{two("%.3g", published.HistogramSamples(1000, 0.01, 0.05, 1.0/3), 4*1000*2.0202/0.05/0.05)}
	}),
	fixed("Algorithms 5 and 6", func() pairs {
		c := bounds.Counts{X: 5000, N1: 50_000, Y: 500, N0: 50_000}
		theirs := published.HockeyStickEstimate(c, 1) - published.HockeyStickSlack(c.N1, 1, 0.05)
		return pairs{two("%.4f", theirs, bounds.ExactDelta(c, 1, 0.05))}
	}),
	fixed("Theorem 4.13 and algorithms 7 and 8", func() pairs {
		s := published.MMDSummary{N: 200_000, Mean: 0.16, Variance: 4.3, Signed: true}
		return pairs{
			two("%.3f", published.MMDThreshold(1, 0), published.TightMMDThreshold(1, 0, false)),
			two("%.3f", published.MMDDelta(s, 0, 0.05), published.TightMMDDelta(s, 0, 0.05)),
		}
	}),
	{"Table 1", false, tableRows}, {"Table 2", false, tableRows}, {"Figure 1", false, tableRows},
	{"Figure 2", false, tableRows}, {"Figure 3 (a)", false, tableRows}, {"Figure 3 (b)", false, tableRows},
}}
