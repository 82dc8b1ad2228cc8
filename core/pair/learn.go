package pair

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"sort"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/audit/stream"
	"github.com/dpscope/dpscope/bounds"
	"github.com/dpscope/dpscope/core/engine"
	"github.com/dpscope/dpscope/core/pair/chart"
	"github.com/dpscope/dpscope/core/pair/threshold"
	"github.com/dpscope/dpscope/core/report"
)

// explore trains on the first half of the outputs and picks learner, direction and threshold on the other.
func (t Explore) explore(hook engine.Hook) (*Explored, error) {
	a := t.audit
	if t.Outputs < 2 || t.Outputs > maxExploreCells/(2*audit.Width(a.Columns)) {
		return nil, audit.Fault("task: field outputs", t.Outputs, "few enough for memory")
	}
	var half [2][2]audit.Samples // side, then train and validate
	purpose := purposeExplore
	if t.Round > 0 {
		purpose = fmt.Sprintf("%s, round %d", purposeExplore, t.Round)
	}
	for side := range half {
		all, err := newSource(a, t.Pair, purpose, t.Trial, side, hook).draw(t.Outputs)
		if err != nil {
			return nil, err
		}
		mid := all.Len() / 2
		half[side] = [2]audit.Samples{all.Slice(0, mid), all.Slice(mid, all.Len())}
	}
	steps, err := a.steps(t.Pair)
	if err != nil {
		return nil, err
	}
	best, err := portfolio(a.grouped(steps), t, half, hook)
	if err != nil {
		return nil, err
	}
	best.inUnits(steps)
	best.Pair, best.Chart = t.Pair, chart.New(a.Columns, half[0][0], half[1][0], best.model)
	return best, nil
}

const (
	simplicity = 0.01 // share by which a learner must beat one before it, which is easier to read
	shownLeast = 0.9  // share of another stage's bound that shows it: no further learner learns
	areaErr    = 0.2  // over the root of the outputs a side, about the standard error of a difference of areas
)

// surest chooses among the best learner and those within a standard error of its value, whose event
// is as easy to read: by the area under the curve of all scores, as few outputs are in a rare event.
// Where areas differ by chance and simplicity alone, a steady learner comes before the largest value.
func surest(best *Explored, all []*Explored) *Explored {
	most := 0.0
	var near []*Explored
	for _, e := range all {
		behind := best.expected - e.expected // by 0: the first listed found the same event
		if e == best || !best.simpler(e) && behind != 0 && behind <= math.Sqrt(best.variance+e.variance) {
			near, most = append(near, e), max(most, e.area)
		}
	}
	var found *Explored
	for _, e := range near {
		if e.area >= float64((1-simplicity)*most)-areaErr/math.Sqrt(float64(e.Explored.Pairs())) && (found == nil || !found.steady && (e.steady || e.expected > found.expected)) {
			found = e
		}
	}
	return found
}

// simpler: the event is easier to read, and expected to certify nearly as much.
func (e *Explored) simpler(than *Explored) bool {
	return e.pieces < than.pieces && e.expected >= than.expected-float64(threshold.Nearly*math.Abs(than.expected))
}

// piecesOf tells how many intervals of the output an event is, at most intervalMost+1: words list no
// more. Nil where an output is no single number.
func piecesOf(columns []audit.Column, half [2][2]audit.Samples, scores [2][]float64) func(threshold.Choice) int {
	if audit.Width(columns) != 1 {
		return nil
	}
	type scored struct{ x, score float64 }
	var all []scored
	for side, s := range scores {
		for i, x := range half[side][1].Rows[:min(BlockRows, len(s))] {
			all = append(all, scored{x, s[i]})
		}
	}
	sort.Slice(all, func(i, j int) bool { return all[i].x < all[j].x })
	return func(c threshold.Choice) (n int) {
		inside := false
		for _, p := range all {
			in := c.Has(p.score)
			if in && !inside && n <= intervalMost {
				n++
			}
			inside = in
		}
		return max(1, n)
	}
}

