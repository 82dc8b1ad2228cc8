//go:build js && coreall && google

package main

import (
	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/wasm/catalogue"
)

// The program as core-google.wasm, which the page loads for the mechanisms of
// Google's library.

func known() audit.Catalogue { return withBrought(catalogue.Google()) }
