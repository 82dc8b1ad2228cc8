// Package testsize says how long the tests may take.
//
// Plain `go test ./...`, and ./build.sh test, run short tests: every property once, at
// sizes that take minutes in all. ./build.sh test-all, by DPSCOPE_TEST_ALL=1, runs the same
// tests at full size, and those that say [Long].
package testsize

import (
	"os"
	"runtime"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"
)

// Variable is the name of the environment variable that chooses the full tests.
const Variable = "DPSCOPE_TEST_ALL"

// All says whether these are the full tests.
func All() bool { return os.Getenv(Variable) != "" }

// Long skips a test, in the short tests, that only says again, at greater length,
// what other tests say: studies of coverage and power, measurements of time.
func Long(t testing.TB) {
	t.Helper()
	if !All() {
		t.Skip("long; " + Variable + "=1 runs it")
	}
}

// Native skips, as WebAssembly, a test that measures error rates, power or what learning comes to.
// They follow from counts, which other tests hold to be the same everywhere, and take longer there.
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

// Most is the most of n independent events of probability p that chance makes: more come up with
// probability below alarm. It bounds the failures of a simulation, of whatever size.
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
