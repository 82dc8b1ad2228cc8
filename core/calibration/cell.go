package calibration

import (
	"context"
	"errors"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/core/engine"
	"github.com/dpscope/dpscope/core/pair"
	"github.com/dpscope/dpscope/stream"
)

// Block is what the cells of a plan are about.
type Block string

const (
	Learners   Block = "learners"   // each learner, with the default finder
	Finders    Block = "finders"    // each finder, with the default learner
	Guarantees Block = "guarantees" // each kind of claim, at its exact value
)

// Cell is one plan to be run under many seeds. Its claim holds.
type Cell struct {
	Block   Block       `json:"block"`
	Name    string      `json:"name"`    // no two cells of a plan have the same
	Subject string      `json:"subject"` // the learner, finder or kind of claim
	Plan    pair.Plan   `json:"plan"`    // but the seed
	Claim   audit.Claim `json:"claim"`
	// Met: on some pair that is within the cell's reach the truth is the
	// claim.
	Met  bool `json:"met"`
	Runs int  `json:"runs"`
	// Unjudged says why alarms are not counted against dpscope; empty where
	// they are.
	Unjudged string `json:"unjudged,omitempty"`
}

// Outcome is how one run ended.
type Outcome struct {
	Verdict audit.Verdict
	Share   float64 // certified bound over what the claim allows; 0 where there is none
	Note    string  // why it failed
}

// Audit does run number run, 0, 1, ..., in this process. A run that fails, as
// where a learner learns nothing, is an outcome; a run that was stopped, and a
// plan that is refused, are errors.
func (c Cell) Audit(ctx context.Context, cat audit.Catalogue, seed uint64, run int) (Outcome, error) {
	return c.AuditOn(ctx, cat, pair.LocalPool(cat, 1), seed, run)
}

// AuditOn does on a pool what [Cell.Audit] does, to the same outcome. Workers
// that were lost are an error.
func (c Cell) AuditOn(ctx context.Context, cat audit.Catalogue, pool *engine.Pool, seed uint64, run int) (Outcome, error) {
	plan := c.Plan
	plan.Seed = stream.New(stream.Key{Seed: seed, Purpose: "calibration/" + c.Name, Trial: run}).Uint64() & audit.MaxSeed
	if _, err := plan.Resolve(cat); err != nil {
		return Outcome{}, err
	}
	report, err := pair.Run{Plan: plan, Catalogue: cat, Pool: pool}.Do(ctx)
	if err == nil && report.Termination.Reason == audit.Stopped {
		return Outcome{}, context.Cause(ctx)
	}
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) || errors.Is(err, engine.ErrWorkerLost) {
		return Outcome{}, err
	}
	o := Outcome{Verdict: report.Verdict}
	if err != nil {
		o.Note = err.Error()
	}
	if report.LowerBound != nil {
		o.Share = *report.LowerBound / c.Claim.Limit()
	}
	return o, nil
}
