package bounds

import (
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/dpscope/dpscope/audit/stream"
	"github.com/dpscope/dpscope/internal/testsize"
)

// twoLaws draws scores of two laws whose rates are known.
type twoLaws struct {
	name    string
	draw    func(s *stream.Stream, in, out []float64)
	rates   func(at float64) (tpr, fpr float64) // of scores that are at least that
	support []float64                           // of discrete laws
	area    float64
}

// laws are normal ones a distance of 1 apart, rare far scores of those in alone, and laws of
// four scores.
func laws() []twoLaws {
	tail := func(x float64) float64 { return math.Erfc(x/math.Sqrt2) / 2 }
	uniform := make([]float64, 2000)
	lattice := func(s *stream.Stream, dst []float64, p []float64) {
		s.Uniform(uniform[:len(dst)], 0, 1)
		for i, u := range uniform[:len(dst)] {
			for dst[i] = 0; u > p[int(dst[i])]; dst[i]++ {
				u -= p[int(dst[i])]
			}
		}
	}
	pIn, pOut := []float64{0.1, 0.3, 0.55, 0.05}, []float64{0.4, 0.35, 0.245, 0.005}
	share := func(p []float64, at float64) (sum float64) {
		for i, x := range p {
			if float64(i) >= at {
				sum += x
			}
		}
		return sum
	}
	var area float64
	for i, x := range pIn {
		for j, y := range pOut {
			switch {
			case i > j:
				area += x * y
			case i == j:
				area += x * y / 2
			}
		}
	}
	return []twoLaws{
		{"normal", func(s *stream.Stream, in, out []float64) {
			s.Gaussian(in, 1)
			for i := range in {
				in[i]++
			}
			s.Gaussian(out, 1)
		}, func(at float64) (float64, float64) { return tail(at - 1), tail(at) }, nil, tail(-1 / math.Sqrt2)},
		{"far", func(s *stream.Stream, in, out []float64) {
			s.Uniform(in, 0, 1)
			for i, u := range in {
				if u < 0.03 {
					in[i] = 2 + u
				}
			}
			s.Uniform(out, 0, 1)
		}, func(at float64) (float64, float64) {
			far := min(0.03, max(0, 2.03-at))
			return far + min(0.97, max(0, 1-at)), min(1, max(0, 1-at))
		}, nil, 0.03 + (1-0.03*0.03)/2},
		{"ties", func(s *stream.Stream, in, out []float64) { lattice(s, in, pIn); lattice(s, out, pOut) },
			func(at float64) (float64, float64) { return share(pIn, at), share(pOut, at) }, []float64{0, 1, 2, 3}, area},
	}
}

// best is the largest true positive rate at a false positive rate of at most rate.
func (l twoLaws) best(rate float64) float64 {
	if l.support != nil {
		most := 0.0
		for _, x := range l.support {
			if tpr, fpr := l.rates(x); fpr <= rate {
				most = max(most, tpr)
			}
		}
		return most
	}
	_, at := Bisect(-10, 10, 0, func(at float64) bool { _, fpr := l.rates(at); return fpr > rate })
	tpr, _ := l.rates(at)
	return tpr
}