// portfolio is the best witness of the learners that apply, by the validation halves.
func portfolio(a *Audit, t Explore, half [2][2]audit.Samples, hook engine.Hook) (*Explored, error) {
	var learners []audit.LearnerSpec
	if a.Plan.Learner != audit.Auto {
		l, _ := a.cat.Learner(a.Plan.Learner) // the plan is resolved
		learners = []audit.LearnerSpec{l}
	} else {
		bits := slices.ContainsFunc(a.Columns, func(c audit.Column) bool { return c.Bits })
		for _, l := range a.cat.Learners {
			asked := len(t.Learners) == 0 || slices.Contains(t.Learners, l.Name)
			if asked && (!l.ByName || l.Bits && bits) && l.Applies(a.Columns) == nil {
				learners = append(learners, l)
			}
		}
	}
	if len(learners) == 0 {
		return nil, fmt.Errorf("no learner applies to the outputs of %s", a.Spec.Name)
	}
	check := func() error { return hook(0) }
	var best *Explored
	var all []*Explored
	var notes []LearnerNote
	most := threshold.Worthless // of any learner: pairs are ranked by what they show at most
	for i, l := range learners {
		found, err := learn(l, a, half, stream.New(stream.Key{Seed: a.Plan.Seed, Purpose: purposeLearn, Trial: t.Trial, Shard: i}), check)
		if stop := check(); stop != nil {
			return nil, stop
		}
		if err != nil {
			notes = append(notes, LearnerNote{Learner: l.Name, Value: threshold.Worthless, Note: err.Error()})
			continue
		}
		most = max(most, found.Value)
		notes = append(notes, LearnerNote{Learner: l.Name, Value: found.expected})
		if best == nil || found.simpler(best) || !best.simpler(found) && found.expected > best.expected+max(threshold.ValueMargin, float64(simplicity*best.expected)) {
			best = found
		}
		all = append(all, found)
		if t.Proven != nil && *t.Proven > 0 && best.expected >= float64(shownLeast**t.Proven) {
			break
		}
	}
	if best == nil {
		return nil, fmt.Errorf("no learner could learn from the outputs of %s: %s: %s", a.Spec.Name, notes[0].Learner, notes[0].Note)
	}
	if t.Proven == nil {
		best = surest(best, all)
	}
	best.Learners, best.Value = notes, most
	var err error
	best.Witness.Model, err = json.Marshal(best.model)
	return best, err
}

func learn(l audit.LearnerSpec, a *Audit, half [2][2]audit.Samples, st *stream.Stream, check func() error) (*Explored, error) {
	m, err := l.Learn(audit.Exploration{First: half[0][0], Second: half[1][0], Claim: a.learnClaim(), Stream: st, Check: check})
	if err != nil {
		return nil, err
	}
	var scores [2][]float64
	for side := range scores {
		valid := half[side][1]
		scores[side] = make([]float64, valid.Len())
		for lo := 0; lo < valid.Len(); lo += BlockRows {
			hi := min(lo+BlockRows, valid.Len())
			m.Score(valid.Slice(lo, hi).Rows, scores[side][lo:hi])
			if err := check(); err != nil {
				return nil, err
			}
		}
		if i := audit.NonFinite(scores[side]); i >= 0 {
			return nil, fmt.Errorf("a score is %s, must be finite", audit.Number(scores[side][i]))
		}
	}
	_, delta := a.dpLimits()
	sorted := [2][]float64{slices.Sorted(slices.Values(scores[0])), slices.Sorted(slices.Values(scores[1]))}
	pieces := piecesOf(a.Columns, half, scores)
	best, others := threshold.Choose(sorted[0], sorted[1], delta, a.Plan.Beta, a.Plan.Samples, pieces)
	keep := audit.Each(others, func(c threshold.Choice) float64 { return c.Threshold })
	edges := threshold.Edges(sorted[0], sorted[1], append(keep, best.Threshold)...)
	prepared := Prepared{Event: best.In(edges)}
	for _, c := range others {
		prepared.Alternatives = append(prepared.Alternatives, threshold.Alternative{Event: c.In(edges), Share: threshold.AlternativeShare})
	}
	n := min(len(scores[0]), len(scores[1]))
	halves := [2]bounds.Table{threshold.TableOf(edges, scores[0][:n/2], scores[1][:n/2]), threshold.TableOf(edges, scores[0][n/2:n], scores[1][n/2:n])}
	value := a.worth(best, halves)
	found := &Explored{
		Evidence: Evidence{Witness: Witness{Learner: l.Name}, Edges: edges, Explored: halves[0].Add(halves[1]), Prepared: prepared},
		model:    m, Value: value, expected: a.foresee(value, scores, halves), area: math.Abs(bounds.AUROC(sorted[0], sorted[1]) - 0.5), steady: l.Steady,
	}
	if a.Plan.goal() == report.Epsilon {
		c := best.CountsOf(sorted[0], sorted[1])
		found.variance = 1/float64(c.X+1) + 1/float64(c.Y+4) // an upper limit of no outputs is as uncertain as four
		if pieces != nil {
			found.pieces = pieces(best)
		}
	} else {
		found.variance = found.expected * found.expected * min(0.02, 100/float64(n)) // of a divergence, as measured
	}
	return found, nil
}
