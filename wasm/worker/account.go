package main

import (
	"context"
	"time"

	"github.com/dpscope/dpscope/audit/settings"
	"github.com/dpscope/dpscope/bounds/accounting"
)

// accountAnswer is an account and the command that makes the same one.
type accountAnswer struct {
	accounting.Account
	CLI string `json:"cli"`
}

// trace says how an account changes with its steps and its delta. It gets the query of an
// answer. Other requests are answered between its points, and the next trace ends it.
func (c *coordinator) trace(_ context.Context, r request[accounting.Query]) (accounting.Trace, error) {
	c.traced.Store(int64(r.id))
	return accounting.Follow(r.asked, func() bool {
		time.Sleep(time.Millisecond) // lets messages in
		return c.traced.Load() == int64(r.id)
	})
}

// account answers a query, of which it gets the texts.
func (c *coordinator) account(_ context.Context, r request[settings.Texts]) (accountAnswer, error) {
	q, err := read(accounting.Keys(), r.asked, accounting.Query{})
	if err != nil {
		return accountAnswer{}, err
	}
	a, err := accounting.Answer(q)
	return accountAnswer{a, q.Command()}, err
}
