package canary

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/dpscope/dpscope/core"
	"github.com/dpscope/dpscope/core/bound"
)

// reproduce says how to run the audit again.
func reproduce(a *Audit) core.Reproduce {
	p := a.Plan
	var cli, frag strings.Builder
	cli.WriteString("dpscope canaries")
	frag.WriteString("#v=1&view=canaries")
	add := func(name, value string) {
		fmt.Fprintf(&cli, " -%s %s", name, shellWord(value))
		fmt.Fprintf(&frag, "&%s=%s", name, escaped(value))
	}
	exactly := func(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }
	add("source", p.Source)
	add("epsilon", exactly(p.Claim.Epsilon))
	add("delta", exactly(p.Claim.Delta))
	if p.Form != a.Spec.Forms[0] {
		add("form", string(p.Form))
	}
	if p.Design != a.Spec.Designs[0] {
		add("design", string(p.Design))
	}
	if x := p.Pool; x != nil {
		if x.Tail > 0 {
			add("tail", fmt.Sprint(x.Tail))
		}
		if x.Scale != "" && x.Scale != UnitNorm {
			add("scale", string(x.Scale))
		}
		if x.Distinct {
			add("distinct", "true")
		}
	}
	if x := p.CSV; x != nil {
		if x.Label != "" {
			add("label", x.Label)
		}
		if x.Lower != 0 || x.Upper != 0 {
			add("bounds", exactly(x.Lower)+","+exactly(x.Upper))
		}
		if x.Scaling != "" {
			add("scaling", x.Scaling)
		}
	}
	add("n", fmt.Sprint(p.Runs))
	add("k", fmt.Sprint(p.K))
	if p.M != p.K {
		add("m", fmt.Sprint(p.M))
	}
	if p.Explore != p.Runs {
		add("explore", fmt.Sprint(p.Explore))
	}
	if p.Interval != bound.CanaryPairedBetting {
		add("interval", string(p.Interval))
	}
	if p.Quantile > 0 {
		add("quantile", exactly(p.Quantile))
	}
	if *p.Single != (a.Spec.Baseline && p.K > 1) {
		add("single", fmt.Sprint(*p.Single))
	}
	if p.Beta != 0.05 {
		add("beta", exactly(p.Beta))
	}
	add("seed", fmt.Sprint(p.Seed))
	defaults, err := core.ResolveParams(a.Spec.Params, nil, *p.Claim)
	for _, s := range a.Spec.Params {
		if v := p.Parameters[s.Name]; err != nil || v != defaults[s.Name] {
			fmt.Fprintf(&cli, " -param %s=%s", s.Name, v)
			fmt.Fprintf(&frag, "&p.%s=%s", s.Name, escaped(v.String()))
		}
	}
	again := core.Reproduce{CLI: cli.String(), URL: frag.String()}
	if x := p.CSV; x != nil && (x.Header != "" || len(x.Classes) > 0 || len(x.Bounds) > 0) {
		again.Note = "The command has no flags for header, classes and single bounds of the file; the report's plan has them. "
	}
	if p.Data != "" {
		again.CLI += " -data FILE"
		again.Note += "FILE is the file with SHA-256 " + p.Data + "; the address does not carry it."
	}
	// A flag without a value of its own is a switch.
	again.CLI = strings.ReplaceAll(again.CLI, " -distinct true", " -distinct")
	again.CLI = strings.ReplaceAll(strings.ReplaceAll(again.CLI, " -single true", " -single=true"), " -single false", " -single=false")
	return again
}

// escaped percent-encodes what does not stand for itself in the value of an
// address's fragment.
func escaped(s string) string {
	var b strings.Builder
	for _, c := range []byte(s) {
		if c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || strings.IndexByte("-_.~", c) >= 0 {
			b.WriteByte(c)
			continue
		}
		fmt.Fprintf(&b, "%%%02X", c)
	}
	return b.String()
}

// shellWord quotes what a shell would take apart.
func shellWord(s string) string {
	if s != "" && strings.Trim(s, "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-_.=,:+/") == "" {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
