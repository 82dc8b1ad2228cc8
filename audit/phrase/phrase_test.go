package phrase

import (
	"math"
	"testing"
)

func TestPercent(t *testing.T) {
	for p, want := range map[float64]string{0.95: "95 %", 0.5: "50 %", 1 - 0.05/3: "98.33 %", 0.999: "99.9 %", 1 - 0.05/1000: "99.995 %", 0.98: "98 %", 0.96: "96 %",
		1 - 1e-9: "99.9999999 %", 0.123: "12.3 %", 0.6679: "66.7 %", 1 - 0.05/7: "99.285 %", 0: "0 %", 1: "100 %", 1 - 2.0/3: "33.3 %", 0.975: "97.5 %", 1 - 0.01/7: "99.857 %"} {
		if got := Percent(p); got != want {
			t.Errorf("%v is printed as %q, want %q", p, got, want)
		}
	}
	// Never more than there is, and at most three digits of what is missing.
	for k := 1; k <= 1000; k++ {
		if got := Percent(1 - 0.05/float64(k)); len(got) > len("99.99995 %") {
			t.Errorf("%d audits: %q", k, got)
		}
	}
}

func TestBound(t *testing.T) {
	for _, c := range []struct {
		x, claim float64
		want     string
	}{{1.23456, 1, "1.234"}, {1.00004, 1, "1.00004"}, {0, 1, "0.000"}, {-2.1785, 1, "none above 0"}, {-1e-9, 1, "none above 0"}} {
		if got := Bound(c.x, c.claim); got != c.want {
			t.Errorf("%v against %v is printed as %q, want %q", c.x, c.claim, got, c.want)
		}
	}
}

func TestFloor(t *testing.T) {
	for k := range 5000 {
		x := math.Nextafter(float64(k)/1000, math.Inf(-1))
		if y := Floor(x, 3); y > x || y < x-1.001e-3 {
			t.Fatalf("%v is rounded down to %v", x, y)
		}
	}
}

func TestPValue(t *testing.T) {
	for p, want := range map[float64]string{0.04321: "0.0433", 0.05: "0.0500", 0.99999: "1.0000", 1e-4: "0.0001", 0.00012: "0.0002",
		1.1e-5: "2e-5", 2e-5: "2e-5", 9.2e-7: "1e-6"} {
		if got := PValue(p); got != want {
			t.Errorf("%v is printed as %q, want %q", p, got, want)
		}
	}
}

func TestVisible(t *testing.T) {
	for s, want := range map[string]string{
		"plain ⊤ – ü\n\tnext":   "plain ⊤ – ü\n\tnext",
		"\x1b[31mred\x1b[0m":    `\x1b[31mred\x1b[0m`,
		"a\rb\x00c\x7f\u009bd":  `a\rb\x00c\x7f\u009bd`,
		"\u202eevil\u2066":      `\u202eevil\u2066`,
		"bad \xff utf-8 \ufffd": `bad \xff utf-8 ` + "\ufffd",
		"":                      "",
	} {
		if got := Visible(s); got != want {
			t.Errorf("%q is shown as %q, want %q", s, got, want)
		}
	}
	if got := Block("failed:\nViolation\x1b"); got != "failed:\n    Violation\\x1b" {
		t.Errorf("a block is shown as %q", got)
	}
	if got := Line("a\nb\tc"); got != `a\nb\tc` {
		t.Errorf("a line is shown as %q", got)
	}
}
