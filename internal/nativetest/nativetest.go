// Package nativetest tells tests of statistics from those that every platform must
// pass.
package nativetest

import (
	"runtime"
	"testing"
)

// Only skips, as WebAssembly, a test that measures error rates, power or what
// learning comes to. They follow from counts, which other tests hold to be the same
// on every platform, and take several times as long there.
func Only(t testing.TB) {
	t.Helper()
	if runtime.GOARCH == "wasm" {
		t.Skip("the same counts as elsewhere, and slower")
	}
}
