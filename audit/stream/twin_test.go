package stream

import (
	"math"
	"testing"
)

// twins draws one sample at a time, by the textbook, from words and the exported
// elementary functions. The block samplers must give the same bits.
var twins = map[string]func(s *Stream) float64{
	"uniform(0,1)":      func(s *Stream) float64 { return s.Float64() },
	"uniform(-3,10)":    func(s *Stream) float64 { return -3 + float64(13*s.Float64()) },
	"laplace(1)":        func(s *Stream) float64 { return slowLaplace(s, 1) },
	"laplace(0.3)":      func(s *Stream) float64 { return slowLaplace(s, 0.3) },
	"exponential(1)":    func(s *Stream) float64 { return -Log(slowUnit(s.Uint64())) },
	"exponential(1e-3)": func(s *Stream) float64 { return 1e-3 * -Log(slowUnit(s.Uint64())) },
	"geometric(0.5)":    func(s *Stream) float64 { return slowGeometric(s, 0.5) },
	"geometric(0.01)":   func(s *Stream) float64 { return slowGeometric(s, 0.01) },
	"geometric(1e-300)": func(s *Stream) float64 { return slowGeometric(s, 1e-300) },
	"bernoulli(0.3)":    func(s *Stream) float64 { return slowBernoulli(s, 0.3) },
	"bernoulli(0.999)":  func(s *Stream) float64 { return slowBernoulli(s, 0.999) },
}

func slowUnit(r uint64) float64 {
	w := r >> 1
	if w >= 1<<53 {
		w -= w >> 53
	}
	return math.Ldexp(float64(w)+0.5, -63)
}

func slowLaplace(s *Stream, scale float64) float64 {
	r := s.Uint64()
	x := scale * -Log(slowUnit(r))
	if r%2 == 1 {
		return -x
	}
	return x
}

func slowGeometric(s *Stream, p float64) float64 {
	mean := 1 / -Log1p(-p)
	return math.Floor(mean * -Log(slowUnit(s.Uint64())))
}

func slowBernoulli(s *Stream, p float64) float64 {
	if s.Uint64() < uint64(math.Ldexp(p, 64)) {
		return 1
	}
	return 0
}

func TestBlocksAgainstTwins(t *testing.T) {
	const n = 5000
	for _, c := range samplers() {
		twin, ok := twins[c.name]
		if !ok {
			continue // Gaussian, below
		}
		got := make([]float64, n)
		c.fill(New(Key{Purpose: c.name}), got)
		s := New(Key{Purpose: c.name})
		for i, g := range got {
			if w := twin(s); math.Float64bits(w) != math.Float64bits(g) {
				t.Fatalf("%s: sample %d is %v, want %v", c.name, i, g, w)
			}
		}
	}
}

// The Gaussian is held to an angle computed otherwise, so to a tolerance: 8 units
// of 2^-53 of the radius, which is below 9.42 sigma.
func TestGaussianAgainstTwin(t *testing.T) {
	const n, sigma, tolerance = 5000, 2.7, 8 * 0x1p-53 * 9.42
	got := make([]float64, n)
	New(Key{Purpose: "g"}).Gaussian(got, sigma)
	s := New(Key{Purpose: "g"})
	for i := 0; i < n; i += 2 {
		radius := math.Sqrt(-2 * math.Log(slowUnit(s.Uint64())))
		r := s.Uint64()
		turns := float64(int64(r<<2)) * 0x1p-66 // in [-1/8, 1/8)
		y, x := math.Sincos(2 * math.Pi * turns)
		if r>>62&1 == 1 {
			x, y = -x, -y
		}
		if r>>63 == 1 {
			x, y = y, x
		}
		for j, want := range []float64{sigma * radius * x, sigma * radius * y} {
			if math.Abs(got[i+j]-want) > tolerance*sigma {
				t.Fatalf("sample %d is %v, want %v", i+j, got[i+j], want)
			}
		}
	}
}

// Filling 10 and then 20 gives what filling 30 gives, for every way of cutting.
func TestCutsDoNotMatter(t *testing.T) {
	const n = 1000
	for _, c := range samplers() {
		whole := make([]float64, n)
		c.fill(New(Key{Purpose: c.name}), whole)
		cuts := New(Key{Purpose: "cuts"})
		for try := range 20 {
			s := New(Key{Purpose: c.name})
			dst := make([]float64, n)
			for rest := dst; len(rest) > 0; {
				k := min(cuts.Intn(1+[]int{1, 3, 10, 130, 400}[try%5]), len(rest))
				c.fill(s, rest[:k])
				rest = rest[k:]
			}
			for i := range dst {
				if dst[i] != whole[i] {
					t.Fatalf("%s: sample %d depends on the cut", c.name, i)
				}
			}
		}
	}
}

// A spare normal outlives other draws, is scaled by the sigma of the call that
// takes it, and odd offsets into the buffer change only which words are used.
func TestGaussianSpare(t *testing.T) {
	want := make([]float64, 2)
	New(Key{}).Gaussian(want, 1)
	s := New(Key{})
	got := make([]float64, 1)
	s.Gaussian(got, 1)
	if got[0] != want[0] {
		t.Errorf("first %v, want %v", got[0], want[0])
	}
	s.Uint64()
	s.Gaussian(nil, 3)
	s.Gaussian(got, 4)
	if got[0] != 4*want[1] {
		t.Errorf("spare %v, want %v", got[0], 4*want[1])
	}

	// One word in, pairs straddle the refills at words 124, 248, ....
	s, slow := New(Key{}), New(Key{})
	s.Uint64()
	slow.Uint64()
	fast := make([]float64, 600)
	s.Gaussian(fast, 1)
	for i := 0; i < len(fast); i += 2 {
		raw, pair := [2]uint64{slow.Uint64(), slow.Uint64()}, [2]float64{}
		gaussianBlock(pair[:], raw[:], 1)
		if fast[i] != pair[0] || fast[i+1] != pair[1] {
			t.Fatalf("pair at %d: %v, want %v", i, fast[i:i+2], pair)
		}
	}
}

// Every sampler takes a number of words that depends on len(dst) alone.
func TestWordsTakenDoNotDependOnParameters(t *testing.T) {
	words := New(Key{})
	for range 300 {
		words.Uint64()
	}
	want := words.Uint64()
	for _, c := range append(samplers(), degenerate()...) {
		s := New(Key{})
		c.fill(s, make([]float64, 300))
		if s.Uint64() != want {
			t.Errorf("%s: does not take 300 words for 300 samples", c.name)
		}
	}
}
