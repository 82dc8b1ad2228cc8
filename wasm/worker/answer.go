package main

import (
	"context"
	"slices"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/audit/settings"
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
	own, notes := a.Spec.Claim(a.Plan.Parameters), slices.Clone(a.Notes)
	if small := a.TooSmall(); small != "" {
		notes = append(notes, small)
	}
	return checked{
		Plan: a.Plan, Claim: a.Claim, ClaimWords: a.Claim.String(), Relations: a.Spec.Relations(a.Plan.Parameters),
		Notes: append([]string{}, notes...), Columns: a.Columns, OwnClaim: own, OwnClaimWords: own.String(),
		Truth: a.Spec.Truth(a.Plan.Parameters), CLI: again.CLI, URL: again.URL,
	}, nil
}
