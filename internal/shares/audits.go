package shares

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/core"
	"github.com/dpscope/dpscope/core/canary"
	"github.com/dpscope/dpscope/core/engine"
	"github.com/dpscope/dpscope/core/onerun"
	"github.com/dpscope/dpscope/core/pair"
	"github.com/dpscope/dpscope/core/report"
	"github.com/dpscope/dpscope/core/suite"
)

// Search is an audit, or a file of audits, and what was searched and chosen in it: all that
// is not divided.
type Search struct {
	Kind    string                     `json:"kind"`           // as reports name it
	Plan    json.RawMessage            `json:"plan"`           // of the kind; of a file of audits a [Several]
	Data    []byte                     `json:"data,omitempty"` // file of an audit with canaries; of a pair, the user's mechanism, an audit.Brought
	Answers map[string]json.RawMessage `json:"answers"`        // see [engine.Division]
}

// Several is the plan of a file of audits.
type Several struct {
	File string            `json:"file"` // name
	Only []string          `json:"only,omitempty"`
	Text []byte            `json:"text"`
	Data map[string][]byte `json:"data,omitempty"` // files that audits are given, by the audit's name
}

// New is the audit of this kind, plan and file of data, before its search.
func New(kind string, plan any, data []byte) (Search, error) {
	text, err := json.Marshal(plan)
	return Search{Kind: kind, Plan: text, Data: data}, err
}

// After is the audit with the search in the partial of that name, which is refused where it is
// that of another audit.
func (s Search) After(name string, open Opener) (Search, error) {
	done, err := ReadSearch(name, open)
	if err == nil && (done.Kind != s.Kind || !audit.EqualJSON(done.Plan, s.Plan) || !bytes.Equal(done.Data, s.Data)) {
		err = &audit.InputError{Field: name, Found: "the search of another audit", Want: "that of this audit", Remedy: "give the flags of the search, or search again"}
	}
	return done, err
}

// Part is one machine's part of an audit.
type Part struct {
	*engine.Division
	search Search
}

// Part is share index of so many, or the search where of is 0.
func (s Search) Part(index, of int) *Part {
	return &Part{&engine.Division{Index: index, Of: of, Answers: maps.Clone(s.Answers)}, s}
}

// Draw does that part of the audit, and returns its file and of how many pieces the longest
// stage of the audit is. g is what the audit is of, its pool included; watch is that of
// [Audits.Run].
func (s Search) Draw(ctx context.Context, g core.Given, index, of int, watch Watch) (data []byte, pieces int, err error) {
	audits, err := s.Audits(g)
	if err != nil {
		return nil, 0, err
	}
	part := s.Part(index, of)
	g.Pool = g.Pool.ForDivision(part.Division)
	if err := audits.Run(ctx, g, watch); err != nil {
		return nil, 0, err
	}
	data, err = part.Encode()
	return data, part.Pieces, err
}

// Single reads the plan of a single audit.
func (s Search) Single() (any, error) {
	switch s.Kind {
	case report.Pair:
		return pair.ParsePlan(s.Plan)
	case canary.Kind:
		return canary.ParsePlan(s.Plan)
	case onerun.Kind:
		return onerun.ParsePlan(s.Plan)
	}
	return nil, audit.UnknownName("partial: field kind", s.Kind, []string{report.Pair, canary.Kind, onerun.Kind, suite.ReportKind})
}

// Audits are those of a search: one, or those of a file.
type Audits struct {
	Name    string          // of the file; "" of a single audit
	File    *suite.File     // nil: a single audit
	Chosen  []int           // indices of the file's audits that are done
	Audited []suite.Audited // what they came to, once they have run; a single one has no name

	// brought is the user's mechanism of a single audit, nil if there is none: shares start
	// it, and a merge knows its name alone, see [pair.Named].
	brought *audit.Brought
	todo    []todo
}

// todo is an audit that is to be done.
type todo struct {
	name string // in a file of audits
	plan any
	data []byte
}

// Audits reads and checks the audits: none runs when one is wrong. g is what they are of.
func (s Search) Audits(g core.Given) (*Audits, error) {
	if s.Kind != suite.ReportKind {
		plan, err := s.Single()
		a := &Audits{todo: []todo{{plan: plan, data: s.Data}}}
		if err == nil && s.Kind == report.Pair && len(s.Data) > 0 {
			a.todo[0].data, a.brought = nil, &audit.Brought{}
			err = audit.DecodeStrict(s.Data, "partial: mechanism", a.brought)
		}
		return a, err
	}
	var several Several
	if err := audit.DecodeStrict(s.Plan, "partial: plan", &several); err != nil {
		return nil, err
	}
	file, err := suite.Parse(several.Text, several.File)
	if err != nil {
		return nil, err
	}
	chosen, err := file.Choose(several.Only)
	if err == nil {
		err = Dividable(file, chosen)
	}
	if err != nil {
		return nil, err
	}
	a := &Audits{Name: several.File, File: file, Chosen: chosen}
	for _, i := range chosen {
		t := todo{file.Audits[i].Name, file.Audit(i), several.Data[file.Audits[i].Name]}
		own := g
		own.File = t.data
		if _, err := core.Resolve(t.plan, own); err != nil {
			return nil, fmt.Errorf("%s: audits[%d] (%s): %w", several.File, i, t.name, err)
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
			return &audit.InputError{Field: "-shards", Found: "an audit of your own program, outputs or scores (" + e.Name + ")", Want: "mechanisms and sources of dpscope", Remedy: "run that audit alone, with -only, on one machine"}
		}
	}
	return nil
}

// Watch is called before each audit with what is given to it, and puts in what hears of its
// progress.
type Watch func(name string, plan any, g *core.Given)

// Run does the audits, with the pool of a division: what was drawn and learnt stands in it.
// Where it has all parts, the audits come to what one machine would have found. watch may
// be nil.
func (a *Audits) Run(ctx context.Context, g core.Given, watch Watch) error {
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
