package dptest

import (
	"fmt"
	"math"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/audit/stream"
)

var errNil = &audit.InputError{Field: "mechanism", Found: "nil", Want: "a audit.Mechanism"}

// customSpec wraps the caller's mechanism as a registry entry of its own.
func customSpec(m audit.Mechanism, claim audit.Claim, opts Options) (audit.MechanismSpec, error) {
	if m == nil {
		return audit.MechanismSpec{}, errNil
	}
	if len(opts.Pairs) == 0 && opts.Domain == nil {
		return audit.MechanismSpec{}, &audit.InputError{Field: "Options.Pairs", Found: "empty", Want: "at least one neighbouring pair of datasets",
			Remedy: "or set Options.Domain to search for one"}
	}
	relation := opts.Relation
	if relation == "" {
		relation = audit.AddRemove
	}
	domain := spanOf(opts.Pairs)
	if opts.Domain != nil {
		domain = *opts.Domain
	}
	name := opts.Name
	if name == "" {
		name = "under test"
	}
	return audit.MechanismSpec{
		Name: name, Title: name, Source: "the calling test", Custom: true,
		Relations: func(audit.Params) []audit.Relation { return []audit.Relation{relation} },
		Claim:     func(audit.Params) audit.Claim { return claim },
		Truth:     func(audit.Params) string { return "unknown" },
		Domain:    func(audit.Params, audit.Relation) audit.Domain { return domain },
		Pairs:     func(audit.Params, audit.Relation) []audit.Pair { return opts.Pairs },
		New:       func(audit.Params) (audit.Mechanism, error) { return m, nil },
	}, nil
}

// spanOf is the smallest domain that holds the pairs.
func spanOf(pairs []audit.Pair) audit.Domain {
	dom := audit.Domain{MinRows: math.MaxInt, Reach: 0}
	for _, p := range pairs {
		for _, d := range []audit.Dataset{p.First, p.Second} {
			if dom.Columns == 0 {
				dom.Columns = d.Columns
				for range d.Columns {
					dom.Lower, dom.Upper = append(dom.Lower, math.Inf(1)), append(dom.Upper, math.Inf(-1))
				}
			}
			dom.MinRows, dom.MaxRows = min(dom.MinRows, d.Len()), max(dom.MaxRows, d.Len())
			for i, v := range d.Values {
				c := i % max(1, len(dom.Lower))
				dom.Lower[c], dom.Upper[c] = min(dom.Lower[c], v), max(dom.Upper[c], v)
			}
		}
		if p.First.Len() == p.Second.Len() {
			// Without a domain there is no declared sensitivity: the pairs that
			// the caller gives are the neighbours that the caller means.
			for i, v := range p.First.Values {
				dom.Reach = max(dom.Reach, math.Abs(v-p.Second.Values[i]))
			}
		}
	}
	return dom
}

// registered is a mechanism of a registry, with its parameters.
type registered struct {
	audit.Mechanism
	of     audit.MechanismSpec
	params audit.Params
	err    error
}

// From builds a mechanism of a registry by name, with parameters as name=value:
//
//	dptest.From(mechanisms.All(), "svt4", "epsilon=1", "c=2")
//
// Its own pairs, domain and relation are used where the options give none. An
// unknown name or parameter is the error of the audit that uses it.
func From(specs []audit.MechanismSpec, name string, params ...string) audit.Mechanism {
	reg := &registered{params: audit.Params{}}
	if reg.of, reg.err = (audit.Catalogue{Mechanisms: specs}).Mechanism(name); reg.err != nil {
		return reg
	}
	for _, p := range params {
		key, value, err := audit.ParseParam(p)
		if err != nil {
			reg.err = err
			return reg
		}
		reg.params[key] = value
	}
	if reg.Mechanism, reg.err = reg.of.Build(reg.params); reg.err != nil {
		reg.err = fmt.Errorf("mechanism %s: %w", name, reg.err)
	}
	return reg
}

// at are the parameters and the relation that an audit of the claim uses.
func (r *registered) at(claim audit.Claim, opts Options) (audit.Params, audit.Relation, error) {
	if r.err != nil {
		return nil, "", r.err
	}
	params, err := audit.ResolveParams(r.of.Params, r.params, claim)
	if err != nil {
		return nil, "", err
	}
	relation := opts.Relation
	if relation == "" {
		relation = r.of.Relations(params)[0]
	}
	return params, relation, nil
}

// Columns implements [audit.Mechanism].
func (r *registered) Columns() []audit.Column {
	if r.err != nil {
		return nil
	}
	return r.Mechanism.Columns()
}

// Sample implements [audit.Mechanism].
func (r *registered) Sample(d audit.Dataset, s *stream.Stream, out []float64) error {
	if r.err != nil {
		return r.err
	}
	return r.Mechanism.Sample(d, s, out)
}

// spec is the registry entry with what the options override.
func (r *registered) spec(opts Options) audit.MechanismSpec {
	s := r.of
	// With anything of the caller's own, no command line knows the audit.
	s.Custom = len(opts.Pairs) > 0 || opts.Domain != nil || len(opts.Learners) > 0
	if len(opts.Pairs) > 0 {
		s.Pairs = func(audit.Params, audit.Relation) []audit.Pair { return opts.Pairs }
	}
	if opts.Domain != nil {
		s.Domain = func(audit.Params, audit.Relation) audit.Domain { return *opts.Domain }
	}
	return s
}
