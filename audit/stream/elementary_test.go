package stream

import (
	"math"
	"math/big"
	"testing"

	"github.com/dpscope/dpscope/internal/testsize"
)

// prec is the precision of the reference values, computed here with math/big.
const prec = 220

func bigOf(x float64) *big.Float { return new(big.Float).SetPrec(prec).SetFloat64(x) }
func newBig() *big.Float         { return new(big.Float).SetPrec(prec) }

// bigExp sums the Taylor series of x/2^20 and squares twenty times.
func bigExp(x *big.Float) *big.Float {
	y := newBig().SetMantExp(x, -20)
	sum, term := bigOf(1), bigOf(1)
	for i := 1; i < 40 && term.Sign() != 0; i++ {
		term.Quo(term.Mul(term, y), bigOf(float64(i)))
		sum.Add(sum, term)
	}
	for range 20 {
		sum.Mul(sum, sum)
	}
	return sum
}

// bigAtanh2 returns 2 atanh(s) = log((1+s)/(1-s)) by its series, for |s| < 0.35.
func bigAtanh2(s *big.Float) *big.Float {
	z := newBig().Mul(s, s)
	sum, power := newBig(), newBig().Mul(s, bigOf(2))
	for i := 1; i < 180; i += 2 {
		sum.Add(sum, newBig().Quo(power, bigOf(float64(i))))
		power.Mul(power, z)
	}
	return sum
}

var bigLn2 = bigAtanh2(newBig().Quo(bigOf(1), bigOf(3)))

// bigLog writes x = 2^e m with m in [1/2, 1), log m by atanh.
func bigLog(x *big.Float) *big.Float {
	m := newBig()
	e := x.MantExp(m)
	s := newBig().Quo(newBig().Sub(m, bigOf(1)), newBig().Add(m, bigOf(1)))
	return newBig().Add(bigAtanh2(s), newBig().Mul(bigLn2, bigOf(float64(e))))
}

// bigSinCos sums the Taylor series at y.
func bigSinCos(y float64) (sin, cos *big.Float) {
	x := bigOf(y)
	sin, cos = newBig(), newBig()
	term := bigOf(1)
	for i := range 60 {
		if sum := []*big.Float{cos, sin}[i%2]; i%4 < 2 {
			sum.Add(sum, term)
		} else {
			sum.Sub(sum, term)
		}
		term.Quo(term.Mul(term, x), bigOf(float64(i+1)))
	}
	return sin, cos
}

// ulps returns |got - want| in units in the last place of want, at least 2^-1074.
func ulps(got float64, want *big.Float) float64 {
	w, _ := want.Float64()
	_, e := math.Frexp(w)
	d, _ := newBig().Sub(bigOf(got), want).Float64()
	return math.Abs(d) / math.Ldexp(1, max(e-53, -1074))
}

func sinOf(y float64) float64 { return sinKernel(y, float64(y*y)) }
func cosOf(y float64) float64 { return cosKernel(float64(y * y)) }

