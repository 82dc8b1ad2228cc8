package bounds

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/dpscope/dpscope/internal/testsize"
)

// stakeGrid are log odds as the sequential audit has them, but fewer.
var stakeGrid = func() []float64 {
	var odds []float64
	for z := -8.0; z <= 8; z += 0.25 {
		odds = append(odds, z)
	}
	return odds
}()

// slowDPStakes are the factors of the bets of NewStakes, from their definition.
func slowDPStakes(points []Point, odds []float64) (first, second [][]float64) {
	for _, p := range points {
		slopes, tops := []float64{1, 0.75, 0.5}, []float64{1}
		if p.Delta > 0 {
			slopes, tops = []float64{1, 0.5}, []float64{1, 0.5, 0.2, 0.05}
		}
		for _, a := range stakeFloors {
			for _, slope := range slopes {
				for _, top := range tops {
					b := 2 - a
					c := a + b*math.Exp(-p.Epsilon)
					var u, x, y []float64
					for _, z := range odds {
						eta := math.Exp(slope*z) / (1 + math.Exp(slope*z))
						u = append(u, math.Min(top*b*math.Exp(-p.Epsilon), math.Max(0, c*eta-a)))
					}
					fair := 1 + p.Delta*slices.Max(u)/2
					for _, v := range u {
						x = append(x, (a+v)/fair)
						y = append(y, math.Max(0, b-math.Exp(p.Epsilon)*v)/fair)
					}
					first, second = append(first, x), append(second, y)
				}
			}
		}
	}
	return first, second
}

// slowRenyiStakes are those of AddRenyi.
func slowRenyiStakes(alpha, limit float64, odds []float64) (first, second [][]float64) {
	k := alpha / (alpha - 1)
	for _, width := range renyiWidths {
		for _, slope := range renyiSlopes {
			for _, b0 := range []float64{1, math.Exp((alpha - 1) * limit)} {
				for _, share := range renyiShares {
					var xs, ys []float64
					for _, z := range odds {
						h := math.Max(-width, math.Min(width, slope*z))
						xs = append(xs, math.Exp(-limit/k)*math.Pow(b0, -1/k)*math.Exp((alpha-1)*h))
						ys = append(ys, math.Exp(alpha*h)/(k*b0))
					}
					// The largest s with a = 1 - s (1 + 1/k)/2 >= 0 and s Y <= b = 2 - a for every |h| <= width.
					half, most := (1+1/k)/2, math.Exp(alpha*width)/(k*b0)
					s := 1 / half
					if most > half {
						s = math.Min(s, 1/(most-half))
					}
					s *= share
					a, fair := 1-s*half, 1+s/(2*alpha)
					var x, y []float64
					for i := range xs {
						x, y = append(x, (a+s*xs[i])/fair), append(y, math.Max(0, 2-a-s*ys[i])/fair)
					}
					first, second = append(first, x), append(second, y)
				}
			}
		}
	}
	return first, second
}

// factors are what one output makes of a bet, by the cell, as LogAt has it.
func (s *Stakes) factors(bet int, reversed bool, cells int) (first, second []float64) {
	for c := range cells {
		first = append(first, math.Exp(s.LogAt(bet, reversed, []int{c}, []float64{1}, []float64{0})))
		second = append(second, math.Exp(s.LogAt(bet, reversed, []int{c}, []float64{0}, []float64{1})))
	}
	return first, second
}

// Claims that the bets are tried on.
var (
	stakePoints = []Point{{1, 0}, {0.1, 0}, {5, 0}, {0, 0}, {0.5, 1e-5}, {1, 0.01}, {0.1, 0.3}, {0, 0.2}, {3, 1e-3}, {1, 0.9}}
	stakeOrders = []struct{ alpha, limit float64 }{{2, 0.25}, {2, 3}, {1.1, 0.05}, {1.5, 1}, {8, 0.5}, {32, 2}, {2, 1e-3}}
)

