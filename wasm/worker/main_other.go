//go:build !js

package main

import (
	"fmt"
	"os"
)

// main is for other platforms than the browser, where the program has nobody
// to talk to; its parts are built and tested there all the same.
func main() {
	fmt.Fprintln(os.Stderr, "worker: runs in a web worker only; build it with GOOS=js GOARCH=wasm")
	os.Exit(2)
}
