package shares

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/core"
	"github.com/dpscope/dpscope/core/canary"
	"github.com/dpscope/dpscope/core/pair"
	"github.com/dpscope/dpscope/core/report"
	"github.com/dpscope/dpscope/core/suite"
)

// Search is an audit, or a file of audits, and what its search found.
type Search struct {
	Kind string          `json:"kind"`           // as reports name it
	Plan json.RawMessage `json:"plan"`           // of the kind; of a file of audits a [Several]
	Data []byte          `json:"data,omitempty"` // file of an audit with canaries; of a pair, an audit.UserMechanism
	// Found is what the search of each audit found; absent before.
	Found []json.RawMessage `json:"found,omitempty"`
}

// Several is the plan of a file of audits.
type Several struct {
	File string            `json:"file"` // name
	Only []string          `json:"only,omitempty"`
	Text []byte            `json:"text"`
	Data map[string][]byte `json:"data,omitempty"` // files that audits are given, by the audit's name
}

// New is an audit before its search; data is its file.
func New(kind string, plan any, data []byte) (Search, error) {
	text, err := json.Marshal(plan)
	return Search{Kind: kind, Plan: text, Data: data}, err
}

// After is the audit with the search in a partial, which has to be of this audit.
func (s Search) After(name string, open Opener) (Search, error) {
	done, err := ReadSearch(name, open)
	if err == nil && (done.Kind != s.Kind || !audit.EqualJSON(done.Plan, s.Plan) || !bytes.Equal(done.Data, s.Data)) {
		err = audit.Fault(name, "the search of another audit", "that of this audit", "give the flags of the search, or search again")
	}
	return done, err
}

// Draw draws a share, after the search where that is not done; where of is 0 it only searches. It returns the file,
// and of how many pieces the longest audit is. watch, which may be nil, is called before each audit.
func (s Search) Draw(ctx context.Context, g core.Env, index, of int, watch Watch) (data []byte, most int, err error) {
	audits, err := s.Audits(g)
	if err != nil {
		return nil, 0, err
	}
	out := partial{Index: index, Of: of}
	known := s.Found != nil
	for k, t := range audits.todo {
		own := g
		if watch != nil {
			watch(t.name, t.Plan(), &own)
		}
		var found json.RawMessage
		if known {
			found = s.Found[k]
		} else if found, err = t.Search(ctx, own); err == nil {
			s.Found = append(s.Found, found)
		}
		var d drawn
		if err == nil {
			d, err = t.draw(ctx, own, found, index, of)
		}
		switch {
		case ctx.Err() != nil:
			return nil, 0, context.Cause(ctx)
		case err != nil:
			return nil, 0, audits.of(t, err)
		}
		if most = max(most, d.Pieces); of > 0 {
			out.Drawn = append(out.Drawn, d)
		}
	}
	data, err = out.encode(s)
	return data, most, err
}

func (t todo) draw(ctx context.Context, g core.Env, found json.RawMessage, index, of int) (d drawn, err error) {
	after, err := t.Shared(found)
	d.Pieces = after.Pieces
	if first, end := share(d.Pieces, index, max(1, of)); err == nil && of > 0 && first < end {
		d.Result, err = after.Draw(ctx, g, first, end)
	}
	return d, err
}

func (a *Audits) of(t todo, err error) error {
	if a.File == nil {
		return err
	}
	return fmt.Errorf("audit %s: %w", t.name, err)
}

// share is the range of pieces of share i of n, even but for one piece.
func share(pieces, i, n int) (first, end int) {
	cut := func(k int) int { return pieces/n*k + pieces%n*k/n }
	return cut(i), cut(i + 1)
}

// Single reads the plan of a single audit.
func (s Search) Single() (any, error) {
	names := []string{report.Pair, canary.Kind}
	for _, k := range core.Kinds() {
		if k.Name == s.Kind && slices.Contains(names, s.Kind) {
			return k.ParsePlan(s.Plan)
		}
	}
	return nil, audit.UnknownName("partial: field kind", s.Kind, append(names, suite.ReportKind))
}

// Audits are those of a search: one, or those of a file.
type Audits struct {
	Name    string          // of the file; "" of a single audit
	File    *suite.File     // nil: a single audit
	Chosen  []int           // indices of the file's audits that are done
	Audited []suite.Audited // what they came to, once they are merged; a single one has no name

	todo []todo
}

type todo struct {
	core.Audit
	name string // in a file of audits
}

// Audits reads and checks all audits, so that none runs when one is wrong.
func (s Search) Audits(g core.Env) (*Audits, error) {
	a, err := s.audits(g)
	if err == nil && s.Found != nil && len(s.Found) != len(a.todo) {
		err = audit.Fault("partial: found", fmt.Sprintf("of %d audits", len(s.Found)), fmt.Sprintf("of the plan's %d", len(a.todo)))
	}
	return a, err
}

func (s Search) audits(g core.Env) (*Audits, error) {
	if s.Kind != suite.ReportKind {
		plan, err := s.Single()
		if err != nil {
			return nil, err
		}
		if s.Kind != report.Pair {
			g.File = s.Data
		}
		one, err := core.Resolve(plan, g)
		return &Audits{todo: []todo{{one, ""}}}, err
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
		name := file.Audits[i].Name
		g.File = several.Data[name]
		one, err := core.Resolve(file.Audit(i), g)
		if err != nil {
			return nil, fmt.Errorf("%s: audits[%d] (%s): %w", several.File, i, name, err)
		}
		a.todo = append(a.todo, todo{one, name})
	}
	return a, nil
}

// named knows a user's mechanism by its name alone: a merge starts nothing.
func (s Search) named(g core.Env) (core.Env, error) {
	if s.Kind != report.Pair || len(s.Data) == 0 {
		return g, nil
	}
	var b audit.UserMechanism
	err := audit.DecodeStrict(s.Data, "partial: mechanism", &b)
	if err == nil {
		g.Catalogue, err = pair.Named(g.Catalogue, b)
	}
	return g, err
}

// Dividable refuses audits that need something of the user's on every machine.
func Dividable(file *suite.File, chosen []int) error {
	for _, i := range chosen {
		if e := file.Audits[i]; e.User != nil || e.Recorded != nil || e.Scores != nil || e.Trains() {
			return audit.Fault("-shards", "an audit of your own program, outputs or scores ("+e.Name+")", "mechanisms and sources of dpscope", "run that audit alone, with -only, on one machine")
		}
	}
	return nil
}

// Watch gets what an audit is given.
type Watch func(name string, plan any, g *core.Env)

// Report is that of the single audit, or of the file.
func (a *Audits) Report(g audit.Generator) any {
	if a.File == nil {
		return a.Audited[0].Report
	}
	return suite.NewReport(a.File, g, a.Audited)
}