// Factors are those of the definition, cell by cell; what a bet makes of a table is the
// product over its outputs; reversed, sides and cells change places.
func TestStakesTwin(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	same := func(name string, s *Stakes, first, second [][]float64) {
		if s.Len() != len(first) {
			t.Fatalf("%s: %d bets, want %d", name, s.Len(), len(first))
		}
		last := len(stakeGrid) - 1
		for bet := range first {
			x, y := s.factors(bet, false, len(stakeGrid))
			rx, ry := s.factors(bet, true, len(stakeGrid))
			for c := range stakeGrid {
				for _, v := range [][2]float64{{x[c], first[bet][c]}, {y[c], second[bet][c]}, {ry[c], first[bet][last-c]}, {rx[c], second[bet][last-c]}} {
					// Where the whole of a side is staked, what is left is rounding.
					if !(math.Abs(v[0]-v[1]) <= 1e-12*v[1]+1e-13) {
						t.Fatalf("%s: bet %d at odds %v has the factor %v, want %v", name, bet, stakeGrid[c], v[0], v[1])
					}
				}
			}
			cells, a, b := []int{}, []float64{}, []float64{}
			want, turned := 0.0, 0.0
			for c := range stakeGrid {
				if r.IntN(3) > 0 {
					continue
				}
				cells, a, b = append(cells, c), append(a, float64(r.IntN(4))), append(b, float64(r.IntN(4)))
				for range int(a[len(a)-1]) {
					want += math.Log(x[c])
					turned += math.Log(rx[c])
				}
				for range int(b[len(b)-1]) {
					want += math.Log(y[c])
					turned += math.Log(ry[c])
				}
			}
			for reversed, want := range map[bool]float64{false: want, true: turned} {
				if got := s.LogAt(bet, reversed, cells, a, b); math.Abs(got-want) > 1e-9 && got != want {
					t.Fatalf("%s: bet %d, reversed %v, makes log %v of a table, want %v", name, bet, reversed, got, want)
				}
			}
		}
	}
	first, second := slowDPStakes(stakePoints, stakeGrid)
	same("all points", NewStakes(stakePoints, stakeGrid), first, second)
	all := new(Stakes)
	first, second = nil, nil
	for _, o := range stakeOrders {
		all.AddRenyi(o.alpha, o.limit, stakeGrid)
		x, y := slowRenyiStakes(o.alpha, o.limit, stakeGrid)
		first, second = append(first, x...), append(second, y...)
	}
	same("all orders", all, first, second)
}

func mean(law, x []float64) float64 {
	sum := 0.0
	for i, p := range law {
		if p > 0 {
			sum += p * x[i]
		}
	}
	return sum
}

// downBy is the order of 0 to n-1 in which by falls.
func downBy(n int, by func(i int) float64) []int {
	list := make([]int, n)
	for i := range list {
		list[i] = i
	}
	slices.SortStableFunc(list, func(i, j int) int { return cmp.Compare(by(j), by(i)) })
	return list
}

// A foe is a set of pairs of laws, and the best answer to either law within it.
type foe interface {
	first(second, factor []float64) []float64 // the law of the first dataset with the largest mean of its factor
	second(first, factor []float64) []float64
}

// first is the law P <= e^Epsilon Q + Delta that puts most where the factor is large:
// Delta on the largest, e^Epsilon Q from there on down.
func (p Point) first(q, f []float64) []float64 {
	law, left := make([]float64, len(q)), 1.0
	down := downBy(len(q), func(i int) float64 { return f[i] })
	law[down[0]] = min(left, p.Delta)
	left -= law[down[0]]
	for _, i := range down {
		m := min(left, math.Exp(p.Epsilon)*q[i])
		law[i] += m
		left -= m
	}
	law[down[0]] += max(0, left) // rounding
	return law
}

// second is the law Q >= e^-Epsilon (P - d), d of Delta in all, that puts least where the
// factor is small.
func (p Point) second(first, g []float64) []float64 {
	law, left, spare := make([]float64, len(first)), 1.0, p.Delta
	down := downBy(len(first), func(i int) float64 { return g[i] })
	for k := len(down) - 1; k >= 0; k-- {
		i := down[k]
		d := min(spare, first[i])
		spare -= d
		law[i] = math.Exp(-p.Epsilon) * (first[i] - d)
		left -= law[i]
	}
	law[down[0]] += left
	return law
}

