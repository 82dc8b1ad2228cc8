package bounds

import (
	"encoding/json"
	"math"
	"slices"
	"testing"

	"github.com/dpscope/dpscope/audit/stream"
	"github.com/dpscope/dpscope/internal/must"
)

func someCanaries(k, m, runs int, p1, p0 float64, seed uint64) CanaryTable {
	st := stream.New(stream.Key{Seed: seed, Purpose: "canaries"})
	t := NewCanaryTable(k, m)
	for range runs {
		x := hits(st.Float64, k, p1)
		t.Add(x, hits(st.Float64, m, p0), 1)
	}
	return t
}

// hits are how many of n numbers are below p.
func hits(draw func() float64, n int, p float64) (count int) {
	for range n {
		if draw() < p {
			count++
		}
	}
	return count
}

func TestCanaryTableAddsUp(t *testing.T) {
	a, b := someCanaries(5, 3, 40, 0.6, 0.2, 1), someCanaries(5, 3, 60, 0.5, 0.3, 2)
	ab, ba := NewCanaryTable(5, 3), NewCanaryTable(5, 3)
	ab.Merge(a)
	ab.Merge(b)
	ba.Merge(b)
	ba.Merge(a)
	ab.Add(1, 1, 0)
	if !slices.Equal(ab.Cells, ba.Cells) {
		t.Errorf("shards in another order: %v and %v", ab.Cells, ba.Cells)
	}
	must.Do(t, ab.Validate())
	if ab.Runs() != 100 || ab.In().N() != 100 || ab.Out().N() != 100 {
		t.Errorf("runs %d, margins %d and %d, want 100", ab.Runs(), ab.In().N(), ab.Out().N())
	}
	x, y := 0, 0
	for _, c := range ab.Cells {
		x += c.X * c.Runs
		y += c.Y * c.Runs
	}
	if got, want := ab.In().Mean(), float64(x)/500; math.Abs(got-want) > 1e-12 {
		t.Errorf("mean inside %v, want %v", got, want)
	}
	if got, want := ab.Out().Mean(), float64(y)/300; math.Abs(got-want) > 1e-12 {
		t.Errorf("mean outside %v, want %v", got, want)
	}
	raw := must.Get(json.Marshal(ab))(t)
	var back CanaryTable
	if err := json.Unmarshal(raw, &back); err != nil || !slices.Equal(back.Cells, ab.Cells) || back.K != 5 || back.M != 3 {
		t.Errorf("JSON: %v, %s", err, raw)
	}
}

func TestCanaryTableRefuses(t *testing.T) {
	for name, table := range map[string]CanaryTable{
		"empty":    NewCanaryTable(1, 1),
		"k":        {K: 0, M: 1, Cells: []CanaryCell{{0, 0, 1}}},
		"m":        {K: 1, M: maxCanaries + 1, Cells: []CanaryCell{{0, 0, 1}}},
		"x":        {K: 1, M: 1, Cells: []CanaryCell{{2, 0, 1}}},
		"y":        {K: 1, M: 1, Cells: []CanaryCell{{0, -1, 1}}},
		"runs":     {K: 1, M: 1, Cells: []CanaryCell{{0, 0, 0}}},
		"overflow": {K: 1, M: 1, Cells: []CanaryCell{{0, 0, maxTrials}, {0, 1, 1}}},
		"order":    {K: 1, M: 1, Cells: []CanaryCell{{1, 0, 1}, {0, 0, 1}}},
		"twice":    {K: 1, M: 1, Cells: []CanaryCell{{1, 0, 1}, {1, 0, 1}}},
	} {
		if table.Validate() == nil {
			t.Errorf("%s: no error", name)
		}
	}
	for _, s := range []CanaryStakes{{Paired: []float64{math.NaN()}}, {In: []float64{-1}}, {Out: []float64{math.Inf(1)}}, {In: make([]float64, maxStakes+1)}} {
		if s.Validate() == nil {
			t.Errorf("stakes %v: no error", s)
		}
	}
}

func TestCanaryIntervalsCheck(t *testing.T) {
	if all := CanaryIntervals(); all[0] != CanaryPairedBetting || len(all) != 10 {
		t.Errorf("intervals %v", all)
	}
	for _, c := range CanaryIntervals() {
		k := max(1, c.Order())
		least := c.MinRuns(k, k, 1e-5, 0.05)
		if CanaryCeiling(c, k, k, least, 1e-5, 0.05) <= 0 || least > 1 && CanaryCeiling(c, k, k, least-1, 1e-5, 0.05) > 0 {
			t.Errorf("%s: %d runs are not the fewest that certify anything", c, least)
		}
		if err := c.Check(k, k, least, 1e-5, 0.05); err != nil {
			t.Errorf("%s at %d runs: %v", c, least, err)
		}
		if c.Check(k, k, least-1, 1e-5, 0.05) == nil {
			t.Errorf("%s at %d runs: no error", c, least-1)
		}
		if k > 1 && c.Check(k-1, k, 10_000, 1e-5, 0.05) == nil {
			t.Errorf("%s with %d canaries: no error", c, k-1)
		}
	}
	for _, bad := range []error{
		CanaryInterval("student").Check(1, 1, 100, 0, 0.05),
		CanaryKL.Check(0, 1, 100, 0, 0.05),
		CanaryKL.Check(1, maxCanaries+1, 100, 0, 0.05),
		CanaryKL.Check(1, 1, 100, 1, 0.05),
		CanaryKL.Check(1, 1, 100, 0, 1),
	} {
		if bad == nil {
			t.Error("no error")
		}
	}
}

