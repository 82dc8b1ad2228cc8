package pair

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/dpscope/dpscope/audit"
)

// arguments lists what reproduces the audit: the mechanism, the claim, the
// seed, and whatever else is not a default.
func arguments(a *Audit) (args []audit.Argument, params []string) {
	p := a.Plan
	add := func(name, value string) { args = append(args, audit.Argument{Name: name, Value: value}) }
	recording := a.Spec.Recording
	switch {
	case recording != nil:
		args = recording.Arguments()
	case a.Spec.Brought != nil:
		args = a.Spec.Brought.Arguments()
	default:
		add("mechanism", p.Mechanism)
	}
	own := a.Spec.Claim(p.Parameters)
	if a.Claim.IsDP() {
		if a.Claim.Kind == audit.Pure && own.Delta > 0 || !own.IsDP() {
			add("guarantee", string(a.Claim.Kind))
		}
		add("epsilon", audit.Exactly(p.Claim.Epsilon))
		// The default delta is that of the mechanism's own claim.
		if p.Claim.Delta > 0 || own.Delta > 0 {
			add("delta", audit.Exactly(p.Claim.Delta))
		}
	} else {
		add("guarantee", string(a.Claim.Kind))
		for _, x := range []struct {
			name  string
			value float64
		}{{"alpha", a.Claim.Alpha}, {"epsilon", a.Claim.Epsilon}, {"rho", a.Claim.Rho}, {"mu", a.Claim.Mu}} {
			if x.value != 0 {
				add(x.name, audit.Exactly(x.value))
			}
		}
	}
	defaults, err := followParams(a.Spec, nil, a.Claim)
	if err == nil {
		for _, s := range a.Spec.Params {
			if v := p.Parameters[s.Name]; v != defaults[s.Name] {
				params = append(params, s.Name+"="+v.String())
			}
		}
	}
	if r := a.Spec.Relations(p.Parameters); p.Relation != r[0] {
		add("relation", string(p.Relation))
	}
	if p.Pair != nil {
		if data, err := json.Marshal(p.Pair); err == nil {
			add("pair", string(data))
		}
	}
	if p.Finder != audit.Auto {
		add("finder", p.Finder)
	}
	if p.Learner != audit.Auto {
		add("learner", p.Learner)
	}
	for _, n := range []struct {
		name        string
		value, dflt int
	}{{"samples", p.Samples, 100_000}, {"explore", p.Explore, p.Samples}, {"trials", p.Trials, 10}} {
		if recording != nil && (n.name == "trials" || a.splitsByDefault()) {
			continue
		}
		if n.value != n.dflt {
			add(n.name, fmt.Sprint(n.value))
		}
	}
	if p.Beta != 0.05 {
		add("beta", audit.Exactly(p.Beta))
	}
	if p.ThroughRenyi > 0 {
		add("through-renyi", audit.Exactly(p.ThroughRenyi))
	}
	if p.Anytime {
		add("anytime", "true")
	}
	add("seed", fmt.Sprint(p.Seed))
	return args, params
}

// Reproduce says how to run the audit again.
func (a *Audit) Reproduce() audit.Reproduce {
	if a.Spec.Custom {
		return audit.Reproduce{Note: "The mechanism is the caller's own: run the test that audited it again, with this seed."}
	}
	args, params := arguments(a)
	var cli, frag strings.Builder
	cli.WriteString("dpscope audit")
	frag.WriteString("#v=1")
	for _, x := range args {
		if x.Name == "anytime" || x.Name == "integer" {
			cli.WriteString(" -" + x.Name)
		} else {
			fmt.Fprintf(&cli, " -%s %s", x.Name, audit.ShellWord(x.Value))
		}
		fmt.Fprintf(&frag, "&%s=%s", x.Name, audit.FragmentWord(x.Value))
	}
	for _, x := range params {
		name, value, _ := strings.Cut(x, "=")
		fmt.Fprintf(&cli, " -param %s", audit.ShellWord(x))
		fmt.Fprintf(&frag, "&p.%s=%s", audit.FragmentWord(name), audit.FragmentWord(value))
	}
	if a.Spec.Recording != nil {
		return audit.Reproduce{CLI: cli.String(), Note: "It needs the same file: its SHA-256 stands in the report's inputs."}
	}
	switch b := a.Spec.Brought; {
	case b != nil && b.Kind == audit.BroughtScript:
		return audit.Reproduce{Note: "The report holds the function: open it in the page and press Verify."}
	case b != nil && b.SHA256 != "":
		return audit.Reproduce{CLI: cli.String(), Note: "It needs the same file: its SHA-256 stands in the report's inputs."}
	case b != nil:
		return audit.Reproduce{CLI: cli.String(), Note: "It needs the same program in the same place."}
	case a.Spec.Unseeded != "":
		return audit.Reproduce{CLI: cli.String(), URL: frag.String(), Note: "Another run gives other counts: " + a.Spec.Unseeded + "."}
	}
	return audit.Reproduce{CLI: cli.String(), URL: frag.String(), GoTest: a.goTest(params)}
}

// goTest is the audit as a call of package dptest, or "" where that has no
// option for it.
func (a *Audit) goTest(params []string) string {
	p := a.Plan
	if p.Finder != audit.Auto || p.Pair != nil || p.Anytime || p.ThroughRenyi > 0 {
		return ""
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
	fmt.Fprintf(&b, "dptest.RequireNoViolation(t, dptest.From(mechanisms.All(), %q", p.Mechanism)
	for _, x := range params {
		fmt.Fprintf(&b, ", %q", x)
	}
	fmt.Fprintf(&b, "), %s, dptest.Options{Samples: %d, Explore: %d, Trials: %d, FalseAlarm: %s, Seed: %d",
		claim, p.Samples, p.Explore, p.Trials, audit.Exactly(p.Beta), p.Seed)
	if r := a.Spec.Relations(p.Parameters); p.Relation != r[0] {
		fmt.Fprintf(&b, ", Relation: %q", p.Relation)
	}
	if p.Learner != audit.Auto {
		fmt.Fprintf(&b, ", Learner: %q", p.Learner)
	}
	b.WriteString("})")
	return b.String()
}
