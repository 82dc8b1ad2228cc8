package main

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/audit/stream"
	"github.com/dpscope/dpscope/bounds"
	"github.com/dpscope/dpscope/core/pair"
	"github.com/dpscope/dpscope/estimators/classifier"
)

// What a forced bettor does.
const (
	forcedStake = 0.9975 // of the wealth in every epoch
	forcedBets  = 24
	forcedFirst = 48 // outputs a side of the first epoch
	forcedShare = 8  // of the runs, one in so many
)

// forcedStakes are the bets against a claim, of its kind's plainest form.
func forcedStakes(a audit.Claim) *bounds.Stakes {
	odds := make([]float64, classifier.Cells)
	for c := range odds {
		odds[c] = classifier.Logit(c)
	}
	s := new(bounds.Stakes)
	switch a.Kind {
	case audit.GaussianDP:
		var points []bounds.Point
		for _, times := range []float64{0, 0.5, 1, 2, 3} {
			e := times * a.Mu
			points = append(points, bounds.Point{Epsilon: e, Delta: bounds.GaussianDelta(a.Mu, e) + 1e-12})
		}
		return bounds.NewStakes(points, odds)
	case audit.ZCDP:
		for _, alpha := range []float64{1.5, 2, 4, 8} {
			s.AddRenyi(alpha, alpha*a.Rho, odds)
		}
	case audit.Renyi:
		s.AddRenyi(a.Alpha, a.Epsilon, odds)
	default:
		return bounds.NewStakes([]bounds.Point{{Epsilon: a.Epsilon, Delta: a.Delta}}, odds)
	}
	return s
}

// forcedBet is a bet of an epoch.
type forcedBet struct {
	candidate     classifier.Candidate
	stake         int
	reversed      bool
	growth, share float64
}

// forcedBestOf are the bets that grew most on what was learned, with shares by their growth.
func forcedBestOf(stakes *bounds.Stakes, tables [classifier.Candidates]*classifier.Table) (bets []forcedBet) {
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
				bets = append(bets, forcedBet{classifier.Candidate(c), stake, reversed, stakes.LogAt(stake, reversed, cells, first, second), 0})
			}
		}
	}
	slices.SortStableFunc(bets, func(a, b forcedBet) int { return cmp.Compare(b.growth, a.growth) })
	bets = bets[:min(len(bets), forcedBets)]
	sum := 0.0
	for i := range bets {
		bets[i].share = math.Exp(bets[i].growth - bets[0].growth)
		sum += bets[i].share
	}
	for i := range bets {
		bets[i].share *= forcedStake / sum
	}
	return bets
}

// forcedRun reports whether the wealth of a bettor on the plan's pair, who may keep next to
// nothing back, ever reached 1/beta after an output of each side.
func forcedRun(ctx context.Context, p pair.Plan, cat audit.Catalogue, seed uint64) (bool, error) {
	a, err := p.Resolve(cat)
	if err != nil {
		return false, err
	}
	stakes := forcedStakes(a.Claim)
	sides := [2]audit.Dataset{a.Plan.Pair.First, a.Plan.Pair.Second}
	var streams [2]*stream.Stream
	for side := range sides {
		streams[side] = stream.New(stream.Key{Seed: seed, Purpose: "forced bets", Side: side})
	}
	data, width := classifier.NewData(a.Columns), audit.Width(a.Columns)
	var learner classifier.Learner
	var model *classifier.Model
	var bets []forcedBet
	log, goal := 0.0, -math.Log(a.Plan.Beta)
	for done := 0; done < a.Plan.Samples; {
		n := min(max(forcedFirst, done/3), a.Plan.Samples-done)
		var rows [2][]float64
		for side, d := range sides {
			rows[side] = make([]float64, n*width)
			if err := a.Mechanism.Sample(d, streams[side], rows[side]); err != nil {
				return false, err
			}
		}
		var cells [2][classifier.Candidates][]uint16
		for side := range sides {
			for _, b := range bets {
				if cells[side][b.candidate] == nil {
					cells[side][b.candidate] = make([]uint16, n)
					model.Score([]classifier.Candidate{b.candidate}, rows[side], [][]uint16{cells[side][b.candidate]})
				}
			}
		}
		logs, start := make([]float64, len(bets)), log
		for i := range n {
			if len(bets) == 0 {
				break
			}
			wealth := 1 - forcedStake
			for k, b := range bets {
				x, y := int(cells[0][b.candidate][i]), int(cells[1][b.candidate][i])
				logs[k] += stakes.LogAt(b.stake, b.reversed, []int{x}, []float64{1}, []float64{0}) + stakes.LogAt(b.stake, b.reversed, []int{y}, []float64{0}, []float64{1})
				wealth += b.share * math.Exp(logs[k])
			}
			if log = start + math.Log(wealth); log >= goal {
				return true, nil
			}
		}
		for side := range sides {
			data.Add(side, rows[side])
		}
		if done += n; ctx.Err() != nil {
			return false, ctx.Err()
		}
		var tables [classifier.Candidates]*classifier.Table
		model, tables = learner.Learn(data)
		bets = forcedBestOf(stakes, tables)
	}
	return false, nil
}
