package source

import (
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

// Again says how to run an audit of a source again, by a command whose name is the
// view's too.
func Again(command string, args []audit.Argument, spec Spec, setup Setup, csv *train.CSV, data string) audit.Reproduce {
	defaults, err := audit.ResolveParams(spec.Params, nil, setup.Claim)
	if err != nil {
		defaults = nil // all are said
	}
	args = append(args, setup.Params.Changed(spec.Params, defaults)...)
	r := audit.Reproduce{CLI: audit.CommandOf("dpscope "+command, args), URL: audit.FragmentOf(append([]audit.Argument{{Name: "view", Value: command}}, args...))}
	if csv != nil && (csv.Header != "" || len(csv.Classes) > 0 || len(csv.Bounds) > 0) {
		r.Note = "The command has no flags for header, classes and single bounds of the file; the report's plan has them. "
	}
	if data != "" {
		r.CLI += " -data FILE"
		r.Note += "FILE is the file with SHA-256 " + data + "; the address does not carry it."
	}
	return r
}
