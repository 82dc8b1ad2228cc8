// Package testsize says how long the tests may take: ./build.sh test runs every property once, ./build.sh test-all at
// full size.
package testsize

import (
	"os"
	"runtime"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"
)

// Variable of the environment chooses the full tests, as 1.
const Variable = "DPSCOPE_TEST_ALL"

// All says whether these are the full tests.
func All() bool { return os.Getenv(Variable) != "" }

// Long skips, in the short tests, what says again at length what others say: coverage, power, time.
func Long(t testing.TB) {
	t.Helper()
	if !All() {
		t.Skip("long; " + Variable + "=1 runs it")
	}
}

// Native skips, as WebAssembly, a test of error rates, power or learning.
func Native(t testing.TB) {
	t.Helper()
	if runtime.GOARCH == "wasm" {
		t.Skip("the same counts as elsewhere, and slower")
	}
}

// Of is the size of a short test, or of a full one.
func Of[T any](short, full T) T {
	if All() {
		return full
	}
	return short
}

// Most is the most of n events of probability p that chance makes: more come with probability below alarm.
func Most(n int, p, alarm float64) int {
	law := distuv.Binomial{N: float64(n), P: p}
	k := int(float64(n) * p)
	for k < n && law.Survival(float64(k)) >= alarm {
		k++
	}
	return k
}

// Chance fails where more of n events came than [Most] says.
func Chance(t testing.TB, of string, events, n int, p, alarm float64) {
	t.Helper()
	if most := Most(n, p, alarm); events > most {
		t.Errorf("%s: %d of %d at probability %v; at most %d is chance", of, events, n, p, most)
	}
}
