package main

import (
	"context"
	"fmt"
	"io"
	"math"
	"slices"
	"text/tabwriter"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/audit/stream"
	"github.com/dpscope/dpscope/bounds"
	"github.com/dpscope/dpscope/core/engine"
	"github.com/dpscope/dpscope/core/pair"
	"github.com/dpscope/dpscope/estimators/classifier"
	"github.com/dpscope/dpscope/internal/cli"
)

// alarmInterval is the error of the interval of a rate of false alarms.
const alarmInterval = 0.001

// alarmCell is a claim that just holds.
type alarmCell struct {
	name       string
	mechanism  string
	parameters audit.Params
	claim      audit.Claim
	pair       int // the mechanism's own pair, from 1, that meets the claim; 0: all of them are raced
	share      int // of the runs, one in so many
}

// tightDelta is the delta of the leaky response.
const tightDelta = 0.02

func alarmCells() []alarmCell {
	one := audit.Params{"epsilon": {Number: 1}}
	return []alarmCell{
		{"randomised response", "randomised-response", one, audit.DPClaim(1, 0), 0, 1},
		{"Laplace mean, all pairs", "laplace-mean", one, audit.DPClaim(1, 0), 0, 4},
		{"Laplace mean, the tight pair", "laplace-mean", one, audit.DPClaim(1, 0), 3, 1},
		{"Laplace by snapping", "laplace-snapping", one, audit.DPClaim(1, 0), 0, 1},
		{"Gaussian, delta .127", "gaussian-one", nil, audit.DPClaim(1, gaussianOneDelta), 0, 1},
		{"leaky response, delta .02", "leaky-response", nil, audit.DPClaim(1, tightDelta), 0, 4},
		{"Gaussian, mu 1", "gaussian-one", nil, audit.Claim{Kind: audit.GaussianDP, Mu: 1}, 0, 8},
		{"Gaussian, rho 1/2", "gaussian-one", nil, audit.Claim{Kind: audit.ZCDP, Rho: 0.5}, 0, 8},
		{"Gaussian, order 2", "gaussian-one", nil, audit.Claim{Kind: audit.Renyi, Alpha: 2, Epsilon: 1}, 0, 8},
		{"DP-SGD, order 2", "dp-sgd", audit.Params{"sigma": {Number: 2}, "clip": {Number: 1}, "alpha": {Number: 2}}, audit.Claim{Kind: audit.Renyi, Alpha: 2, Epsilon: 0.25}, 1, 8},
	}
}

// gaussianOneDelta is the delta of Gaussians one deviation apart at epsilon = 1.
var gaussianOneDelta = math.Ceil(bounds.GaussianDelta(1, 1)*1e12) / 1e12

// oneBit is a mechanism of one bit whose every quantity is known.
type oneBit struct {
	kind audit.ColumnKind
	draw func(bit float64, s *stream.Stream, out []float64)
}

func (m oneBit) Columns() []audit.Column { return []audit.Column{{Name: "output", Kind: m.kind}} }

func (m oneBit) Sample(d audit.Dataset, s *stream.Stream, out []float64) error {
	m.draw(d.Values[0], s, out)
	return nil
}

func (m oneBit) spec(name string, claim audit.Claim) audit.MechanismSpec {
	return audit.MechanismSpec{
		Name: name, Title: name, Source: "this bench", Custom: true,
		Relations: func(audit.Params) []audit.Relation { return []audit.Relation{audit.Replace} },
		Claim:     func(audit.Params) audit.Claim { return claim },
		Truth:     func(audit.Params) string { return claim.String() },
		Domain: func(audit.Params, audit.Relation) audit.Domain {
			return audit.Domain{Columns: 1, MinRows: 1, MaxRows: 1, Lower: []float64{0}, Upper: []float64{1}, Integer: true}
		},
		Pairs: func(audit.Params, audit.Relation) []audit.Pair {
			return []audit.Pair{{Label: "1 against 0", First: audit.Records(1), Second: audit.Records(0)}}
		},
		New: func(audit.Params) (audit.Mechanism, error) { return m, nil },
	}
}

// alarmCatalogue has the mechanisms of one bit too.
func alarmCatalogue() audit.Catalogue {
	gaussian := oneBit{audit.Real, func(bit float64, s *stream.Stream, out []float64) {
		s.Gaussian(out, 1)
		for i := range out {
			out[i] += bit
		}
	}}
	lie := stream.Logistic(-1)
	leaky := oneBit{audit.Symbol, func(bit float64, s *stream.Stream, out []float64) {
		s.Uniform(out, 0, 1)
		for i, u := range out {
			switch {
			case u < tightDelta: // the bit, for all to see
				out[i] = 2 + bit
			case u < tightDelta+float64((1-tightDelta)*lie):
				out[i] = 1 - bit
			default:
				out[i] = bit
			}
		}
	}}
	return cli.With(cli.With(seeded, gaussian.spec("gaussian-one", audit.DPClaim(1, gaussianOneDelta))), leaky.spec("leaky-response", audit.DPClaim(1, tightDelta)))
}