// The band holds at all thresholds at once, wherever they are; the intervals of rates and
// of the area hold; and all that the steps say is what the scores say, by a count of all.
func TestROCCoverage(t *testing.T) {
	const beta = 0.1
	rates := []float64{0.01, 0.1, 0.5}
	for _, size := range testsize.Of([][2]int{{60, 36}, {12, 200}}, [][2]int{{150, 90}, {12, 700}}) {
		band := map[int]func(int) [2]float64{}
		for _, n := range size {
			known := map[int][2]float64{}
			of := shareBand(n, beta/2)
			band[n] = func(k int) [2]float64 {
				x, ok := known[k]
				if !ok {
					_, x[0], x[1] = of(k)
					known[k] = x
				}
				return x
			}
		}
		for _, law := range laws() {
			s := stream.New(stream.Key{Seed: 5, Purpose: "roc/" + law.name, Trial: size[0]})
			in, out := make([]float64, size[0]), make([]float64, size[1])
			trials := testsize.Of(40, 4000)
			var lost, area int
			fails := make([]int, len(rates))
			for trial := range trials {
				law.draw(s, in, out)
				outside := false
				// Every threshold counts as a score does, or as the next above it.
				for _, score := range append(slices.Concat(in, out), law.support...) {
					next := math.Nextafter(score, math.Inf(1))
					if law.support != nil {
						next = score + 1
					}
					for _, at := range []float64{score, next} {
						tpr, fpr := law.rates(at)
						bx, by := band[len(in)](atLeast(in, at)), band[len(out)](atLeast(out, at))
						outside = outside || tpr < bx[0]-1e-12 || tpr > bx[1]+1e-12 || fpr < by[0]-1e-12 || fpr > by[1]+1e-12
					}
				}
				if outside {
					lost++
				}
				r := rocOf(in, out, rates, beta)
				if trial < 2 {
					sameROC(t, law.name, r, in, out, rates, beta)
				}
				if lo, hi := AUROCInterval(r.AUROC(), min(r.In, r.Out), beta); law.area < lo || law.area > hi {
					area++
				}
				for i, rate := range rates {
					if _, lo, hi := r.TPRAt(rate, beta); law.best(rate) < lo || law.best(rate) > hi+1e-12 {
						fails[i]++
					}
				}
			}
			most := testsize.Most(trials, beta, 1e-6)
			if lost > most || area > most || slices.Max(fails) > most {
				t.Errorf("%s, %v: of %d, the band lost the truth %d times, the area %d, the rates %v; at most %d is chance", law.name, size, trials, lost, area, fails, most)
			}
		}
	}
}

func atLeast(x []float64, at float64) (n int) {
	for _, v := range x {
		if v >= at {
			n++
		}
	}
	return n
}

// rocOf is [SortedROC] of scores in any order.
func rocOf(in, out []float64, rates []float64, beta float64) ROC {
	return SortedROC(slices.Sorted(slices.Values(in)), slices.Sorted(slices.Values(out)), rates, beta)
}

// sameROC holds the steps against the scores, counted one by one.
func sameROC(t *testing.T, name string, r ROC, in, out, rates []float64, beta float64) {
	t.Helper()
	if !r.Sound() {
		t.Fatalf("%s: the counts are not sound: %+v", name, r)
	}
	wins, ties := 0, 0
	for _, x := range in {
		for _, y := range out {
			if x > y {
				wins++
			} else if x == y {
				ties++
			}
		}
	}
	if wins != r.Wins || ties != r.Ties {
		t.Fatalf("%s: %d wins and %d ties, by hand %d and %d", name, r.Wins, r.Ties, wins, ties)
	}
	for _, s := range r.Steps {
		if x, y := atLeast(in, s.At), atLeast(out, s.At); x != s.In || y != s.Out {
			t.Fatalf("%s: step %+v, by hand %d and %d", name, s, x, y)
		}
	}
	for _, rate := range rates {
		seen, lower, upper := r.TPRAt(rate, beta)
		// Over all thresholds, by the definitions: the ranks by their sums of chances.
		wantSeen, wantLower, wantUpper := 0.0, 0.0, 1.0
		for _, at := range append(slices.Concat(in, out), math.Inf(1)) {
			x, y := atLeast(in, at), atLeast(out, at)
			if float64(y) <= rate*float64(len(out)) {
				wantSeen = max(wantSeen, float64(x)/float64(len(in)))
			}
			below, _ := slowTails(len(out), rate, y)
			if y < len(out) && below <= beta/4 { // P(Bin <= y), so that the rank y+1 is deep enough
				wantLower = max(wantLower, LowerProportion(x, len(in), beta/4))
			}
			if _, least := slowTails(len(out), rate, y); y > 0 && least <= beta/4 {
				wantUpper = min(wantUpper, UpperProportion(x, len(in), beta/4))
			}
		}
		if seen != wantSeen || lower != wantLower || upper != wantUpper {
			t.Fatalf("%s at %v: %v in [%v, %v], by hand %v in [%v, %v]", name, rate, seen, lower, upper, wantSeen, wantLower, wantUpper)
		}
	}
}

// slowTails are P(Bin(n, p) <= k) and P(Bin(n, p) >= k).
func slowTails(n int, p float64, k int) (most, least float64) {
	w := pmf(n, p)
	return floats.Sum(w[:k+1]), floats.Sum(w[k:])
}

