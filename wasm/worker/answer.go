package main

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/core/engine"
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

// reported is a report as the page gets it.
type reported struct {
	Report json.RawMessage `json:"report"`
	// Text is the report in canonical form, to be saved as it is.
	Text      string              `json:"text"`
	Facts     []audit.FactRow     `json:"facts"`
	Certified []pair.CertifiedRow `json:"certified"`
	Published []pair.PublishedRow `json:"published"`
	Curves    pair.Curves         `json:"curves"`
	Error     string              `json:"error"` // of a run that failed
	Newer     bool                `json:"newer"` // of a newer version than this program knows
}

func reportAnswer(r pair.Report, failure error, newer bool) (message, error) {
	// A report that was written by hand may lack lists; the page relies on them.
	for _, list := range []*[]string{&r.Warnings, &r.Limitations, &r.References} {
		if *list == nil {
			*list = []string{}
		}
	}
	if r.Results == nil {
		r.Results = []pair.Finding{}
	}
	if r.Trials == nil {
		r.Trials = []pair.TrialNote{}
	}
	text, err := audit.Canonical(r)
	if err != nil {
		return message{}, err
	}
	out := reported{Report: text, Text: string(text), Facts: r.Facts(), Certified: pair.CertifiedRows(r), Published: pair.PublishedRows(r),
		Curves: pair.ReportCurves(r), Newer: newer}
	if failure != nil {
		out.Error = failure.Error()
	}
	return message{Type: msgReport, JSON: mustJSON(out)}, nil
}

func (c *coordinator) open(m message) (message, error) {
	r, newer, err := pair.ParseReport([]byte(m.JSON))
	if err != nil {
		return message{}, err
	}
	if !newer {
		r.Summary = pair.Headline(r) // what its numbers say, whatever its words
	}
	return reportAnswer(r, nil, newer)
}

func (c *coordinator) run(ctx context.Context, m message) (message, error) {
	plan, err := pair.ParsePlan([]byte(m.JSON))
	if err != nil {
		return message{}, err
	}
	tell := newThrottle(c.now, c.progressTo(m.ID))
	cat := c.known()
	r, err := pair.Run{Plan: plan, Catalogue: cat, Pool: c.pool(c.worker(cat)), Generator: c.generator,
		Progress: tell.tell, Now: c.now}.Do(ctx)
	if err != nil && r.SchemaVersion == 0 {
		return message{}, err // it never began
	}
	return reportAnswer(r, err, false)
}

// verified is what a replay found.
type verified struct {
	OK          bool     `json:"ok"`
	Recomputed  bool     `json:"recomputed,omitempty"` // the counts are the report's own
	Summary     string   `json:"summary"`              // the verdict as the replay makes it
	Checked     []string `json:"checked"`
	Differences []string `json:"differences"`
	Notes       []string `json:"notes"`
}

func (c *coordinator) verify(ctx context.Context, m message) (message, error) {
	r, _, err := pair.ParseReport([]byte(m.JSON))
	if err != nil {
		return message{}, err
	}
	cat := c.cat
	if c.own != nil {
		if cat, err = c.own.replay(ctx, m.ID, r); err != nil {
			return message{}, err
		}
	}
	tell := newThrottle(c.now, c.progressTo(m.ID))
	watch := &watched{Worker: c.worker(cat), tell: tell, progress: pair.Progress{Phase: pair.Certifying, Trial: len(r.Trials), Trials: len(r.Trials)}}
	if e := r.Evidence; len(r.Results) > 0 && e != nil && e.Table != nil {
		watch.progress.Total = 2 * e.Table.Pairs()
		if r.Results[0].LowerBound != nil {
			watch.progress.Total += 2 * len(r.Trials) * r.Settings.Explore
		}
	}
	v, err := pair.Verify(ctx, cat, c.pool(watch), r, true)
	if ctx.Err() != nil {
		return message{}, errors.New("stopped before the end")
	}
	if err != nil {
		return message{}, err
	}
	return verifiedAnswer(v), nil
}

func verifiedAnswer(v engine.Verification) message {
	return message{Type: msgVerified, JSON: mustJSON(verified{OK: v.OK(), Recomputed: v.Recomputed, Summary: v.Summary,
		Checked: append([]string{}, v.Checked...), Differences: append([]string{}, v.Differences...), Notes: append([]string{}, v.Notes...)})}
}

// progressTo posts progress as part of the answer to a request.
func (c *coordinator) progressTo(id int) func(pair.Progress) {
	return func(p pair.Progress) {
		c.page.post(message{Type: msgProgress, ID: id, JSON: mustJSON(p)})
	}
}