// The ceiling is what the best outcome gives with the best of many stakes, and
// paired betting's is about log(n/3).
func TestCanaryCeilingIsReached(t *testing.T) {
	for _, n := range []int{20, 256, 4096} {
		table := NewCanaryTable(8, 8)
		table.Add(8, 0, n)
		for _, c := range []CanaryInterval{CanaryPairedBetting, CanaryBetting} {
			ceiling := CanaryCeiling(c, 8, 8, n, 1e-5, 0.05)
			best := math.Inf(-1)
			for i := range 400 {
				s := []float64{math.Pow(10, -4+6*float64(i)/399)}
				best = math.Max(best, CanaryEpsilon(c, table, 1e-5, 0.05, CanaryStakes{s, s, s}))
			}
			if best > ceiling+1e-6 || best < ceiling-0.05 {
				t.Errorf("%s, %d runs: best of many stakes %v, ceiling %v", c, n, best, ceiling)
			}
			tuned := CanaryEpsilon(c, table, 1e-5, 0.05, TuneCanary(table, n, 1e-5, 0.05))
			if tuned > ceiling+1e-6 || tuned < ceiling-0.3 {
				t.Errorf("%s, %d runs: tuned stakes give %v, ceiling %v", c, n, tuned, ceiling)
			}
		}
		if got := CanaryCeiling(CanaryPairedBetting, 8, 8, n, 0, 0.05); math.Abs(got-math.Log(float64(n)/3)) > 0.1 {
			t.Errorf("%d runs: ceiling %v, want about %v", n, got, math.Log(float64(n)/3))
		}
	}
}

// slowCanaryBetting scans epsilon upwards in steps and plays the runs one by one:
// each stake has a wealth of its own, which a run multiplies by
// 1 + lambda (X/K - e^eps Y/M - delta), or, where a factor could fall below
// 1 - topShare, by the same with the share of X/K cut so that it could not.
func slowCanaryBetting(table CanaryTable, delta, beta, step float64, stakes []float64) float64 {
	bound := math.Inf(-1)
	for eps := -10.0; ; eps += step {
		total := 0.0
		for _, lambda := range stakes {
			gain, loss := lambda, lambda*math.Exp(eps)
			if most := topShare - lambda*delta; loss > most {
				gain, loss = gain*most/loss, most
			}
			wealth := 1.0
			if loss < 0 {
				wealth = 0
			}
			for _, c := range table.Cells {
				for range c.Runs {
					wealth *= 1 + gain*float64(c.X)/float64(table.K) - loss*float64(c.Y)/float64(table.M) - lambda*delta
				}
			}
			total += wealth
		}
		if total/float64(len(stakes)) < 1/beta {
			return bound
		}
		bound = eps
	}
}

// Several canaries a side, tuned stakes and those without exploration, small and
// large delta, epsilons up to where the cap bites.
func TestCanaryPairedBettingAgainstScan(t *testing.T) {
	const step = 5e-3
	finite := 0
	for seed := range uint64(30) {
		k, m, n := 1+int(seed%5), 1+int(seed%7), 20+10*int(seed)
		delta := []float64{0, 1e-4, 0.05}[seed%3]
		p0 := []float64{0.3, 0.1, 0.01, 0}[seed%4]
		table := someCanaries(k, m, n, 0.6, p0, seed)
		tuned := TuneCanary(someCanaries(k, m, n, 0.6, p0, seed+100), n, delta, 0.05)
		for _, s := range []CanaryStakes{tuned, {}} {
			got := CanaryEpsilon(CanaryPairedBetting, table, delta, 0.05, s)
			want := slowCanaryBetting(table, delta, 0.05, step, stakesOr(s.Paired, pairedStakes))
			if math.IsInf(want, -1) {
				if got > -10 {
					t.Errorf("seed %d, %+v: %v, the scan finds none", seed, s, got)
				}
				continue
			}
			finite++
			if got < want-2e-6 || got > want+step {
				t.Errorf("seed %d, %+v: %v, the scan says %v to %v", seed, s, got, want, want+step)
			}
		}
	}
	if finite < 40 {
		t.Errorf("only %d of 60 bounds are finite", finite)
	}
}

