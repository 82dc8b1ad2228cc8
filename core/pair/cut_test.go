package pair

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/dpscope/dpscope/bounds"
)

// slowCut tries every threshold between scores by counting, and returns the
// best ratio.
func slowCut(first, second []float64, delta float64) (best float64) {
	count := func(xs []float64, t float64) (n int) {
		for _, x := range xs {
			if x > t {
				n++
			}
		}
		return n
	}
	for _, t := range append(slices.Clone(first), second...) {
		a, b := count(first, t), count(second, t)
		n, m := len(first), len(second)
		for _, c := range []bounds.Counts{{X: a, N1: n, Y: b, N0: m}, {X: n - a, N1: n, Y: m - b, N0: m}, {X: b, N1: m, Y: a, N0: n}, {X: m - b, N1: m, Y: n - a, N0: n}} {
			if c.X == 0 || c.X == c.N1 && c.Y == c.N0 {
				continue
			}
			lo, _ := wilson(c.X, c.N1)
			_, up := wilson(c.Y, c.N0)
			best = max(best, (lo-delta)/up)
		}
	}
	return best
}

func TestBestCutAgainstAllCuts(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		n, m := 20+rng.IntN(60), 20+rng.IntN(60)
		shift, discrete, delta := rng.NormFloat64(), rng.IntN(2) == 0, 0.05*float64(rng.IntN(2))
		draw := func(k int, mu float64) []float64 {
			xs := make([]float64, k)
			for i := range xs {
				if xs[i] = mu + rng.NormFloat64(); discrete {
					xs[i] = math.Round(xs[i])
				}
			}
			return xs
		}
		first, second := draw(n, shift), draw(m, 0)
		got := bestCut(slices.Sorted(slices.Values(first)), slices.Sorted(slices.Values(second)), delta)
		want := slowCut(first, second, delta)
		if want <= 0 {
			continue
		}
		if math.Abs(got.value-math.Log(want)) > 1e-9 {
			t.Fatalf("value %v, all cuts give %v (n=%d m=%d discrete=%v)", got.value, math.Log(want), n, m, discrete)
		}
		// The counts are those of the event.
		in := func(xs []float64) (k int) {
			for _, x := range xs {
				if (x > got.threshold) == got.above {
					k++
				}
			}
			return k
		}
		a, b := in(first), in(second)
		if got.reversed {
			a, b = b, a
		}
		if got.counts.X != a || got.counts.Y != b {
			t.Fatalf("counts %+v, the event holds %d and %d", got.counts, a, b)
		}
	}
}

func TestBestCutOnConstantScores(t *testing.T) {
	got := bestCut([]float64{3, 3, 3}, []float64{3, 3}, 0)
	if got.value != worthless || got.counts.X != 0 || got.counts.Y != 0 {
		t.Errorf("constant scores give %+v, want an empty event that is worth nothing", got)
	}
}

func TestBetween(t *testing.T) {
	for _, c := range [][2]float64{{0, 1}, {1, math.Nextafter(1, 2)}, {-1e308, 1e308}, {-2, -1}, {0, 5e-324}} {
		if m := between(c[0], c[1]); !(m >= c[0] && m < c[1]) {
			t.Errorf("between(%v, %v) = %v", c[0], c[1], m)
		}
	}
}

// gaussianWorth is the lower limit of the ratio that the event {score > t} of N(shift, 1)
// against N(0, 1) shows in so many outputs a side, at one standard error.
func gaussianWorth(threshold, shift float64, samples int) float64 {
	n := float64(samples)
	above := func(x float64) float64 { return math.Erfc(x/math.Sqrt2) / 2 }
	x, y := n*above(threshold-shift), n*above(threshold)
	return math.Log(x/y) - math.Sqrt(1/x+1/y)
}

// Of two close Gaussians, whose log odds are a line in the score, few exploration
// outputs find the event that certification with a hundred times as many needs:
// nearly as good a one as the best there is, in the mean of 20 repetitions, and
// better than bestCut's.
func TestLineCutFindsSmallEvents(t *testing.T) {
	const n, samples, shift = 20_000, 2_000_000, 0.05
	most := math.Inf(-1)
	for x := -1.0; x < 4; x += 0.01 {
		most = max(most, gaussianWorth(x, shift, samples))
	}
	rng := rand.New(rand.NewPCG(3, 4))
	var line, plain float64
	fits := 0
	const times = 20
	for range times {
		var s [2][]float64
		for side := range s {
			s[side] = make([]float64, n)
			for i := range s[side] {
				s[side][i] = rng.NormFloat64() + shift*float64(1-side)
			}
			slices.Sort(s[side])
		}
		c, ok := lineCut(s[0], s[1], 0, samples, math.Inf(1))
		if !ok {
			c = bestCut(s[0], s[1], 0)
		} else {
			fits++
		}
		worth := func(c cut) float64 {
			if c.above == c.reversed {
				t.Fatalf("%+v is likelier on the other side", c)
			}
			if c.reversed { // {score <= t}: the mirror image of {score > shift-t}
				return gaussianWorth(shift-c.threshold, shift, samples)
			}
			return gaussianWorth(c.threshold, shift, samples)
		}
		line += worth(c) / times
		plain += worth(bestCut(s[0], s[1], 0)) / times
	}
	if fits < 15 {
		t.Errorf("the line fits %d of %d times", fits, times)
	}
	if line < 0.85*most || line < plain {
		t.Errorf("line %.4f, plain %.4f, best %.4f", line, plain, most)
	}
}

