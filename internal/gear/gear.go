// Package gear says how long the tests may take.
//
// They run in two gears. Plain `go test ./...`, and ./build.sh test, is the first:
// every property once, at sizes that take minutes in all. The second, which
// ./build.sh test-all chooses by DPSCOPE_TEST_ALL=1, runs the same tests at full
// size, and those that say [Long].
package gear

import (
	"os"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"
)

// Variable is the name of the environment variable that chooses the second gear.
const Variable = "DPSCOPE_TEST_ALL"

// All says whether the tests run in the second gear.
func All() bool { return os.Getenv(Variable) != "" }

// Long skips a test, in the first gear, that only says again, at greater length,
// what other tests say: studies of coverage and power, measurements of time.
func Long(t testing.TB) {
	t.Helper()
	if !All() {
		t.Skip("long; " + Variable + "=1 runs it")
	}
}

// Of is a size of a test in the first gear, or in the second.
func Of[T any](first, second T) T {
	if All() {
		return second
	}
	return first
}

// Most is the most of n independent events of probability p that chance makes: more
// come up with probability below alarm. It bounds the failures of a simulation, of
// whatever size.
func Most(n int, p, alarm float64) int {
	law := distuv.Binomial{N: float64(n), P: p}
	k := int(float64(n) * p)
	for k < n && law.Survival(float64(k)) >= alarm {
		k++
	}
	return k
}