// renyiFoe are laws with D_alpha(P, Q) <= limit.
type renyiFoe struct{ alpha, limit float64 }

func (r renyiFoe) divergence(p, q []float64) float64 {
	sum := 0.0
	for i := range p {
		if p[i] > 0 {
			sum += math.Exp(r.alpha*math.Log(p[i]) + (1-r.alpha)*math.Log(q[i]))
		}
	}
	return math.Log(sum) / (r.alpha - 1)
}

// most is the law with the largest parameter that is within the limit: the laws
// go further from the other one as it grows.
func (r renyiFoe) most(law func(x float64) []float64, far func(law []float64) float64) []float64 {
	x, _ := Bisect(-40, 40, 1e-16, func(x float64) bool { return far(law(x)) <= r.limit })
	return law(x)
}

func normal(x []float64) []float64 {
	floats.Scale(1/floats.Sum(x), x)
	return x
}

// first solves Lagrange's condition, p = q max(0, f - v)^(1/(alpha-1)) up to a constant.
func (r renyiFoe) first(q, f []float64) []float64 {
	lo, hi := slices.Min(f), slices.Max(f)
	law := func(x float64) []float64 {
		// From far below all f up to all but the largest.
		v := hi - (hi-lo+1e-9)*math.Exp(-x)
		p := make([]float64, len(q))
		for i := range p {
			p[i] = q[i] * math.Pow(max(0, (f[i]-v)/(hi-v)), 1/(r.alpha-1))
		}
		return normal(p)
	}
	return r.most(law, func(p []float64) float64 { return r.divergence(p, q) })
}

// second solves q = p (v - g)^(-1/alpha), v above all g.
func (r renyiFoe) second(p, g []float64) []float64 {
	lo, hi := slices.Min(g), slices.Max(g)
	law := func(x float64) []float64 {
		v := hi + (hi-lo+1e-9)*math.Exp(-x)
		q := make([]float64, len(p))
		for i := range q {
			q[i] = p[i] * math.Pow((v-g[i])/(v-lo), -1/r.alpha)
		}
		return normal(q)
	}
	return r.most(law, func(q []float64) float64 { return r.divergence(p, q) })
}

// worst is the largest mean that a search found of the product of both sides' factors.
func worst(r *rand.Rand, f foe, first, second []float64, starts int) float64 {
	largest := 0.0
	n := len(first)
	for range starts {
		q := make([]float64, n)
		power := 1 + 9*r.Float64()
		for i := range q {
			q[i] = math.Pow(r.Float64(), power*power) + 1e-12
		}
		if r.IntN(2) == 0 { // most of it where the first or the second factor is large, in a random measure
			x := r.ExpFloat64() * 4
			for i := range q {
				q[i] *= math.Exp(x * float64(i) / float64(n) * float64(1-2*r.IntN(2)))
			}
		}
		q = normal(q)
		for range 4 {
			p := f.first(q, first)
			largest = max(largest, mean(p, first)*mean(q, second))
			q = f.second(p, second)
			largest = max(largest, mean(p, first)*mean(q, second))
		}
	}
	return largest
}

// No pair of laws that keeps the claim gives a bet a mean above 1, in either direction,
// neither random ones nor those that answer each other best. The search is no weak one:
// it finds laws of mean 1, or nearly.
func TestStakesAreFair(t *testing.T) {
	const tolerance = 1e-12
	n := len(stakeGrid)
	starts := testsize.Of(2, 60)
	r := rand.New(rand.NewPCG(2, 2))
	try := func(name string, s *Stakes, f foe, least float64) {
		t.Helper()
		largest := 0.0
		for bet := range s.Len() {
			for _, reversed := range []bool{false, true} {
				x, y := s.factors(bet, reversed, n)
				if reversed { // the claim's other direction: the second dataset over the first
					x, y = y, x
				}
				e := worst(r, f, x, y, starts)
				if largest = max(largest, e); e > 1+tolerance {
					t.Errorf("%s: bet %d, reversed %v: mean 1 + %.3g", name, bet, reversed, e-1)
				}
			}
		}
		if largest < least {
			t.Errorf("%s: the search finds no mean above %v, want at least %v", name, largest, least)
		}
	}
	for _, p := range stakePoints {
		try(fmt.Sprint(p), NewStakes([]Point{p}, stakeGrid), p, 0.999)
	}
	for _, o := range stakeOrders {
		s := new(Stakes)
		s.AddRenyi(o.alpha, o.limit, stakeGrid)
		try(fmt.Sprint(o), s, renyiFoe(o), 0.999)
	}
}

