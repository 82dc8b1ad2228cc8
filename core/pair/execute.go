package pair

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/audit/stream"
	"github.com/dpscope/dpscope/bounds"
	"github.com/dpscope/dpscope/core/engine"
)

// Purposes of random streams. The words are part of the seed.
const (
	purposeExplore = "explore"
	purposeCertify = "certify"
	purposeLearn   = "learn"
	purposeFind    = "find"
)

func (t Prepare) execute(cat audit.Catalogue) (*Prepared, error) {
	a, err := t.Plan.Resolve(cat)
	if err != nil {
		return nil, err
	}
	if err := t.Explored.Validate(); err != nil {
		return nil, err
	}
	p, err := a.prepare(t.Explored, t.Event, t.Hedges, t.Steps)
	return &p, err
}

func (t Bound) execute(cat audit.Catalogue) (*Certified, error) {
	a, err := t.Plan.Resolve(cat)
	if err != nil {
		return nil, err
	}
	for _, x := range []bounds.Table{t.Table, t.Explored} {
		if err := x.Validate(); err != nil {
			return nil, err
		}
	}
	if t.Table.Bins != t.Explored.Bins {
		return nil, &audit.InputError{Field: "task: field table", Found: fmt.Sprintf("of %d bins", t.Table.Bins), Want: fmt.Sprintf("of %d, as explored", t.Explored.Bins)}
	}
	if err := t.Prepared.check(a.Plan, t.Table.Bins); err != nil {
		return nil, err
	}
	if t.Prepared.Steps > 1 {
		c := certificate{audit: a.grouped(t.Prepared.Steps), prepared: t.Prepared, table: t.Table, explored: t.Explored, beta: a.Plan.boundBeta()}
		all := c.inGroup(a.Claim)
		return &all, nil
	}
	c := certificate{audit: a.at(t.Prepared.Point), prepared: t.Prepared, table: t.Table, explored: t.Explored, beta: a.Plan.boundBeta()}
	all := c.all()
	return &all, nil
}

// source draws outputs of one side of a pair in blocks.
type source struct {
	audit   *Audit
	data    audit.Dataset
	side    int
	purpose string
	trial   int
	width   int
	from    audit.Mechanism
	most    int         // outputs of one call
	hook    engine.Hook // after each of several calls for a block; nil: none
}

// alive is the source with a sign of life between calls that take long.
func (s source) alive(hook engine.Hook) source {
	s.hook = hook
	return s
}

func newSource(a *Audit, p audit.Pair, purpose string, trial, side int) source {
	data := p.First
	if side == 1 {
		data = p.Second
	}
	m := a.Mechanism
	if s, ok := m.(audit.Summariser); ok {
		m = s.For(p)
	}
	return source{audit: a, data: data, side: side, purpose: purpose, trial: trial, width: audit.Width(a.Columns), from: m, most: a.blockRows()}
}

// stream is the randomness of one shard.
func (s source) stream(shard int) *stream.Stream {
	return stream.New(stream.Key{Seed: s.audit.Plan.Seed, Purpose: s.purpose, Trial: s.trial, Side: s.side, Shard: shard})
}

// block fills out with outputs; what is no number is an outcome of its own.
// Recorded outputs are those from number at on, all phases of the run counted.
func (s source) block(st *stream.Stream, at int, out []float64) error {
	name := s.audit.Spec.Name
	var err error
	if r, ok := s.from.(audit.Recorded); ok {
		err = r.Recorded(s.audit.Plan.Seed, s.side, at, out)
	} else {
		for left := out; len(left) > 0 && err == nil; {
			n := min(s.most*s.width, len(left))
			// A copy: code that sorts or clips its rows in place must not change what
			// the next call sees.
			data := audit.Dataset{Columns: s.data.Columns, Values: append([]float64{}, s.data.Values...)}
			if err = s.from.Sample(data, st, left[:n]); err == nil && s.hook != nil && n < len(left) {
				if err := s.hook(0); err != nil {
					return err
				}
			}
			left = left[n:]
		}
	}
	if err != nil {
		return fmt.Errorf("mechanism %s on the %s dataset: %w", name, sideName(s.side), err)
	}
	audit.TakeOutcomes(s.audit.Columns, out)
	if i := audit.NonFinite(out); i >= 0 {
		return &audit.InputError{Field: fmt.Sprintf("output of mechanism %s on the %s dataset, number %d of %d", name, sideName(s.side), i%s.width+1, s.width),
			Found: audit.Number(out[i]), Want: "finite", Remedy: "describe values that are not numbers as symbols"}
	}
	return nil
}

