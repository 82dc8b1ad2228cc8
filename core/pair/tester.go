package pair

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/audit/phrase"
	"github.com/dpscope/dpscope/bounds"
	"github.com/dpscope/dpscope/bounds/published"
	"github.com/dpscope/dpscope/core/pair/threshold"
	"github.com/dpscope/dpscope/core/report"
)

// testerRows are what the published tester of the witness's learner makes of the same counts: its
// verdict, which certifies nothing. Its universe, witness or kernel is of the bins of scores.
func (a *Audit) testerRows(e *Evidence) []report.Row {
	if e.Prepared.Steps > 1 {
		return nil // the claim is of one step
	}
	spec, err := a.cat.Learner(e.Witness.Learner)
	if err != nil {
		return nil
	}
	t, beta := *e.Table, a.Plan.Beta
	eps, delta := a.dpLimits()
	row := func(m bounds.Method, estimate, value float64, how string, args ...any) report.Row {
		return testerRow(spec.Tester, report.Row{ID: report.Delta, Epsilon: eps, Method: m, Claimed: &delta}, estimate, value, fmt.Sprintf(how, args...))
	}
	switch dp := a.Claim.IsDP(); {
	case spec.Tester == audit.RenyiTester && (a.Claim.Kind == audit.Pure || a.Claim.Kind == audit.Renyi):
		return a.renyiTester(e, beta)
	case spec.Tester == audit.ADPTester && dp:
		eta := published.ADPTesterEta(t.Bins, eps, t.Pairs())
		z := max(published.HistogramDivergence(t.First(), t.Second(), eps), published.HistogramDivergence(t.Second(), t.First(), eps))
		return []report.Row{row(published.MethodADPTester, z, z-eta, "universe of %d bins, eta %.3g by its algorithm 2, beta 1/3", t.Bins, eta)}
	case spec.Tester == audit.HockeyStickTester && dp:
		above := threshold.Event{Edge: min(threshold.BinOf(e.Edges, eps), len(e.Edges)-1), Above: true}
		below := threshold.Event{Edge: max(threshold.BinOf(e.Edges, -eps)-1, 0), Reversed: true}
		best := max(published.HockeyStickEstimate(above.Counts(t), eps), published.HockeyStickEstimate(below.Counts(t), eps))
		return []report.Row{row(published.MethodHockeyStick, best, best-published.HockeyStickSlack(t.Pairs(), eps, beta), "Hoeffding's bound of proposition 4.11")}
	case spec.Tester == audit.MMDTester && dp && t.Pairs() >= 4 && t.Pairs() <= 1<<24:
		s := published.RankMMD(t, e.Explored, a.Plan.Seed)
		v := published.TightMMDDelta(s, eps, beta)
		return []report.Row{row(published.MethodMMDPublished, math.NaN(), published.MMDDelta(s, eps, beta), "squared discrepancy %.3g over %d values of h, of standard deviation %.3g", s.Mean, s.N, math.Sqrt(s.Variance)),
			{ID: report.Delta, Epsilon: eps, Method: published.MethodMMD, Claimed: &delta, Value: &v, Note: "corrected, with the largest discrepancy that the claim allows"}}
	}
	return nil
}

// testerRow has the tester's verdict: what it estimates, what it takes that to be at least, and how.
func testerRow(tester audit.Tester, row report.Row, estimate, value float64, how string) report.Row {
	estimate, value = phrase.Round(estimate, 6), phrase.Floor(value, 6)
	if row.Value = &value; estimate == estimate {
		row.Estimate = &estimate
	}
	verdict := audit.Pick(value > *row.Claimed, "False: not private", "Passed")
	row.Note = fmt.Sprintf("%s says %q; %s", tester, verdict, how)
	return row
}

// renyiTester is algorithm 1 of RényiTester, which is 2 of DP-Auditorium.
func (a *Audit) renyiTester(e *Evidence, beta float64) []report.Row {
	alpha, tau := a.Claim.Alpha, a.Claim.Epsilon
	if a.Claim.Kind == audit.Pure {
		alpha = cmp.Or(a.Plan.ThroughRenyi, 1.5) // the papers'
		tau = published.PureThreshold(tau, alpha)
	}
	var model struct{ Bound float64 }
	if json.Unmarshal(e.Witness.Model, &model) != nil || !(model.Bound > 0) {
		return nil
	}
	h := make([]float64, len(e.Edges)+1)
	ends := append(append([]float64{-model.Bound}, e.Edges...), model.Bound)
	for k := range h {
		h[k] = min(max((ends[k]+ends[k+1])/2, -model.Bound), model.Bound)
	}
	t, estimate := *e.Table, math.Inf(-1)
	for _, reversed := range []bool{false, true} {
		estimate = max(estimate, bounds.RenyiEstimate(threshold.Turned(t, reversed), h, alpha))
		for k := range h {
			h[k] = -h[k]
		}
	}
	row := report.Row{ID: report.RenyiDivergence, Alpha: alpha, Method: published.MethodRenyiTester, Claimed: &tau}
	eta := published.RenyiEta(alpha, model.Bound, t.Pairs(), beta)
	if !(eta < 1) {
		estimate = phrase.Round(estimate, 6)
		row.Estimate = &estimate
		row.Note = fmt.Sprintf("none: theorem 4.3 asks for more than %.3g outputs at C = %.3g", float64(t.Pairs())*float64(eta*eta), model.Bound)
		return []report.Row{row}
	}
	return []report.Row{testerRow(audit.RenyiTester, row, estimate, estimate-math.Log((1+eta)/(1-eta)),
		fmt.Sprintf("theorem 4.3 at C = %.3g, which lacks a factor and half of the exponent", model.Bound))}
}