// projected is the growth, in nats for an output of each side, of the likelihood ratio
// against the claim's law that is nearest to the truth (reverse information projection):
// no bet that is fair under the claim grows faster (Larsson, Ramdas and Ruf 2025). At
// delta = 0 the nearest law ties outcomes whose ratio exceeds the claim; the multipliers
// of the two sums to 1, l and 2 - l, follow by bisection.
func projected(p, q []float64, epsilon float64) float64 {
	th := math.Exp(epsilon)
	nearest := func(l float64) (a, b []float64, sum float64) {
		m := 2 - l
		for i := range p {
			x, y := p[i]/l, q[i]/m
			if x > th*y {
				y = (p[i] + q[i]) / (l*th + m)
				x = th * y
			}
			a, b = append(a, x), append(b, y)
			sum += x
		}
		return a, b, sum
	}
	l, _ := Bisect(1e-9, 2-1e-9, 0, func(l float64) bool { _, _, sum := nearest(l); return sum > 1 })
	a, b, _ := nearest(l)
	growth := 0.0
	for i := range p {
		growth += p[i]*math.Log(p[i]/a[i]) + q[i]*math.Log(q[i]/b[i])
	}
	return growth
}

// With the true odds, the best bet grows nearly as fast as any bet can.
func TestStakesGrowth(t *testing.T) {
	const worth = 0.95 // of the best growth
	gaussian := func(x, mu float64) float64 { return math.Exp(-(x - mu) * (x - mu) / 2) }
	laplace := func(x, mu float64) float64 { return math.Exp(-math.Abs(x - mu)) }
	along := func(f func(x, mu float64) float64, mu float64) (p, q []float64) {
		for x := -6.0; x <= 6; x += 0.05 {
			p, q = append(p, f(x, mu)), append(q, f(x, 0))
		}
		return normal(p), normal(q)
	}
	gp, gq := along(gaussian, 1)
	lp, lq := along(laplace, 1.6)
	for _, c := range []struct {
		name    string
		p, q    []float64
		epsilon float64
	}{
		{"randomised response of 2 at 1", []float64{0.8808, 0.1192}, []float64{0.1192, 0.8808}, 1},
		{"randomised response of 1.1 at 1", []float64{0.75026, 0.24974}, []float64{0.24974, 0.75026}, 1},
		{"a rare event", []float64{0.01, 0.99}, []float64{0.0001, 0.9999}, 1},
		{"an event of 1 in 10 against 1 in 200", []float64{0.1, 0.9}, []float64{0.005, 0.995}, 1},
		{"Gaussian, mu 1, at 1", gp, gq, 1},
		{"Gaussian, mu 1, at 0.1", gp, gq, 0.1},
		{"Laplace of 1.6 at 1", lp, lq, 1},
		{"three outcomes", []float64{0.5, 0.3, 0.2}, []float64{0.1, 0.4, 0.5}, 0.5},
	} {
		t.Run(c.name, func(t *testing.T) {
			var odds []float64
			for i := range c.p {
				odds = append(odds, math.Log(c.p[i]/c.q[i]))
			}
			s := NewStakes([]Point{{Epsilon: c.epsilon}}, odds)
			best := math.Inf(-1)
			for bet := range s.Len() {
				growth := 0.0
				for i := range odds {
					growth += c.p[i]*s.LogAt(bet, false, []int{i}, []float64{1}, []float64{0}) + c.q[i]*s.LogAt(bet, false, []int{i}, []float64{0}, []float64{1})
				}
				best = max(best, growth)
			}
			most := projected(c.p, c.q, c.epsilon)
			if t.Logf("growth %.5g of %.5g, %.3f", best, most, best/most); best > most+1e-9 || best < worth*most {
				t.Errorf("the best bet grows by %v, want within %v of %v and no more", best, worth, most)
			}
		})
	}
}
