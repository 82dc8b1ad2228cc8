package engine

import (
	"math"
	"testing"
)

// A stage's units cost what that stage's did, not what those before it or a lost worker's
// did; nothing is told before a fifth of them is done, but of units that cost the same.
func TestPace(t *testing.T) {
	type call struct {
		now         float64
		stage       string
		done, total int
		want        float64 // NaN: not told
	}
	unknown := math.NaN()
	for name, calls := range map[string][]call{
		"one stage":              {{0, "a", 0, 100, unknown}, {4, "a", 19, 100, unknown}, {4, "a", 20, 100, 16}, {5, "a", 20, 100, 20}, {40, "a", 80, 100, 10}, {50, "a", 100, 100, 0}},
		"a dear and a cheap one": {{0, "a", 0, 200, unknown}, {90, "a", 90, 200, 110}, {100, "b", 100, 200, unknown}, {101, "b", 119, 200, unknown}, {102, "b", 140, 200, 3}},
		"a worker was lost":      {{0, "a", 0, 100, unknown}, {10, "a", 50, 100, 10}, {12, "a", 30, 100, 28}},
		"back behind its start":  {{0, "a", 10, 100, unknown}, {9, "a", 40, 100, 18}, {10, "a", 0, 100, unknown}, {20, "a", 50, 100, 10}},
		"begun late":             {{7, "", 0, 10, unknown}, {9, "", 2, 10, 8}},
		"no clock":               {{0, "a", 0, 10, unknown}, {0, "a", 5, 10, unknown}, {0, "a", 10, 10, 0}},
		"it turned out smaller":  {{0, "a", 0, 1000, unknown}, {10, "a", 100, 1000, unknown}, {20, "a", 200, 250, 5}, {21, "a", 200, 200, 0}},
		"nothing to do":          {{3, "a", 0, 0, 0}},
		"even":                   {{9, "a", 1, 100, unknown}, {12, "a", 1, 100, unknown}, {14, "a", 2, 100, 490}, {20, "a", 1, 100, unknown}},
	} {
		p := Pace{Even: name == "even"}
		for i, c := range calls {
			got, ok := p.Left(c.now, c.stage, c.done, c.total)
			if ok == math.IsNaN(c.want) || ok && math.Abs(got-c.want) > 1e-9 {
				t.Errorf("%s, call %d: %v %v, want %v", name, i, got, ok, c.want)
			}
		}
	}
}