// The interval of the area against Hoeffding's looser form, and where one looks up kl.
func TestAUROCInterval(t *testing.T) {
	for _, n := range []int{1, 7, 400, 100_000} {
		for _, a := range []float64{0, 0.02, 0.5, 0.77, 1} {
			lo, hi := AUROCInterval(a, n, 0.05)
			wide := math.Sqrt(math.Log(2/0.05) / (2 * float64(n)))
			if lo < max(0, a-wide)-1e-9 || hi > min(1, a+wide)+1e-9 || lo > a || hi < a {
				t.Errorf("%v of %d: [%v, %v], by Hoeffding's inequality within %v", a, n, lo, hi, wide)
			}
			for _, p := range []float64{lo, hi} {
				if p > 1e-6 && p < 1-1e-6 {
					kl := 0.0
					if a > 0 {
						kl += a * math.Log(a/p)
					}
					if a < 1 {
						kl += (1 - a) * math.Log((1-a)/(1-p))
					}
					if got := 2 * math.Exp(-float64(n)*kl); math.Abs(got-0.05) > 1e-4 {
						t.Errorf("%v of %d ends at %v, where the error is %v", a, n, p, got)
					}
				}
			}
		}
	}
	if lo, _ := AUROCInterval(1, 100, 0.05); math.Abs(lo-math.Pow(0.025, 0.01)) > 1e-9 {
		t.Errorf("all of 100 won: %v", lo)
	}
}

// The area under the claim's curve, by a sum, and its corner by hand: randomised response.
func TestROCLimit(t *testing.T) {
	for _, c := range [][2]float64{{0, 0}, {1, 0}, {0.5, 0.1}, {4, 1e-5}, {0, 0.3}} {
		eps, delta := c[0], c[1]
		const n = 200_000
		sum := 0.0
		for i := range n {
			sum += ROCLimit((float64(i)+0.5)/n, eps, delta) / n
		}
		if got := AUROCLimit(eps, delta); math.Abs(got-sum) > 1e-5 {
			t.Errorf("the area at %v is %v, by a sum %v", c, got, sum)
		}
	}
	corner := 1 / (1 + math.E)
	if got := ROCLimit(corner, 1, 0); math.Abs(got-math.E*corner) > 1e-12 {
		t.Errorf("the corner at epsilon = 1 is %v", got)
	}
	if ROCLimit(0, 2, 1e-3) != 1e-3 || ROCLimit(1, 2, 0) != 1 {
		t.Error("the ends of the curve")
	}
}

// Counts that no scores give are refused.
func TestROCSound(t *testing.T) {
	good := rocOf([]float64{3, 2, 2, 1, 0, -1}, []float64{2, 1, 0, 0}, []float64{0.25}, 0.1)
	if !good.Sound() {
		t.Fatal("scores are refused")
	}
	for name, change := range map[string]func(*ROC){
		"wins":       func(r *ROC) { r.Wins = r.In*r.Out + 1 },
		"negative":   func(r *ROC) { r.Ties = -1 },
		"order":      func(r *ROC) { slices.Reverse(r.Steps) },
		"more":       func(r *ROC) { r.Steps[len(r.Steps)-1].In = r.In + 1 },
		"area":       func(r *ROC) { r.Wins, r.Ties = 0, 0 },
		"ties":       func(r *ROC) { r.Ties = r.In*r.Out - r.Wins },
		"infinite":   func(r *ROC) { r.Steps[0].At = math.Inf(1) },
		"no scores":  func(r *ROC) { r.Out = 0 },
		"not a rate": func(r *ROC) { r.Steps[0].At = math.NaN() },
	} {
		bad := good
		bad.Steps = slices.Clone(good.Steps)
		if change(&bad); bad.Sound() {
			t.Errorf("%s: sound: %+v", name, bad)
		}
	}
	// As few steps as are promised.
	s := stream.New(stream.Key{Seed: 1, Purpose: "roc/steps"})
	in, out := make([]float64, 300_000), make([]float64, 100_000)
	s.Gaussian(in, 1)
	s.Gaussian(out, 1)
	if r := rocOf(in, out, []float64{0.001, 0.01, 0.1}, 0.05); len(r.Steps) > 220 || !r.Sound() {
		t.Errorf("%d steps", len(r.Steps))
	}
}
