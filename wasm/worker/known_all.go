//go:build js && coreall && !google

package main

import (
	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/wasm/catalogue"
)

func known() audit.Catalogue { return withBrought(catalogue.All()) }
