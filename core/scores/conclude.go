package scores

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/audit/phrase"
	"github.com/dpscope/dpscope/bounds"
	"github.com/dpscope/dpscope/core/membership"
	"github.com/dpscope/dpscope/core/report"
	"github.com/dpscope/dpscope/mechanisms/source"
)

func (a *Audit) Conclude(ev *Evidence, _ audit.Termination) (Report, error) {
	p := a.Plan
	subject := strings.Join(audit.Each(a.files, func(f ScoreFile) string { return f.Name }), " and ")
	h, eps := ev.Shape, p.Claim.Epsilon
	r := Report{Report: report.New(Kind, subject, p.statedClaim(), p.Beta), Plan: p,
		Files: append([]ScoreFile{}, a.files...), Notes: append([]string{}, a.notes...), Evidence: ev}
	r.Quantity, r.Termination = string(report.Epsilon), audit.Termination{Reason: audit.Completed, SamplesUsed: h.In + h.Out}
	r.Power = &report.Power{Largest: math.Max(0, h.largest(p, p.Method)), Needed: h.needed(p, p.Method, eps), Unit: h.unit(p.Method)}
	r.Reproduce, r.Limitations, r.References = reproduce(p, h), limitations(p, h), references(h)
	rows := p.guessing(h).Rows(ev.Guessed, eps)
	if p.Relation != audit.AddRemove {
		refuse(rows, report.OneRunOfReplace)
	} else if why := h.coins(); why != "" {
		refuse(rows, why)
	}
	if h.Runs > 0 {
		rows = append(runRows(p, ev), rows...)
	} else {
		rows = append(rows, eventRows(p, ev.Events)...)
	}
	r.Tables = []report.Table{{Name: report.Bounds, Title: membership.Title(p.Beta), Rows: rows}}
	if ev.Membership != nil {
		basis := audit.Pick(byCoins(p.Method), membership.OneTraining, membership.OwnTrainings)
		if h.Runs > 0 {
			basis = membership.FixedRuns
		}
		r.Tables = append(r.Tables, ev.Membership.Table(*p.Claim, p.Relation, basis, p.Beta))
	}
	r.Choose(p.Method)
	if r.LowerBound != nil {
		r.PValue = ev.pValue(p)
	}
	r.Warnings = r.cautions()
	r.Reword()
	return r, nil
}

func refuse(rows []report.Row, why string) {
	for i := range rows {
		rows[i].LowerBound, rows[i].Mu, rows[i].Note = nil, nil, why
	}
}

// pValue is that of the claim by the plan's method, if it has one.
func (ev *Evidence) pValue(p Plan) *float64 {
	c := *p.Claim
	var v float64
	at := slices.IndexFunc(ev.Events, func(e ScoreEvent) bool { return slices.Contains(e.Methods, p.Method) })
	switch {
	case p.Method == report.MethodOneRun:
		v = p.guessing(ev.Shape).PValue(ev.Guessed, c.Epsilon)
	case p.Method == report.MethodPaired && ev.Runs != nil:
		_, _, _, delta := ev.Shape.counted(p.Relation, c.Delta)
		v = bounds.CanaryPValue(*ev.Runs.Certified.Table, c.Epsilon, delta, ev.Runs.Stakes)
	case p.Method == report.MethodPaired && at >= 0:
		v = bounds.CanaryPValue(*ev.Events[at].Pairs, c.Epsilon, c.Delta, *ev.Events[at].Stakes)
	case p.Method == report.MethodExact && at >= 0:
		v = bounds.ClaimPValue(ev.Events[at].Certified, c.Epsilon, c.Delta, p.Beta)
	default:
		return nil
	}
	return &v
}

