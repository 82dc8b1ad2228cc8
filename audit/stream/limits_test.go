package stream

import (
	"math"
	"testing"

	"github.com/dpscope/dpscope/internal/must"
)

func TestDegenerate(t *testing.T) {
	want := map[string]float64{"uniform(5,5)": 5, "bernoulli(1)": 1} // else 0
	for _, c := range degenerate() {
		dst := make([]float64, 301)
		for i := range dst {
			dst[i] = math.NaN()
		}
		c.fill(New(Key{}), dst)
		for i, x := range dst {
			if math.Float64bits(x) != math.Float64bits(want[c.name]) {
				t.Fatalf("%s: sample %d is %v", c.name, i, x)
			}
		}
	}
}

func TestBadParametersPanic(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	bad := func(name string, f func()) { t.Helper(); must.Panic(t, name, f) }
	s, dst := New(Key{}), make([]float64, 3)
	for _, v := range []float64{nan, inf, -inf, -1, -5e-324, 0x1p1001} {
		bad("Laplace", func() { s.Laplace(dst, v) })
		bad("Gaussian", func() { s.Gaussian(dst, v) })
		bad("Exponential", func() { s.Exponential(dst, v) })
		bad("Geometric", func() { s.Geometric(dst, v) })
		bad("Bernoulli", func() { s.Bernoulli(dst, v) })
		bad("empty", func() { s.Laplace(nil, v) })
	}
	bad("Geometric 0", func() { s.Geometric(dst, 0) })
	bad("Geometric 1e-310", func() { s.Geometric(dst, 1e-310) })
	for _, v := range [][2]float64{{1, 0}, {nan, 1}, {0, nan}, {-inf, 0}, {0, inf}, {inf, inf}, {-math.MaxFloat64, math.MaxFloat64}} {
		bad("Uniform", func() { s.Uniform(dst, v[0], v[1]) })
	}
	bad("Intn", func() { s.Intn(0) })
	bad("Perm", func() { s.Perm(-1) })
	bad("Shuffle", func() { s.Shuffle(-1, nil) })
}

// At the ends of the range of words the logarithmic samplers give the ends of
// their support: nothing infinite, nothing 0.
func TestSupport(t *testing.T) {
	for _, c := range []struct {
		word uint64
		want float64
	}{
		{0, 64 * math.Ln2}, {2, 64*math.Ln2 - math.Log(3)}, {4, 64*math.Ln2 - math.Log(5)}, {200, 64*math.Ln2 - math.Log(201)},
		{1 << 63, math.Ln2},
		{math.MaxUint64 - 1, 0x1p-53}, {math.MaxUint64 - 1001, 0x1p-53}, {math.MaxUint64 - 1 - 1<<12, 3 * 0x1p-53},
	} {
		dst := make([]float64, 5)
		logBlock(dst, []uint64{c.word, c.word | 1, 0, 0, c.word | 1}, 1, 1)
		for i, want := range map[int]float64{0: c.want, 1: -c.want, 4: -c.want} {
			if d := math.Abs(dst[i] - want); d > 0x1p-52*math.Abs(want) {
				t.Errorf("word %x: %v, want %v", c.word, dst[i], want)
			}
		}
	}
	// Over corner words a Gaussian is finite, not 0, and within 9.42.
	corners := []uint64{0, 1, 2, 1 << 61, 1 << 62, 1 << 63, 3 << 62, 1<<62 - 1, math.MaxUint64, math.MaxUint64 - 1, 1<<63 - 1}
	for _, a := range corners {
		for _, b := range corners {
			var z [2]float64
			gaussianBlock(z[:], []uint64{a, b}, 1)
			for _, x := range z {
				if !(math.Abs(x) > 1e-30 && math.Abs(x) < 9.42) {
					t.Errorf("words %x %x: %v", a, b, z)
				}
			}
		}
	}
}

// Neither huge nor tiny parameters give infinities, NaN or -0.
func TestExtremeParameters(t *testing.T) {
	for _, scale := range []float64{0x1p1000, 1e300, 1e-300, 0x1p-1022, 5e-324, 0} {
		s := New(Key{Purpose: "extreme"})
		dst := make([]float64, 3001)
		for name, fill := range map[string]func(){
			"laplace":     func() { s.Laplace(dst, scale) },
			"gaussian":    func() { s.Gaussian(dst, scale) },
			"exponential": func() { s.Exponential(dst, scale) },
			"uniform":     func() { s.Uniform(dst, -scale, scale) },
		} {
			fill()
			for _, x := range dst {
				if math.IsInf(x, 0) || math.IsNaN(x) || x == 0 && math.Signbit(x) && name != "uniform" {
					t.Fatalf("%s with %g: %v", name, scale, x)
				}
			}
		}
	}
	dst := make([]float64, 1000)
	New(Key{}).Geometric(dst, 0x1p-1000)
	for _, x := range dst {
		if !(x > 0x1p980 && x < math.MaxFloat64) {
			t.Fatalf("geometric: %g", x)
		}
	}
}

// Where doubles are sparse, Uniform must still stay below hi.
func TestUniformStaysBelowHi(t *testing.T) {
	for _, c := range [][2]float64{{1, math.Nextafter(1, 2)}, {1, 1 + 0x1p-50}, {-0x1p-1074, 0}, {1e16, 1e16 + 4}, {-1, -1 + 0x1p-52}} {
		dst := make([]float64, 2000)
		New(Key{}).Uniform(dst, c[0], c[1])
		for _, x := range dst {
			if !(x >= c[0] && x < c[1]) {
				t.Fatalf("%v outside [%v, %v)", x, c[0], c[1])
			}
		}
	}
}
