package main

import (
	"bytes"
	"context"

	"github.com/dpscope/dpscope/core/canary"
	"github.com/dpscope/dpscope/core/canary/source"
	"github.com/dpscope/dpscope/core/onerun"
	"github.com/dpscope/dpscope/core/scores"
	"github.com/dpscope/dpscope/mechanisms/recorded"
)

// Audits in one run, and of scores that another program recorded.

// Phases of audits that have one.
const (
	oneRunning    canary.Phase = "one-run"
	readingScores canary.Phase = "scores"
)

// oneRun does an audit in one run. A stop leaves a report without a bound.
func (c *coordinator) oneRun(ctx context.Context, id int, req canaryRequest) (message, error) {
	plan, err := onerun.ParsePlan(req.OneRun)
	if err != nil {
		return message{}, err
	}
	c.tellOne(id, oneRunning)
	r, err := onerun.Run{Plan: plan, File: req.File, Sources: source.Sources(), Pool: c.crew.pool(c.crew), Generator: c.generator, Now: c.now}.Do(ctx)
	return c.reportAnswer(r, nil, err)
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

// scores audits recorded scores.
func (c *coordinator) scores(id int, req canaryRequest) (message, error) {
	plan, err := scores.ParsePlan(req.Scores)
	if err != nil {
		return message{}, err
	}
	c.tellOne(id, readingScores)
	s, err := readScores(req.Files, plan.ScoreColumns)
	if err != nil {
		return message{}, err
	}
	r, err := scores.Run(plan, *s, c.generator)
	if err != nil {
		return message{}, err
	}
	return c.reportAnswer(r, nil, nil)
}

func readScores(files []scoreFile, columns recorded.ScoreColumns) (*scores.Scores, error) {
	var parsed []*recorded.File
	for _, f := range files {
		read, err := recorded.Read(bytes.NewReader(f.Content), recorded.ScoreOptions(recorded.Options{Name: f.Name}))
		if err != nil {
			return nil, err
		}
		parsed = append(parsed, read)
	}
	return scores.ReadScores(parsed, columns)
}
