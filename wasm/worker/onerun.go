package main

import (
	"context"
	"errors"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/core/canary"
	"github.com/dpscope/dpscope/core/canary/source"
	"github.com/dpscope/dpscope/core/engine"
	"github.com/dpscope/dpscope/core/onerun"
	"github.com/dpscope/dpscope/core/scores"
	"github.com/dpscope/dpscope/mechanisms/recorded"
	"github.com/dpscope/dpscope/report"
)

// Audits in one run, and reports that end in findings by method: theirs, and
// those of scores that another program recorded.

// oneRun does an audit in one run. A stop leaves a report without a bound.
func (c *coordinator) oneRun(ctx context.Context, id int, req canaryRequest) (message, error) {
	plan, err := onerun.ParsePlan(req.OneRun)
	if err != nil {
		return message{}, err
	}
	c.tellOne(id, onerun.OneRunning)
	r, err := onerun.Run{Plan: plan, File: req.File, Sources: source.Sources(), Pool: c.crew.pool(c.crew), Generator: c.generator, Now: c.now}.Do(ctx)
	if err != nil && r.Schema == "" {
		return message{}, err // it never began
	}
	return oneRunAnswer(r, err)
}

// tellOne says that what has one step only has begun; it tells nothing until it is
// done.
func (c *coordinator) tellOne(id int, phase canary.Phase) {
	c.page.post(message{Type: msgProgress, ID: id, JSON: mustJSON(canaryProgress{canary.Progress{Phase: phase, Total: 1}, 1})})
}

// scoreFile is a file of scores of the user's.
type scoreFile struct {
	Name    string `json:"name"`
	Content []byte `json:"content"`
}

// readingScores is the phase of an audit of scores.
const readingScores canary.Phase = "scores"

// scores audits recorded scores.
func (c *coordinator) scores(id int, req canaryRequest) (message, error) {
	plan, err := scores.ParsePlan(req.Scores)
	if err != nil {
		return message{}, err
	}
	c.tellOne(id, readingScores)
	s, err := readScores(req.Files)
	if err != nil {
		return message{}, err
	}
	r, err := scores.Run(plan, *s, c.generator)
	if err != nil {
		return message{}, err
	}
	return scoresAnswer(r)
}

func readScores(files []scoreFile) (*scores.Scores, error) {
	var parsed []*recorded.File
	for _, f := range files {
		p, err := recorded.NewParser(recorded.ScoreOptions(recorded.Options{Name: f.Name}))
		if err != nil {
			return nil, err
		}
		if _, err := p.Write(f.Content); err != nil {
			return nil, err
		}
		read, err := p.Close()
		if err != nil {
			return nil, err
		}
		parsed = append(parsed, read)
	}
	return scores.ReadScores(parsed)
}

func scoresAnswer(r scores.Report) (message, error) {
	complete(&r.Findings)
	if r.Notes == nil {
		r.Notes = []string{}
	}
	return findingsAnswer(r, r.Facts(), r.MethodRows(r.Plan.Method, r.Plan.Claim.Epsilon), nil)
}

func oneRunAnswer(r onerun.Report, failure error) (message, error) {
	complete(&r.Findings)
	return findingsAnswer(r, r.Facts(), r.MethodRows(report.MethodOneRun, r.Plan.Claim.Epsilon), failure)
}

// complete gives a report that was written by hand the lists on which the page
// relies.
func complete(f *report.Findings) {
	for _, list := range []*[]string{&f.Warnings, &f.Limitations, &f.References} {
		if *list == nil {
			*list = []string{}
		}
	}
	if f.Methods == nil {
		f.Methods = []report.Row{}
	}
}

func findingsAnswer(r any, facts []audit.FactRow, rows []report.MethodRow, failure error) (message, error) {
	text, err := audit.Canonical(r)
	if err != nil {
		return message{}, err
	}
	out := canaryReported{Report: text, Text: string(text), Facts: facts, Methods: rows, Intervals: []canary.IntervalRow{}, Course: []coursePoint{}}
	if failure != nil {
		out.Error = failure.Error()
	}
	return message{Type: msgCanaried, JSON: mustJSON(out)}, nil
}

// openFindings reads a report of this kind.
func openFindings(kind string, data []byte) (message, error) {
	if kind == onerun.Kind {
		r, err := onerun.ParseReport(data)
		if err != nil {
			return message{}, err
		}
		r.Summary = onerun.Headline(r)
		return oneRunAnswer(r, nil)
	}
	r, err := scores.ParseReport(data)
	if err != nil {
		return message{}, err
	}
	r.Summary = scores.Headline(r)
	return scoresAnswer(r)
}

// verifyFindings trains again, or audits the scores again; without their files
// bounds are computed again from the report's counts.
func (c *coordinator) verifyFindings(ctx context.Context, id int, kind string, req canaryRequest) (message, error) {
	data := []byte(req.Report)
	var v engine.Verification
	if kind == onerun.Kind {
		r, err := onerun.ParseReport(data)
		if err != nil {
			return message{}, err
		}
		c.tellOne(id, onerun.OneRunning)
		v, err = onerun.Verify(ctx, source.Sources(), c.crew.pool(c.crew), r, req.File, true)
		if ctx.Err() != nil {
			return message{}, errors.New("stopped before the end")
		}
		if err != nil {
			return message{}, err
		}
	} else {
		r, err := scores.ParseReport(data)
		var given *scores.Scores
		if err == nil && len(req.Files) > 0 {
			given, err = readScores(req.Files)
		}
		if err == nil {
			v, err = scores.Verify(r, given)
		}
		if err != nil {
			return message{}, err
		}
	}
	return verifiedAnswer(v), nil
}

// findingsKind is the kind of a report that ends in findings, empty for others.
func findingsKind(data []byte) string {
	if kind := report.ReportKindOf(data); kind == onerun.Kind || kind == scores.Kind {
		return kind
	}
	return ""
}
