package pair

import (
	"fmt"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/audit/stream"
	"github.com/dpscope/dpscope/core/engine"
)

// Purposes of random streams. The words are part of the seed.
const (
	purposeExplore = "explore"
	purposeCertify = "certify"
	purposeLearn   = "learn"
	purposeFind    = "find"
)

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
// Recorded outputs are those from number at on, in the one order of all stages.
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
