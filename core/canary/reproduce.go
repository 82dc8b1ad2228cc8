package canary

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/bounds"
	"github.com/dpscope/dpscope/core/canary/train"
)

// reproduce says how to run the audit again.
func reproduce(a *Audit) audit.Reproduce {
	p := a.Plan
	w := newAgain("canaries", p.Source, p.promise())
	add := w.add
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
	w.csv(p.CSV)
	add("n", fmt.Sprint(p.Runs))
	add("k", fmt.Sprint(p.K))
	if p.M != p.K {
		add("m", fmt.Sprint(p.M))
	}
	if p.Explore != p.Runs {
		add("explore", fmt.Sprint(p.Explore))
	}
	if p.Interval != bounds.CanaryPairedBetting {
		add("interval", string(p.Interval))
	}
	if p.Quantile > 0 {
		add("quantile", exactly(p.Quantile))
	}
	if *p.Single != (a.Spec.Baseline && p.K > 1) {
		add("single", fmt.Sprint(*p.Single))
	}
	r := w.end(a.Spec, p.Parameters, *p.Claim, p.CSV, p.Data, p.Beta, p.Seed)
	// A flag without a value of its own is a switch.
	r.CLI = strings.ReplaceAll(r.CLI, " -distinct true", " -distinct")
	r.CLI = strings.ReplaceAll(strings.ReplaceAll(r.CLI, " -single true", " -single=true"), " -single false", " -single=false")
	return r
}

// again writes a command and an address that run an audit of a source again.
type again struct{ cli, frag strings.Builder }

// newAgain begins those of a command, whose name is the view's too.
func newAgain(command, source string, c promise) *again {
	w := &again{}
	w.cli.WriteString("dpscope " + command)
	w.frag.WriteString("#v=1&view=" + command)
	w.add("source", source)
	w.add("epsilon", exactly(c.Epsilon))
	w.add("delta", exactly(c.Delta))
	w.add("relation", string(c.relation))
	return w
}

func (w *again) add(name, value string) {
	fmt.Fprintf(&w.cli, " -%s %s", name, shellWord(value))
	fmt.Fprintf(&w.frag, "&%s=%s", name, escaped(value))
}

// csv adds how a file of examples is read, if one is.
func (w *again) csv(x *train.CSV) {
	if x == nil {
		return
	}
	if x.Label != "" {
		w.add("label", x.Label)
	}
	if x.Lower != 0 || x.Upper != 0 {
		w.add("bounds", exactly(x.Lower)+","+exactly(x.Upper))
	}
	if x.Scaling != "" {
		w.add("scaling", x.Scaling)
	}
}

// end adds what comes last: the error, the seed, the parameters that are not the
// defaults, and the file.
func (w *again) end(spec SourceSpec, params audit.Params, c audit.Claim, csv *train.CSV, data string, beta float64, seed uint64) audit.Reproduce {
	if beta != 0.05 {
		w.add("beta", exactly(beta))
	}
	w.add("seed", fmt.Sprint(seed))
	defaults, err := audit.ResolveParams(spec.Params, nil, c)
	for _, s := range spec.Params {
		if v := params[s.Name]; err != nil || v != defaults[s.Name] {
			fmt.Fprintf(&w.cli, " -param %s=%s", s.Name, v)
			fmt.Fprintf(&w.frag, "&p.%s=%s", s.Name, escaped(v.String()))
		}
	}
	r := audit.Reproduce{CLI: w.cli.String(), URL: w.frag.String()}
	if csv != nil && (csv.Header != "" || len(csv.Classes) > 0 || len(csv.Bounds) > 0) {
		r.Note = "The command has no flags for header, classes and single bounds of the file; the report's plan has them. "
	}
	if data != "" {
		r.CLI += " -data FILE"
		r.Note += "FILE is the file with SHA-256 " + data + "; the address does not carry it."
	}
	return r
}

// exactly is the shortest decimal that reads as x.
func exactly(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }

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
