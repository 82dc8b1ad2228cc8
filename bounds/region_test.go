package bounds

import (
	"math"
	"math/rand/v2"
	"testing"
)

// inRegion lists the region by asking the statistic of every pair of counts.
func inRegion(c Counts, delta, th, z float64) [][]bool {
	in := make([][]bool, c.N0+1)
	for y := range in {
		in[y] = make([]bool, c.N1+1)
		for x := range in[y] {
			in[y][x] = newNullFit(Counts{x, c.N1, y, c.N0}, delta).score(th) >= z*(1-1e-9)
		}
	}
	return in
}

func slowProb(in [][]bool, n1, n0 int, p1, p0 float64) float64 {
	wx, wy := pmf(n1, p1), pmf(n0, p0)
	sum := 0.0
	for y := range in {
		for x := range in[y] {
			if in[y][x] {
				sum += wy[y] * wx[x]
			}
		}
	}
	return sum
}

func TestRegionAgainstEnumeration(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	const width = 36
	for range 300 {
		c := Counts{N1: 1 + r.IntN(40), N0: 1 + r.IntN(40)}
		c.X, c.Y = 1+r.IntN(c.N1), r.IntN(c.N0+1)
		delta := []float64{0, 1e-3, 0.1}[r.IntN(3)]
		z := 0.5 + 2*r.Float64()
		th := newNullFit(c, delta).limit(z)
		if th == 0 {
			continue
		}
		fast := newRegion(c, ratioFamily(delta).edge(c, th, z), 0, 1, width)
		in := inRegion(c, delta, th, z)
		in[c.Y][c.X] = true
		for y := range in {
			for x := range in[y] {
				got := y-fast.yLow < len(fast.cuts) && x >= fast.cuts[y-fast.yLow]
				// The slack of the cut may take in a point on the very edge.
				if got != in[y][x] && math.Abs(newNullFit(Counts{x, c.N1, y, c.N0}, delta).score(th)/z-1) > 1e-4 {
					t.Fatalf("%+v delta %v th %v z %v: (%d, %d) is %v, want %v", c, delta, th, z, x, y, got, in[y][x])
				}
				in[y][x] = got
			}
		}
		for _, p0 := range []float64{0, 1e-6, 0.01, 0.3, 0.9, 1} {
			for _, p1 := range []float64{0, 1e-4, 0.2, 0.7, 0.999, 1} {
				got, want := fast.prob(p0, p1), slowProb(in, c.N1, c.N0, p1, p0)
				if got < want*(1-1e-12) || got > want*(1+2e-7)+5*math.Exp(-width) {
					t.Fatalf("%+v: P(region) at (%v, %v) = %v, want %v", c, p0, p1, got, want)
				}
			}
		}
	}
}

// Both cell bounds hold at every point inside the cell, of straight and of Gaussian edges.
func TestCellBounds(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	useful := map[bool]int{}
	for i := range 700 {
		c := Counts{N1: 5 + r.IntN(200), N0: 5 + r.IntN(200)}
		c.X, c.Y = 1+r.IntN(c.N1), r.IntN(c.N0+1)
		delta, kink := []float64{0, 1e-3, 0.05}[r.IntN(3)], 1.0
		var f family = gaussian{}
		if i%2 == 0 {
			f = ratioFamily(delta)
		}
		th := f.limit(c, 1.6)
		if th == 0 {
			continue
		}
		if i%2 == 0 {
			kink = math.Min(1, (1-delta)/th)
		}
		s := sweep{region: newRegion(c, f.edge(c, th, 1.6), 0, 1, 36), box: box{0, 1, 0, 1}, family: f, th: th}
		l := kink * math.Pow(r.Float64(), 2)
		h := (kink - l) * math.Pow(10, -3*r.Float64())
		at := func(p0 float64) float64 { return s.region.prob(p0, s.p1(p0)) }
		m, top := max(at(l), at(l+h)), 1.0
		if b := s.bend(l, l+h, m); b < 1 {
			top = min(1, m/(1-b))
		}
		wide := s.region.prob(l, s.p1(l+h))
		if top < 1 {
			useful[i%2 == 0]++
		}
		for i := range 11 {
			if v := at(l + h*float64(i)/10); v > top*(1+1e-8) || v > wide*(1+1e-8) {
				t.Fatalf("%T, %+v, delta %v, cell [%v, %v]: %v inside, bounds %v and %v", f, c, delta, l, l+h, v, top, wide)
			}
		}
	}
	if useful[true] < 50 || useful[false] < 50 {
		t.Errorf("the curvature bound said something for %v cells only", useful)
	}
}

func TestWindowHoldsTheMass(t *testing.T) {
	for _, n := range []int{1, 7, 100, 2000} {
		for _, p := range []float64{0, 1e-5, 0.02, 0.5, 0.97, 1} {
			lo, hi := window(n, p, 12)
			out := 0.0
			for k, v := range pmf(n, p) {
				if k < lo || k > hi {
					out += v
				}
			}
			if m := mode(n, p); m < lo || m > hi {
				t.Errorf("mode %d of Bin(%d, %v) outside [%d, %d]", m, n, p, lo, hi)
			}
			if out > 2*math.Exp(-12) {
				t.Errorf("Bin(%d, %v) leaves [%d, %d] with probability %v", n, p, lo, hi, out)
			}
		}
	}
}
