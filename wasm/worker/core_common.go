//go:build js && !coreall

package main

import (
	"errors"

	"github.com/dpscope/dpscope/core"
	"github.com/dpscope/dpscope/wasm/catalogue"
)

// The program as core.wasm, which the page loads first.

func known() core.Catalogue { return catalogue.Common() }

func accounted(message) (message, error) {
	return message{}, errors.New("this core does not account; core-all.wasm does")
}
