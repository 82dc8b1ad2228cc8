package bounds

import (
	"cmp"
	"fmt"
	"math"
	"math/bits"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/dpscope/dpscope/audit/stream"
	"github.com/dpscope/dpscope/internal/must"
)

// oneRunHalves guesses as many in as out, one more in where r is odd.
func oneRunHalves(scores []float64, in []bool, r int) int {
	return OneRunRight(scores, in)(r-r/2, r/2)
}

// slowStein is b + m delta max g, where the recursion from either end solves the
// equation in the proof of OneRunPValue.
func slowStein(m, r, v int, eps, delta float64) float64 {
	p, _ := solveStein(m, r, v, eps, delta)
	return p
}

func solveStein(m, r, v int, eps, delta float64) (p float64, wrong error) {
	if v == 0 {
		return 1, nil
	}
	w := pmf(r, 1/(1+math.Exp(-eps)))
	b, below := floats.Sum(w[v:]), floats.Sum(w[:v])
	th, g := math.Exp(eps), make([]float64, r+2)
	for i := r; i >= v; i-- { // from the equation at w = i
		g[i] = (below + th*float64(r-i)*g[i+1]) / float64(i)
	}
	for i := 1; i < v; i++ { // from the equation at w = i - 1
		g[i] = (b + float64(i-1)*g[i-1]) / (th * float64(r-i+1))
	}
	most := 0.0
	for i := 0; i <= r; i++ {
		want := -b
		if i >= v {
			want = below
		}
		if got := float64(i)*g[i] - th*float64(r-i)*g[i+1]; !(math.Abs(got-want) <= 1e-7*(1+th*float64(r)*g[i])) || g[i] < 0 {
			wrong = fmt.Errorf("g is %v and gives %v at %d, want %v", g[i], got, i, want)
		}
		most = math.Max(most, g[i])
	}
	return math.Min(1, b+float64(m)*delta*most), wrong
}

func TestOneRunPValueSolvesItsEquation(t *testing.T) {
	st := stream.New(stream.Key{Seed: 5, Purpose: "one run"})
	for range 300 {
		r := 1 + st.Intn(60)
		m, v := r+st.Intn(200), st.Intn(r+1)
		eps, delta := 4*st.Float64(), math.Pow(10, -6*st.Float64())*0.1
		want, err := solveStein(m, r, v, eps, delta)
		if got := OneRunPValue(m, r, v, eps, delta); err != nil || math.Abs(got-want) > 1e-7*want {
			t.Errorf("m %d, r %d, v %d, eps %v, delta %v: %v, the recursion gives %v, %v", m, r, v, eps, delta, got, want, err)
		}
	}
}

// exactOneRun draws a mechanism on m coins at random, a table of P(output | coins),
// often with a shock that is common to all canaries, and its exact delta at eps.
func exactOneRun(st *stream.Stream, m, outputs int, eps float64) (table [][]float64, delta float64) {
	table = make([][]float64, 1<<m)
	sharp := st.Float64() < 0.5
	for s := range table {
		table[s] = make([]float64, outputs)
		total := 0.0
		for y := range table[s] {
			x := 0.05 + st.Float64()
			if sharp { // an output says a string of coins
				x = math.Exp(-1.3 * float64(ones(s^(y&(1<<m-1)))))
				if y >= 1<<m { // and with a shock says it louder
					x = 0.1 * math.Exp(-4*float64(ones(s^(y&(1<<m-1)))))
				}
			}
			table[s][y] = x
			total += x
		}
		for y := range table[s] {
			table[s][y] /= total
		}
	}
	for s := range table {
		for j := range m {
			over := 0.0
			for y, p := range table[s] {
				over += math.Max(0, p-math.Exp(eps)*table[s^1<<j][y])
			}
			delta = math.Max(delta, over)
		}
	}
	return table, delta
}

func ones(x int) int { return bits.OnesCount(uint(x)) }

