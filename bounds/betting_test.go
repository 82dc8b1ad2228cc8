package bounds

import (
	"math"
	"math/rand/v2"
	"testing"
)

// slowBetting scans epsilon upwards in small steps and multiplies factor by
// factor in logarithms.
func slowBetting(x, y []float64, delta, beta, lambda float64) float64 {
	last := math.Inf(-1)
	for eps := -4.0; ; eps += 1e-3 {
		th := math.Exp(eps)
		wealth := 0.0
		for i := range x {
			factor := 1 + lambda*(x[i]-th*y[i]-delta)
			if lambda*(th+delta) >= 1 || factor <= 0 {
				return last
			}
			wealth += math.Log(factor)
		}
		if wealth < math.Log(1/beta) {
			return last
		}
		last = eps
	}
}

// draw fills scores whose means are about a and b: a mixture of a coin and a
// uniform number.
func draw(r *rand.Rand, n int, p1, p0, blur float64) (x, y []float64) {
	one := func(p float64) float64 {
		v := blur * r.Float64()
		if r.Float64() < p {
			v += 1 - blur
		}
		return v
	}
	x, y = make([]float64, n), make([]float64, n)
	for i := range x {
		x[i], y[i] = one(p1), one(p0)
	}
	return x, y
}

func TestPairedBettingAgainstScan(t *testing.T) {
	r := rand.New(rand.NewPCG(13, 14))
	finite := 0
	for range 60 {
		n := 1 + r.IntN(300)
		x, y := draw(r, n, r.Float64(), 0.4*r.Float64(), r.Float64())
		delta := []float64{0, 1e-3, 0.1}[r.IntN(3)]
		lambda := math.Exp(-4 * r.Float64())
		got, want := PairedBetting(x, y, delta, 0.05, lambda), slowBetting(x, y, delta, 0.05, lambda)
		if math.IsInf(want, -1) {
			if got > -4 {
				t.Errorf("n %d delta %v lambda %v: %v, the scan finds none", n, delta, lambda, got)
			}
			continue
		}
		finite++
		if got < want-1e-5 || got > want+1.1e-3 {
			t.Errorf("n %d delta %v lambda %v: %v, the scan %v", n, delta, lambda, got, want)
		}
	}
	if finite < 20 {
		t.Errorf("only %d finite bounds", finite)
	}
}

// Coverage by simulation: 2000 audits of each setting, seeds fixed. If the true
// failure rate were exactly .05 (it is at most that), the count would exceed 150
// with probability 3e-7, by the exact binomial tail computed below.
func TestPairedBettingCoverage(t *testing.T) {
	const runs, beta, allowed = 2000, 0.05, 150
	if _, above := tails(allowed+1, runs, beta, 60); above > 1e-6 {
		t.Fatalf("false-alarm rate %v, want at most 1e-6", above)
	}
	r := rand.New(rand.NewPCG(15, 16))
	for _, k := range []struct{ p1, p0, blur, delta float64 }{
		{0.5, 0.5, 0, 0}, {0.5, 0.1, 0, 0}, {0.3, 0.02, 0.3, 0.01}, {0.9, 0.001, 0, 0}, {0.02, 0.005, 0, 0.01},
	} {
		mean := func(p float64) float64 { return (1-k.blur)*p + k.blur/2 }
		truth := math.Log((mean(k.p1) - k.delta) / mean(k.p0))
		ex, ey := draw(r, 300, k.p1, k.p0, k.blur)
		lambda := TuneBet(ex, ey, 400, k.delta, beta)
		failures, total := 0, 0.0
		for range runs {
			x, y := draw(r, 400, k.p1, k.p0, k.blur)
			v := PairedBetting(x, y, k.delta, beta, lambda)
			if v > truth {
				failures++
			}
			total += math.Max(v, -1)
		}
		t.Logf("%+v: truth %.3f, mean bound %.3f, failures %.4f", k, truth, total/runs, float64(failures)/runs)
		if failures > allowed {
			t.Errorf("%+v: %d of %d bounds above the truth %v", k, failures, runs, truth)
		}
	}
}

// Power: randomised response at epsilon 4 is known to give mean bounds of about
// 3.17 at n = 500 and 3.84 at 10^4 with stakes tuned on moments. Means of 60
// audits, standard error below .03 and .01; the tolerances are five of them and
// the spread between tuning rules.
func TestPairedBettingPower(t *testing.T) {
	r := rand.New(rand.NewPCG(17, 18))
	p := math.Exp(4) / (1 + math.Exp(4))
	for _, k := range []struct {
		n          int
		want, away float64
	}{{500, 3.17, 0.2}, {10_000, 3.84, 0.06}} {
		total := 0.0
		const audits = 60
		for range audits {
			ex, ey := draw(r, k.n/2, p, 1-p, 0)
			x, y := draw(r, k.n, p, 1-p, 0)
			total += PairedBetting(x, y, 0, 0.05, TuneBet(ex, ey, k.n, 0, 0.05))
		}
		t.Logf("n %d: mean bound %.3f", k.n, total/audits)
		if mean := total / audits; math.Abs(mean-k.want) > k.away {
			t.Errorf("n %d: mean bound %v, want %v +- %v", k.n, mean, k.want, k.away)
		}
	}
}

func TestTuneBetIsNearlyBest(t *testing.T) {
	r := rand.New(rand.NewPCG(19, 20))
	for _, delta := range []float64{0, 0.05} {
		x, y := draw(r, 2000, 0.6, 0.05, 0.2)
		tuned := TuneBet(x, y, 2000, delta, 0.05)
		value := PairedBetting(x, y, delta, 0.05, tuned)
		for lambda := 1e-4; lambda < 1; lambda *= 1.3 {
			if v := PairedBetting(x, y, delta, 0.05, lambda); v > value+0.02 {
				t.Errorf("stake %v gives %v on the exploration itself, the tuned %v gives %v", lambda, v, tuned, value)
			}
		}
	}
}

func TestPairedBettingEdges(t *testing.T) {
	ones, zeros := make([]float64, 1000), make([]float64, 1000)
	for i := range ones {
		ones[i] = 1
	}
	if v := PairedBetting(zeros, ones, 0, 0.05, 0.1); !math.IsInf(v, -1) {
		t.Errorf("nothing on the first side: %v, want -Inf", v)
	}
	if v := PairedBetting(zeros, zeros, 0, 0.05, 0.1); !math.IsInf(v, -1) {
		t.Errorf("nothing at all: %v, want -Inf", v)
	}
	// Never on the second side: limited by the stake alone.
	if v := PairedBetting(ones, zeros, 0.01, 0.05, 0.01); v > math.Log(1/0.01-0.01) || v < math.Log(1/0.01-0.01)-1e-5 {
		t.Errorf("never on the second side: %v, want log(1/lambda - delta) = %v", v, math.Log(100-0.01))
	}
	if v := PairedBetting(ones[:1], zeros[:1], 0, 0.05, 0.5); !math.IsInf(v, -1) {
		t.Errorf("one pair: %v, want -Inf", v)
	}
	if lambda := TuneBet(zeros, ones, 100, 0, 0.05); !(lambda > 0 && lambda <= 0.5) {
		t.Errorf("stake %v from hopeless exploration, want a positive one", lambda)
	}
	if lambda := TuneBet(ones, zeros, 1000, 0.999, 0.05); !(lambda > 0) {
		t.Errorf("stake %v at delta near 1, want a positive one", lambda)
	}
}
