package bounds

import (
	"math"
	"math/rand/v2"
	"testing"
)

var fiveScores = []float64{0, 0.1, 0.4, 0.9, 1}

func scorePairs() []pair {
	return []pair{
		{"smooth", []float64{0.1, 0.15, 0.2, 0.25, 0.3}, []float64{0.3, 0.25, 0.2, 0.15, 0.1}},
		{"rare", []float64{0.98, 0, 0, 0, 0.02}, []float64{0.999, 0, 0, 0, 0.001}},
		{"equal", []float64{0.2, 0.2, 0.2, 0.2, 0.2}, []float64{0.2, 0.2, 0.2, 0.2, 0.2}},
	}
}

// PairedBetting, pair by pair, is the slow twin.
func TestScoreEpsilonAgainstPairedBetting(t *testing.T) {
	r := rand.New(rand.NewPCG(45, 46))
	for _, k := range scorePairs() {
		for _, delta := range []float64{0, 0.01} {
			sample := k.draw(r, 3000)
			lambda := TuneScoreEpsilon(k.draw(r, 1000), fiveScores, 3000, delta, 0.05)
			x, y := expand(sample, fiveScores, fiveScores)
			want, got := PairedBetting(x, y, delta, 0.05, lambda), ScoreEpsilon(sample, fiveScores, delta, 0.05, lambda)
			if got != want && !(math.Abs(got-want) < 1.5e-6) {
				t.Errorf("%s delta %v: %v, pair by pair %v", k.name, delta, got, want)
			}
			if got > -19 {
				if p := ScorePValue(sample, fiveScores, got, delta, lambda); p > 0.05 {
					t.Errorf("%s: p-value %v at the bound", k.name, p)
				}
				if p := ScorePValue(sample, fiveScores, got+1e-4, delta, lambda); p < 0.05 {
					t.Errorf("%s: p-value %v above the bound", k.name, p)
				}
			}
			// The tuned stake is as good as that of the pairwise tuner.
			explore := k.draw(r, 1000)
			ex, ey := expand(explore, fiveScores, fiveScores)
			shuffled := rand.New(rand.NewPCG(1, 1))
			shuffled.Shuffle(len(ey), func(i, j int) { ey[i], ey[j] = ey[j], ey[i] })
			mine := ScoreEpsilon(sample, fiveScores, delta, 0.05, TuneScoreEpsilon(explore, fiveScores, 3000, delta, 0.05))
			theirs := PairedBetting(x, y, delta, 0.05, TuneBet(ex, ey, 3000, delta, 0.05))
			if mine < theirs-0.15 {
				t.Errorf("%s delta %v: bound %v with the table's stake, %v with the pairs'", k.name, delta, mine, theirs)
			}
		}
	}
}

func TestScoreDeltaAgainstSlowTwin(t *testing.T) {
	r := rand.New(rand.NewPCG(47, 48))
	k := scorePairs()[0]
	for _, eps := range []float64{0, 0.3, 2} {
		sample := k.draw(r, 2000)
		lambda := TuneScoreDelta(k.draw(r, 2000), fiveScores, 2000, eps, 0.05)
		x, y := expand(sample, fiveScores, fiveScores)
		want := 0.0
		for delta := 0.0; delta < 1; delta += 1e-4 {
			wealth := 0.0
			for i := range x {
				wealth += math.Log(1 + lambda*(x[i]-math.Exp(eps)*y[i]-delta))
			}
			if wealth < math.Log(20) {
				break
			}
			want = delta
		}
		got := ScoreDelta(sample, fiveScores, eps, 0.05, lambda)
		if got > want+1.001e-4 || got < want-2e-6 {
			t.Errorf("eps %v: %v, slow twin %v", eps, got, want)
		}
		onP, onQ := k.mean(fiveScores)
		if truth := onP - math.Exp(eps)*onQ; truth > 0.1 && got < 0.5*truth {
			t.Errorf("eps %v: %v of %v certified", eps, got, truth)
		}
	}
}

func TestScoreCoverage(t *testing.T) {
	r := rand.New(rand.NewPCG(49, 50))
	const n, runs = 2000, 800
	for _, k := range scorePairs() {
		onP, onQ := k.mean(fiveScores)
		for _, delta := range []float64{0, 0.01} {
			explore := k.draw(r, n)
			stakeEps := TuneScoreEpsilon(explore, fiveScores, n, delta, 0.05)
			const eps = 0.2
			stakeDelta := TuneScoreDelta(explore, fiveScores, n, eps, 0.05)
			truth := math.Log((onP - delta) / onQ)
			trueDelta := math.Max(0, onP-math.Exp(eps)*onQ)
			wrong, wrongDelta, wrongP := 0, 0, 0
			for range runs {
				sample := k.draw(r, n)
				if ScoreEpsilon(sample, fiveScores, delta, 0.05, stakeEps) > truth {
					wrong++
				}
				if ScoreDelta(sample, fiveScores, eps, 0.05, stakeDelta) > trueDelta {
					wrongDelta++
				}
				if ScorePValue(sample, fiveScores, truth, delta, stakeEps) <= 0.05 {
					wrongP++
				}
			}
			notTooMany(t, k.name+" epsilon", wrong, runs, 0.05)
			notTooMany(t, k.name+" delta", wrongDelta, runs, 0.05)
			notTooMany(t, k.name+" p-value", wrongP, runs, 0.05)
		}
	}
}

func TestScoreEdges(t *testing.T) {
	empty := []float64{0, 0}
	sample := NewTable(2)
	sample.N = []int{10, 10, 10, 10}
	if v := ScoreEpsilon(sample, empty, 0, 0.05, 0.5); !math.IsInf(v, -1) {
		t.Errorf("a score that is 0: %v, want -Inf", v)
	}
	if v := ScoreDelta(sample, empty, 1, 0.05, 0.2); v != 0 {
		t.Errorf("a score that is 0: delta %v, want 0", v)
	}
	for _, f := range [][]float64{empty, {1, 1}, {0, 1}} {
		if l := TuneScoreEpsilon(sample, f, 100, 0.999, 0.05); !(l > 0) || math.IsInf(l, 1) {
			t.Errorf("stake %v for score %v", l, f)
		}
		if l := TuneScoreDelta(sample, f, 100, 30, 0.05); !(l > 0) || math.IsInf(l, 1) {
			t.Errorf("stake %v for score %v at eps 30", l, f)
		}
	}
	// More bins than the tuner keeps apart: as good as few.
	r := rand.New(rand.NewPCG(51, 52))
	k := gaussianPair(1, 200)
	f := make([]float64, 200)
	for i := range f {
		f[i] = float64(i) / 199
	}
	v := ScoreEpsilon(k.draw(r, 5000), f, 0, 0.05, TuneScoreEpsilon(k.draw(r, 5000), f, 5000, 0, 0.05))
	onP, onQ := k.mean(f)
	if truth := math.Log(onP / onQ); v > truth || v < 0.85*truth {
		t.Errorf("200 bins: %v of %v", v, truth)
	}
}

// ScorePValue returns a p-value of the claim (eps, delta) from a score in
// [0, 1]: under the claim it is at most b with probability at most b, for every
// b. The inverse of the wealth at the claim, so that p <= beta is, up to
// rounding, ScoreEpsilon > eps with the same lambda. Conditions as there.
func ScorePValue(t Table, f []float64, eps, delta, lambda float64) float64 {
	mustBeScore(t, f, delta, 0.5)
	mustBeStake(lambda)
	mustBeFinite(eps)
	return pValue(scoreWager(f, delta).logWealth(t.cells(), eps, lambda), t.Pairs())
}
