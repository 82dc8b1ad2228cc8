package main

import (
	"context"
	"io"

	"github.com/dpscope/dpscope/audit/settings"
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
func (c *coordinator) oneRun(ctx context.Context, id int, texts settings.Texts, files []userFile) (reported, error) {
	plan, err := read(onerun.Keys(), texts, onerun.Plan{Version: onerun.PlanVersion})
	if err != nil {
		return reported{}, err
	}
	file, err := oneFile(files)
	if err != nil {
		return reported{}, err
	}
	c.tellOne(id, oneRunning)
	r, err := onerun.Run{Plan: plan, File: file, Sources: source.Sources(), Pool: c.crew.pool(c.crew), Generator: c.generator, Now: c.now}.Do(ctx)
	return c.report(r, nil, err)
}

// tellOne says that what has one step only has begun; it tells nothing until it is
// done.
func (c *coordinator) tellOne(id int, phase canary.Phase) {
	c.tell(id, canaryProgress{canary.Progress{Phase: phase, Total: 1}, 1})
}

// scores audits recorded scores.
func (c *coordinator) scores(id int, texts settings.Texts, files []userFile) (reported, error) {
	plan, err := read(scores.Keys(), texts, scores.Plan{Version: scores.PlanVersion})
	if err != nil {
		return reported{}, err
	}
	c.tellOne(id, readingScores)
	s, err := readScores(files, plan.ScoreColumns)
	if err != nil {
		return reported{}, err
	}
	r, err := scores.Run(plan, *s, c.generator)
	if err != nil {
		return reported{}, err
	}
	return c.report(r, nil, nil)
}

func readScores(files []userFile, columns recorded.ScoreColumns) (*scores.Scores, error) {
	var parsed []*recorded.File
	for _, f := range files {
		read, err := recorded.Read(&userReader{f, 0}, recorded.ScoreOptions(recorded.Options{Name: f.name}))
		if err != nil {
			return nil, err
		}
		parsed = append(parsed, read)
	}
	return scores.ReadScores(parsed, columns)
}

// oneFile is what is in the one file of a request; nil: there is none.
func oneFile(files []userFile) ([]byte, error) {
	if len(files) == 0 {
		return nil, nil
	}
	return io.ReadAll(&userReader{files[0], 0})
}
