package user

import (
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/audit/stream"
)

// Failed is the error of a request in which a run of the user's code failed: it raised an
// error, trapped or ended. Such a run is an outcome like any other, [audit.ErrorOutcome].
type Failed struct{ Err error }

func (f *Failed) Error() string { return f.Err.Error() }

func (f *Failed) Unwrap() error { return f.Err }

// Runs draws outputs of code of which runs may fail. A request for many outputs that fails
// does not say which run did, and to leave it out would make the outputs that are kept those
// of another mechanism. So a few runs on each dataset decide, before its first output is
// drawn, whether outputs are asked for one by one.
type Runs struct {
	singly sync.Map // by dataset
	mu     sync.Mutex
	first  string // of the errors, in the order of their letters
}

// tried is how many runs decide; they are no outputs.
const tried = 64

// Sample fills out with outputs on d, most of them a request at a time.
func (r *Runs) Sample(columns []audit.Column, d audit.Dataset, s *stream.Stream, out []float64, most int, call func(seed uint64, out []float64) error) error {
	width := audit.Width(columns)
	key := fmt.Sprint(d.Columns, d.Values)
	was, known := r.singly.Load(key)
	singly, _ := was.(bool)
	if !known {
		err := call(trySeed+1<<41, make([]float64, tried*width))
		if singly = r.note(err); err != nil && !singly {
			return err
		}
		r.singly.Store(key, singly)
	}
	if singly {
		most = 1
	}
	for len(out) > 0 {
		n := min(most*width, len(out))
		err := call(s.Uint64()>>11, out[:n])
		switch failed := r.note(err); {
		case failed && !singly:
			return fmt.Errorf(`a request for many outputs failed, and none of the first %d runs on this dataset had failed; to audit runs that fail, catch the error of each run and give {"error": "..."} as its output (docs/command.md): %v`, tried, err)
		case failed:
			Fail(columns, out[:n])
		case err != nil:
			return err
		}
		out = out[n:]
	}
	return nil
}

func (r *Runs) note(err error) bool {
	var f *Failed
	if !errors.As(err, &f) {
		return false
	}
	r.Note(err.Error())
	return true
}

// Note remembers why a run failed.
func (r *Runs) Note(why string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.first == "" || strings.Compare(why, r.first) < 0 {
		r.first = why
	}
}

func (r *Runs) Failure() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.first
}

// Fail makes an output that of a run that failed.
func Fail(columns []audit.Column, out []float64) {
	clear(out)
	at := 0
	for _, c := range columns {
		out[at] = audit.ErrorOutcome.In(c.Kind)
		at += c.Width()
	}
}