func eventRows(p Plan, events []ScoreEvent) []report.Row {
	eps, delta, beta := p.Claim.Epsilon, p.Claim.Delta, p.Beta
	var rows []report.Row
	for _, e := range events {
		for _, m := range e.Methods {
			row := report.NewRow(m, p.Relation)
			row.Claimed = &eps
			row.Largest = audit.Finite(eventLargest(m, e.Certified.N1, e.Certified.N0, delta, beta))
			switch m {
			case report.MethodExact:
				row.LowerBound = audit.Finite(bounds.Exact(e.Certified, delta, beta))
			case report.MethodClopperPearson:
				row.LowerBound = audit.Finite(bounds.RoundDown(bounds.ClopperPearson(e.Certified, delta, beta, e.Split)))
			case report.MethodPaired:
				row.LowerBound = audit.Finite(bounds.CanaryEpsilon(bounds.CanaryPairedBetting, *e.Pairs, delta, beta, *e.Stakes))
			case report.MethodGaussian:
				row.Mu = audit.Finite(bounds.GaussianMu(e.Certified, beta))
				row.LowerBound = audit.Finite(bounds.GaussianEpsilon(*row.Mu, delta))
				row.NoteDelta(delta)
			}
			if row.LowerBound == nil && row.Note == "" {
				row.Note = "bounds nothing on these counts"
			}
			rows = append(rows, row)
		}
	}
	return rows
}

func runRows(p Plan, ev *Evidence) []report.Row {
	h, eps, beta := ev.Shape, p.Claim.Epsilon, p.Beta
	_, _, _, delta := h.counted(p.Relation, p.Claim.Delta)
	rows := ev.Runs.Rows(eps, delta, beta, func(kind bounds.CanaryInterval) float64 {
		return h.ceiling(kind, p.Relation, ev.Runs.Certified.Table.Runs(), h.CertifiedIn, p.Claim.Delta, beta)
	})
	for i := range rows {
		row := &rows[i]
		more := row.Assumption
		row.Trainings = audit.Pick(p.Relation == audit.AddRemove, report.EachRowByCoins, report.EachRow)
		row.Assumption = report.ByRuns[p.Relation]
		if more != "none" && !strings.HasPrefix(more, "none:") {
			row.Assumption += "; " + more
		}
	}
	if why := h.coins(); p.Relation == audit.AddRemove && why != "" {
		refuse(rows, why)
	}
	return rows
}

const fairLevel = 1e-6

// coins says why membership is plainly not by fair coins: exact two-sided binomial tests, sharing
// fairLevel, of how many were in, and of a matrix of how many runs have half in, and of the canary that
// was in too often or too seldom.
func (h Shape) coins() string {
	m := h.In + h.Out
	unfair := func(x, n int, p, level float64) bool {
		return bounds.LowerProportion(x, n, level/2) > p || bounds.UpperProportion(x, n, level/2) < p
	}
	by := fmt.Sprintf("which fair coins give with probability below %s", phrase.Number(fairLevel))
	const level = fairLevel / 3
	switch {
	case h.Runs == 0 && unfair(h.In, m, 0.5, fairLevel):
		return fmt.Sprintf("%s of %s canaries were in, %s", phrase.Grouped(h.In), phrase.Grouped(m), by)
	case h.Runs == 0:
	case h.Fixed && h.Runs > 1:
		return "the same canaries were in in every run: no coin was thrown"
	case unfair(h.In, m, 0.5, level):
		return fmt.Sprintf("%s of %s memberships were in, %s", phrase.Grouped(h.In), phrase.Grouped(m), by)
	case h.Canaries > 1 && unfair(h.Half, h.Runs, chanceOfHalf(h.Canaries), level):
		return fmt.Sprintf("%s of %s canaries were in in %s of %s runs, %s", phrase.Grouped(h.Canaries/2), phrase.Grouped(h.Canaries), phrase.Grouped(h.Half), phrase.Grouped(h.Runs), by)
	case unfair(h.Farthest, h.Runs, 0.5, level/float64(h.Canaries)):
		return fmt.Sprintf("a canary was in in %s of %s runs, %s", phrase.Grouped(h.Farthest), phrase.Grouped(h.Runs), by)
	}
	return ""
}

