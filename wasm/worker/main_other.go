//go:build !js

package main

import (
	"fmt"
	"os"
)

// protocolFile has the types of the boundary; scripts are checked by it without a build.
const protocolFile = "site/worker/protocol.d.ts"

// main writes protocolFile anew, from the root of the repository.
func main() {
	if err := os.WriteFile(protocolFile, []byte(protocol(".")), 0o644); err != nil {
		fmt.Fprintf(os.Stderr, "worker: %v; run it in the root of the repository\n", err)
		os.Exit(1)
	}
}
