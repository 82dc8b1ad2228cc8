package pair

import (
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/stat/combin"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/bounds"
	"github.com/dpscope/dpscope/core/pair/chart"
	"github.com/dpscope/dpscope/core/report"
	"github.com/dpscope/dpscope/estimators/classifier"
	"github.com/dpscope/dpscope/internal/must"
)

// slowBound is the place of the largest limit that is refuted, by the definition: each place
// of the grid has a wealth of its own, which every epoch multiplies by what it made against
// the least of its limits that is no less. It is below gridLeast where none is refuted.
func slowBound(limit float64, places [][]int, logs [][]float64) int {
	for p := gridLeast; p <= gridMost; p++ {
		wealth, most := 0.0, 0.0
		for e := range places {
			for j, at := range places[e] {
				if at >= p {
					wealth += logs[e][j]
					break
				}
			}
			most = max(most, wealth)
		}
		if !(most >= limit) {
			return p - 1
		}
	}
	return gridMost
}

// TestClimbingBound enumerates all outcomes of an audit of randomised response whose limits
// and bets are chosen as a run chooses them. On every path the bound is that of the definition.
// Whatever the truth, the bound reaches it with no more than its error; and with some.
func TestClimbingBound(t *testing.T) {
	const n, beta, paths = 5, 0.9, 46656 // outputs a side of each of three epochs
	claim := audit.DPClaim(2, 0)
	a := &Audit{Plan: Plan{Mode: Climbing, Beta: beta, Claim: &claim, Samples: 3 * n}, Claim: claim,
		Spec: audit.MechanismSpec{Claim: func(audit.Params) audit.Claim { return claim }}}
	truths := []float64{0.05, 0.2, 0.5, 1, 2} // the log ratio of the shares of yes; those of no have the same
	chance := func(counts [3][2]int, truth float64) float64 {
		all, p := 1.0, math.Exp(truth)/(1+math.Exp(truth))
		for _, c := range counts {
			for side, k := range c {
				rate := p
				if side == 1 {
					rate = 1 - p
				}
				all *= float64(combin.Binomial(n, k)) * math.Pow(rate, float64(k)) * math.Pow(1-rate, float64(n-k))
			}
		}
		return all
	}
	yes, no := classifier.Cells/2+22, classifier.Cells/2-22 // log odds of 1.375
	wrong, seen := make([]float64, len(truths)), 0
	var visit func(arm candidatePair, past accounts, counts [3][2]int, epoch int, places [][]int, logs [][]float64)
	visit = func(arm candidatePair, past accounts, counts [3][2]int, epoch int, places [][]int, logs [][]float64) {
		if epoch == len(counts) {
			seen++
			place, ok := past.edge()
			if !ok {
				place = gridLeast - 1
			}
			if slow := slowBound(a.sequentialThreshold(), places, logs); place != slow {
				t.Fatalf("the bound is at place %d, by the definition at %d", place, slow)
			}
			for i, truth := range truths {
				if ok && a.limit(place) >= truth-1e-9 {
					wrong[i] += chance(counts, truth)
				}
			}
			return
		}
		if epoch > 0 { // bets on all that came before
			var all classifier.Table
			for _, c := range counts[:epoch] {
				for side, k := range c {
					all[side][yes] += k
					all[side][no] += n - k
				}
			}
			w := &weigher{accounts: &past, steps: 1}
			w.tables[0] = new(newSparse(&all))
			must.Do(t, w.weigh(&arm, func(int) error { return nil }))
			past.open(arm.limits)
		}
		for x := range n + 1 {
			for y := range n + 1 {
				counts[epoch] = [2]int{x, y}
				next := past
				next.list = slices.Clone(past.list)
				var table classifier.Table
				table[0][yes], table[0][no], table[1][yes], table[1][no] = x, n-x, y, n-y
				made, filled := make([]float64, len(arm.limits)), make([]*sparse, 1)
				for i, place := range arm.limits {
					made[i] = logEValueOf(next.stakesOf(place, 1), arm.bets, i, []classifier.Table{table}, filled)
				}
				next.add(arm.limits, made)
				visit(arm, next, counts, epoch+1, append(slices.Clip(places), arm.limits), append(slices.Clip(logs), made))
			}
		}
	}
	visit(candidatePair{top: gridDouble}, *a.accounts(), [3][2]int{}, 0, nil, nil)
	t.Logf("the bound reaches the truths %v with probabilities %.4f", truths, wrong)
	if most := slices.Max(wrong); most > beta || most < 0.005 || seen != paths {
		t.Errorf("of %d paths, the bound reaches a truth with probability %v, at beta = %v", seen, most, beta)
	}
}

