package main

import (
	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/bounds/accounting"
)

// accountAnswer is an account and the command that makes the same one.
type accountAnswer struct {
	accounting.Account
	CLI string `json:"cli"`
}

func accounted(m message) (message, error) {
	var q accounting.Query
	if err := audit.DecodeStrict([]byte(m.JSON), "account", &q); err != nil {
		return message{}, err
	}
	a, err := accounting.Answer(q)
	if err != nil {
		return message{}, err
	}
	return message{Type: msgAccounted, JSON: mustJSON(accountAnswer{a, q.Command()})}, nil
}
