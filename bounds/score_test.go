package bounds

import (
	"math"
	"math/rand/v2"
	"testing"
)

// summit is where a concave f is largest.
func summit(lo, hi float64, f func(float64) float64) float64 {
	for range 200 {
		if a, b := lo+(hi-lo)/3, hi-(hi-lo)/3; f(a) < f(b) {
			lo = a
		} else {
			hi = b
		}
	}
	return (lo + hi) / 2
}

// T is found by maximising the likelihood by thirds.
func slowScore(c Counts, delta, th float64) float64 {
	n1, n0, x, y := float64(c.N1), float64(c.N0), float64(c.X), float64(c.Y)
	loglik := func(p float64) float64 {
		term := func(k, p float64) float64 {
			if k == 0 {
				return 0
			}
			return k * math.Log(p)
		}
		p1 := math.Min(1, th*p+delta)
		return term(x, p1) + term(n1-x, 1-p1) + term(y, p) + term(n0-y, 1-p)
	}
	p := summit(0, math.Min(1, (1-delta)/th), loglik)
	p1 := math.Min(1, th*p+delta)
	v := p1*(1-p1)/n1 + th*th*p*(1-p)/n0
	return (x/n1 - th*y/n0 - delta) / math.Sqrt(v)
}

func TestScoreStatisticAgainstLikelihood(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	compared := 0
	for range 2000 {
		c := Counts{N1: 1 + r.IntN(60), N0: 1 + r.IntN(60)}
		c.X, c.Y = r.IntN(c.N1+1), r.IntN(c.N0+1)
		delta := []float64{0, 0.001, 0.1, 0.5}[r.IntN(4)]
		th := math.Exp(4*r.Float64() - 1)
		got, want := newNullFit(c, delta).score(th), slowScore(c, delta, th)
		if want <= 1e-6 {
			if got > 1e-5 {
				t.Errorf("score%+v at th %v, delta %v = %v, want 0", c, th, delta, got)
			}
			continue
		}
		compared++
		// The search finds the maximum to the square root of the precision.
		if math.Abs(got-want) > 2e-5*(1+want) {
			t.Errorf("score%+v at th %v, delta %v = %v, want %v", c, th, delta, got, want)
		}
	}
	if compared < 500 {
		t.Errorf("only %d statistics were positive", compared)
	}
}

// The three monotonicities of the proof at nullFit, on every pair of counts.
func TestScoreStatisticIsMonotone(t *testing.T) {
	const tiny = 1e-9
	for _, size := range [][2]int{{12, 12}, {4, 20}, {20, 5}} {
		for _, delta := range []float64{0, 1e-3, 0.1, 0.6} {
			for e := -1.5; e < 4; e += 0.25 {
				at := func(x, y int, e float64) float64 {
					return newNullFit(Counts{x, size[0], y, size[1]}, delta).score(math.Exp(e))
				}
				for x := 0; x <= size[0]; x++ {
					for y := 0; y <= size[1]; y++ {
						v := at(x, y, e)
						if x < size[0] && at(x+1, y, e) < v-tiny {
							t.Fatalf("T falls with x at %v %d %d %v %v", size, x, y, delta, e)
						}
						if y < size[1] && at(x, y+1, e) > v+tiny {
							t.Fatalf("T grows with y at %v %d %d %v %v", size, x, y, delta, e)
						}
						if at(x, y, e+0.25) > v+tiny {
							t.Fatalf("T grows with th at %v %d %d %v %v", size, x, y, delta, e)
						}
					}
				}
			}
		}
	}
}

func TestScoreLimitSolvesScore(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 1000 {
		c := Counts{N1: 1 + r.IntN(300), N0: 1 + r.IntN(300)}
		c.X, c.Y = r.IntN(c.N1+1), r.IntN(c.N0+1)
		delta := []float64{0, 1e-4, 0.05}[r.IntN(3)]
		z := 0.3 + 3*r.Float64()
		f := newNullFit(c, delta)
		th := f.limit(z)
		if th == 0 {
			if v := f.score(1e-12); v > z*(1+1e-9) {
				t.Errorf("%+v delta %v z %v: no limit, but T reaches %v", c, delta, z, v)
			}
			continue
		}
		if v := f.score(th); math.Abs(v-z) > 1e-7*z {
			t.Errorf("%+v delta %v: T at the limit %v is %v, want %v", c, delta, th, v, z)
		}
	}
}

// Koopman's own example, 36 of 40 against 16 of 80: ratio 2.94 at 95 % two-sided.
func TestKoopmanExample(t *testing.T) {
	if got := math.Exp(Score(Counts{36, 40, 16, 80}, 0, 0.025)); math.Abs(got-2.94) > 0.005 {
		t.Errorf("lower limit %v, want 2.94", got)
	}
}

// edge returns T at the fit p1 = 1, p0 = (1-delta)/th, which all th above the
// end of the path share if x = n1.
func (f nullFit) edge(th float64) float64 {
	p, s := (1-f.delta)/th, f.y/f.n0
	return (p - s) * math.Sqrt(f.n0/(p*(1-p)))
}

// score returns T at th, 0 where it is not positive.
func (f nullFit) score(th float64) float64 {
	if f.top() <= 0 || f.top() <= th*f.y/f.n0 {
		return 0
	}
	if end, _ := f.at(f.top()); f.x == f.n1 && th >= end {
		return f.edge(th)
	}
	_, hi := Bisect(0, f.top(), 0, func(p float64) bool { at, _ := f.at(p); return p == 0 || at < th })
	// Below the path's start (y = 0, delta > 0) the fit rests at p0 = 0 and T
	// no longer depends on th: hi tends to 0 and gives just that value.
	_, t := f.at(hi)
	return t
}
