//go:build js && !coreall

package main

import (
	"context"
	"errors"
	"syscall/js"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/wasm/catalogue"
)

// The program as core.wasm, which the page loads first.

func known() audit.Catalogue { return catalogue.Common() }

func accounted(message) (message, error) {
	return message{}, errors.New("this core does not account; core-all.wasm does")
}

var errNoCanaries = errors.New("this core knows no canaries; core-all.wasm does")

func (c *coordinator) canaries(context.Context, message) (message, error) {
	return message{}, errNoCanaries
}

func (c *coordinator) verifyCanaries(context.Context, message) (message, error) {
	return message{}, errNoCanaries
}

func (c *coordinator) openCanaries(message) (message, error) { return message{}, errNoCanaries }

func (c *coordinator) calibrate(context.Context, message) (message, error) {
	return message{}, errors.New("this core does not calibrate; core-all.wasm does")
}

// coordinateSamples is never asked for: the page starts that role with the larger
// core.
func coordinateSamples(audit.Catalogue, port, audit.Generator, settings, func()) {
	panic("worker: this core audits no samples; core-all.wasm does")
}

func filesOf(js.Value) []userFile { return nil }