// alarmRow is a line of the result.
type alarmRow struct {
	Name   string  `json:"name"`
	Claim  string  `json:"claim"`
	Alarms int     `json:"falseAlarms"`
	Runs   int     `json:"runs"`
	Looks  int     `json:"looks,omitempty"` // at the median
	Lower  float64 `json:"rateLower"`       // 99.9 % Clopper-Pearson
	Upper  float64 `json:"rateUpper"`
	Above  bool    `json:"aboveBeta"`
}

func (r *alarmRow) judge(beta float64) {
	r.Lower = bounds.LowerProportion(r.Alarms, r.Runs, alarmInterval/2)
	r.Upper = bounds.UpperProportion(r.Alarms, r.Runs, alarmInterval/2)
	r.Above = r.Lower > beta
}

// alarmPlan is what is asked for.
type alarmPlan struct {
	Runs    int     `json:"runs"`
	Samples int     `json:"samples"` // outputs a side
	Beta    float64 `json:"beta"`
	Seed    uint64  `json:"seed"`
}

// alarmResult is what came of it.
type alarmResult struct {
	Plan   alarmPlan  `json:"plan"`
	Races  []alarmRow `json:"races"`
	Forced []alarmRow `json:"forced"`
}

// sequentialAlarms counts how often claims that just hold are refuted: by races, and by
// bettors that must bet nearly all that they have in every epoch, looked at after every
// output of each side.
func sequentialAlarms(ctx context.Context, plan alarmPlan, cells []alarmCell, workers int, say func(string, ...any)) (alarmResult, error) {
	cat := alarmCatalogue()
	result := alarmResult{Plan: plan}
	for _, forced := range []bool{false, true} {
		for _, c := range cells {
			p := pair.Plan{Version: pair.PlanVersion, Mode: pair.UntilRefuted, Mechanism: c.mechanism, Parameters: c.parameters, Claim: new(c.claim), Samples: plan.Samples, Beta: plan.Beta}
			a, err := p.Resolve(cat)
			if err != nil {
				return result, err
			}
			if pairs := a.Spec.Pairs(a.Plan.Parameters, a.Plan.Relation); forced || c.pair > 0 {
				p.Pair = new(pairs[max(0, c.pair-1)])
			}
			if forced && c.pair == 0 && c.mechanism == "laplace-mean" { // no pair of its own that is tight
				continue
			}
			runs := max(1, plan.Runs/c.share)
			if forced {
				runs = max(1, plan.Runs/forcedShare)
			}
			refuted, looks := make([]bool, runs), make([]int, runs)
			err = each(ctx, workers, runs, func(ctx context.Context, run int) error {
				p := p
				p.Seed = plan.Seed + uint64(run)
				a, err := p.Resolve(cat)
				if err != nil {
					return err
				}
				if forced {
					refuted[run], err = forcedRun(ctx, a)
					looks[run] = plan.Samples
					return err
				}
				r, err := engine.Result[pair.SequentialResult](a.SequentialTest(), func(int) error { return ctx.Err() })
				if err == nil {
					refuted[run] = r.Refuted
				}
				return err
			})
			if err != nil {
				return result, err
			}
			row := alarmRow{Name: c.name, Claim: a.Claim.String(), Runs: runs}
			for _, alarm := range refuted {
				if alarm {
					row.Alarms++
				}
			}
			row.judge(plan.Beta)
			if forced {
				row.Looks = plan.Samples
				result.Forced = append(result.Forced, row)
			} else {
				result.Races = append(result.Races, row)
			}
			say("%s: %d of %d", row.Name, row.Alarms, row.Runs)
		}
	}
	return result, nil
}

// What a forced bettor does.
const (
	forcedStake = 0.9975 // of the wealth in every epoch
	forcedBets  = 24
	forcedFirst = 48 // outputs a side of the first epoch
	forcedShare = 8  // of the runs, one in so many
)

// forcedStakes are the bets against a claim, of its kind's plainest form.
func forcedStakes(a *audit.Claim, odds []float64) *bounds.Stakes {
	switch a.Kind {
	case audit.GaussianDP:
		var points []bounds.Point
		for _, times := range []float64{0, 0.5, 1, 2, 3} {
			e := times * a.Mu
			points = append(points, bounds.Point{Epsilon: e, Delta: bounds.GaussianDelta(a.Mu, e) + 1e-12})
		}
		return bounds.NewStakes(points, odds)
	case audit.ZCDP, audit.Renyi:
		s := new(bounds.Stakes)
		if a.Kind == audit.Renyi {
			s.AddRenyi(a.Alpha, a.Epsilon, odds)
		} else {
			for _, alpha := range []float64{1.5, 2, 4, 8} {
				s.AddRenyi(alpha, alpha*a.Rho, odds)
			}
		}
		return s
	}
	return bounds.NewStakes([]bounds.Point{{Epsilon: a.Epsilon, Delta: a.Delta}}, odds)
}

