//go:build !js

package main

import (
	"fmt"
	"os"
)

func main() {
	fmt.Fprintln(os.Stderr, "view: runs in a document of its own only; build it with GOOS=js GOARCH=wasm")
	os.Exit(2)
}
