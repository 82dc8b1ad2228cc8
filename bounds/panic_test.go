package bounds

import (
	"math"
	"testing"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/internal/must"
)

// What only a programming error can cause panics, with a constant: each guard once.
func TestProgrammerErrorsPanic(t *testing.T) {
	sound, canaries := Counts{5, 10, 1, 10}, NewCanaryTable(2, 2)
	canaries.Add(2, 0, 50)
	good := NewTable(2)
	good.N = []int{5, 5, 5, 5}
	f := []float64{0, 1}
	plan := RenyiPlan{Alpha: 2, Method: MethodRenyiBetting, H: f, Lambda: 0.1}
	for name, call := range map[string]func(){
		"bins":        func() { NewTable(0) },
		"add":         func() { good.Add(NewTable(3)) },
		"event":       func() { good.Event([]bool{true}) },
		"empty table": func() { Renyi(NewTable(2), plan, 0.05) },
		"plan":        func() { Renyi(good, RenyiPlan{Alpha: 1, H: f}, 0.05) },
		"plan's size": func() {
			Renyi(good, RenyiPlan{Alpha: 2, Method: MethodRenyiBetting, H: []float64{1}, Lambda: 0.1}, 0.05)
		},
		"beta":            func() { Renyi(good, plan, 0) },
		"claim":           func() { RenyiPValue(good, plan, -1) },
		"alpha":           func() { CalibrateRenyiOrdered(good, 1) },
		"epsilon":         func() { audit.RandomisedResponseRenyi(-1, 2) },
		"divergence":      func() { EpsilonFromRenyi(math.Inf(1), 2) },
		"gaussian delta":  func() { GaussianEpsilon(1, 1) },
		"order":           func() { TradeoffBand(good, []int{0, 0}, 0.05) },
		"order's size":    func() { TradeoffBand(good, []int{0}, 0.05) },
		"claim's epsilon": func() { ClaimPValue(sound, math.NaN(), 0, 0.05) },
		"counts":          func() { Exact(Counts{5, 4, 0, 1}, 0, 0.05) },
		"delta":           func() { Score(sound, math.NaN(), 0.05) },
		"level":           func() { Exact(sound, 0, 0) },
		"proportion":      func() { UpperProportion(3, 2, 0.05) },
		"split":           func() { ClopperPearson(sound, 0, 0.05, 1) },
		"p0":              func() { SmallestDetectable(1, 0, 0.05, 10, 10, 1.5) },
		"entries":         func() { NewExchangeable(0) },
		"moment":          func() { Exchangeable{K: 2, Runs: []int{1, 0, 1}}.Moment(3) },
		"no run":          func() { NewExchangeable(3).Mean() },
		"canaries":        func() { NewCanaryTable(1, 0) },
		"no training":     func() { CanaryEpsilon(CanaryPairedBetting, NewCanaryTable(1, 1), 0, 0.05, CanaryStakes{}) },
		"a count":         func() { canaries.Add(3, 0, 1) },
		"merge":           func() { canaries.Merge(NewCanaryTable(2, 3)) },
		"interval":        func() { CanaryEpsilon("student", canaries, 0, 0.05, CanaryStakes{}) },
		"moments":         func() { CanaryEpsilon(CanaryWilson4, canaries, 0, 0.05, CanaryStakes{}) },
		"paired limit":    func() { CanaryLimits(CanaryPairedBetting, canaries, 0.05, CanaryStakes{}) },
		"stake":           func() { CanaryEpsilon(CanaryPairedBetting, canaries, 0, 0.05, CanaryStakes{Paired: []float64{0}}) },
		"runs":            func() { TuneCanary(canaries, 0, 0, 0.05) },
		"future epoch":    func() { NewCanarySequence(2, 2, 1, 0, 0.05).Epoch(CanarySums{Runs: 1}) },
		"no epoch":        func() { NewCanarySequence(2, 2, 1, 0, 0.05).Observe(0, 0) },
		"ceiling":         func() { CanaryCeiling(CanaryKL, 1, 1, 0, 0, 0.05) },
		"guesses":         func() { OneRunEpsilon(5, 6, 0, 0, nominal) },
		"guesses' mu":     func() { OneRunGDPMu(5, 4, 5, 2, nominal) },
		"one run's delta": func() { OneRunEpsilon(5, 5, 5, 1, nominal) },
		"negative":        func() { OneRunPValue(5, 5, 5, -1, 0) },
		"coins":           func() { OneRunRight([]float64{1}, nil) },
		"NaN":             func() { OneRunRight([]float64{math.NaN()}, []bool{true}) },
	} {
		must.Panic(t, name, call)
	}
}
