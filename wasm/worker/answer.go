package main

import (
	"context"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/core/pair"
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

func (c *coordinator) check(m message) (message, error) {
	plan, err := pair.ParsePlan([]byte(m.JSON))
	if err != nil {
		return message{}, err
	}
	a, err := plan.Resolve(c.known())
	if err != nil {
		return message{}, err
	}
	again := a.Reproduce()
	own := a.Spec.Claim(a.Plan.Parameters)
	return message{Type: msgChecked, JSON: mustJSON(checked{
		Plan: a.Plan, Claim: a.Claim, ClaimWords: a.Claim.String(), Relations: a.Spec.Relations(a.Plan.Parameters),
		Notes: append([]string{}, a.Notes...), Columns: a.Columns, OwnClaim: own, OwnClaimWords: own.String(),
		Truth: a.Spec.Truth(a.Plan.Parameters), CLI: again.CLI, URL: again.URL,
	})}, nil
}

func (c *coordinator) run(ctx context.Context, m message) (message, error) {
	plan, err := pair.ParsePlan([]byte(m.JSON))
	if err != nil {
		return message{}, err
	}
	tell := newThrottle(c.now, c.progressTo(m.ID))
	cat := c.known()
	r, err := pair.Run{Plan: plan, Catalogue: cat, Pool: c.pool(c.worker()), Generator: c.generator,
		Progress: tell.tell, Now: c.now}.Do(ctx)
	return c.reportAnswer(r, nil, err)
}

// progressTo posts progress as part of the answer to a request.
func (c *coordinator) progressTo(id int) func(pair.Progress) {
	return func(p pair.Progress) {
		c.page.post(message{Type: msgProgress, ID: id, JSON: mustJSON(p)})
	}
}
