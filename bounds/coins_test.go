package bounds

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/dpscope/dpscope/audit/stream"
	"github.com/dpscope/dpscope/internal/must"
	"github.com/dpscope/dpscope/internal/testsize"
)

// laplaceSum is the chance of a cell (1, 0) and of (0, 1) in a run of the mechanism
// in_1 - in_2 + Laplace(1), which is exactly (1, 0)-DP of adding or removing, with
// scores O and -O and the threshold t > 0, so that at most one of the two canaries
// is in the event; of coins that keep says yes to. All chances sum to 1.
func laplaceSum(t float64, keep func(in1, in2 bool) bool) (in, out float64) {
	above := distuv.Laplace{Scale: 1}.Survival
	coins := 0.0
	for c := range 4 {
		in1, in2 := c&1 == 1, c&2 == 2
		if !keep(in1, in2) {
			continue
		}
		coins++
		mean := float64(c&1) - float64(c>>1)
		for _, x := range []struct {
			p  float64
			in bool
		}{{above(t - mean), in1}, {above(t + mean), in2}} {
			if x.in {
				in += x.p
			} else {
				out += x.p
			}
		}
	}
	return in / coins, out / coins
}

// exceeds is the exact probability that the bound of n runs exceeds eps, where a
// run falls into the cell (1, 0) with probability in, (0, 1) with out, else (0, 0).
func exceeds(k, n int, in, out, eps, delta float64, stakes CanaryStakes) float64 {
	log := func(n int) float64 { v, _ := math.Lgamma(float64(n + 1)); return v }
	total := 0.0
	for a := range n + 1 {
		for b := range n - a + 1 {
			table := NewCanaryTable(k, k)
			table.Add(0, 0, n-a-b)
			table.Add(0, 1, b)
			table.Add(1, 0, a)
			if CanaryEpsilon(CanaryPairedBetting, table, delta, 0.05, stakes) > eps {
				total += math.Exp(log(n) - log(a) - log(b) - log(n-a-b) + float64(a)*math.Log(in) + float64(b)*math.Log(out) + float64(n-a-b)*math.Log1p(-in-out))
			}
		}
	}
	return total
}

// TestCoins enumerates all outcomes of 60 runs, so that probabilities are exact.
func TestCoins(t *testing.T) {
	testsize.Native(t)
	stakes := CanaryStakes{Paired: []float64{0.1, 0.3}}
	const n = 60
	in, out := laplaceSum(1.2, func(bool, bool) bool { return true })
	if eps := math.Log(in / out); eps > 1 || eps < 0.99 {
		t.Fatalf("the event has epsilon %v by coins, want just below 1", eps)
	}
	if p := exceeds(2, n, in, out, 1, CoinDelta(0), stakes); p > 0.05 {
		t.Errorf("runs by coins: the bound exceeds epsilon with probability %v", p)
	}
	// Of the runs with one canary in and one out it is the epsilon of replacing.
	kept, lost := laplaceSum(1.2, func(in1, in2 bool) bool { return in1 != in2 })
	if eps := math.Log(kept / lost); math.Abs(eps-2) > 1e-9 {
		t.Errorf("of runs with one in and one out the event has epsilon %v, want 2", eps)
	}
	if p := exceeds(1, n, kept, lost, 2, 0, stakes); p > 0.05 {
		t.Errorf("replace: the bound exceeds 2 with probability %v", p)
	}
	if p := exceeds(1, n, kept, lost, 1, 0, stakes); p < 0.05 {
		t.Errorf("the bound of chosen runs exceeds the epsilon of adding or removing with probability %v only: this case shows nothing", p)
	}
	// One canary, whose presence is told outright with probability delta and else by
	// randomised response at 1: the inequality is an equality.
	const delta = 0.3
	p0 := (1 - delta) / (1 + math.E)
	p1 := math.E*p0 + delta
	wide := CanaryStakes{Paired: []float64{0.25}}
	if p := exceeds(1, n, p1/2, p0/2, 1, CoinDelta(delta), wide); p > 0.05 || p < 0.002 {
		t.Errorf("at delta the bound exceeds epsilon with probability %v, want at most .05 and something", p)
	}
	if p := exceeds(1, n, p1/2, p0/2, 1, 0, wide); p < 0.05 {
		t.Errorf("without delta the bound exceeds epsilon with probability %v: delta counts for nothing here", p)
	}
}