// By enumeration of all coins and outputs: whatever is guessed by the output and by the
// coin of the first canary, which is not guessed, the p-values of exact (eps, delta)
// are at most a with probability at most a, for every a. The number of guesses is fixed
// for one and chosen for the other.
func TestOneRunPValuesByEnumeration(t *testing.T) {
	const m = 5
	st := stream.New(stream.Key{Seed: 7, Purpose: "one run"})
	tight := 0
	for trial := range 150 {
		eps := 0.2 + 2*st.Float64()
		table, delta := exactOneRun(st, m, 2<<m, eps)
		share := 0.1 + 0.8*st.Float64()
		fixed := 1 + st.Intn(m-1)
		type outcome struct{ p, weight float64 }
		var outcomes [2][]outcome
		for y := range table[0] {
			for aside := range 2 {
				// The guess is the likeliest string, or any; how many of it, too.
				guess := y & (1<<m - 1)
				if trial%3 == 0 {
					guess = st.Intn(1 << m)
				}
				chosen := 1 + st.Intn(m-1)
				for s := range table {
					if s&1 != aside {
						continue
					}
					right := func(r int) int {
						v := 0
						for j := 1; j <= r; j++ {
							if (s^guess)>>j&1 == 0 {
								v++
							}
						}
						return v
					}
					weight := table[s][y] / float64(len(table))
					outcomes[0] = append(outcomes[0], outcome{OneRunPValue(m-1, fixed, right(fixed), eps, delta), weight})
					outcomes[1] = append(outcomes[1], outcome{OneRunChosenPValue(m-1, chosen, right(chosen), eps, delta, share), weight})
				}
			}
		}
		for which, list := range outcomes {
			slices.SortFunc(list, func(a, b outcome) int { return cmp.Compare(a.p, b.p) })
			total := 0.0
			for i, x := range list {
				total += x.weight
				if i+1 < len(list) && list[i+1].p <= x.p*(1+1e-9) {
					continue
				}
				if total > x.p*(1+1e-7) {
					t.Fatalf("trial %d, kind %d, eps %v, delta %v: p <= %v with probability %v", trial, which, eps, delta, x.p, total)
				}
				if x.p < 0.9 && total > x.p*0.8 {
					tight++
				}
			}
		}
	}
	if tight == 0 {
		t.Error("no p-value is near its level: the mechanisms are too tame to test anything")
	}
}

// Whole audits of a mechanism with a shock common to all canaries, at its exact
// (eps, delta): with probability h the coins are told with odds e^loud, else with
// e^quiet. The forecast chooses sides and number. At level .05, 41 or more of 500 have
// probability below 1.3e-3.
func TestOneRunChosenCoverage(t *testing.T) {
	const m, audits, quiet, loud, hush = 400, 500, 0.5, 3.0, 0.1
	tell := func(eps float64) float64 { return 1 / (1 + math.Exp(-eps)) }
	for _, eps := range []float64{quiet, 1} {
		// Hockey stick of the mixture: the shock is part of the output.
		delta := 0.0
		for _, x := range []struct{ weight, odds float64 }{{hush, loud}, {1 - hush, quiet}} {
			delta += x.weight * math.Max(0, tell(x.odds)-math.Exp(eps)*(1-tell(x.odds)))
		}
		st := stream.New(stream.Key{Seed: 8, Purpose: "one run"})
		failed := 0
		for range audits {
			odds := quiet
			if st.Float64() < hush {
				odds = loud
			}
			scores, in := make([]float64, m), make([]bool, m)
			for i := range in {
				in[i] = st.Intn(2) == 1
				if in[i] == (st.Float64() < tell(odds)) {
					scores[i] = 1
				}
			}
			if OneRunChosen(scores, in, delta, nominal) > eps {
				failed++
			}
		}
		if failed > 40 {
			t.Errorf("eps %v, delta %v: %d of %d bounds exceed it", eps, delta, failed, audits)
		}
	}
}

