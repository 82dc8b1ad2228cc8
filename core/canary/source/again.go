package source

import (
	"fmt"
	"strings"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/core/canary/train"
	"github.com/dpscope/dpscope/report"
)

// AddSource adds what was audited, and the claim.
func AddSource(rows *report.FactRows, name string, params audit.Params, note Note, c report.Promise) {
	if len(params) > 0 {
		name += " (" + strings.Join(params.Assignments(), ", ") + ")"
	}
	rows.Add("Source", "%s: %s", name, note.Title)
	*rows = append(*rows, note.Facts...)
	rows.Add("Claim", "%s", c)
}

// again writes a command and an address that run an audit of a source again.
type again struct{ cli, frag strings.Builder }

// NewAgain begins those of a command, whose name is the view's too.
func NewAgain(command, source string, c report.Promise) *again {
	w := &again{}
	w.cli.WriteString("dpscope " + command)
	w.frag.WriteString("#v=1&view=" + command)
	w.Add("source", source)
	w.Add("epsilon", audit.Exactly(c.Epsilon))
	w.Add("delta", audit.Exactly(c.Delta))
	w.Add("relation", string(c.Relation))
	return w
}

func (w *again) Add(name, value string) {
	fmt.Fprintf(&w.cli, " -%s %s", name, audit.ShellWord(value))
	fmt.Fprintf(&w.frag, "&%s=%s", name, audit.FragmentWord(value))
}

// Csv adds how a file of examples is read, if one is.
func (w *again) Csv(x *train.CSV) {
	if x == nil {
		return
	}
	if x.Label != "" {
		w.Add("label", x.Label)
	}
	if x.Lower != 0 || x.Upper != 0 {
		w.Add("bounds", audit.Exactly(x.Lower)+","+audit.Exactly(x.Upper))
	}
	if x.Scaling != "" {
		w.Add("scaling", x.Scaling)
	}
}

// End adds what comes last: the error, the seed, the parameters that are not the
// defaults, and the file.
func (w *again) End(spec Spec, params audit.Params, c audit.Claim, csv *train.CSV, data string, beta float64, seed uint64) audit.Reproduce {
	if beta != 0.05 {
		w.Add("beta", audit.Exactly(beta))
	}
	w.Add("seed", fmt.Sprint(seed))
	defaults, err := audit.ResolveParams(spec.Params, nil, c)
	for _, s := range spec.Params {
		if v := params[s.Name]; err != nil || v != defaults[s.Name] {
			fmt.Fprintf(&w.cli, " -param %s=%s", s.Name, v)
			fmt.Fprintf(&w.frag, "&p.%s=%s", s.Name, audit.FragmentWord(v.String()))
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
