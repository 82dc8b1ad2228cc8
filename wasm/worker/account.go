package main

import (
	"fmt"
	"strings"

	"github.com/dpscope/dpscope/accounting"
	"github.com/dpscope/dpscope/audit"
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
	return message{Type: msgAccounted, JSON: mustJSON(accountAnswer{a, accountCLI(q)})}, nil
}

// accountCLI is the command of a valid query.
func accountCLI(q accounting.Query) string {
	var b strings.Builder
	fmt.Fprintf(&b, "dpscope account -mechanism %s", q.Mechanism)
	number := func(name string, v *float64) {
		if v != nil {
			fmt.Fprintf(&b, " -%s %v", name, *v)
		}
	}
	count := func(name string, v *int) {
		if v != nil {
			fmt.Fprintf(&b, " -%s %d", name, *v)
		}
	}
	number("sigma", q.Sigma)
	number("scale", q.Scale)
	number("p", q.P)
	number("epsilon", q.Epsilon)
	number("step-delta", q.StepDelta)
	number("alpha", q.Alpha)
	number("rho", q.Rho)
	number("mu", q.Mu)
	number("sensitivity", q.Sensitivity)
	number("rate", q.Rate)
	count("steps", q.Steps)
	count("group", q.Group)
	number("delta", q.Delta)
	number("at-epsilon", q.AtEpsilon)
	for i, alpha := range q.Orders {
		fmt.Fprintf(&b, "%s%v", map[bool]string{true: " -orders ", false: ","}[i == 0], alpha)
	}
	return b.String()
}
