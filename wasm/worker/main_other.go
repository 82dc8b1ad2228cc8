//go:build !js

package main

import (
	"fmt"
	"os"
)

// protocolFile has the types of the boundary. It is in the repository, so that
// scripts can be checked without a build.
const protocolFile = "site/worker/protocol.d.ts"

// main, on other platforms than the browser, writes protocolFile anew, from the root of the
// repository.
func main() {
	if err := os.WriteFile(protocolFile, []byte(protocol(".")), 0o644); err != nil {
		fmt.Fprintf(os.Stderr, "worker: %v; run it in the root of the repository\n", err)
		os.Exit(1)
	}
}
