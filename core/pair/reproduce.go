package pair

import (
	"maps"
	"slices"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/audit/settings"
)

// arguments list what reproduces the audit: the mechanism, the claim, the seed, and
// whatever else is not a default.
func (a *Audit) arguments() (args, params []audit.Argument) {
	keys := Keys()
	if o, ok := external(a.Spec); ok {
		args, keys = settings.Written(ExternalKeys(), o, External{}), settings.Without(keys, "mechanism")
		if a.Spec.Labelled != nil {
			keys = Keys()
		}
		if r := a.Plan.Relation; a.Spec.User != nil && r != audit.AddRemove { // it belongs to the datasets
			at := slices.IndexFunc(args, func(x audit.Argument) bool { return x.Name == "reach" || x.Name == "kind" })
			args = slices.Insert(args, max(at, 0), audit.Argument{Name: "relation", Value: string(r)})
		}
	}
	args = append(args, settings.Written(keys, a.Plan, a.otherwise())...)
	// Of parameters that follow the claim the defaults do too.
	defaults, err := followParams(a.Spec, nil, a.Claim)
	if err == nil {
		return args, a.Plan.Parameters.Changed(a.Spec.Params, defaults)
	}
	for _, x := range a.Spec.Params { // none has a default that the claim allows
		params = append(params, audit.Argument{Name: "p." + x.Name, Value: a.Plan.Parameters[x.Name].String()})
	}
	return args, params
}

// otherwise is a plan with what the audit would have of itself in the place of what
// does not have to be said.
func (a *Audit) otherwise() Plan {
	p := a.Plan
	out := Plan{Claim: &audit.Claim{}, Relation: a.Spec.Relations(p.Parameters)[0], Finder: audit.Auto, Learner: audit.Auto,
		Samples: 200_000, Explore: p.Samples + p.Samples/2, Trials: 10, Beta: 0.05}
	switch p.Mode {
	case UntilRefuted:
		out.Explore = 0
	case Climbing:
		out.Explore = shown(p.Samples)
	}
	if a.Claim.Kind == audit.Profile {
		out.Mode = Fixed
	}
	if a.Spec.Recording != nil {
		out.Trials, out.Explore = p.Trials, 0
		usual := *a // what recorded outputs get where the plan asks for no budget
		usual.Plan.Explore, usual.Plan.Samples = 0, 0
		if usual.splitRecorded() == nil && usual.Plan.Explore == p.Explore && usual.Plan.Samples == p.Samples {
			out.Samples, out.Explore = p.Samples, p.Explore
		}
	}
	if own := a.Spec.Claim(p.Parameters); a.Claim.IsDP() {
		if own.IsDP() && !(a.Claim.Kind == audit.Pure && own.Delta > 0) {
			out.Claim.Kind = a.Claim.Kind // epsilon and delta tell
		}
		if own.Delta > 0 {
			out.Claim.Delta = -1 // its delta is the default: any other has to be said, 0 too
		}
	}
	return out
}

// Reproduce says how to run the audit again.
func (a *Audit) Reproduce() audit.Reproduce {
	if a.Spec.Custom {
		return audit.Reproduce{Note: "The mechanism is the caller's own: run the test that audited it again, with this seed."}
	}
	args, params := a.arguments()
	args = append(args, params...)
	r := audit.Reproduce{CLI: audit.CommandOf("dpscope audit", args)}
	switch b := a.Spec.User; {
	case a.Spec.Recording != nil:
		r.Note = "It needs the same file: the report's inputs give its SHA-256."
	case b != nil && b.Kind.Scripted():
		r = audit.Reproduce{Note: "The report holds the function: open it in the page and press Verify."}
	case b != nil && b.SHA256 != "":
		r.Note = "It needs the same file: the report's inputs give its SHA-256."
	case b != nil:
		r.Note = "It needs the same program in the same place."
	case a.Spec.Unseeded != "":
		r.URL, r.Note = audit.FragmentOf(args), "Another run gives different counts: "+a.Spec.Unseeded+"."
	default:
		r.URL = audit.FragmentOf(args)
	}
	return r
}

// Mended is the address of the same audit of the mechanism without its fault, on the pair of
// datasets that the report shows or, where it does not take them, on those that a search
// finds. It is empty where no such mechanism is registered.
func (r Report) Mended(cat audit.Catalogue) string {
	broken, _ := cat.Mechanism(r.Plan.Mechanism) // an unknown one names none
	mended, err := cat.Mechanism(broken.Mended)
	if err != nil {
		return ""
	}
	p := r.Plan
	p.Mechanism, p.Pair, p.Finder, p.Parameters = mended.Name, Shown(r.Evidence, r.Sequential), "", maps.Clone(p.Parameters)
	maps.DeleteFunc(p.Parameters, func(name string, _ audit.ParamValue) bool {
		return !slices.ContainsFunc(mended.Params, func(s audit.ParamSpec) bool { return s.Name == name })
	})
	a, err := p.Resolve(cat)
	if err != nil {
		p.Pair = nil
		if a, err = p.Resolve(cat); err != nil {
			return ""
		}
	}
	return a.Reproduce().URL
}