func TestElementaryAgainstBig(t *testing.T) {
	n := testsize.Of(200, 2000)
	s := New(Key{Purpose: "elementary"})
	uniform := func(lo, hi float64) func() float64 {
		return func() float64 { return lo + (hi-lo)*s.Float64() }
	}
	// either gives both signs and sizes from 2^lo to 2^hi.
	either := func(lo, hi float64) func() float64 {
		return func() float64 {
			x := math.Exp2(lo + (hi-lo)*s.Float64())
			if s.Uint64()&1 == 0 {
				return -x
			}
			return x
		}
	}
	abs := func(f func() float64) func() float64 { return func() float64 { return math.Abs(f()) } }
	onePlus := func(x *big.Float) *big.Float { return newBig().Add(bigOf(1), x) }
	log := func(x float64) *big.Float { return bigLog(bigOf(x)) }
	log1p := func(x float64) *big.Float { return bigLog(onePlus(bigOf(x))) }
	exp := func(x float64) *big.Float { return bigExp(bigOf(x)) }
	expm1 := func(x float64) *big.Float { return newBig().Sub(exp(x), bigOf(1)) }
	logistic := func(x float64) *big.Float { return newBig().Quo(bigOf(1), onePlus(exp(-x))) }
	sin := func(u float64) *big.Float { y, _ := bigSinCos(u); return y }
	cos := func(u float64) *big.Float { _, y := bigSinCos(u); return y }

	for _, c := range []struct {
		name  string
		f     func(float64) float64
		want  func(float64) *big.Float
		x     func() float64
		limit float64
	}{
		{"Log on (0,1)", Log, log, abs(uniform(-1, 1)), 1},
		{"Log near 1", Log, log, uniform(0.7, 1.5), 1},
		{"Log anywhere", Log, log, abs(either(-1022, 1023)), 1},
		{"Log of subnormals", Log, log, abs(either(-1074, -1022)), 1},
		{"Log1p near 0", Log1p, log1p, either(-60, -1), 1},
		{"Log1p", Log1p, log1p, uniform(-1, 3), 1},
		{"Log1p of large x", Log1p, log1p, abs(either(0, 150)), 1},
		{"Exp", Exp, exp, uniform(-708, 709), 1},
		{"Exp near 0", Exp, exp, either(-60, 1), 1},
		{"Exp, subnormal", Exp, exp, uniform(-745, -708), 1},
		{"Expm1 near 0", Expm1, expm1, either(-60, -1), 1},
		{"Expm1", Expm1, expm1, uniform(-40, 40), 1},
		{"Expm1, large", Expm1, expm1, uniform(20, 709), 1},
		{"Logistic", Logistic, logistic, uniform(-40, 40), 2},
		{"Logistic, far", Logistic, logistic, uniform(-700, 10), 2},
		{"sine", sinOf, sin, uniform(-math.Pi/4, math.Pi/4), 1},
		{"cosine", cosOf, cos, uniform(-math.Pi/4, math.Pi/4), 1},
		{"sine near 0", sinOf, sin, either(-60, -3), 1},
	} {
		var worst, at float64
		for range n {
			x := c.x()
			if u := ulps(c.f(x), c.want(x)); !(u <= worst) {
				worst, at = u, x
			}
		}
		if !(worst <= c.limit) {
			t.Errorf("%s: %v ulp at %v, limit %v", c.name, worst, at, c.limit)
		}
		t.Logf("%-20s %.3f ulp", c.name, worst)
	}
}

func TestElementarySpecial(t *testing.T) {
	nan, inf, zero := math.NaN(), math.Inf(1), math.Copysign(0, -1)
	for _, c := range []struct {
		name string
		f    func(float64) float64
		x, y float64
	}{
		{"Log", Log, 1, 0}, {"Log", Log, 0, -inf}, {"Log", Log, zero, -inf}, {"Log", Log, inf, inf},
		{"Log", Log, -1, nan}, {"Log", Log, -inf, nan}, {"Log", Log, nan, nan}, {"Log", Log, -5e-324, nan},
		{"Log", Log, 5e-324, -744.4400719213812}, {"Log", Log, math.MaxFloat64, 709.782712893384},
		{"Log1p", Log1p, 0, 0}, {"Log1p", Log1p, zero, zero}, {"Log1p", Log1p, -1, -inf}, {"Log1p", Log1p, inf, inf},
		{"Log1p", Log1p, -1.5, nan}, {"Log1p", Log1p, -inf, nan}, {"Log1p", Log1p, nan, nan},
		{"Log1p", Log1p, 5e-324, 5e-324}, {"Log1p", Log1p, -5e-324, -5e-324}, {"Log1p", Log1p, math.MaxFloat64, 709.782712893384},
		{"Exp", Exp, 0, 1}, {"Exp", Exp, zero, 1}, {"Exp", Exp, inf, inf}, {"Exp", Exp, -inf, 0}, {"Exp", Exp, nan, nan},
		{"Exp", Exp, 709.8, inf}, {"Exp", Exp, -745.2, 0}, {"Exp", Exp, -745.1, 5e-324}, {"Exp", Exp, 5e-324, 1},
		{"Exp", Exp, math.MaxFloat64, inf}, {"Exp", Exp, -math.MaxFloat64, 0},
		{"Expm1", Expm1, 0, 0}, {"Expm1", Expm1, zero, zero}, {"Expm1", Expm1, inf, inf}, {"Expm1", Expm1, -inf, -1},
		{"Expm1", Expm1, nan, nan}, {"Expm1", Expm1, -50, -1}, {"Expm1", Expm1, 5e-324, 5e-324}, {"Expm1", Expm1, 709.8, inf},
		{"Logistic", Logistic, 0, 0.5}, {"Logistic", Logistic, zero, 0.5}, {"Logistic", Logistic, inf, 1},
		{"Logistic", Logistic, -inf, 0}, {"Logistic", Logistic, nan, nan}, {"Logistic", Logistic, -745.1, 5e-324},
	} {
		got := c.f(c.x)
		if math.Float64bits(got) != math.Float64bits(c.y) {
			t.Errorf("%s(%v) = %v, want %v", c.name, c.x, got, c.y)
		}
	}
}
