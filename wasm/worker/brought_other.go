//go:build !js

package main

import "github.com/dpscope/dpscope/core"

func withBrought(cat core.Catalogue) core.Catalogue { return cat }
