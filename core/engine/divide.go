package engine

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"slices"
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
//
// What is in the fields is whole once the run ended.
type Division struct {
	Index, Of int
	// Given yields the parts of a stage in the order of their pieces, without gaps.
	Given func(stage string, pieces int) iter.Seq2[Part, error]

	Answers map[string]json.RawMessage // results of single tasks by the SHA-256 of the tasks that ran together
	Drawn   []Part                     // parts of stages that were drawn here
	// Pieces are those of the longest stage that was divided here, whatever part of them was
	// drawn: in more shares than these nothing gets faster.
	Pieces int

	mu sync.Mutex
}

// Part is what consecutive pieces of a stage came to.
type Part struct {
	Stage   string            `json:"stage"`
	Pieces  int               `json:"pieces"` // of the whole stage
	First   int               `json:"first"`
	End     int               `json:"end"` // the first piece that is not of this part
	Results []json.RawMessage `json:"results"`
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
	d.Pieces = max(d.Pieces, pieces)
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
	d.Drawn = append(d.Drawn, part)
	return true, ErrDivided
}

// doKnown is [Do] for tasks whose results a division may know.
func doKnown[R any, T Task](ctx context.Context, p *Pool, tasks []T, ev Events[R]) ([]*R, error) {
	d, sum := p.division, sha256.New()
	for _, t := range tasks {
		data, err := EncodeTask(t)
		if err != nil {
			return nil, err
		}
		sum.Write(data)
	}
	key := hex.EncodeToString(sum.Sum(nil))
	d.mu.Lock()
	known, ok := d.Answers[key]
	d.mu.Unlock()
	if !ok {
		results, err := Do(ctx, p.Plain(), tasks, ev)
		if err == nil {
			known, err = json.Marshal(results)
		}
		if err == nil {
			d.mu.Lock()
			defer d.mu.Unlock()
			if d.Answers == nil {
				d.Answers = map[string]json.RawMessage{}
			}
			d.Answers[key] = known
		}
		return results, err
	}
	var results []*R
	if err := audit.DecodeStrict(known, "partial: answers", &results); err != nil {
		return nil, err
	}
	if len(results) != len(tasks) || slices.Contains(results, nil) {
		return nil, &audit.InputError{Field: "partial: answers", Found: fmt.Sprintf("%d results of %d tasks", len(results), len(tasks)), Want: "one of each"}
	}
	for i, r := range results {
		if ev.Done != nil {
			ev.Done(i, r)
		}
	}
	return results, nil
}
