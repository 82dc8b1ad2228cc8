package main

import (
	"context"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/audit/settings"
	"github.com/dpscope/dpscope/core/canary"
	"github.com/dpscope/dpscope/core/onerun"
	"github.com/dpscope/dpscope/core/pair"
	"github.com/dpscope/dpscope/core/report"
	"github.com/dpscope/dpscope/core/scores"
	"github.com/dpscope/dpscope/mechanisms/google"
)

// ready is the first message of a coordinator.
type ready struct {
	Version string `json:"version"`
	Go      string `json:"go"`
}

// checked is a plan with its defaults written out, and what there is to say
// about it before it runs.
type checked struct {
	Plan          pair.Plan        `json:"plan"`
	Claim         audit.Claim      `json:"claim"`
	ClaimWords    string           `json:"claimWords"`
	Relations     []audit.Relation `json:"relations"` // allowed at these parameters
	Notes         []string         `json:"notes"`
	Columns       []audit.Column   `json:"columns"`
	OwnClaim      audit.Claim      `json:"ownClaim"` // what the mechanism itself claims
	OwnClaimWords string           `json:"ownClaimWords"`
	Truth         string           `json:"truth"`
	CLI           string           `json:"cli"`
	URL           string           `json:"url"`
}

func (c *coordinator) check(_ context.Context, r request[settings.Texts]) (checked, error) {
	plan, err := pairPlan(r.asked)
	if err != nil {
		return checked{}, err
	}
	a, err := plan.Resolve(c.known())
	if err != nil {
		return checked{}, err
	}
	again := a.Reproduce()
	own := a.Spec.Claim(a.Plan.Parameters)
	return checked{
		Plan: a.Plan, Claim: a.Claim, ClaimWords: a.Claim.String(), Relations: a.Spec.Relations(a.Plan.Parameters),
		Notes: append([]string{}, a.Notes...), Columns: a.Columns, OwnClaim: own, OwnClaimWords: own.String(),
		Truth: a.Spec.Truth(a.Plan.Parameters), CLI: again.CLI, URL: again.URL,
	}, nil
}

// pairPlan is the plan of an audit of a pair of datasets.
func pairPlan(texts settings.Texts) (pair.Plan, error) {
	p, err := read(pair.Keys(), texts, pair.Plan{Version: pair.PlanVersion})
	if p.Samples == 0 {
		p.Samples = google.Samples(p.Mechanism)
	}
	return p, err
}

// run does an audit of any kind. A stop keeps what there is.
func (c *coordinator) run(ctx context.Context, r request[wanted]) (reported, error) {
	switch texts := r.asked.Settings; r.asked.Kind {
	case report.Pair:
		plan, err := pairPlan(texts)
		if err != nil {
			return reported{}, err
		}
		tell := newThrottle(c.now, func(p pair.Progress) { c.tell(r.id, p) })
		cat := c.known()
		done, err := pair.Run{Plan: plan, Catalogue: cat, Pool: c.pool(c.worker()), Generator: c.generator, Progress: tell.tell, Now: c.now}.Do(ctx)
		return c.report(done, nil, err)
	case canary.Kind:
		return c.canaries(ctx, r.id, texts, r.files)
	case onerun.Kind:
		return c.oneRun(ctx, r.id, texts, r.files)
	case scores.Kind:
		return c.scores(r.id, texts, r.files)
	}
	return reported{}, audit.UnknownName("kind", r.asked.Kind, []string{report.Pair, canary.Kind, onerun.Kind, scores.Kind})
}
