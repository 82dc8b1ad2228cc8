package bounds

import (
	"math"
	"testing"
)

func TestClopperPearsonEdges(t *testing.T) {
	if got := ClopperPearson(Counts{0, 10, 0, 10}, 0, 0.05, 0.5); !math.IsInf(got, -1) {
		t.Errorf("X = 0: %v, want -Inf", got)
	}
	if got := ClopperPearson(Counts{30, 100, 0, 10}, 0.3, 0.05, 0.5); !math.IsInf(got, -1) {
		t.Errorf("lower limit below delta: %v, want -Inf", got)
	}
	// Y = 0, X = N1: both limits in closed form.
	want := math.Log(math.Pow(0.025, 1.0/70) / (1 - math.Pow(0.025, 1.0/7)))
	if got := ClopperPearson(Counts{70, 70, 0, 7}, 0, 0.05, 0.5); math.Abs(got-want) > 1e-9 || got > want {
		t.Errorf("X = N1, Y = 0: %v, want %v", got, want)
	}
}

func TestTuneSplit(t *testing.T) {
	// A certain event against one that never happens: nearly all of beta goes to
	// the second side, and the published 8.106 at n = 10^4 is reached.
	never := Counts{3000, 3000, 0, 3000}
	split := TuneSplit(never, 10_000, 10_000, 0, 0.05)
	got := ClopperPearson(Counts{10_000, 10_000, 0, 10_000}, 0, 0.05, split)
	if split > 0.05 || got < 8.106 || got > 8.1131 {
		t.Errorf("split %v gives %v, want 8.106 to 8.113", split, got)
	}
	// The mirror image: p0 known, p1 rare.
	if s := TuneSplit(Counts{3, 1000, 900, 1000}, 1000, 1000, 0, 0.05); s < 0.8 {
		t.Errorf("split %v for a rare first side, want most of beta there", s)
	}
	// It is the best of a fine grid, nearly, at the counts it was tuned for.
	c := Counts{94, 500, 10, 500}
	value := ClopperPearson(c, 1e-5, 0.05, TuneSplit(c, 500, 500, 1e-5, 0.05))
	for s := 0.01; s < 1; s += 0.01 {
		if v := ClopperPearson(c, 1e-5, 0.05, s); v > value+2e-3 {
			t.Errorf("split %v gives %v, the tuned one %v", s, v, value)
		}
	}
	for _, none := range []Counts{{}, {5, 2, 0, 1}, {0, 100, 50, 100}} {
		if s := TuneSplit(none, 100, 100, 0, 0.05); s != 0.5 {
			t.Errorf("split %v from %+v, want 1/2", s, none)
		}
	}
}
