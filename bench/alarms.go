package main

import (
	"context"
	"fmt"
	"math"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/audit/stream"
	"github.com/dpscope/dpscope/bounds"
	"github.com/dpscope/dpscope/core/engine"
	"github.com/dpscope/dpscope/core/pair"
	"github.com/dpscope/dpscope/estimators/classifier"
	"github.com/dpscope/dpscope/internal/cli"
	"github.com/dpscope/dpscope/internal/try"
)

type alarmCell struct {
	name, mechanism string
	parameters      audit.Params
	claim           audit.Claim
	pair            int // the mechanism's own pair, from 1, that meets the claim; 0: all of them are tested
	share           int // of the runs, one in so many
}

const (
	alarmBeta     = 0.05
	alarmInterval = 0.001 // error of the interval of a rate of false alarms
)

type alarmRow struct {
	name, claim  string
	alarms, runs int
}

// alarms are those of audits, or of forced bettors, of which there are fewer.
func (l lab) alarms(runs, samples int, seed uint64, forced bool) (rows []alarmRow) {
	one, claim := audit.Params{"epsilon": {Number: 1}}, audit.DPClaim(1, 0)
	// Of the first pair of dp-sgd come Gaussians one deviation apart, and this is their delta at epsilon = 1.
	gaussians := audit.Params{"sigma": {Number: 1}, "clip": {Number: 1}}
	delta := math.Ceil(bounds.GaussianDelta(1, 1)*1e12) / 1e12
	for _, c := range []alarmCell{
		{"randomised response", "randomised-response", one, claim, 0, 1},
		{"Laplace mean, all pairs", "laplace-mean", one, claim, 0, 4},
		{"Laplace mean, the tight pair", "laplace-mean", one, claim, 3, 1},
		{"Laplace by snapping", "laplace-snapping", one, claim, 0, 1},
		{"Gaussian, delta .127", "dp-sgd", gaussians, audit.DPClaim(1, delta), 1, 1},
		{"Gaussian, mu 1", "dp-sgd", gaussians, audit.Claim{Kind: audit.GaussianDP, Mu: 1}, 1, 8},
		{"Gaussian, rho 1/2", "dp-sgd", gaussians, audit.Claim{Kind: audit.ZCDP, Rho: 0.5}, 1, 8},
		{"DP-SGD, order 2", "dp-sgd", audit.Params{"sigma": {Number: 2}, "clip": {Number: 1}, "alpha": {Number: 2}}, audit.Claim{Kind: audit.Renyi, Alpha: 2, Epsilon: 0.25}, 1, 8},
	} {
		if forced && c.name == "Laplace mean, all pairs" { // its first is not tight
			continue
		}
		p := pair.Plan{Version: pair.PlanVersion, Mode: pair.UntilRefuted, Mechanism: c.mechanism, Parameters: c.parameters, Claim: &c.claim, Samples: samples, Beta: alarmBeta}
		a := try.Get(p.Resolve(seeded))
		if forced || c.pair > 0 {
			p.Pair = &a.Spec.Pairs(a.Plan.Parameters, a.Plan.Relation)[max(0, c.pair-1)]
		}
		refuted := results(l, max(1, runs/audit.Pick(forced, forcedShare, c.share)), func(ctx context.Context, run int) bool {
			p := p
			p.Seed = seed + uint64(run)
			a := try.Get(p.Resolve(seeded))
			if forced {
				return forcedRun(ctx, a)
			}
			test := a.SequentialTest()
			return try.Get(engine.Result[pair.SequentialResult](test, func(int) error { return ctx.Err() })).Refuted > 0
		})
		alarms := audit.Count(refuted, func(alarm bool) bool { return alarm })
		l.say("%s: %d of %d", c.name, alarms, len(refuted))
		rows = append(rows, alarmRow{c.name, a.Claim.String(), alarms, len(refuted)})
	}
	return rows
}