// A line that does not fit is not used: nine tenths of the outputs are alike, the
// rest far apart.
func TestLineCutRefusesWhatIsNoLine(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	var s [2][]float64
	for side := range s {
		s[side] = make([]float64, 20_000)
		for i := range s[side] {
			if s[side][i] = rng.NormFloat64(); rng.Float64() < 0.1 {
				s[side][i] = 2 + float64(side)
			}
		}
		slices.Sort(s[side])
	}
	if c, ok := lineCut(s[0], s[1], 0, 1_000_000, math.Inf(1)); ok {
		t.Errorf("a line fits: %+v", c)
	}
}

// Ties, a single value, and next to nothing leave faintCut and boldCut with what
// bestCut says.
func TestBoldCutOfTies(t *testing.T) {
	free := func() error { return nil }
	for _, s := range [][2][]float64{{{3, 3, 3, 3}, {3, 3}}, {{1}, {2}}} {
		best := bestCut(s[0], s[1], 0)
		if got, line := faintCut(best, s[0], s[1], 0, 1000); line || got != best {
			t.Errorf("%+v, %v; want %+v", got, line, best)
		}
		if got, err := boldCut(best, s, s, 0, 1000, free); err != nil || got != best {
			t.Errorf("%+v, %v; want %+v", got, err, best)
		}
	}
}

// Where odds are far from even somewhere, counts choose the event; where they are
// even nearly everywhere, the line does.
func TestFaintCut(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	for _, c := range []struct {
		shift float64
		line  bool
	}{{1, false}, {0.02, true}} {
		var s [2][]float64
		for side := range s {
			s[side] = make([]float64, 50_000)
			for i := range s[side] {
				s[side][i] = rng.NormFloat64() + c.shift*float64(1-side)
			}
			slices.Sort(s[side])
		}
		best := bestCut(s[0], s[1], 0)
		got, line := faintCut(best, s[0], s[1], 0, 50_000)
		if line != c.line || got.value != best.value {
			t.Errorf("shift %v: %+v, by counts %+v", c.shift, got, best)
		}
	}
}

// leveled are n scores whose halves, by order, both have exactly these shares: of 2
// and of 1, the rest are 0.
func leveled(n int, two, one float64) []float64 {
	s := make([]float64, n)
	for i := range s {
		switch at := float64(i%(n/2)) / float64(n/2); {
		case at < two:
			s[i] = 2
		case at < two+one:
			s[i] = 1
		}
	}
	return s
}

// A rare event, of probability .0012 on the first side and .0008 on the second,
// beside a common one, .5 and .46: 200 000 outputs a side show log(.5/.46) = .083
// better than log 1.5 = .41 at cutZ, and a certification of ten times as many shows
// the latter better. The counts are what is expected, so that nothing is left to
// chance: by draws, either event wins at either quantile now and then. With as many
// of the rare outputs on both sides the common event stays, and so it does where
// they are too few to be tried.
func TestBoldCutFindsRareEvents(t *testing.T) {
	const n, samples = 200_000, 2_000_000
	free := func() error { return nil }
	for _, c := range []struct {
		rare [2]float64
		bold bool
	}{{[2]float64{0.0012, 0.0008}, true}, {[2]float64{0.0008, 0.0012}, true}, {[2]float64{0.001, 0.001}, false}, {[2]float64{0.00075, 0.00045}, false}} {
		scores := [2][]float64{leveled(n, c.rare[0], 0.5-c.rare[0]), leveled(n, c.rare[1], 0.46-c.rare[1])}
		var sorted [2][]float64
		for side, s := range scores {
			sorted[side] = slices.Sorted(slices.Values(s))
		}
		best := bestCut(sorted[0], sorted[1], 0)
		if !best.above || best.reversed || !(best.threshold < 1) {
			t.Errorf("%v: bestCut finds %+v, want the common event", c.rare, best)
		}
		got, err := boldCut(best, scores, sorted, 0, samples, free)
		if err != nil {
			t.Fatal(err)
		}
		want := best
		if c.bold {
			want.threshold, want.reversed, want.counts = 1.5, c.rare[1] > c.rare[0], bounds.Counts{X: 240, N1: n, Y: 160, N0: n}
		}
		if got != want {
			t.Errorf("%v: %+v, want %+v", c.rare, got, want)
		}
		if c.bold && gain(got.counts, samples) < 2*gain(best.counts, samples) {
			t.Errorf("%v: certification would show %.3f by %+v, %.3f by %+v", c.rare, gain(got.counts, samples), got, gain(best.counts, samples), best)
		}
	}
}

// gain is the bound on epsilon that so many outputs a side with the rates of c give.
func gain(c bounds.Counts, samples int) float64 {
	scale := samples / c.N1
	return bounds.ClopperPearson(bounds.Counts{X: scale * c.X, N1: samples, Y: scale * c.Y, N0: samples}, 0, 0.05, 0.5)
}

func TestWithout(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 12))
	for range 100 {
		all := make([]float64, 2+rng.IntN(50))
		for i := range all {
			all[i] = float64(rng.IntN(8))
		}
		k := rng.IntN(len(all))
		part, rest := slices.Sorted(slices.Values(all[:k])), slices.Sorted(slices.Values(all[k:]))
		slices.Sort(all)
		if got := without(all, part); !slices.Equal(got, rest) {
			t.Fatalf("%v without %v is %v, want %v", all, part, got, rest)
		}
	}
}
