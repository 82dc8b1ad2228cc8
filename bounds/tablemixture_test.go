package bounds

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/dpscope/dpscope/internal/gear"
	"github.com/dpscope/dpscope/internal/nativetest"
)

// watch draws pairs look by look and observes each time.
func watch(r *rand.Rand, k pair, looks, step int, monitors ...*TableMixture) {
	total := NewTable(len(k.p))
	first, second := newAlias(k.p), newAlias(k.q)
	for range looks {
		for range step {
			total.N[first.draw(r)*total.Bins+second.draw(r)]++
		}
		for _, m := range monitors {
			m.Observe(total)
		}
	}
}

// Type I error over 200 looks up to 2000 pairs.
func TestTableMixtureTypeOne(t *testing.T) {
	nativetest.Only(t)
	const looks, step, beta = 200, 10, 0.05
	runs := gear.Of(25, 100)
	r := rand.New(rand.NewPCG(77, 78))
	for _, k := range scorePairs() {
		onP, onQ := k.mean(fiveScores)
		const delta, eps = 0.005, 0.1
		h := []float64{0.1, 0, -0.1, -0.2, 1}
		// On this witness the formula's divergence, which may be below D_alpha.
		value := 2*math.Log(meanExp(k.p, h, 1)) - math.Log(meanExp(k.q, h, 2))
		h = clipAbove(h, 1, 2, k.q)
		trueEps, trueDelta := math.Log((onP-delta)/onQ), onP-math.Exp(eps)*onQ
		var wrong [3]int
		for range runs {
			a, b, c := NewScoreMonitor(fiveScores, delta, beta), NewDeltaMonitor(fiveScores, eps, beta), NewRenyiMonitor(h, 2, beta)
			watch(r, k, looks, step, a, b, c)
			for i, failed := range []bool{a.LowerBound() > math.Max(0, trueEps), b.LowerBound() > math.Max(0, trueDelta), c.LowerBound() > math.Max(0, value)} {
				if failed {
					wrong[i]++
				}
			}
		}
		for i, name := range []string{"epsilon", "delta", "renyi"} {
			notTooMany(t, k.name+" "+name, wrong[i], runs, beta)
		}
	}
}

func meanExp(p, h []float64, scale float64) float64 {
	sum := 0.0
	for i := range p {
		sum += p[i] * math.Exp(scale*h[i])
	}
	return sum
}