func sideName(side int) string {
	if side == 1 {
		return "second"
	}
	return "first"
}

// execute draws the exploration outputs of a pair, trains on the first half
// and picks learner, direction and threshold on the second.
func (t Explore) execute(cat audit.Catalogue, hook engine.Hook) (*Explored, error) {
	a, err := t.Plan.Resolve(cat)
	if err != nil {
		return nil, err
	}
	var half [2][2]audit.Samples // side, then train and validate
	for side := range half {
		if t.Outputs < 2 || t.Outputs > maxExploreCells/(2*audit.Width(a.Columns)) {
			return nil, &audit.InputError{Field: "task: field outputs", Found: fmt.Sprint(t.Outputs), Want: "some that memory holds"}
		}
		purpose := purposeExplore
		if t.Round > 0 {
			purpose = fmt.Sprintf("%s, round %d", purposeExplore, t.Round)
		}
		all, err := newSource(a, t.Pair, purpose, t.Trial, side).alive(hook).draw(t.Outputs, hook)
		if err != nil {
			return nil, err
		}
		mid := all.Len() / 2
		half[side] = [2]audit.Samples{all.Slice(0, mid), all.Slice(mid, all.Len())}
	}
	steps := 1
	if a.Plan.Group > 1 {
		if steps, err = a.steps(t.Pair); err != nil {
			return nil, err
		}
	}
	best, err := portfolio(cat, a.grouped(steps), t, half, hook)
	if err != nil {
		return nil, err
	}
	best.inUnits(steps)
	m, err := best.Witness.decode(cat, a.Columns)
	if err != nil {
		return nil, err
	}
	best.Chart = newChart(a.Columns, half[0][0], half[1][0], m)
	return best, nil
}

// draw returns n outputs of the source, shard after shard.
func (s source) draw(n int, hook engine.Hook) (audit.Samples, error) {
	all := audit.Samples{Columns: s.audit.Columns, Rows: make([]float64, n*s.width)}
	for lo := 0; lo < n; lo += ShardRows {
		st := s.stream(lo / ShardRows)
		for at := lo; at < min(lo+ShardRows, n); at += BlockRows {
			end := min(at+BlockRows, n)
			if err := s.block(st, at, all.Rows[at*s.width:end*s.width]); err != nil {
				return audit.Samples{}, err
			}
			if err := hook(end - at); err != nil {
				return audit.Samples{}, err
			}
		}
	}
	return all, nil
}

// execute draws one shard on both sides and counts pairs: output i on the first
// dataset with output i on the second.
func (t Certify) execute(cat audit.Catalogue, hook engine.Hook) (*Counted, error) {
	a, err := t.Plan.Resolve(cat)
	if err != nil {
		return nil, err
	}
	n := min(a.shardRows(), a.Plan.Samples-t.Shard*a.shardRows())
	if t.Shard < 0 || n <= 0 {
		return nil, &audit.InputError{Field: "task: field shard", Found: fmt.Sprint(t.Shard), Want: fmt.Sprintf("in [0, %d]", a.shards()-1)}
	}
	if err := checkEdges(t.Edges); err != nil {
		return nil, err
	}
	if err := t.Event.check(len(t.Edges)); err != nil {
		return nil, err
	}
	model, err := t.Witness.decode(cat, a.Columns)
	if err != nil {
		return nil, err
	}
	binner, err := t.Chart.binner(a.Columns)
	if err != nil {
		return nil, err
	}
	counted := Counted{Rows: n}
	for k := range counted.Chart {
		counted.Chart[k] = make([]int, t.Chart.bins())
	}
	width := audit.Width(a.Columns)
	plane := t.Chart.Plane.counter()
	rows, scores := make([]float64, BlockRows*width), make([]float64, BlockRows)
	event := t.Event.bins(len(t.Edges) + 1)
	bins := [2][]uint16{make([]uint16, n), make([]uint16, n)}
	for side := range bins {
		// The trial is part of the stream's key: certification has its own purpose
		// and one trial only, number 0.
		src := newSource(a, t.Pair, purposeCertify, 0, side).alive(hook)
		st := src.stream(t.Shard)
		for at := 0; at < n; at += BlockRows {
			k := min(BlockRows, n-at)
			if err := src.block(st, a.Plan.Explore+t.Shard*a.shardRows()+at, rows[:k*width]); err != nil {
				return nil, err
			}
			model.Score(rows[:k*width], scores[:k])
			binScores(t.Edges, scores[:k], bins[side][at:at+k])
			binner.count(rows[:k*width], scores[:k], bins[side][at:at+k], event, counted.Chart[2*side], counted.Chart[2*side+1])
			plane.count(side, rows[:k*width], scores[:k])
			if err := hook(k); err != nil {
				return nil, err
			}
		}
	}
	table := bounds.NewTable(len(t.Edges) + 1)
	countPairs(table, bins[0], bins[1])
	counted.Cells, counted.Plane = packCounts(table.N), plane.packed()
	return &counted, nil
}

