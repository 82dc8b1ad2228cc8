package command

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/mechanisms/user/process"
)

// DefaultTrainingTimeout is how long one training may take.
const DefaultTrainingTimeout = time.Hour

// Trainer is a user's program that trains models with canaries, in a process for each
// goroutine that asks. A request is one training, a line of JSON, and so is the answer:
//
//	{"members": [1, 0, 1], "seed": 6755399441055744}
//	{"seed": 6755399441055744, "scores": [3.1, -0.2, 2.7]}
//
// docs/training.md is the contract.
type Trainer struct {
	*runner
	seen    blocks                  // scores
	checked atomic.Pointer[trained] // of [Trainer.Check], until it is taken
}

type trained struct {
	members  []bool
	seed     uint64
	scores   []float64
	diverged bool
}

func (t *trained) same(o *trained) bool {
	return t.diverged == o.diverged && slices.EqualFunc(t.scores, o.scores, func(x, y float64) bool { return x == y || x != x && y != y })
}

// OpenTrainer finds the program of a command line, see [Options]; it is started when it is asked.
// timeout is of one training; where it is not above 0, [DefaultTrainingTimeout].
func OpenTrainer(ctx context.Context, line string, timeout time.Duration, parent *Parent) (*Trainer, error) {
	r, err := newRunner(ctx, line, parent, cmp.Or(max(0, timeout), DefaultTrainingTimeout))
	if err != nil {
		return nil, err
	}
	return &Trainer{runner: r}, nil
}

// Train fills in the score of every canary, NaN for none. diverged: the model is no use. The
// error of check, which may be nil, ends the training; others are the context's, and *[Error].
// Any goroutine may call it.
func (t *Trainer) Train(members []bool, seed uint64, scores []float64, check func() error) (diverged bool, err error) {
	if len(scores) != len(members) {
		panic("command: as many scores as canaries")
	}
	got := t.checked.Load()
	if got == nil || got.seed != seed || !slices.Equal(got.members, members) || !t.checked.CompareAndSwap(got, nil) {
		x, err := t.take()
		if err != nil {
			return false, err
		}
		if got, err = t.ask(x, members, seed, check); err != nil {
			return false, err
		}
		t.release(x)
	}
	if telling(got.scores) {
		if other, repeated := t.seen.note(seed, got.scores); repeated {
			return false, t.fault(nil, errSameScores(len(members), other, seed))
		}
	}
	copy(scores, got.scores)
	return got.diverged, nil
}

// Checked gets the number of a training, from 1, and how many there are.
type Checked func(training, of int)

// Check asks for a training, for one with another seed in another process, and for the first
// again there: whether the same request gives the same scores; that another seed does is
// refused. The first answer is kept for [Trainer.Train]. tell may be nil.
func (t *Trainer) Check(members []bool, seed uint64, tell Checked) (same bool, err error) {
	next := 0
	ask := func(x *worker, seed uint64) (*trained, error) {
		if next++; tell != nil {
			tell(next, 3)
		}
		return t.ask(x, members, seed, nil)
	}
	x, err := t.another()
	if err != nil {
		return false, err
	}
	first, err := ask(x, seed)
	if err != nil {
		return false, err
	}
	if t.parent == nil {
		x.End(process.Grace) // it makes room for the other one
		t.pool.Drop(x)
	} else {
		t.release(x)
	}
	if x, err = t.another(); err != nil {
		return false, err
	}
	otherSeed := seed ^ (1<<40 | 1<<20 | 1)
	other, err := ask(x, otherSeed)
	if err != nil {
		return false, err
	}
	if other.same(first) && differing(first.scores) {
		return false, t.drop(x, errSameScores(len(members), seed, otherSeed))
	}
	again, err := ask(x, seed)
	if err != nil {
		return false, err
	}
	t.release(x)
	t.checked.Store(first)
	return again.same(first), nil
}