// chanceOfHalf is the probability that of n fair coins half fall so, rounded down.
func chanceOfHalf(n int) float64 {
	lg := func(n int) float64 { v, _ := math.Lgamma(float64(n + 1)); return v }
	return math.Exp(lg(n) - lg(n/2) - lg(n-n/2) - float64(float64(n)*math.Ln2))
}

// halfBeta is the one-run methods' error, rounded down to two digits, that is at most beta where a random
// half was in. Its law is that of fair coins given that half are in: what coins give with probability at
// most a it gives with at most a/P(half are in).
func (h Shape) halfBeta(beta float64) float64 {
	x := beta * chanceOfHalf(h.In+h.Out)
	unit := math.Pow(10, math.Floor(math.Log10(x))-1)
	return math.Floor(x/unit) * unit
}

// ceiling is the largest bound of n runs by an interval; in: memberships in, of add-remove.
func (s Shape) ceiling(kind bounds.CanaryInterval, r audit.Relation, n, in int, delta, beta float64) float64 {
	k, m, _, _ := s.counted(r, delta)
	if n < 1 || min(k, m) < max(1, kind.Order()) {
		return math.Inf(-1)
	}
	if r == audit.AddRemove {
		return bounds.CoinCeiling(kind, k, n, in, delta, beta)
	}
	return bounds.CanaryCeiling(kind, k, m, n, delta, beta)
}

// largest is the bound of the best outcome by a method, -Inf where none bounds anything.
func (s Shape) largest(p Plan, m report.Method) float64 {
	c, beta := *p.Claim, p.Beta
	switch {
	case byCoins(m):
		return p.guessing(s).Largest(m)
	case s.Runs > 0:
		_, _, runs, _ := s.counted(p.Relation, c.Delta)
		_, n := halves(runs)
		return s.ceiling(bounds.CanaryInterval(m), p.Relation, n, s.CertifiedIn, c.Delta, beta)
	}
	_, n1 := halves(s.In)
	_, n0 := halves(s.Out)
	return eventLargest(m, n1, n0, c.Delta, beta)
}

func eventLargest(m report.Method, n1, n0 int, delta, beta float64) float64 {
	best := bounds.Counts{X: n1, N1: n1, N0: n0}
	switch m {
	case report.MethodExact:
		return bounds.Exact(best, delta, beta)
	case report.MethodClopperPearson:
		return bounds.RoundDown(bounds.ClopperPearson(best, delta, beta, bounds.TuneSplit(best, n1, n0, delta, beta)))
	case report.MethodGaussian:
		return bounds.GaussianEpsilon(bounds.GaussianMu(best, beta), delta)
	}
	return bounds.CanaryCeiling(bounds.CanaryPairedBetting, 1, 1, min(n1, n0), delta, beta)
}

// needed is how many of what unit says it takes to certify more than eps at best; 0: none that is tried.
func (s Shape) needed(p Plan, m report.Method, eps float64) int {
	c, beta := *p.Claim, p.Beta
	switch {
	case byCoins(m):
		return membership.Needed(m, p.rule(), eps)
	case s.Runs > 0:
		kind := bounds.CanaryInterval(m)
		return report.Least(1, source.MaxRuns, func(n int) bool {
			_, n = halves(n)
			return s.ceiling(kind, p.Relation, n, n*s.Canaries/2, c.Delta, beta) > eps
		})
	}
	return report.Least(2, source.MaxRuns, func(n int) bool {
		_, n = halves(n)
		return eventLargest(m, n, n, c.Delta, beta) > eps
	})
}

func (s Shape) unit(m report.Method) string {
	return audit.Pick(byCoins(m), "canaries", audit.Pick(s.Runs > 0, "runs", "scores of each class"))
}
