package pair

import (
	"fmt"
	"slices"
	"strings"

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
		Samples: 100_000, Explore: p.Samples + p.Samples/2, Trials: 10, Beta: 0.05}
	if p.Mode == UntilRefuted {
		out.Explore = 0
	}
	if a.Claim.Kind == audit.Profile {
		out.Mode = Fixed
	}
	if a.Spec.Recording != nil {
		out.Trials = p.Trials
		if a.splitsByDefault() {
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
		r.URL, r.GoTest = audit.FragmentOf(args), a.goTest(params)
	}
	return r
}

// goTest is the audit as a call of package dptest, or "" where that has no
// option for it.
func (a *Audit) goTest(params []audit.Argument) string {
	if a.Claim.Kind == audit.Profile {
		return ""
	}
	var numbers, words string
	for _, k := range Keys() {
		number := k.At.Type == settings.NumberType || k.At.Type == settings.WholeType
		k.Always = k.Option != "" && number // of words those that are not the default
		for _, x := range settings.Written([]settings.Key[Plan]{k}, a.Plan, a.otherwise()) {
			switch {
			case k.Field == "mode":
			case k.Option != "" && number:
				numbers += fmt.Sprintf(", %s: %s", k.Option, x.Value)
			case k.Option != "":
				words += fmt.Sprintf(", %s: %q", k.Option, x.Value)
			case k.Name != "mechanism" && !strings.HasPrefix(k.Field, "claim/"):
				return ""
			}
		}
	}
	if a.Plan.Mode != UntilRefuted {
		words += fmt.Sprintf(", Mode: %q", a.Plan.Mode)
	}
	claim := fmt.Sprintf("audit.DPClaim(%s, %s)", audit.Exactly(a.Claim.Epsilon), audit.Exactly(a.Claim.Delta))
	switch a.Claim.Kind {
	case audit.Renyi:
		claim = fmt.Sprintf("audit.Claim{Kind: audit.Renyi, Alpha: %s, Epsilon: %s}", audit.Exactly(a.Claim.Alpha), audit.Exactly(a.Claim.Epsilon))
	case audit.ZCDP:
		claim = fmt.Sprintf("audit.Claim{Kind: audit.ZCDP, Rho: %s}", audit.Exactly(a.Claim.Rho))
	case audit.GaussianDP:
		claim = fmt.Sprintf("audit.Claim{Kind: audit.GaussianDP, Mu: %s}", audit.Exactly(a.Claim.Mu))
	}
	var b strings.Builder
	fmt.Fprintf(&b, "dptest.RequireNoViolation(t, dptest.From(mechanisms.All(), %q", a.Plan.Mechanism)
	for _, x := range params {
		fmt.Fprintf(&b, ", %q", strings.TrimPrefix(x.Name, "p.")+"="+x.Value)
	}
	fmt.Fprintf(&b, "), %s, dptest.Options{%s})", claim, strings.TrimPrefix(numbers+words, ", "))
	return b.String()
}
