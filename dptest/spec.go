package dptest

import (
	"cmp"
	"math"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/audit/stream"
)

// specOf is a mechanism's registry entry, or one made up, with what options override.
func specOf(m audit.Mechanism, claim audit.Claim, opts Options) (spec audit.MechanismSpec, params audit.Params, err error) {
	reg, ok := m.(*registered)
	switch {
	case m == nil:
		return spec, nil, &audit.InputError{Field: "mechanism", Found: "nil", Want: "an audit.Mechanism"}
	case ok && reg.err != nil:
		return spec, nil, reg.err
	case ok:
		spec = reg.of
		// With anything of the caller's own, no command line knows the audit.
		spec.Custom = len(opts.Pairs) > 0 || opts.Domain != nil || len(opts.Learners) > 0
		params, err = audit.ResolveParams(reg.of.Params, reg.params, claim)
	case len(opts.Pairs) == 0 && opts.Domain == nil:
		return spec, nil, &audit.InputError{Field: "Options.Pairs", Found: "empty", Want: "at least one neighbouring pair of datasets",
			Remedy: "or set Options.Domain to search for one"}
	default:
		name, domain := cmp.Or(opts.Name, "under test"), spanOf(opts.Pairs)
		spec = audit.MechanismSpec{
			Name: name, Title: name, Source: "the calling test", Custom: true,
			Relations: func(audit.Params) []audit.Relation { return []audit.Relation{cmp.Or(opts.Relation, audit.AddRemove)} },
			Claim:     func(audit.Params) audit.Claim { return claim },
			Truth:     func(audit.Params) string { return "unknown" },
			Domain:    func(audit.Params, audit.Relation) audit.Domain { return domain },
			Pairs:     func(audit.Params, audit.Relation) []audit.Pair { return nil },
			New:       func(audit.Params) (audit.Mechanism, error) { return m, nil },
		}
	}
	if len(opts.Pairs) > 0 {
		spec.Pairs = func(audit.Params, audit.Relation) []audit.Pair { return opts.Pairs }
	}
	if opts.Domain != nil {
		spec.Domain = func(audit.Params, audit.Relation) audit.Domain { return *opts.Domain }
	}
	return spec, params, err
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
			// Without a domain no sensitivity is declared: the caller's pairs are the neighbours.
			for i, v := range p.First.Values {
				dom.Reach = max(dom.Reach, math.Abs(v-p.Second.Values[i]))
			}
		}
	}
	return dom
}

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
// Its own pairs, domain and relation are used where the options give none. An unknown name or parameter is the error
// of the audit that uses it.
func From(specs []audit.MechanismSpec, name string, params ...string) audit.Mechanism {
	reg := &registered{params: audit.Params{}}
	reg.of, reg.err = (audit.Catalogue{Mechanisms: specs}).Mechanism(name)
	for _, p := range params {
		key, value, err := audit.ParseParam(p)
		reg.params[key], reg.err = value, audit.First(reg.err, err)
	}
	if reg.err == nil {
		reg.Mechanism, reg.err = reg.of.Build(reg.params)
		reg.err = audit.Of("mechanism "+name, reg.err)
	}
	return reg
}

func (r *registered) Columns() []audit.Column {
	if r.err != nil {
		return nil
	}
	return r.Mechanism.Columns()
}

func (r *registered) Sample(d audit.Dataset, s *stream.Stream, out []float64) error {
	if r.err != nil {
		return r.err
	}
	return r.Mechanism.Sample(d, s, out)
}
