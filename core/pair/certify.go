package pair

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/bounds"
	"github.com/dpscope/dpscope/core/engine"
	"github.com/dpscope/dpscope/core/pair/chart"
	"github.com/dpscope/dpscope/core/pair/threshold"
	"github.com/dpscope/dpscope/core/report"
)

func (s *state) start(e *Evidence, m audit.Model) {
	s.found.Evidence, s.found.model, s.counted = e, m, newTally(e)
	if s.told != nil {
		s.event = described(s.Columns, e.Chart, m, e.Edges, e.Prepared.Event)
	}
}

// waveShards is how many shards are under way at most: memory does not hold a long run's.
const waveShards = 256

func (s *state) certify(ctx context.Context) error {
	s.tell(func(g *Progress) {
		if g.Phase = Certifying; !g.Valid {
			g.Provisional = nil
		}
	})
	n := s.Plan.Samples
	if s.most != nil {
		n = s.most.samples
	}
	if err := s.draw(ctx, 0, s.shards(n)); err != nil || s.counted.Rows == n {
		return err
	}
	return fmt.Errorf("certified %d outputs of %d", s.counted.Rows, n)
}

func (s *state) draw(ctx context.Context, lo, hi int) error {
	show := s.provisional()
	for ; lo < hi; lo += waveShards {
		if err := s.wave(ctx, lo, min(lo+waveShards, hi), show); err != nil {
			return err
		}
	}
	return nil
}

// wave certifies the shards in [lo, hi). They are merged in order: what a stopped run has can be replayed.
func (s *state) wave(ctx context.Context, lo, hi int, show func(*Progress)) error {
	parent := ctx
	ctx, cancel := context.WithCancelCause(parent)
	defer cancel(nil)
	tasks, e := s.certifyTasks(lo, hi), s.found.Evidence
	held := make([]*Counted, len(tasks))
	next := 0
	var broken error
	_, err := engine.Do(ctx, s.on.Pool, tasks, events(s, 2, func(i int, g *Progress, c *Counted) {
		held[i] = c
		for next < len(held) && held[next] != nil && broken == nil {
			if broken = s.counted.add(*held[next]); broken != nil {
				cancel(broken)
				return
			}
			held[next] = nil
			next++
			show(g)
			if s.told != nil {
				g.Live = &Live{Chart: s.counted.drawn(), Claim: s.at(e.Prepared.Point).grouped(e.Prepared.Steps).Claim, Direction: e.Prepared.Event.Direction(), Event: s.event, Rows: s.counted.Rows, Samples: s.Plan.Samples, Beta: s.Plan.Beta,
					People: PeopleOf(&e.Pair, s.Plan.Relation, s.recording()), Output: s.output()}
			}
		}
	}))
	if failed, ok := errors.AsType[*engine.TaskError](err); ok && broken == nil && failed.Index > next {
		// What came before the failure may fail itself: that must not depend on who was faster.
		return cmp.Or(s.wave(parent, lo+next, lo+failed.Index, show), err)
	}
	return cmp.Or(broken, err)
}

func (s *state) certifyTasks(lo, hi int) []Certify {
	e := s.found.Evidence
	needed := Evidence{Pair: e.Pair, Witness: e.Witness, Edges: e.Edges, Prepared: Prepared{Event: e.Prepared.Event}, Chart: e.Chart.With([4][]int{}, [2][]int{})}
	return audit.Listed(hi-lo, func(i int) Certify {
		t := Certify{s.of(), needed, lo + i, s.found.model}
		if t.Shard*s.shardRows() >= chart.PlaneRows {
			t.Chart.Plane = nil // counted in the first shards only
		}
		return t
	})
}

// Search implements [report.Shared].
func (a *Audit) Search(ctx context.Context, on *engine.Runner, tell func(Progress)) (Found, error) {
	s := &state{Audit: a, on: on, told: tell, searching: true}
	err := s.do(ctx)
	return s.found, err
}

// Pieces implements [report.Shared]: they are shards.
func (a *Audit) Pieces(f Found) (int, error) {
	p, e := a.Plan, f.Evidence
	searched := (e == nil) == (p.Mode == UntilRefuted) && (f.Sequential != nil) == p.isSequential() && (e == nil || e.Table == nil)
	err := audit.Require(searched, "search", "other stages", "those before the certification of an audit of mode %q", p.Mode)
	if err == nil && f.Sequential != nil {
		err = f.Sequential.check(p)
	}
	if err != nil || e == nil {
		return 0, err
	}
	return a.shards(p.certifies()), e.check(p)
}

// Draw implements [report.Shared].
func (a *Audit) Draw(ctx context.Context, on *engine.Runner, tell func(Progress), f Found, first, end int) (any, error) {
	a = a.second(f.Sequential)
	s := &state{Audit: a, on: on, told: tell}
	m, err := f.Evidence.Witness.decode(a)
	if err != nil {
		return nil, err
	}
	s.start(f.Evidence, m)
	s.tell(func(g *Progress) { g.Phase, g.Total = Certifying, 2*(end-first)*a.shardRows() })
	err = s.draw(ctx, first, end)
	return &s.counted.Counted, err
}

