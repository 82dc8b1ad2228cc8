// Package parts runs an audit, or a file of audits, that several machines do, of what a
// partial says: whatever starts the parts, a command or an engine of others, they are the
// same.
package parts

import (
	"context"
	"errors"
	"fmt"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/core"
	"github.com/dpscope/dpscope/core/canary"
	"github.com/dpscope/dpscope/core/engine"
	"github.com/dpscope/dpscope/core/onerun"
	"github.com/dpscope/dpscope/core/pair"
	"github.com/dpscope/dpscope/core/partial"
	"github.com/dpscope/dpscope/core/report"
	"github.com/dpscope/dpscope/core/suite"
)

// Several is the plan of a partial of a file of audits.
type Several struct {
	File string            `json:"file"` // name
	Only []string          `json:"only,omitempty"`
	Text []byte            `json:"text"`
	Data map[string][]byte `json:"data,omitempty"` // files that audits are given, by the audit's name
}

// Audits are those of a partial: one, or those of a file.
type Audits struct {
	Name    string          // of the file; "" of a single audit
	File    *suite.File     // nil: a single audit
	Chosen  []int           // indices of the file's audits that are done
	Audited []suite.Audited // what they came to, once they have run; a single one has no name
	// Brought is the user's mechanism of a single audit, nil if there is none: shares start
	// it, and a merge knows its name alone, see [pair.Named].
	Brought *audit.Brought

	todo []todo
}

// todo is an audit that is to be done.
type todo struct {
	name string // in a file of audits
	plan any
	data []byte
}

// Read reads and checks the audits of a partial with this kind and search: none runs when
// one is wrong. g is what they are of.
func Read(kind string, search partial.Search, g core.Given) (*Audits, error) {
	if kind != suite.ReportKind {
		plan, err := Parse(kind, search.Plan)
		a := &Audits{todo: []todo{{plan: plan, data: search.Data}}}
		if err == nil && kind == report.Pair && len(search.Data) > 0 {
			a.todo[0].data, a.Brought = nil, &audit.Brought{}
			err = audit.DecodeStrict(search.Data, "partial: mechanism", a.Brought)
		}
		return a, err
	}
	var s Several
	if err := audit.DecodeStrict(search.Plan, "partial: plan", &s); err != nil {
		return nil, err
	}
	file, err := suite.Parse(s.Text, s.File)
	if err != nil {
		return nil, err
	}
	chosen, err := file.Choose(s.Only)
	if err != nil {
		return nil, err
	}
	if err := Dividable(file, chosen); err != nil {
		return nil, err
	}
	a := &Audits{Name: s.File, File: file, Chosen: chosen}
	for _, i := range chosen {
		e := file.Audits[i]
		t := todo{e.Name, file.Audit(i), s.Data[e.Name]}
		own := g
		own.File = t.data
		if _, err := core.Resolve(t.plan, own); err != nil {
			return nil, fmt.Errorf("%s: audits[%d] (%s): %w", s.File, i, e.Name, err)
		}
		a.todo = append(a.todo, t)
	}
	return a, nil
}

// Dividable refuses chosen audits of a file that need a program, outputs or scores of the
// user's on every machine: a merge starts nothing that only a partial names.
func Dividable(file *suite.File, chosen []int) error {
	for _, i := range chosen {
		if e := file.Audits[i]; e.Brought != nil || e.Recorded != nil || e.Scores != nil || e.Trains() {
			return &audit.InputError{Field: "-shards", Found: "an audit of a program, of outputs or of scores of yours (" + e.Name + ")", Want: "mechanisms and sources that dpscope has", Remedy: "run that audit alone, with -only, on one machine"}
		}
	}
	return nil
}

// Run does the audits, with the pool of a division: what was drawn and learnt stands in it.
// Where it has all parts, the audits come to what one machine would have found. watch may
// be nil; it is called before each audit with what is given to it, and puts in what hears
// of its progress.
func (a *Audits) Run(ctx context.Context, g core.Given, watch func(name string, plan any, g *core.Given)) error {
	for _, t := range a.todo {
		own := g
		own.File = t.data
		if a.File != nil {
			own.Pool = g.Pool.Named(t.name)
		}
		if watch != nil {
			watch(t.name, t.plan, &own)
		}
		r, err := core.Run(ctx, t.plan, own)
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case err != nil && !errors.Is(err, engine.ErrDivided) && a.File != nil:
			return fmt.Errorf("audit %s: %w", t.name, err)
		case err != nil && !errors.Is(err, engine.ErrDivided):
			return err
		}
		a.Audited = append(a.Audited, suite.Audited{Name: t.name, Report: r})
	}
	return nil
}

// Report is what all came to: the report of the single audit, or of the file.
func (a *Audits) Report(g audit.Generator) any {
	if a.File == nil {
		return a.Audited[0].Report
	}
	return suite.NewReport(a.File, g, a.Audited)
}

// Parse reads the plan of a single audit.
func Parse(kind string, data []byte) (any, error) {
	switch kind {
	case report.Pair:
		return pair.ParsePlan(data)
	case canary.Kind:
		return canary.ParsePlan(data)
	case onerun.Kind:
		return onerun.ParsePlan(data)
	}
	return nil, audit.UnknownName("partial: field kind", kind, []string{report.Pair, canary.Kind, onerun.Kind, suite.ReportKind})
}