// TestRefutedIsViolation: a claim of many decimals that is refuted, and no limit above it, is
// a violation; the bound is still to climb above it.
func TestRefutedIsViolation(t *testing.T) {
	claim := audit.DPClaim(1.23456789, 0)
	a := &Audit{Plan: Plan{Mode: UntilRefuted, Beta: 0.05, Claim: &claim}, Claim: claim}
	c := a.accounts()
	c.add([]int{0}, []float64{4})
	if b := c.bound(); b != claim.Epsilon {
		t.Errorf("the bound is %v, of a refuted claim of %v", b, claim.Epsilon)
	}
	a.Plan.Mode = Climbing
	run := sequentialRun{audit: a, accounts: c, used: 1 << 20, climbed: []climb{{1 << 18, claim.Epsilon}}, result: SequentialResult{Refuted: 2}}
	before := run.ended()
	c.open([]int{1})
	if c.add([]int{1}, []float64{4}); before || !run.ended() {
		t.Errorf("ended: %v with no bound above the claim, %v with one that no longer climbs", before, run.ended())
	}
}

// TestRefutedWithAllBelow: a run ends as refuted where the bound is the claim, no sooner: a limit
// below that is not refuted holds up those above it.
func TestRefutedWithAllBelow(t *testing.T) {
	claim := audit.DPClaim(1, 0)
	a := &Audit{Plan: Plan{Mode: UntilRefuted, Beta: 0.05, Claim: &claim}, Claim: claim}
	places := []int{-2, -1, 0, 1}
	for _, logs := range [][]float64{{4, 4, 4, 4}, {4, 4, 4, 1}, {4, 4, 1, 4}, {4, 1, 4, 4}, {1, 4, 4, 4}, {1, 1, 1, 1}} {
		c := a.accounts()
		c.open(places)
		refutes := c.refutes(places, func(i int) float64 { return logs[i] })
		c.add(places, logs)
		if want := slices.Min(logs[:3]) > 3; refutes != want || c.bound() >= claim.Epsilon != want {
			t.Errorf("wealths of %v refute: %v, the bound is %v", logs, refutes, c.bound())
		}
	}
}

// TestChartsShareTheError: whichever pair is in the lead, and whichever of its bins count, the limits
// of all charts that could be shown have no more than all of the error.
func TestChartsShareTheError(t *testing.T) {
	all := 0.0
	for lead := range 1000 {
		for chosen := range 2 {
			r := sequentialRun{candidates: make([]*candidatePair, lead+1), result: SequentialResult{Pairs: make([]audit.Pair, lead+1), Epochs: []Epoch{{Pair: lead, Outputs: 9}}}}
			r.candidates[lead] = &candidatePair{chart: armChart{chosen: chosen + 1, binner: &chart.Binner{Bins: [4][]int{{9}, nil, {9}}}}}
			all += r.chart().Share
		}
	}
	if all > 1 || all < 0.99 {
		t.Errorf("the shares add up to %v", all)
	}
}

