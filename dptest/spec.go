package dptest

import (
	"fmt"
	"math"

	"github.com/dpscope/dpscope/core"
	"github.com/dpscope/dpscope/stream"
)

var errNil = &core.InputError{Field: "mechanism", Found: "nil", Want: "a core.Mechanism"}

// customSpec wraps the caller's mechanism as a registry entry of its own.
func customSpec(m core.Mechanism, claim core.Claim, opts Options) (core.MechanismSpec, error) {
	if m == nil {
		return core.MechanismSpec{}, errNil
	}
	if len(opts.Pairs) == 0 && opts.Domain == nil {
		return core.MechanismSpec{}, &core.InputError{Field: "Options.Pairs", Found: "empty", Want: "at least one neighbouring pair of datasets",
			Remedy: "or set Options.Domain to search for one"}
	}
	relation := opts.Relation
	if relation == "" {
		relation = core.AddRemove
	}
	domain := spanOf(opts.Pairs)
	if opts.Domain != nil {
		domain = *opts.Domain
	}
	name := opts.Name
	if name == "" {
		name = "under test"
	}
	return core.MechanismSpec{
		Name: name, Title: name, Source: "the calling test", Custom: true,
		Relations: func(core.Params) []core.Relation { return []core.Relation{relation} },
		Claim:     func(core.Params) core.Claim { return claim },
		Truth:     func(core.Params) string { return "unknown" },
		Domain:    func(core.Params, core.Relation) core.Domain { return domain },
		Pairs:     func(core.Params, core.Relation) []core.Pair { return opts.Pairs },
		New:       func(core.Params) (core.Mechanism, error) { return m, nil },
	}, nil
}

// spanOf is the smallest domain that holds the pairs.
func spanOf(pairs []core.Pair) core.Domain {
	dom := core.Domain{MinRows: math.MaxInt, Reach: 0}
	for _, p := range pairs {
		for _, d := range []core.Dataset{p.First, p.Second} {
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
	core.Mechanism
	of     core.MechanismSpec
	params core.Params
	err    error
}

// From builds a mechanism of a registry by name, with parameters as name=value:
//
//	dptest.From(mechanisms.All(), "svt4", "epsilon=1", "c=2")
//
// Its own pairs, domain and relation are used where the options give none. An
// unknown name or parameter is the error of the audit that uses it.
func From(specs []core.MechanismSpec, name string, params ...string) core.Mechanism {
	reg := &registered{params: core.Params{}}
	if reg.of, reg.err = (core.Catalogue{Mechanisms: specs}).Mechanism(name); reg.err != nil {
		return reg
	}
	for _, p := range params {
		key, value, err := core.ParseParam(p)
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
func (r *registered) at(claim core.Claim, opts Options) (core.Params, core.Relation, error) {
	if r.err != nil {
		return nil, "", r.err
	}
	params, err := core.ResolveParams(r.of.Params, r.params, claim)
	if err != nil {
		return nil, "", err
	}
	relation := opts.Relation
	if relation == "" {
		relation = r.of.Relations(params)[0]
	}
	return params, relation, nil
}

// Columns implements [core.Mechanism].
func (r *registered) Columns() []core.Column {
	if r.err != nil {
		return nil
	}
	return r.Mechanism.Columns()
}

// Sample implements [core.Mechanism].
func (r *registered) Sample(d core.Dataset, s *stream.Stream, out []float64) error {
	if r.err != nil {
		return r.err
	}
	return r.Mechanism.Sample(d, s, out)
}

// spec is the registry entry with what the options override.
func (r *registered) spec(opts Options) core.MechanismSpec {
	s := r.of
	// With anything of the caller's own, no command line knows the audit.
	s.Custom = len(opts.Pairs) > 0 || opts.Domain != nil || len(opts.Learners) > 0
	if len(opts.Pairs) > 0 {
		s.Pairs = func(core.Params, core.Relation) []core.Pair { return opts.Pairs }
	}
	if opts.Domain != nil {
		s.Domain = func(core.Params, core.Relation) core.Domain { return *opts.Domain }
	}
	return s
}