// forcedRun reports whether the wealth of a bettor on one pair, who may keep next to
// nothing back, ever reached 1/beta after an output of each side.
func forcedRun(ctx context.Context, a *pair.Audit) (bool, error) {
	odds := make([]float64, classifier.Cells)
	for c := range odds {
		odds[c] = classifier.Logit(c)
	}
	stakes := forcedStakes(&a.Claim, odds)
	sides := [2]audit.Dataset{a.Plan.Pair.First, a.Plan.Pair.Second}
	var streams [2]*stream.Stream
	for side := range sides {
		streams[side] = stream.New(stream.Key{Seed: a.Plan.Seed, Purpose: "forced bets", Side: side})
	}
	data, width := classifier.NewData(a.Columns), audit.Width(a.Columns)
	var learner classifier.Learner
	var model *classifier.Model
	type bet struct {
		candidate, stake int
		reversed         bool
		growth, share    float64
	}
	var bets []bet
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
		if len(bets) > 0 {
			list := make([]classifier.Candidate, 0, classifier.Candidates)
			for _, b := range bets {
				if c := classifier.Candidate(b.candidate); !slices.Contains(list, c) {
					list = append(list, c)
				}
			}
			var cells [2][][]uint16
			for side := range sides {
				for range list {
					cells[side] = append(cells[side], make([]uint16, n))
				}
				model.Score(list, rows[side], cells[side])
			}
			logs, start := make([]float64, len(bets)), log
			for i := range n {
				wealth := 1 - forcedStake
				for k, b := range bets {
					at := slices.Index(list, classifier.Candidate(b.candidate))
					x, y := int(cells[0][at][i]), int(cells[1][at][i])
					logs[k] += stakes.LogAt(b.stake, b.reversed, []int{x}, []float64{1}, []float64{0}) + stakes.LogAt(b.stake, b.reversed, []int{y}, []float64{0}, []float64{1})
					wealth += b.share * math.Exp(logs[k])
				}
				if log = start + math.Log(wealth); log >= goal {
					return true, nil
				}
			}
		}
		for side := range sides {
			data.Add(side, rows[side])
		}
		done += n
		if err := ctx.Err(); err != nil {
			return false, err
		}
		var tables [classifier.Candidates]*classifier.Table
		model, tables = learner.Learn(data)
		bets = bets[:0]
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
					bets = append(bets, bet{c, stake, reversed, stakes.LogAt(stake, reversed, cells, first, second), 0})
				}
			}
		}
		slices.SortStableFunc(bets, func(a, b bet) int {
			switch {
			case a.growth > b.growth:
				return -1
			case a.growth < b.growth:
				return 1
			}
			return 0
		})
		bets = bets[:min(len(bets), forcedBets)]
		sum := 0.0
		for i := range bets {
			bets[i].share = math.Exp(bets[i].growth - bets[0].growth)
			sum += bets[i].share
		}
		for i := range bets {
			bets[i].share *= forcedStake / sum
		}
	}
	return false, nil
}

// showAlarms prints the result; the exit code says whether a rate is above beta.
func (c *call) showAlarms(r alarmResult) (int, error) {
	above := slices.ContainsFunc(slices.Concat(r.Races, r.Forced), func(r alarmRow) bool { return r.Above })
	return code(!above), c.emit(r, func(w io.Writer) {
		fmt.Fprintf(w, "Claims that just hold: runs in which the wealth ever reached 1/beta, beta = %s, %d outputs a side, seeds from %d\n", audit.Number(r.Plan.Beta), r.Plan.Samples, r.Plan.Seed)
		for _, part := range []struct {
			title string
			rows  []alarmRow
		}{
			{"Audits until the claim is refuted, looked at six times an epoch", r.Races},
			{fmt.Sprintf("Bettors that stake %s %% of their wealth in every epoch, on one pair, looked at after every output of each side", audit.Number(100*forcedStake)), r.Forced},
		} {
			fmt.Fprintf(w, "\n%s\n\n", part.title)
			t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
			fmt.Fprintln(t, "claim that just holds\tclaim\tfalse alarms\trate\t99.9 % interval\tabove beta")
			for _, r := range part.rows {
				fmt.Fprintf(t, "%s\t%s\t%d/%d\t%.4f\t%.4f..%.4f\t%s\n", r.Name, r.Claim, r.Alarms, r.Runs, float64(r.Alarms)/float64(r.Runs), r.Lower, r.Upper, map[bool]string{true: "yes", false: "no"}[r.Above])
			}
			t.Flush()
		}
	})
}
