package main

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"time"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/audit/settings"
	"github.com/dpscope/dpscope/bounds/accounting"
	"github.com/dpscope/dpscope/core/pair"
)

// doing is what a call does. It tells progress by the message's id.
type doing func(context.Context, *coordinator, message) (any, error)

// call is what the page asks of the coordinator.
type call struct {
	name  string
	does  doing
	sends reflect.Type
	// tells are of the types of what it tells on its way. Calls that tell need the workers.
	tells []any
	gets  reflect.Type
	doc   string
}

var calls = []call{
	callOf("check", "What settings of an audit of a pair mean, before it runs.", (*coordinator).check),
	callOf("run", "Audits. A stop answers with the partial report. Files are those of canaries or scores.", (*coordinator).run, pair.Progress{}, canaryProgress{}),
	callOf("calibrate", "Measures the tool's own error rate. A stop answers with what it has counted.", (*coordinator).calibrate, calibrated{}),
	callOf("account", "Accounts for a mechanism.", (*coordinator).account),
	callOf("trace", "How an account changes with its steps and its delta, by the query of its answer.", (*coordinator).trace),
	callOf("open", "Reads a report of any kind. json: a file's text, verbatim.", (*coordinator).open),
	callOf("verify", "Replays a report of any kind, with the files that it is of. One of samples, in that role, is replayed with the files that are there, after ReadProgress if they are read anew.", (*coordinator).verify, replayProgress{}),
	callOf("inspect", "Reads the user's files of outputs or scores; without files: those that are there. Of the role of samples only.", (*coordinator).inspect, readProgress{}),
	callOf("recognize", "Says what came to the page: a report, a function or data.", (*coordinator).recognize),
	callOf("look", "What columns a table of labelled examples has.", (*coordinator).look),
	callOf("preview", "What the result in a link says, before anything ran.", (*coordinator).preview),
	callOf("picture", "Draws, during a run too.", (*coordinator).picture),
}

func callOf[T, R any](name, doc string, do func(*coordinator, context.Context, request[T]) (R, error), tells ...any) call {
	return call{name: name, doc: doc, sends: reflect.TypeFor[T](), tells: tells, gets: reflect.TypeFor[R](), does: func(ctx context.Context, c *coordinator, m message) (any, error) {
		r := request[T]{id: m.ID, files: m.Files}
		var err error
		if text, is := any(&r.asked).(*reportText); is {
			*text = reportText(m.JSON)
		} else {
			err = audit.DecodeStrict([]byte(m.JSON), name, &r.asked)
		}
		if err != nil {
			return nil, err
		}
		return do(c, ctx, r)
	}}
}

// request is one call of the page.
type request[T any] struct {
	id    int
	asked T
	files []userFile
}

// reportText is a report's file, verbatim.
type reportText string

// wanted is an audit as texts of settings, named as flags are, of parameters p.NAME.
type wanted struct {
	Kind     string         `json:"kind"`
	Settings settings.Texts `json:"settings"`
}

func read[P any](keys []settings.Key[P], texts settings.Texts, p P) (P, error) {
	err := settings.Read(keys, texts.Given(), &p)
	return p, err
}

func (c *coordinator) tell(id int, so any) {
	c.page.post(message{Type: msgProgress, ID: id, JSON: mustJSON(so)})
}

// answer posts exactly one answer, whatever happens.
func (c *coordinator) answer(ctx context.Context, m message, do doing) {
	c.page.post(replyTo(m, msgAnswer, msgRefused, fmt.Sprintf("%q", m.Type), func() (any, error) { return do(ctx, c, m) }))
}

func (c *coordinator) refuse(m message, err error) {
	c.page.post(message{Type: msgRefused, ID: m.ID, JSON: mustJSON(refusalOf(err))})
}

// replyTo has what do returns, or its error.
func replyTo(m message, done, failed, what string, do func() (any, error)) (reply message) {
	refuse := func(err error) message {
		return message{Type: failed, ID: m.ID, JSON: mustJSON(refusalOf(err))}
	}
	defer func() {
		if p := recover(); p != nil {
			reply = refuse(fmt.Errorf("internal error in %s: %v", what, p))
		}
	}()
	value, err := do()
	if err != nil {
		return refuse(err)
	}
	return message{Type: done, ID: m.ID, JSON: mustJSON(value)}
}

var errBusy = errors.New("a run is under way; stop it first")

// begin answers a request that needs the crew, which serves one at a time.
func (c *coordinator) begin(m message, do doing) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.cancel != nil {
		c.refuse(m, errBusy)
		return
	}
	ctx, cancel := context.WithCancel(context.Background())
	c.active, c.cancel = m.ID, cancel
	go c.answer(ctx, m, func(ctx context.Context, c *coordinator, m message) (any, error) {
		defer func() {
			cancel()
			c.mu.Lock()
			c.active, c.cancel = 0, nil
			c.mu.Unlock()
		}()
		return do(ctx, c, m)
	})
}

type ready struct {
	Version string `json:"version"`
	Go      string `json:"go"`
}

// checked is a plan with its defaults written out, and what there is to say about it.
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

// accountAnswer is an account and its command.
type accountAnswer struct {
	accounting.Account
	CLI string `json:"cli"`
}

// trace says how an account changes with its steps and its delta. Other requests are answered between
// its points, and the next trace ends it.
func (c *coordinator) trace(_ context.Context, r request[accounting.Query]) (accounting.Trace, error) {
	c.traced.Store(int64(r.id))
	return accounting.Follow(r.asked, func() bool {
		time.Sleep(time.Millisecond) // lets messages in
		return c.traced.Load() == int64(r.id)
	})
}

// account answers the texts of a query.
func (c *coordinator) account(_ context.Context, r request[settings.Texts]) (accountAnswer, error) {
	q, err := read(accounting.Keys(), r.asked, accounting.Query{})
	if err != nil {
		return accountAnswer{}, err
	}
	a, err := accounting.Answer(q)
	return accountAnswer{a, q.Command()}, err
}
