package user

import (
	"cmp"
	"errors"
	"fmt"
	"sync"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/audit/stream"
)

// Failed is the error of a request in which a run raised an error, trapped or ended: an outcome
// like any other, [audit.ErrorOutcome].
type Failed struct{ Err error }

func (f *Failed) Error() string { return f.Err.Error() }

func (f *Failed) Unwrap() error { return f.Err }

// Mechanism is outside code as a [audit.Mechanism]. A request that fails does not say which of
// its runs did, and to leave it out would make another mechanism of the rest. So a few runs on
// each dataset decide beforehand whether outputs are asked for one by one.
type Mechanism struct {
	Most    int // outputs of a request; 0: any number
	columns []audit.Column
	call    Call

	singly sync.Map // by dataset
	mu     sync.Mutex
	first  string // of the errors, in the order of their letters
}

// New makes a mechanism.
func New(columns []audit.Column, call Call) *Mechanism {
	return &Mechanism{columns: columns, call: call}
}

func (m *Mechanism) Columns() []audit.Column { return m.columns }

const tried = 64

// Sample implements [audit.Mechanism]. It takes one word of the stream for each request.
func (m *Mechanism) Sample(d audit.Dataset, s *stream.Stream, out []float64) error {
	width := audit.Width(m.columns)
	key := fmt.Sprint(d.Columns, d.Values)
	was, known := m.singly.Load(key)
	singly, _ := was.(bool)
	if !known {
		err := m.call(d, trySeed+1<<41, make([]float64, tried*width))
		if singly = m.note(err); err != nil && !singly {
			return err
		}
		m.singly.Store(key, singly)
	}
	most := audit.Pick(singly, 1, cmp.Or(m.Most, len(out)))
	for len(out) > 0 {
		n := min(most*width, len(out))
		err := m.call(d, s.Uint64()>>11, out[:n])
		switch failed := m.note(err); {
		case failed && !singly:
			return fmt.Errorf(`a request for many outputs failed, and none of the first %d runs on this dataset had failed; to audit runs that fail, catch the error of each run and give {"error": "..."} as its output (docs/command.md): %v`, tried, err)
		case failed:
			Fail(m.columns, out[:n])
		case err != nil:
			return err
		}
		out = out[n:]
	}
	return nil
}

func (m *Mechanism) note(err error) (failed bool) {
	if failed = errors.As(err, new(*Failed)); failed {
		m.Note(err.Error())
	}
	return failed
}

// Note remembers why a run failed.
func (m *Mechanism) Note(why string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.first == "" || why < m.first {
		m.first = why
	}
}

func (m *Mechanism) Failure() string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.first
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