// TestSequentialEvidenceIsChecked: epochs come from a report, which may be anything.
func TestSequentialEvidenceIsChecked(t *testing.T) {
	const samples, outputs = 100, 40
	sides := func(first, second int) []byte {
		cells := make([]int, 2*classifier.Cells)
		cells[0], cells[classifier.Cells] = first, second
		return packSparse(cells)
	}
	for name, c := range map[string]struct {
		change func(*SequentialResult, *Epoch)
		ok     bool
	}{
		"as it is":              {func(*SequentialResult, *Epoch) {}, true},
		"all samples":           {func(r *SequentialResult, _ *Epoch) { r.Epochs[0].Outputs = samples - outputs }, true},
		"more than the samples": {func(r *SequentialResult, _ *Epoch) { r.Epochs[0].Outputs = samples - outputs + 1 }, false},
		"no outputs":            {func(r *SequentialResult, _ *Epoch) { r.Epochs[0].Outputs = 0 }, false},
		"a pair beyond":         {func(_ *SequentialResult, e *Epoch) { e.Pair = 2 }, false},
		"a pair before":         {func(_ *SequentialResult, e *Epoch) { e.Pair = -1 }, false},
		"too many pairs":        {func(r *SequentialResult, _ *Epoch) { r.Pairs = make([]audit.Pair, 3+audit.MostScanned) }, false},
		"a candidate uncounted": {func(_ *SequentialResult, e *Epoch) { e.Candidates = append(e.Candidates, "b") }, false},
		"an output fewer":       {func(_ *SequentialResult, e *Epoch) { e.Counts[0] = sides(outputs, outputs-1) }, false},
		"an output more":        {func(_ *SequentialResult, e *Epoch) { e.Counts[0] = sides(outputs+1, outputs) }, false},
		"a limit twice":         {func(_ *SequentialResult, e *Epoch) { e.Limits = []int{0, 0} }, false},
		"a limit too low":       {func(_ *SequentialResult, e *Epoch) { e.Limits[0] = gridLeast - 1 }, false},
		"a limit too high":      {func(_ *SequentialResult, e *Epoch) { e.Limits[1] = gridMost + 1 }, false},
		"an account beyond":     {func(_ *SequentialResult, e *Epoch) { e.Bets[0].Account = 2 }, false},
		"a candidate beyond":    {func(_ *SequentialResult, e *Epoch) { e.Bets[0].Candidate = 1 }, false},
		"a stake below 0":       {func(_ *SequentialResult, e *Epoch) { e.Bets[0].Stake = -1 }, false},
		"a share below 0":       {func(_ *SequentialResult, e *Epoch) { e.Bets[0].Share = -0.5 }, false}, // room for others above 1
		"no share":              {func(_ *SequentialResult, e *Epoch) { e.Bets[0].Share = 0 }, false},
		"more than all":         {func(_ *SequentialResult, e *Epoch) { e.Bets[0].Share = 0.5 + 1e-6 }, false},
	} {
		r := &SequentialResult{Pairs: make([]audit.Pair, 2), Epochs: []Epoch{{Outputs: 9}, {Pair: 1, Outputs: outputs, Limits: []int{0, 1}, Candidates: []string{"a"},
			Counts: [][]byte{sides(outputs, outputs)}, Bets: []Bet{{Share: 0.5}, {Stake: 1, Share: 0.5}, {Account: 1, Share: 1}}}}}
		c.change(r, &r.Epochs[1])
		if err := r.check(Plan{Mode: UntilRefuted, Samples: samples, Trials: 2}); (err == nil) != c.ok {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestPValueOfADivergenceDecidesAsItsBound: at a claim that is the bound itself, too, which the search for
// the bound rounds and the p-value does not.
func TestPValueOfADivergenceDecidesAsItsBound(t *testing.T) {
	const beta = 0.05
	table := bounds.Table{Bins: 2, N: []int{40, 120, 20, 20}}
	plan := must.Get(bounds.TuneRenyi(table, []float64{0.5, -0.5}, 2, table.Pairs(), beta))(t)
	bound := bounds.Renyi(table, plan, beta)
	for _, epsilon := range []float64{bound * 0.9, math.Nextafter(bound, 0), bound, math.Nextafter(bound, 1), bound + 1e-9, bound * 1.1} {
		claim := audit.Claim{Kind: audit.Renyi, Alpha: 2, Epsilon: epsilon}
		c := certificate{&Audit{Plan: Plan{Beta: beta, Claim: &claim}, Claim: claim}, &Evidence{Prepared: Prepared{Goal: &DirectedPlan{RenyiPlan: plan}}, Table: &table}}
		f := report.Row{ID: report.RenyiDivergence}
		if lower := c.goalRenyi(&f); *f.PValue <= beta != (lower > epsilon) {
			t.Errorf("the bound is %v and the p-value %v at a claim of %v", lower, *f.PValue, epsilon)
		}
	}
}
