package membership

import (
	"fmt"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/bounds"
	"github.com/dpscope/dpscope/core/report"
)

// Gathered are the counts of runs with K canaries inside and M fresh ones.
type Gathered struct {
	// Threshold, above which a score is in the event, and Stakes were chosen on the explored runs.
	Threshold   float64             `json:"threshold"`
	Ties        bool                `json:"ties,omitempty"` // all explored scores were the same
	Stakes      bounds.CanaryStakes `json:"stakes" same:"near"`
	Explored    Counted             `json:"explored"`
	Certified   Counted             `json:"certified"`
	ScoreSample *ScoreSample        `json:"portrait,omitempty"` // absent where no run has enough canaries
}

// Counted are runs by how many canaries were in the event.
type Counted struct {
	Table    *bounds.CanaryTable `json:"table,omitempty"`
	Diverged int                 `json:"diverged"` // runs with a side whose scores were no use
}

// Check refuses what so many runs, at most, do not give.
func (g Gathered) Check(explored, certified, k, m int) error {
	runs := func(name string, c Counted, most int) error {
		t := c.Table
		if t == nil {
			return nil
		}
		planned := t.K == k && t.M == m && t.Runs() <= most && c.Diverged >= 0 && c.Diverged <= most
		return audit.First(audit.Of(name, t.Validate()),
			audit.Require(planned, name, fmt.Sprintf("%d runs with k = %d, m = %d", t.Runs(), t.K, t.M), "at most %d with k = %d, m = %d, as the plan says", most, k, m))
	}
	return audit.First(audit.Require(g.Threshold-g.Threshold == 0, "threshold", g.Threshold, "finite"), audit.Of("stakes", g.Stakes.Validate()),
		runs("explored", g.Explored, explored), runs("certified", g.Certified, certified))
}

// intervalWords name intervals and what they assume beyond independent runs.
var intervalWords = map[bounds.CanaryInterval]struct{ title, assumption string }{
	bounds.CanaryPairedBetting: {"paired betting", "none: bets against the mean of each pair's X/K - e^epsilon Y/M - delta, with stakes fixed before"},
	bounds.CanaryBetting:       {"betting, half of the error a side", "none: each side's share X/K is a number in [0, 1], independent from run to run"},
	bounds.CanaryMaurerPontil:  {"empirical Bernstein (Maurer and Pontil)", "none"},
	bounds.CanaryKL:            {"Chernoff, in Kullback-Leibler form", "none"},
	bounds.CanaryBernstein1:    {"Bernstein, first order", "none"},
	bounds.CanaryBernstein2:    {"Bernstein, second order", "canaries exchangeable within a run"},
	bounds.CanaryBernstein4:    {"Bernstein, fourth order", "canaries exchangeable within a run"},
	bounds.CanaryWilson1:       {"Wilson, first order", "asymptotic: rates are normal"},
	bounds.CanaryWilson2:       {"Wilson, second order", "asymptotic: rates and second moments are normal; canaries exchangeable within a run"},
	bounds.CanaryWilson4:       {"Wilson, fourth order", "asymptotic: rates and higher moments are normal; canaries exchangeable within a run"},
}

// IntervalTitle names an interval.
func IntervalTitle(kind bounds.CanaryInterval) string { return intervalWords[kind].title }

// NewRow is the row of an interval, without bounds.
func NewRow(kind bounds.CanaryInterval, claimed float64) report.Row {
	w := intervalWords[kind]
	return report.Row{ID: report.Epsilon, Method: bounds.Method(kind), Title: w.title, Valid: kind.Valid(), Assumption: w.assumption, Claimed: &claimed}
}

// Rows are what all intervals make of the runs that certify. largest is the bound of the best outcome.
func (g *Gathered) Rows(claimed, delta, beta float64, largest func(bounds.CanaryInterval) float64) []report.Row {
	var rows []report.Row
	for _, kind := range bounds.CanaryIntervals() {
		row := NewRow(kind, claimed)
		if g == nil {
			row.Note = "fewer than two runs have canaries in and out"
		} else if t := *g.Certified.Table; kind.Check(t.K, t.M, t.Runs(), delta, beta) != nil {
			row.Note = kind.Check(t.K, t.M, t.Runs(), delta, beta).Error()
		} else {
			row.Largest = audit.Finite(largest(kind))
			if row.LowerBound = audit.Finite(bounds.CanaryEpsilon(kind, t, delta, beta, g.Stakes)); row.LowerBound == nil {
				row.Note = "bounds nothing on these counts"
			}
		}
		rows = append(rows, row)
	}
	return rows
}

// References are the papers of bounds by runs.
var References = []string{
	"K. Pillutla, G. Andrew, P. Kairouz, H. B. McMahan, A. Oprea and S. Oh, Unleashing the power of randomization in auditing differentially private ML, NeurIPS 2023",
	"I. Waudby-Smith and A. Ramdas, Estimating means of bounded random variables by betting, JRSS B 2024",
	"A. Maurer and M. Pontil, Empirical Bernstein bounds and sample variance penalization, COLT 2009",
}
