package bounds

import (
	"math"
	"testing"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/internal/must"
)

// What only a programming error can cause panics, with a constant.
func TestTableBoundsRefuse(t *testing.T) {
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
		"claim's epsilon": func() { ClaimPValue(Counts{1, 2, 1, 2}, math.NaN(), 0, 0.05) },
	} {
		must.Panic(t, name, call)
	}
}
