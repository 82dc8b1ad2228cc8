package core

import (
	"encoding/json"
	"fmt"
	"strings"
)

// argument is one setting of a plan that differs from its default, by the name
// that the command line and the page's address use for it.
type argument struct{ name, value string }

// arguments lists what reproduces the audit: the mechanism, the claim, the
// seed, and whatever else is not a default.
func arguments(a *Audit) (args []argument, params []string) {
	p := a.Plan
	add := func(name, value string) { args = append(args, argument{name, value}) }
	recording := a.Spec.Recording
	switch {
	case recording != nil:
		args = recording.arguments()
	case a.Spec.Brought != nil:
		args = a.Spec.Brought.arguments()
	default:
		add("mechanism", p.Mechanism)
	}
	own := a.Spec.Claim(p.Parameters)
	if a.Claim.isDP() {
		if a.Claim.Kind == Pure && own.Delta > 0 || !own.isDP() {
			add("guarantee", string(a.Claim.Kind))
		}
		add("epsilon", exactly(p.Claim.Epsilon))
		// The default delta is that of the mechanism's own claim.
		if p.Claim.Delta > 0 || own.Delta > 0 {
			add("delta", exactly(p.Claim.Delta))
		}
	} else {
		add("guarantee", string(a.Claim.Kind))
		for _, x := range []argument{{"alpha", exactly(a.Claim.Alpha)}, {"epsilon", exactly(a.Claim.Epsilon)}, {"rho", exactly(a.Claim.Rho)}, {"mu", exactly(a.Claim.Mu)}} {
			if x.value != "0" {
				args = append(args, x)
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
	if p.Finder != Auto {
		add("finder", p.Finder)
	}
	if p.Learner != Auto {
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
		add("beta", exactly(p.Beta))
	}
	if p.ThroughRenyi > 0 {
		add("through-renyi", exactly(p.ThroughRenyi))
	}
	if p.Anytime {
		add("anytime", "true")
	}
	add("seed", fmt.Sprint(p.Seed))
	return args, params
}

// Reproduce says how to run the audit again.
func (a *Audit) Reproduce() Reproduce {
	if a.Spec.Custom {
		return Reproduce{Note: "The mechanism is the caller's own: run the test that audited it again, with this seed."}
	}
	args, params := arguments(a)
	var cli, frag strings.Builder
	cli.WriteString("dpscope audit")
	frag.WriteString("#v=1")
	for _, x := range args {
		if x.name == "anytime" || x.name == "integer" {
			cli.WriteString(" -" + x.name)
		} else {
			fmt.Fprintf(&cli, " -%s %s", x.name, shellWord(x.value))
		}
		fmt.Fprintf(&frag, "&%s=%s", x.name, fragmentWord(x.value))
	}
	for _, x := range params {
		name, value, _ := strings.Cut(x, "=")
		fmt.Fprintf(&cli, " -param %s", shellWord(x))
		fmt.Fprintf(&frag, "&p.%s=%s", fragmentWord(name), fragmentWord(value))
	}
	if a.Spec.Recording != nil {
		return Reproduce{CLI: cli.String(), Note: "It needs the same file: its SHA-256 stands in the report's inputs."}
	}
	switch b := a.Spec.Brought; {
	case b != nil && b.Kind == BroughtScript:
		return Reproduce{Note: "The report holds the function: open it in the page and press Verify."}
	case b != nil && b.SHA256 != "":
		return Reproduce{CLI: cli.String(), Note: "It needs the same file: its SHA-256 stands in the report's inputs."}
	case b != nil:
		return Reproduce{CLI: cli.String(), Note: "It needs the same program in the same place."}
	case a.Spec.Unseeded != "":
		return Reproduce{CLI: cli.String(), URL: frag.String(), Note: "Another run gives other counts: " + a.Spec.Unseeded + "."}
	}
	return Reproduce{CLI: cli.String(), URL: frag.String(), GoTest: a.goTest(params)}
}

// goTest is the audit as a call of package dptest, or "" where that has no
// option for it.
func (a *Audit) goTest(params []string) string {
	p := a.Plan
	if p.Finder != Auto || p.Pair != nil || p.Anytime || p.ThroughRenyi > 0 {
		return ""
	}
	claim := fmt.Sprintf("core.DPClaim(%s, %s)", exactly(a.Claim.Epsilon), exactly(a.Claim.Delta))
	switch a.Claim.Kind {
	case Renyi:
		claim = fmt.Sprintf("core.Claim{Kind: core.Renyi, Alpha: %s, Epsilon: %s}", exactly(a.Claim.Alpha), exactly(a.Claim.Epsilon))
	case ZCDP:
		claim = fmt.Sprintf("core.Claim{Kind: core.ZCDP, Rho: %s}", exactly(a.Claim.Rho))
	case GaussianDP:
		claim = fmt.Sprintf("core.Claim{Kind: core.GaussianDP, Mu: %s}", exactly(a.Claim.Mu))
	}
	var b strings.Builder
	fmt.Fprintf(&b, "dptest.RequireNoViolation(t, dptest.From(mechanisms.All(), %q", p.Mechanism)
	for _, x := range params {
		fmt.Fprintf(&b, ", %q", x)
	}
	fmt.Fprintf(&b, "), %s, dptest.Options{Samples: %d, Explore: %d, Trials: %d, FalseAlarm: %s, Seed: %d",
		claim, p.Samples, p.Explore, p.Trials, exactly(p.Beta), p.Seed)
	if r := a.Spec.Relations(p.Parameters); p.Relation != r[0] {
		fmt.Fprintf(&b, ", Relation: %q", p.Relation)
	}
	if p.Learner != Auto {
		fmt.Fprintf(&b, ", Learner: %q", p.Learner)
	}
	b.WriteString("})")
	return b.String()
}

// shellWord quotes what a shell would take apart.
func shellWord(s string) string {
	if s != "" && strings.IndexFunc(s, func(r rune) bool {
		return !(r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || strings.ContainsRune("-_.=,:+/", r))
	}) < 0 {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// fragmentWord percent-encodes what does not stand for itself in the value of
// an address's fragment.
func fragmentWord(s string) string {
	const hex = "0123456789ABCDEF"
	var b strings.Builder
	for i := range len(s) {
		c := s[i]
		if c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || strings.IndexByte("-_.~", c) >= 0 {
			b.WriteByte(c)
			continue
		}
		b.WriteByte('%')
		b.WriteByte(hex[c>>4])
		b.WriteByte(hex[c&15])
	}
	return b.String()
}