// TestCoinsTwin computes the wealth run by run from coins and events.
func TestCoinsTwin(t *testing.T) {
	st := stream.New(stream.Key{Seed: 4, Purpose: "test/coins"})
	for _, k := range []int{1, 3} {
		const n, delta, stake = 400, 0.01, 0.2
		table := NewCanaryTable(k, k)
		ins, outs := make([]int, n), make([]int, n)
		members := 0
		for i := range n {
			for range k {
				in := st.Uint64()>>63 == 1
				above := st.Float64() < map[bool]float64{true: 0.7, false: 0.2}[in]
				switch {
				case in && above:
					ins[i]++
				case above:
					outs[i]++
				}
				if in {
					members++
				}
			}
			table.Add(ins[i], outs[i], 1)
		}
		wealth := func(eps float64) float64 {
			w, least := 1.0, 1.0
			for i := range n {
				f := 1 + stake*((float64(ins[i])-math.Exp(eps)*float64(outs[i]))/float64(k)-delta/2)
				w, least = w*f, min(least, f)
			}
			if least <= 0 {
				return 0
			}
			return w
		}
		want := -5.0
		for step := 1.0; step > 1e-8; step /= 2 {
			for wealth(want+step) >= 20 {
				want += step
			}
		}
		got := CanaryEpsilon(CanaryPairedBetting, table, CoinDelta(delta), 0.05, CanaryStakes{Paired: []float64{stake}})
		if math.Abs(got-want) > 2e-6 || got > want || got < 0.5 {
			t.Errorf("K = %d: bound %v, run by run %v", k, got, want)
		}
		if most := CoinCeiling(CanaryPairedBetting, k, n, members, delta, 0.05); most < got {
			t.Errorf("K = %d: bound %v above its ceiling %v", k, got, most)
		}
	}
}

// TestCoinCeiling: outcomes in which all that were in are in the event and no other
// is reach the ceiling where their memberships are even, by the best of many
// stakes, and stay below it where they are not.
func TestCoinCeiling(t *testing.T) {
	const n, k, delta = 200, 4, 1e-3
	most := CoinCeiling(CanaryPairedBetting, k, n, 2*n, delta, 0.05)
	best := func(cells ...CanaryCell) float64 {
		table, top := CanaryTable{K: k, M: k, Cells: cells}, math.Inf(-1)
		for lambda := 1e-3; lambda < 2; lambda *= 1.002 {
			top = max(top, CanaryEpsilon(CanaryPairedBetting, table, CoinDelta(delta), 0.05, CanaryStakes{Paired: []float64{lambda}}))
		}
		return top
	}
	if got := best(CanaryCell{2, 0, n}); got > most || got < most-0.01 {
		t.Errorf("two of four in every run: %v, ceiling %v", got, most)
	}
	if got := best(CanaryCell{0, 0, n / 2}, CanaryCell{4, 0, n / 2}); got > most {
		t.Errorf("all or none in: %v, ceiling %v", got, most)
	}
	if got := CoinCeiling(CanaryPairedBetting, k, n, 4*n, delta, 0.05); math.Abs(got-CanaryCeiling(CanaryPairedBetting, k, k, n, CoinDelta(delta), 0.05)) > 2e-6 {
		t.Errorf("all in: ceiling %v", got)
	}
	for _, kind := range CanaryIntervals() {
		if x := CoinCeiling(kind, k, n, 2*n, delta, 0.05); !(x > 0 && x < 8) {
			t.Errorf("%s: ceiling %v", kind, x)
		}
	}
	if x := CoinCeiling(CanaryPairedBetting, k, 1, 1, delta, 0.05); x > 0 {
		t.Errorf("one run: ceiling %v", x)
	}
	must.Panic(t, "members", func() { CoinCeiling(CanaryKL, 1, 3, 4, 0, 0.05) })
}