// Where attacks are one-sided guesses are, and the bound is far above that of as many guesses
// on both sides; where they are not, little is lost.
func TestOneRunForecast(t *testing.T) {
	const m = 10_000
	for _, k := range []struct {
		name        string
		score       func(z float64, in bool, i int) float64
		least, most float64 // of the bound
		side        func(up, down int) bool
	}{
		{"mixture", func(z float64, in bool, i int) float64 {
			if in && i%5 == 0 {
				z += 10
			}
			return z
		}, 5, 6, func(up, down int) bool { return down == 0 && up > 400 }},
		{"lower end", func(z float64, in bool, i int) float64 {
			if !in && i%5 == 0 {
				z -= 10
			}
			return z
		}, 5, 6, func(up, down int) bool { return up == 0 && down > 400 }},
		{"normal", func(z float64, in bool, i int) float64 {
			if in {
				z += 2
			}
			return z
		}, 3.3, 5.2, func(up, down int) bool { return up > 50 && down > 50 }},
		{"nothing", func(z float64, in bool, i int) float64 { return z }, 0, 0.4, func(up, down int) bool { return true }},
	} {
		st := stream.New(stream.Key{Seed: 9, Purpose: "one run"})
		scores, in := make([]float64, m), make([]bool, m)
		st.Gaussian(scores, 1)
		for i, at := range st.Perm(m) {
			in[at] = i%2 == 0
			scores[at] = k.score(scores[at], in[at], i/2)
		}
		aside := OneRunAside(m)
		f := NewOneRunForecast(scores[:aside], in[:aside])
		up, down := f.Choose(m-aside, nominal)
		if got := OneRunChosen(scores, in, 1e-5, nominal); got < k.least || got > k.most || !k.side(up, down) {
			t.Errorf("%s: %d in and %d out, bound %v", k.name, up, down, got)
		}
		up, down = f.Split(m-aside, 400)
		if up+down != 400 || k.name == "mixture" && up != 400 || k.name == "lower end" && down != 400 || k.name == "normal" && (up < 100 || down < 100) {
			t.Errorf("%s: split %d and %d", k.name, up, down)
		}
	}
}

// The recursion at the true mu, of guesses on both sides and of guesses in only. Each trial
// refutes it with probability at most .05; 34 or more of 400 then have probability 2e-3 at
// most, measured none.
func TestOneRunGDPCoverage(t *testing.T) {
	st := stream.New(stream.Key{Seed: 10, Purpose: "one run"})
	for _, sigma := range []float64{0.5, 1, 3} {
		for _, k := range [][3]int{{400, 10, 10}, {400, 50, 50}, {400, 200, 200}, {200, 10, 0}, {200, 50, 0}, {200, 200, 0}} {
			failed := 0
			for range 400 {
				scores, in := oneRunScores(st, 400, sigma)
				if v := OneRunRight(scores, in)(k[1], k[2]); OneRunGDPRefutes(k[0], k[1]+k[2], v, 2, 1/sigma, nominal) {
					failed++
				}
			}
			if failed >= 34 {
				t.Errorf("sigma %v, %d in and %d out: %d of 400 refute the truth", sigma, k[1], k[2], failed)
			}
		}
	}
	if one, two := OneRunGDPMu(10_000, 400, 400, 1, nominal), OneRunGDPMu(10_000, 400, 400, 2, nominal); !(one > two) {
		t.Errorf("one side %v, both %v", one, two)
	}
}

// OneRunChosen is a whole audit by chosen guesses.
func OneRunChosen(scores []float64, in []bool, delta, beta float64) float64 {
	aside := OneRunAside(len(scores))
	rest := len(scores) - aside
	up, down := NewOneRunForecast(scores[:aside], in[:aside]).Choose(rest, beta)
	v := OneRunRight(scores[aside:], in[aside:])(up, down)
	return OneRunChosenEpsilon(rest, up+down, v, delta, beta, OneRunShare(rest, OneRunLeast(rest), delta, beta))
}

func TestOneRunChosenAtItsEdges(t *testing.T) {
	for m := 1; m < 200; m++ {
		aside := OneRunAside(m)
		scores, in := make([]float64, aside), make([]bool, aside)
		up, down := NewOneRunForecast(scores, in).Choose(m-aside, nominal)
		if up < 0 || down < 0 || up+down < 1 || up+down > m-aside {
			t.Fatalf("m %d: %d in and %d out", m, up, down)
		}
	}
	for _, v := range []int{0, 5, 10} {
		if p, fixed := OneRunChosenPValue(20, 10, v, 1, 1e-3, 0.2), OneRunPValue(20, 10, v, 1, 1e-3); p < fixed*(1-1e-9) {
			t.Errorf("%d right: chosen %v below fixed %v", v, p, fixed)
		}
		if p, fixed := OneRunChosenPValue(20, 10, v, 1, 0, 0), OneRunPValue(20, 10, v, 1, 0); p != fixed {
			t.Errorf("%d right, delta 0: chosen %v, fixed %v", v, p, fixed)
		}
	}
	for _, share := range []float64{0, 1, math.NaN()} {
		must.Panic(t, fmt.Sprint("share ", share), func() { OneRunChosenPValue(20, 10, 5, 1, 1e-3, share) })
	}
}
