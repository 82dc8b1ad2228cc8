//go:build !js

package main

import (
	"fmt"
	"os"
)

// main is for other platforms than the browser, where there is no document to
// draw in; the pictures are laid out in package scene, which is tested there.
func main() {
	fmt.Fprintln(os.Stderr, "view: runs in a document of its own only; build it with GOOS=js GOARCH=wasm")
	os.Exit(2)
}