// Join implements [report.Shared].
func (a *Audit) Join(f Found, parts iter.Seq2[report.Part, error]) (Found, audit.Termination, error) {
	plan := a.Plan
	a = a.second(f.Sequential)
	s := &state{Audit: a, on: &engine.Runner{}, found: f}
	if f.Evidence != nil {
		s.start(f.Evidence, nil)
	}
	for part, err := range parts {
		var c Counted
		if err == nil {
			err = audit.DecodeStrict(part.Result, "partial: counts", &c)
		}
		if err == nil {
			n := min(part.End*a.shardRows(), a.Plan.Samples) - part.First*a.shardRows()
			err = audit.Require(c.Rows == n, "partial: rows", c.Rows, "%d, as shards %d to %d have", n, part.First, part.End-1)
		}
		if err == nil {
			err = s.counted.add(c)
		}
		if err != nil {
			return s.found, audit.Termination{}, err
		}
	}
	s.counted.into(s.found.Evidence)
	return s.found, s.found.completed(plan), nil
}

func (a *Audit) blockRows() int {
	if of := a.Spec.Block; of != nil {
		return min(max(1, of(a.Plan.Parameters)), BlockRows)
	}
	return BlockRows
}

// shardRows is how many outputs a side a shard draws: where they take long, 16 blocks at most.
func (a *Audit) shardRows() int {
	if n := a.blockRows(); n < BlockRows {
		return min(16*n, ShardRows)
	}
	return ShardRows
}

func (a *Audit) shards(samples int) int { return (samples + a.shardRows() - 1) / a.shardRows() }

// certify draws one shard on both sides and counts pairs: output i of each side.
func (t Certify) certify(hook engine.Hook) (*Counted, error) {
	a := t.audit
	n := min(a.shardRows(), a.Plan.Samples-t.Shard*a.shardRows())
	binner, err := t.Chart.Binner(a.Columns)
	if err = audit.First(audit.Within("task: field shard", t.Shard, 0, a.shards(a.Plan.Samples)-1), err); err != nil {
		return nil, err
	}
	width := audit.Width(a.Columns)
	all, scores := make([]float64, BlockRows*width), make([]float64, BlockRows)
	event := t.Prepared.Event.Bins(len(t.Edges) + 1)
	bins := [2][]uint16{make([]uint16, n), make([]uint16, n)}
	for side := range bins {
		src := newSource(a, t.Pair, purposeCertify, 0, side, hook) // of one trial only
		st := src.stream(t.Shard)
		for at := 0; at < n; at += BlockRows {
			k := min(BlockRows, n-at)
			rows, scores, bins := all[:k*width], scores[:k], bins[side][at:at+k]
			if err := src.block(st, a.Plan.Explore+t.Shard*a.shardRows()+at, rows); err != nil {
				return nil, err
			}
			t.model.Score(rows, scores)
			threshold.BinScores(t.Edges, scores, bins)
			binner.Count(side, rows, scores, bins, event)
			if err := hook(k); err != nil {
				return nil, err
			}
		}
	}
	table := bounds.NewTable(len(t.Edges) + 1)
	threshold.CountPairs(table, bins[0], bins[1])
	return &Counted{Rows: n, Cells: table.N, Chart: binner.Bins, Plane: [2]packed{binner.Cells[0], binner.Cells[1]}}, nil
}

type tally struct {
	Counted
	of Evidence
}

func newTally(e *Evidence) tally {
	t := tally{Counted{Cells: bounds.NewTable(len(e.Edges) + 1).N}, *e}
	for k := range t.Chart {
		t.Chart[k] = make([]int, e.Chart.Bins())
	}
	for side, cells := range e.Chart.Plane.NewCounts() {
		t.Plane[side] = cells
	}
	return t
}

func (t *tally) table() bounds.Table { return bounds.Table{Bins: len(t.of.Edges) + 1, N: t.Cells} }

func (t *tally) drawn() chart.Chart {
	return t.of.Chart.With(t.Chart, [2][]int{t.Plane[0], t.Plane[1]})
}

func (t *tally) into(e *Evidence) {
	if t.Rows > 0 {
		e.Chart, e.Table = t.drawn(), new(t.table())
	}
}

func (t *tally) add(c Counted) error {
	counted := bounds.Table{Bins: len(t.of.Edges) + 1, N: c.Cells}
	if len(c.Cells) != len(t.Cells) {
		return fmt.Errorf("a shard counts %d pairs of bins, must be %d", len(c.Cells), len(t.Cells))
	}
	if n := counted.Pairs(); n != c.Rows {
		return fmt.Errorf("a shard counts %d pairs of %d outputs a side", n, c.Rows)
	}
	if err := t.of.Chart.With(c.Chart, [2][]int{}).CheckCounts(counted, t.of.Prepared.Event); err != nil {
		return err
	}
	for side, cells := range c.Plane {
		if len(cells) != 0 && len(cells) != len(t.Plane[side]) {
			return fmt.Errorf("a shard counts %d cells of the plane, must be %d", len(cells), len(t.Plane[side]))
		}
	}
	for side, cells := range c.Plane {
		addCounts(t.Plane[side], cells)
	}
	t.Rows += c.Rows
	addCounts(t.Cells, c.Cells)
	for k, counts := range c.Chart {
		addCounts(t.Chart[k], counts)
	}
	return nil
}

func addCounts(sum, more []int) {
	for i, n := range more {
		sum[i] += n
	}
}
