package estimators

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/dpscope/dpscope/audit"
)

// decoder reads a model of JSON: open checks it and builds what scoring needs.
func decoder[M any, P interface {
	*M
	audit.Model
	open(columns []audit.Column)
}](data json.RawMessage, columns []audit.Column) (_ audit.Model, err error) {
	defer stopped(&err)
	m := P(new(M))
	stopOn(audit.DecodeStrict(data, "model", m))
	m.open(columns)
	return m, nil
}

// renyiOrder is the claimed alpha, or usual where the claim has none.
func renyiOrder(c audit.Claim, usual float64, learner string) float64 {
	if c.Kind == audit.Renyi {
		usual = c.Alpha
	}
	require(usual > 1 && usual <= largestPower, "alpha", usual, "in (1, %d] for %s", largestPower, learner)
	return usual
}

// stop is an error that ends learning or decoding, on its way from [stopOn] to [stopped].
type stop struct{ error }

// stopOn ends it all with an error: what is called on the way returns values alone.
func stopOn(err error) {
	if err != nil {
		panic(stop{err})
	}
}

// require is [audit.Require], or the end.
func require(holds bool, field string, found any, want string, args ...any) {
	stopOn(audit.Require(holds, field, found, want, args...))
}

func requireCount(field string, found, want int) {
	require(found == want, field, fmt.Sprintf("a list of %d", found), "a list of %d", want)
}

// stopped is deferred where the error goes. Any other panic goes on.
func stopped(err *error) {
	switch why := recover().(type) {
	case nil:
	case stop:
		*err = why.error
	default:
		panic(why)
	}
}

// learner is a way to learn that needs outputs on both sides. Inlined, every learner would have a
// copy of its own.
//
//go:noinline
func learner[M audit.Model](learn func(audit.Exploration) M) func(audit.Exploration) (audit.Model, error) {
	return func(ex audit.Exploration) (_ audit.Model, err error) {
		defer stopped(&err)
		if ex.First.Len() == 0 || ex.Second.Len() == 0 {
			return nil, fmt.Errorf("nothing to learn from: %d and %d outputs, must be at least 1 on each side", ex.First.Len(), ex.Second.Len())
		}
		m := learn(ex)
		return m, ex.Check()
	}
}

// needs is the Applies of a learner of outputs of which that holds, and its words if not. Not inlined,
// as [learner].
//
//go:noinline
func needs(holds func([]audit.Column) bool, words string) func([]audit.Column) error {
	return func(columns []audit.Column) error {
		if !holds(columns) {
			return errors.New(words)
		}
		return nil
	}
}

func anyColumn(columns []audit.Column) bool { return len(columns) > 0 }

func oneReal(columns []audit.Column) bool {
	return len(columns) == 1 && columns[0].Kind == audit.Real
}

// floatList is in JSON base64 (RFC 4648, padded) of the bits, little-endian: exact and short.
type floatList []float32

func (l floatList) MarshalText() ([]byte, error) {
	raw, _ := binary.Append(nil, binary.LittleEndian, []float32(l))
	return base64.StdEncoding.AppendEncode(nil, raw), nil
}

func (l *floatList) UnmarshalText(text []byte) error {
	raw, err := base64.StdEncoding.Strict().AppendDecode(nil, text)
	if err != nil || len(raw)%4 != 0 {
		return fmt.Errorf("a list of float32 is not base64 of four bytes a number")
	}
	*l = make(floatList, len(raw)/4)
	_, err = binary.Decode(raw, binary.LittleEndian, []float32(*l))
	return err
}

func (l floatList) validate(field string, want int, limit float32) {
	requireCount(field, len(l), want)
	if i := slices.IndexFunc(l, func(v float32) bool { return !(v >= -limit && v <= limit) }); i >= 0 {
		require(false, fmt.Sprintf("%s[%d]", field, i), l[i], "in [%g, %g]", -limit, limit)
	}
}