// worthless is the value of a witness that shows nothing. It is finite, as
// JSON has no infinity.
const worthless = -99.0

// valueMargin is how much better a trial must be to displace an earlier one:
// differences in the last bits between platforms decide nothing.
const valueMargin = 2.5e-9

// simplicity is the share by which a learner must do better than one that is
// listed before it: the catalogue lists what is easiest to read first.
const simplicity = 0.01

// portfolio trains the learners that apply and returns the witness that does
// best on the validation halves.
func portfolio(cat audit.Catalogue, a *Audit, t Explore, half [2][2]audit.Samples, hook engine.Hook) (*Explored, error) {
	var learners []audit.LearnerSpec
	if a.Plan.Learner != audit.Auto {
		l, err := cat.Learner(a.Plan.Learner)
		if err != nil {
			return nil, err
		}
		learners = []audit.LearnerSpec{l}
	} else {
		for _, l := range cat.Learners {
			if !l.ByName && l.Applies(a.Columns) == nil && (len(t.Learners) == 0 || slices.Contains(t.Learners, l.Name)) {
				learners = append(learners, l)
			}
		}
	}
	if len(learners) == 0 {
		return nil, fmt.Errorf("no learner applies to the outputs of %s", a.Spec.Name)
	}
	check := func() error { return hook(0) }
	var best *Explored
	var notes []LearnerNote
	for i, l := range learners {
		found, err := learn(l, a, half, stream.New(stream.Key{Seed: a.Plan.Seed, Purpose: purposeLearn, Trial: t.Trial, Shard: i}), check)
		if stop := check(); stop != nil {
			return nil, stop
		}
		if err != nil {
			notes = append(notes, LearnerNote{Learner: l.Name, Value: worthless, Note: err.Error()})
			continue
		}
		notes = append(notes, LearnerNote{Learner: l.Name, Value: found.promised})
		if best == nil || found.promised > best.promised+max(valueMargin, float64(simplicity*best.promised)) {
			best = found
		}
	}
	if best == nil {
		return nil, fmt.Errorf("no learner could learn from the outputs of %s: %s: %s", a.Spec.Name, notes[0].Learner, notes[0].Note)
	}
	best.Learners = notes
	return best, nil
}

// learn trains one learner and picks its threshold and direction.
func learn(l audit.LearnerSpec, a *Audit, half [2][2]audit.Samples, st *stream.Stream, check func() error) (*Explored, error) {
	m, err := l.Learn(audit.Exploration{First: half[0][0], Second: half[1][0], Claim: a.learnClaim(), Stream: st, Check: check})
	if err != nil {
		return nil, err
	}
	data, err := json.Marshal(m)
	if err != nil {
		return nil, err
	}
	// Score with the decoded model, as every replay will.
	if m, err = l.Decode(data, a.Columns); err != nil {
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
	best, others := chooseEvents(sorted[0], sorted[1], delta, a.Plan.Beta, a.Plan.Samples)
	keep := []float64{best.threshold}
	for _, c := range others {
		keep = append(keep, c.threshold)
	}
	edges := scoreEdges(sorted[0], sorted[1], keep...)
	n := min(len(scores[0]), len(scores[1]))
	halves := [2]bounds.Table{tableOf(edges, scores[0][:n/2], scores[1][:n/2]), tableOf(edges, scores[0][n/2:n], scores[1][n/2:n])}
	var hedges []Hedge
	for _, c := range others {
		hedges = append(hedges, Hedge{Cut: c.in(edges), Share: hedgeShare})
	}
	value := a.worth(best, halves)
	return &Explored{
		Witness: Witness{Learner: l.Name, Model: data}, Edges: edges, Table: halves[0].Add(halves[1]),
		Event: best.in(edges), Hedges: hedges,
		Value: value, promised: a.foresee(value, scores, halves),
	}, nil
}