// The wealth falls with th, also beyond the cap, and at th it never exceeds what
// the claim allows: its mean over the four outcomes of one run is at most 1 where
// p1 = th p0 + delta. Exact; no false alarms.
func TestCanaryWealthIsAWager(t *testing.T) {
	for _, delta := range []float64{0, 1e-5, 0.01, 0.3} {
		for _, lambda := range []float64{0.01, 0.3, 0.9, 3} {
			stakes := []float64{lambda}
			last := math.Inf(1)
			table := someCanaries(4, 3, 30, 0.6, 0.2, 5)
			for th := 0.01; th < 100; th *= 1.07 {
				w := table.pairedEValue(th, delta, stakes)
				if w > last+1e-9 {
					t.Errorf("delta %v, stake %v: the wealth rises at %v", delta, lambda, th)
				}
				last = w
				for _, p0 := range []float64{0, 0.001, 0.1, 0.5, 1} {
					p1 := th*p0 + delta
					if p1 > 1 {
						continue
					}
					mean := 0.0
					for cell, p := range map[CanaryCell]float64{{0, 0, 1}: (1 - p1) * (1 - p0), {1, 0, 1}: p1 * (1 - p0), {0, 1, 1}: (1 - p1) * p0, {1, 1, 1}: p1 * p0} {
						one := CanaryTable{K: 1, M: 1, Cells: []CanaryCell{cell}}
						mean += p * math.Exp(one.pairedEValue(th, delta, stakes))
					}
					if mean > 1+1e-12 {
						t.Errorf("delta %v, stake %v, th %v, p0 %v: mean factor %v", delta, lambda, th, p0, mean)
					}
				}
			}
		}
	}
}

func TestCanaryPValueAgrees(t *testing.T) {
	for seed := range uint64(20) {
		table := someCanaries(6, 6, 150, 0.5, 0.2, seed)
		s := TuneCanary(someCanaries(6, 6, 150, 0.5, 0.2, seed+100), 150, 1e-3, 0.05)
		eps := CanaryEpsilon(CanaryPairedBetting, table, 1e-3, 0.05, s)
		if p := CanaryPValue(table, eps, 1e-3, s); p > 0.05*(1+1e-6) {
			t.Errorf("seed %d: the claim at the bound has p-value %v", seed, p)
		}
		if p := CanaryPValue(table, eps+1e-5, 1e-3, s); p < 0.05 {
			t.Errorf("seed %d: the claim above the bound has p-value %v", seed, p)
		}
	}
}

// CanaryValue against a grid of stakes and a bisection on the same prospect.
func TestCanaryValueIsTheBest(t *testing.T) {
	for seed := range uint64(12) {
		p1, p0 := 0.5, 0.5/math.Exp(float64(seed%6))
		n, delta := 100+int(seed)*150, 1e-3*float64(seed%3)
		table := someCanaries(5, 4, n, p1, p0, seed)
		p := table.prospect(delta)
		rate := goal(0.05, n) / float64(n)
		best := 0.0
		for i := range 3000 {
			lambda := math.Exp(-9 + 11*float64(i)/2999)
			if th, next := Bisect(1e-3, topShare/lambda-delta, 1e-9, func(th float64) bool { g, _ := p.growth(lambda, th); return g >= rate }); next > 1e-3 && th > best {
				best = th
			}
		}
		got := CanaryValue(table, n, delta, 0.05)
		if math.Abs(got-math.Log(best)) > 2e-3 {
			t.Errorf("seed %d: value %v, the grid's %v", seed, got, math.Log(best))
		}
	}
	if v := CanaryValue(someCanaries(5, 5, 10, 0.5, 0.5, 1), 10, 0.9, 0.05); !math.IsInf(v, -1) {
		t.Errorf("nothing can be certified, the value is %v", v)
	}
}

// Tuned stakes are numbers of three digits whatever the exploration, and pass
// their own check.
func TestTuneCanaryAlwaysTunes(t *testing.T) {
	for _, cells := range [][]CanaryCell{
		{{0, 0, 50}}, {{4, 4, 50}}, {{4, 0, 50}}, {{0, 4, 50}}, {{2, 2, 1}}, {{0, 0, 25}, {4, 4, 25}},
	} {
		for _, delta := range []float64{0, 1e-5, 0.5, 0.999} {
			for _, n := range []int{1, 50, 1_000_000} {
				table := CanaryTable{K: 4, M: 4, Cells: cells}
				s := TuneCanary(table, n, delta, 0.05)
				if err := s.Validate(); err != nil {
					t.Errorf("%v at delta %v, n %d: %v", cells, delta, n, err)
				}
				for _, c := range CanaryIntervals() {
					if eps := CanaryEpsilon(c, table, delta, 0.05, s); math.IsNaN(eps) || eps > CanaryCeiling(c, 4, 4, table.Runs(), delta, 0.05)+1e-6 {
						t.Errorf("%s of %v at delta %v: %v", c, cells, delta, eps)
					}
				}
			}
		}
	}
}