// ask has a process train; an error ends it.
func (t *Trainer) ask(x *worker, members []bool, seed uint64, check func() error) (*trained, error) {
	in := audit.Each(members, func(m bool) int { return audit.Pick(m, 1, 0) })
	request := line(struct {
		Members []int  `json:"members"`
		Seed    uint64 `json:"seed"`
	}{in, seed})
	_, answer, err := x.ask(t.ctx, request, t.timeout, check)
	got := &trained{members: slices.Clone(members), seed: seed, scores: make([]float64, len(members))}
	var quit unwanted
	switch {
	case errors.As(err, &quit):
		t.drop(x, err)
		return got, quit.error
	case errors.Is(err, errTimeout):
		err = audit.Fault(fmt.Sprintf("the answer to a training with %d canaries", len(members)), fmt.Sprintf("not there after %v", t.timeout), "there by then",
			"-exec-timeout allows more; does it write a whole line, and flush it (flush=True in Python)?")
	case err == nil:
		got.diverged, err = scanTraining(answer, seed, got.scores)
	}
	if err != nil {
		return got, t.drop(x, err)
	}
	return got, nil
}

func telling(scores []float64) bool { return distinct(scores) >= 8 }

// differing reports whether scores hardly come twice: many, or a few of more digits than are
// written by hand.
func differing(scores []float64) bool {
	return telling(scores) || distinct(scores) == len(scores) && slices.ContainsFunc(scores, func(v float64) bool {
		return len(strconv.FormatFloat(math.Abs(v), 'e', -1, 64)) > len("0.00000e+00")
	})
}

// distinct counts different numbers, up to eight.
func distinct(scores []float64) int {
	var found []float64
	for _, v := range scores {
		if len(found) == 8 {
			break
		}
		if v == v && !slices.Contains(found, v) {
			found = append(found, v)
		}
	}
	return len(found)
}

func errSameScores(n int, a, b uint64) error {
	return audit.Fault("its answer", fmt.Sprintf("the same %d scores for the seeds %d and %d", n, a, b), "different scores for another seed, because trainings must be independent",
		"draw canaries, batches and noise from the seed of each request, or seed them from the system once")
}

func scanTraining(line []byte, seed uint64, scores []float64) (diverged bool, err error) {
	s := newScanner(line)
	if t, _ := s.next(""); t != json.Delim('{') {
		return false, audit.Fault("what it printed", shown(line), `an answer: {"seed": ..., "scores": [...]}`, "write everything else to standard error")
	}
	found := map[json.Token]bool{}
	err = s.pairs("a key", func(key json.Token) error {
		if found[key] {
			return s.fault("each key once")
		}
		found[key] = true
		if key == "scores" {
			return s.scores(scores)
		}
		if key != "error" && key != "seed" && key != "diverged" {
			return s.fault(`"seed", "scores" or "diverged"`)
		}
		switch v, err := s.value(); {
		case err != nil:
			return err
		case key == "error":
			return fmt.Errorf("it refuses the request: %s", v.text())
		case key == "seed" && (v.form != numeral || v.value != float64(seed)):
			return audit.Fault("its answer", fmt.Sprintf("for the seed %s", v.text()), fmt.Sprintf("for the request's, %d", seed), "return the request's seed unchanged")
		case key == "diverged" && v.form != truth:
			return s.fault("true or false for diverged")
		case key == "diverged":
			diverged = v.value == 1
		}
		return nil
	})
	if err != nil {
		return false, err
	}
	for _, name := range []string{"seed", "scores"} {
		if !found[name] && !(name == "scores" && diverged) {
			return false, s.fault(fmt.Sprintf("the key %q", name))
		}
	}
	return diverged, s.end()
}

func (s *scanner) scores(into []float64) error {
	n := len(into)
	of := asked{n, "scores", fmt.Sprintf("the %d of the request's canaries, members or not", n), true}
	rows, err := s.array(of)
	if err == nil && len(rows) < n {
		err = of.not(strconv.Itoa(len(rows)))
	}
	for i, cells := range rows {
		x := cells[0]
		if x.form == text || x.form == truth {
			return audit.Fault(fmt.Sprintf("score %d of %d in its answer", i+1, n), shown(x.word), "a number")
		}
		into[i] = audit.Pick(x.form == nonFinite, math.NaN(), x.value)
	}
	return err
}
