package dptest

import (
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/audit/stream"
)

func want(t testing.TB, holds bool, format string, args ...any) bool {
	t.Helper()
	if !holds {
		t.Errorf(format, args...)
	}
	return holds
}

// TestFinder holds a registry entry to the contract of [audit.FinderSpec] on a problem, whose stream it makes itself.
// How loud a pair is, is how far the sums of its sides lie apart.
//
// Its pairs are different neighbours in the domain, each once with a label of its own, one to as many as are asked for,
// the same from the same stream. Without the learner that it attacks, or with too few trials, it refuses the input.
func TestFinder(t testing.TB, spec audit.FinderSpec, p audit.FinderProblem) {
	t.Helper()
	if spec.Name == "" || spec.Title == "" || spec.Source == "" || spec.New == nil {
		t.Fatalf("finder %q lacks a name, a title, a source or its function", spec.Name)
	}
	if fits := p.Table != nil && slices.Contains(spec.Attacks, p.Table.Learning); spec.Attacks != nil && !fits {
		p.Stream = stream.New(stream.Key{Seed: 3, Purpose: "finder"})
		_, err := spec.New(p)
		want(t, audit.IsInput(err), "%s without the table of a learner that it attacks: %v", spec.Name, err)
		return
	}
	history, err := proposals(t, spec, p)
	if err != nil {
		want(t, audit.IsInput(err) && strings.Contains(err.Error(), "trials"), "%s: %v", spec.Name, err)
		return
	}
	want(t, len(history) > 0, "%s, %d trials: no pair", spec.Name, p.Trials)
	seen := map[string]bool{}
	for _, trial := range history {
		two := trial.Pair
		_, err := p.Relation.Steps(two, p.Domain, max(1, p.Group))
		want(t, err == nil, "%s: pair %q: %v", spec.Name, two.Label, err)
		want(t, !reflect.DeepEqual(two.First, two.Second) && two.Label != "" && !seen[two.Label],
			"%s: pair %q, %v and %v: it is not a valid pair, or its label is empty or duplicated",
			spec.Name, two.Label, two.First.Values, two.Second.Values)
		seen[two.Label] = true
	}
	again, err := proposals(t, spec, p)
	same := err == nil && reflect.DeepEqual(history, again)
	want(t, same, "%s: the same stream gave different pairs (%v)", spec.Name, err)
}

func proposals(t testing.TB, spec audit.FinderSpec, p audit.FinderProblem) ([]audit.Trial, error) {
	t.Helper()
	p.Stream = stream.New(stream.Key{Seed: 3, Purpose: "finder"})
	f, err := spec.New(p)
	if err != nil {
		return nil, err
	}
	var history []audit.Trial
	for left := p.Trials; left > 0; left = p.Trials - len(history) {
		proposed := f.Propose(append([]audit.Trial{}, history...), left)
		n := len(proposed)
		if !want(t, n <= left, "%s proposes %d pairs, but at most %d may be tried", spec.Name, n, left) || n == 0 {
			break
		}
		for _, two := range proposed {
			var sum [2]float64
			for side, d := range []audit.Dataset{two.First, two.Second} {
				for _, v := range d.Values {
					sum[side] += v
				}
			}
			history = append(history, audit.Trial{Index: len(history), Pair: two, Value: math.Abs(sum[0] - sum[1])})
		}
	}
	return history, nil
}
