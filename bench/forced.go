package main

import (
	"context"
	"math"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/audit/stream"
	"github.com/dpscope/dpscope/bounds"
	"github.com/dpscope/dpscope/core/pair"
	"github.com/dpscope/dpscope/estimators/classifier"
)

// What a forced bettor does.
const (
	forcedStake = 0.9975 // of the wealth in every epoch, on one bet
	forcedFirst = 48     // outputs a side of the first epoch
	forcedShare = 8      // of the runs, one in so many
)

// forcedBet is a bet of an epoch.
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

// forcedRun reports whether the wealth of a bettor on the plan's pair, who may keep next to
// nothing back, ever reached 1/beta after an output of each side.
func forcedRun(ctx context.Context, p pair.Plan, seed uint64) bool {
	a := get(p.Resolve(seeded))
	stakes := a.ClaimStakes()
	sides := [2]audit.Dataset{a.Plan.Pair.First, a.Plan.Pair.Second}
	var streams [2]*stream.Stream
	for side := range sides {
		streams[side] = stream.New(stream.Key{Seed: seed, Purpose: "forced bets", Side: side})
	}
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
			check(a.Mechanism.Sample(d, streams[side], rows[side]))
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
	check(ctx.Err())
	return false
}
