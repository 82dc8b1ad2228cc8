package engine

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"maps"
	"sync"

	"github.com/dpscope/dpscope/audit"
)

// ErrDivided ends a run whose machine did its part of an audit, or had nothing to draw:
// what it drew and learnt stands in the [Division].
var ErrDivided = errors.New("this part of the audit is done")

// Division is what one machine does of an audit that several machines do. An audit is
// made of single tasks, which search and choose, and of stages, whose pieces are drawn
// independently of each other and join in their order. Every machine executes the single
// tasks, or takes their answers from one that did; of a stage it draws its share.
//
// A nil Given draws: the share Index of Of, or nothing where Of is 0. Then each stage
// ends with [ErrDivided]. With Given nothing is drawn: the stages are what it gives.
type Division struct {
	Index, Of int
	// Given yields the parts of a stage in the order of their pieces, without gaps.
	Given func(stage string, pieces int) iter.Seq2[Part, error]

	mu      sync.Mutex
	answers map[string]json.RawMessage
	drawn   []Part
	pieces  int
}

// Part is what consecutive pieces of a stage came to.
type Part struct {
	Stage   string            `json:"stage"`
	Pieces  int               `json:"pieces"` // of the whole stage
	First   int               `json:"first"`
	End     int               `json:"end"` // the first piece that is not of this part
	Results []json.RawMessage `json:"results"`
}

// Answers are the results of the single tasks by the SHA-256 of the task.
func (d *Division) Answers() map[string]json.RawMessage {
	d.mu.Lock()
	defer d.mu.Unlock()
	return maps.Clone(d.answers)
}

// Answer takes results of single tasks that were executed before.
func (d *Division) Answer(known map[string]json.RawMessage) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.answers = maps.Clone(known)
}

// Drawn are the parts of stages that were drawn here.
func (d *Division) Drawn() []Part {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.drawn
}

// Pieces are those of the longest stage that was divided here, whatever part of them was
// drawn: in more shares than these nothing gets faster.
func (d *Division) Pieces() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.pieces
}

func (d *Division) answer(key string) (json.RawMessage, bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	data, ok := d.answers[key]
	return data, ok
}

func (d *Division) keep(key string, result any) error {
	data, err := json.Marshal(result)
	if err != nil {
		return err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.answers == nil {
		d.answers = map[string]json.RawMessage{}
	}
	d.answers[key] = data
	return nil
}

// Share is the range of pieces that share i of n has: all shares are contiguous, and
// differ by one piece at most.
func Share(pieces, i, n int) (first, end int) {
	cut := func(k int) int { return pieces/n*k + pieces%n*k/n }
	return cut(i), cut(i + 1)
}

// ForDivision is the pool with its tasks and stages divided by d.
func (p *Pool) ForDivision(d *Division) *Pool { return &Pool{workers: p.workers, division: d} }

// Plain is the pool without a division: all that it is given it executes itself.
func (p *Pool) Plain() *Pool { return &Pool{workers: p.workers} }

// Named is the pool for one of several audits of a division: its stages bear the name.
func (p *Pool) Named(audit string) *Pool {
	return &Pool{workers: p.workers, division: p.division, name: audit + ": "}
}

// Divide does a stage as the pool's division says; without one it returns false, and the
// caller does all of it. draw draws the pieces in [first, end) and joins their results
// into few; take joins the result of the pieces in a part that was drawn elsewhere, in
// order.
func Divide[R any](p *Pool, stage string, pieces int, draw func(first, end int) ([]*R, error), take func(first, end int, r *R) error) (bool, error) {
	d := p.division
	stage = p.name + stage
	switch {
	case d == nil:
		return false, nil
	case d.Given != nil:
		for part, err := range d.Given(stage, pieces) {
			if err != nil {
				return true, err
			}
			for _, data := range part.Results {
				r := new(R)
				if err := audit.DecodeStrict(data, "partial: stage "+stage, r); err != nil {
					return true, err
				}
				if err := take(part.First, part.End, r); err != nil {
					return true, err
				}
			}
		}
		return true, nil
	}
	d.mu.Lock()
	d.pieces = max(d.pieces, pieces)
	d.mu.Unlock()
	if d.Of == 0 {
		return true, ErrDivided
	}
	part := Part{Stage: stage, Pieces: pieces, Results: []json.RawMessage{}}
	part.First, part.End = Share(pieces, d.Index, d.Of)
	if part.First < part.End {
		results, err := draw(part.First, part.End)
		if err != nil {
			return true, err
		}
		for _, r := range results {
			data, err := json.Marshal(r)
			if err != nil {
				return true, err
			}
			part.Results = append(part.Results, data)
		}
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.drawn = append(d.drawn, part)
	return true, ErrDivided
}

// doKnown is [Do] for tasks whose answers a division may know.
func doKnown[R any, T Task](ctx context.Context, p *Pool, tasks []T, ev Events[R]) ([]*R, error) {
	results, keys := make([]*R, len(tasks)), make([]string, len(tasks))
	var open []T
	var at []int
	for i, t := range tasks {
		data, err := EncodeTask(t)
		if err != nil {
			return results, err
		}
		sum := sha256.Sum256(data)
		keys[i] = hex.EncodeToString(sum[:])
		known, ok := p.division.answer(keys[i])
		if !ok {
			open, at = append(open, t), append(at, i)
			continue
		}
		results[i] = new(R)
		if err := audit.DecodeStrict(known, fmt.Sprintf("answer of %q", t.Name()), results[i]); err != nil {
			return results, err
		}
		if ev.Done != nil {
			ev.Done(i, results[i])
		}
	}
	if len(open) == 0 {
		return results, nil
	}
	inner := Events[R]{Rows: ev.Rows}
	if ev.Done != nil {
		inner.Done = func(i int, r *R) { ev.Done(at[i], r) }
	}
	if ev.Lost != nil {
		inner.Lost = func(i int, err error) { ev.Lost(at[i], err) }
	}
	if ev.Part != nil {
		inner.Part = func(i int, r *R) { ev.Part(at[i], r) }
	}
	got, err := Do(ctx, p.Plain(), open, inner)
	for k, r := range got {
		if results[at[k]] = r; r != nil {
			if e := p.division.keep(keys[at[k]], r); e != nil && err == nil {
				err = e
			}
		}
	}
	var failed *TaskError
	if errors.As(err, &failed) {
		err = &TaskError{at[failed.Index], failed.Err}
	}
	return results, err
}