func benchAlarms(c *call) {
	var runs, samples int
	c.count(&runs, "runs", 2500, 4, 1_000_000, "audits of a claim")
	c.Count(&samples, "samples", 2000, "outputs a side")
	c.parse()
	var tables []*table
	above := false
	for _, title := range []string{"Audits until the claim is refuted, looked at six times an epoch",
		fmt.Sprintf("Bettors that stake %g %% of their wealth in every epoch, on one pair, looked at after every output of each side", 100*forcedStake)} {
		t := &table{title: title, columns: []string{"claim", "false alarms", "rate", "99.9 % interval", "above beta"}}
		for _, r := range c.alarms(runs, samples, 1, len(tables) > 0) {
			low, high := bounds.LowerProportion(r.alarms, r.runs, alarmInterval/2), bounds.UpperProportion(r.alarms, r.runs, alarmInterval/2)
			above = above || low > alarmBeta
			t.add(r.name, r.claim, of(r.alarms, r.runs), float64(r.alarms)/float64(r.runs), fmt.Sprintf("%.4f..%.4f", low, high), audit.Pick(low > alarmBeta, "yes", "no"))
		}
		tables = append(tables, t)
	}
	c.print(fmt.Sprintf("Claims that just hold: runs in which the wealth ever reached 1/beta, beta = %g, %d outputs a side", alarmBeta, samples), tables...)
	c.exit = audit.Pick(above, cli.ExitViolation, cli.ExitOK)
}

const (
	forcedStake = 0.9975 // of the wealth in every epoch, on one bet
	forcedFirst = 48     // outputs a side of the first epoch
	forcedShare = 8      // of the runs, one in so many
)

type forcedBet struct {
	candidate classifier.Candidate
	stake     int
	reversed  bool
}

// forcedBest is the bet that grew most on what was learned.
func forcedBest(stakes *bounds.Stakes, tables [classifier.Candidates]*classifier.Table) (best forcedBet) {
	most := math.Inf(-1)
	for c, t := range tables {
		if t == nil {
			continue
		}
		var cells []int
		var first, second []float64
		for at := range t[0] {
			if t[0][at]+t[1][at] > 0 {
				cells, first, second = append(cells, at), append(first, float64(t[0][at])), append(second, float64(t[1][at]))
			}
		}
		for stake := range stakes.Len() {
			for _, reversed := range []bool{false, true} {
				if growth := stakes.LogAt(stake, reversed, cells, first, second); growth > most {
					most, best = growth, forcedBet{classifier.Candidate(c), stake, reversed}
				}
			}
		}
	}
	return best
}

// forcedRun reports whether a bettor who may keep next to nothing back ever had 1/beta.
func forcedRun(ctx context.Context, a *pair.Audit) bool {
	stakes := a.ClaimStakes()
	sides := [2]audit.Dataset{a.Plan.Pair.First, a.Plan.Pair.Second}
	streams := audit.Listed(2, func(side int) *stream.Stream {
		return stream.New(stream.Key{Seed: a.Plan.Seed, Purpose: "forced bets", Side: side})
	})
	data, width := classifier.NewData(a.Columns), audit.Width(a.Columns)
	var learner classifier.Learner
	var model *classifier.Model
	var bet forcedBet
	log, goal := 0.0, -math.Log(a.Plan.Beta)
	for done := 0; done < a.Plan.Samples && ctx.Err() == nil; {
		n := min(max(forcedFirst, done/3), a.Plan.Samples-done)
		var rows [2][]float64
		var cells [2][]uint16
		for side, d := range sides {
			rows[side], cells[side] = make([]float64, n*width), make([]uint16, n)
			try.Do(a.Mechanism.Sample(d, streams[side], rows[side]))
			if model != nil {
				model.Score([]classifier.Candidate{bet.candidate}, rows[side], cells[side:side+1])
			}
			data.Add(side, rows[side])
		}
		start, growth := log, 0.0
		for i := 0; i < n && model != nil; i++ {
			growth += stakes.LogAt(bet.stake, bet.reversed, []int{int(cells[0][i])}, []float64{1}, []float64{0}) +
				stakes.LogAt(bet.stake, bet.reversed, []int{int(cells[1][i])}, []float64{0}, []float64{1})
			if log = start + math.Log(1-forcedStake+forcedStake*math.Exp(growth)); log >= goal {
				return true
			}
		}
		var tables [classifier.Candidates]*classifier.Table
		model, tables = learner.Learn(data)
		bet = forcedBest(stakes, tables)
		done += n
	}
	try.Do(ctx.Err())
	return false
}