// The slow twin: the mixture recomputed pair by pair at every look, by a scan.
// The monitor may lag by the step it climbs in.
func TestTableMixtureAgainstSlowTwin(t *testing.T) {
	r := rand.New(rand.NewPCG(79, 80))
	k := pair{"", []float64{0.3, 0.7}, []float64{0.6, 0.4}}
	h := clipAbove([]float64{math.Log(0.5), math.Log(1.75)}, 1, 2, k.q)
	f := []float64{0.1, 0.9}
	slowRenyi := func(x, y []int, e0 float64) float64 {
		top := math.Max(math.Exp(2*h[0]), math.Exp(2*h[1]))/2 + 0.5
		sum := 0.0
		for _, u := range mixtureStakes {
			product := 1.0
			for i := range x {
				product *= 1 + u/top*(math.Exp(-e0/2)*math.Exp(h[x[i]])-math.Exp(2*h[y[i]])/2-0.5)
			}
			sum += product / float64(len(mixtureStakes))
		}
		return sum
	}
	slowDelta := func(x, y []int, delta float64) float64 {
		sum := 0.0
		for _, u := range mixtureStakes {
			product := 1.0
			for i := range x {
				product *= 1 + u/(math.Exp(0.2)+1)*(f[x[i]]-math.Exp(0.2)*f[y[i]]-delta)
			}
			sum += product / float64(len(mixtureStakes))
		}
		return sum
	}
	slowScore := func(x, y []int, eps float64) float64 {
		sum := 0.0
		for j := range 48 {
			lambda := 1e-6 * math.Pow(0.98e6/1.01, float64(j)/47)
			if lambda*(math.Exp(eps)*0.9+0.01) >= 1 {
				continue
			}
			product := 1.0
			for i := range x {
				product *= 1 + lambda*(f[x[i]]-math.Exp(eps)*f[y[i]]-0.01)
			}
			sum += product / 48
		}
		return sum
	}
	renyi, delta, score := NewRenyiMonitor(h, 2, 0.05), NewDeltaMonitor(f, 0.2, 0.05), NewScoreMonitor(f, 0.01, 0.05)
	best := [3]float64{0, 0, math.Inf(-1)}
	table := NewTable(2)
	var x, y []int
	for range 6 {
		shard := k.draw(r, 80)
		table = table.Add(shard)
		for i, n := range shard.N {
			for range n {
				x, y = append(x, i/2), append(y, i%2)
			}
		}
		for i, m := range []*TableMixture{renyi, delta, score} {
			m.Observe(table)
			slow := []func(x, y []int, theta float64) float64{slowRenyi, slowDelta, slowScore}[i]
			for theta := math.Max(0, best[i]); slow(x, y, theta) >= 20; theta += 5e-4 {
				best[i] = theta
			}
			if got := m.LowerBound(); got > best[i]+5.01e-4 || !math.IsInf(best[i], -1) && got < best[i]-2*stepAt(best[i]) {
				t.Errorf("monitor %d after %d pairs: %v, slow twin %v", i, len(x), got, best[i])
			}
		}
	}
	if best[0] < 0.05 || best[1] < 0.05 || best[2] < 0.1 {
		t.Errorf("little to compare: %v", best)
	}
	if renyi.pairs != 480 || !renyi.Rejected(0) || renyi.Rejected(5) {
		t.Errorf("%d pairs, rejected 0: %v, rejected 5: %v", renyi.pairs, renyi.Rejected(0), renyi.Rejected(5))
	}
}

// Half of what the fixed-sample bound certifies, or more, and 200 bins as well
// as 50 (the logarithms are cached for the latter only).
func TestTableMixturePower(t *testing.T) {
	r := rand.New(rand.NewPCG(81, 82))
	for _, bins := range []int{50, 200} {
		k := gaussianPair(1, bins)
		explore := k.draw(r, 20_000)
		plan := mustTune(t, explore, CalibrateRenyi(explore, 2), 2, 10_000, 0.05)
		m := NewRenyiMonitor(plan.H, 2, 0.05)
		watch(r, k, 10, 1000, m)
		fixed := Renyi(k.draw(r, 10_000), plan, 0.05)
		t.Logf("%d bins: anytime %.3f, fixed %.3f, truth 1", bins, m.LowerBound(), fixed)
		if v := m.LowerBound(); v < 0.7 || v > 1 {
			t.Errorf("%d bins: %v of 1 certified after 10000 pairs", bins, v)
		}
	}
}

func BenchmarkTableMixture(b *testing.B) {
	k := gaussianPair(1, 48)
	r := rand.New(rand.NewPCG(83, 84))
	h := CalibrateRenyi(k.draw(r, 50_000), 2)
	t := k.draw(r, 50_000)
	m := NewRenyiMonitor(h, 2, 0.05)
	m.Observe(t)
	for b.Loop() {
		m.Observe(t)
	}
}

func BenchmarkTableMixtureClimbing(b *testing.B) {
	k := gaussianPair(1, 48)
	r := rand.New(rand.NewPCG(85, 86))
	h := CalibrateRenyi(k.draw(r, 50_000), 2)
	var totals []Table
	total := NewTable(48)
	for range 100 {
		total = total.Add(k.draw(r, 500))
		totals = append(totals, total)
	}
	for b.Loop() {
		m := NewRenyiMonitor(h, 2, 0.05)
		for _, t := range totals {
			m.Observe(t)
		}
	}
}
