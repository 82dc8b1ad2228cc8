package canary

import (
	"fmt"
	"strings"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/audit/settings"
	"github.com/dpscope/dpscope/bounds"
	"github.com/dpscope/dpscope/core/canary/train"
)

// Reproduce says how to run the audit again.
func (a *Audit) Reproduce() audit.Reproduce {
	p := a.Plan
	single := a.Spec.Baseline && p.K > 1
	otherwise := Plan{Design: a.Spec.Designs[0], Pool: &Pool{Scale: UnitNorm}, M: p.K, Explore: p.Runs, Interval: bounds.CanaryPairedBetting, Single: &single, Beta: 0.05}
	return again("canaries", settings.Written(Keys(), p, otherwise), a.Spec, a.Setup, p.CSV, p.Data)
}

// again says how to run an audit of a source again, by a command whose name is the
// view's too.
func again(command string, args []audit.Argument, spec SourceSpec, setup Setup, csv *train.CSV, data string) audit.Reproduce {
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

// Reproduce says how to run the audit again.
func (a *OneRunAudit) Reproduce() audit.Reproduce {
	p := a.Plan
	otherwise := OneRunPlan{Design: a.Spec.OneRun.Designs[0], Beta: 0.05}
	otherwise.Sides, otherwise.Guesses, otherwise.GDPGuesses = p.guessing().otherwise()
	return again("one-run", settings.Written(OneRunKeys(), p, otherwise), a.Spec, a.Setup, p.CSV, p.Data)
}

func reproduceScores(p ScoresPlan, h ScoresShape) audit.Reproduce {
	otherwise := ScoresPlan{Method: FlatMethods()[0], Beta: 0.05}
	if h.Runs > 0 {
		otherwise.Method = MatrixMethods()[0]
	}
	otherwise.Sides, otherwise.Guesses, otherwise.GDPGuesses = p.guessing(h).otherwise()
	r := audit.Reproduce{CLI: audit.CommandOf("dpscope scores", settings.Written(ScoresKeys(), p, otherwise))}
	var note []string
	for i, sum := range p.Data {
		name := "FILE"
		if i > 0 {
			name += fmt.Sprint(i + 1)
		}
		r.CLI += " " + name
		note = append(note, name+" is the file with SHA-256 "+sum)
	}
	if len(note) > 0 {
		r.Note = strings.Join(note, "; ") + "."
	}
	return r
}
