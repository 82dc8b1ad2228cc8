package bounds_test

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/dpscope/dpscope/bounds"
	"github.com/dpscope/dpscope/bounds/published"
)

// drawTable bins pairs of unit normal outputs, the first shifted by 1, into 16
// bins a quarter wide around 1/2.
func drawTable(r *rand.Rand, n int) bounds.Table {
	t := bounds.NewTable(16)
	bin := func(x float64) int { return max(0, min(15, int((x+1.5)*4))) }
	for range n {
		t.N[bin(r.NormFloat64()+1)*16+bin(r.NormFloat64())]++
	}
	return t
}

func ExampleRenyi() {
	r := rand.New(rand.NewPCG(1, 2))
	explore := drawTable(r, 20_000)
	h := bounds.CalibrateRenyiOrdered(explore, 2)
	plan, err := bounds.TuneRenyi(explore, h, 2, 50_000, 0.05)
	if err != nil {
		fmt.Println(err)
		return
	}
	sample := drawTable(r, 50_000)
	fmt.Printf("D_2 >= %.2f (truth 1), claim D_2 <= 0.5 refuted: %v\n",
		bounds.Renyi(sample, plan, 0.05), bounds.RenyiPValue(sample, plan, 0.5) <= 0.05)
	// Output: D_2 >= 0.90 (truth 1), claim D_2 <= 0.5 refuted: true
}

func ExampleCheckRenyiWitness() {
	fmt.Println(bounds.CheckRenyiWitness([]float64{-400, 400}, 2))
	// Output: witness: exp(alpha h) overflows: h spans 800 (a bound C of 400) at alpha = 2; at this alpha it may span 300 (C = 150), with this span alpha may be 0.75: clip the witness or lower alpha
}

func ExampleRandomisedResponseRenyi() {
	fmt.Printf("D_1.5 of an epsilon = 1 mechanism: at most %.3f, published threshold %.3f\n",
		bounds.RandomisedResponseRenyi(1, 1.5), published.PureThreshold(1, 1.5))
	fmt.Printf("D_1.5 >= 0.627 needs epsilon >= %.2f\n", bounds.EpsilonFromRenyi(0.627, 1.5))
	// Output:
	// D_1.5 of an epsilon = 1 mechanism: at most 0.627, published threshold 1.000
	// D_1.5 >= 0.627 needs epsilon >= 1.00
}

// A score that rises from 0 to 1 over the bins.
func ExampleScoreDelta() {
	r := rand.New(rand.NewPCG(5, 6))
	score := make([]float64, 16)
	for i := range score {
		score[i] = float64(i) / 15
	}
	explore, sample := drawTable(r, 5000), drawTable(r, 20_000)
	stake := bounds.TuneScoreDelta(explore, score, 20_000, 0.1, 0.05)
	fmt.Printf("at epsilon = 0.1 delta is at least %.2f\n", bounds.ScoreDelta(sample, score, 0.1, 0.05, stake))
	stake = bounds.TuneScoreEpsilon(explore, score, 20_000, 0.01, 0.05)
	fmt.Printf("at delta = 0.01 epsilon is at least %.2f\n", bounds.ScoreEpsilon(sample, score, 0.01, 0.05, stake))
	// Output:
	// at epsilon = 0.1 delta is at least 0.20
	// at delta = 0.01 epsilon is at least 0.47
}

func ExampleGaussianMu() {
	c := bounds.Counts{X: 6915, N1: 10_000, Y: 3085, N0: 10_000}
	mu := bounds.GaussianMu(c, 0.05)
	fmt.Printf("mu >= %.2f; epsilon >= %.2f at delta = 1e-5 if the trade-off is Gaussian, else %.2f\n",
		mu, bounds.GaussianEpsilon(mu, 1e-5), bounds.Exact(c, 1e-5, 0.05))
	fmt.Printf("claim mu = 0.9: p-value below .01: %v\n", bounds.GaussianPValue(c, 0.9) < 0.01)
	// Output:
	// mu >= 0.95; epsilon >= 4.12 at delta = 1e-5 if the trade-off is Gaussian, else 0.78
	// claim mu = 0.9: p-value below .01: true
}

func ExampleTradeoffBand() {
	order := make([]int, 16)
	for i := range order {
		order[i] = 15 - i
	}
	p := bounds.TradeoffBand(drawTable(rand.New(rand.NewPCG(7, 8)), 50_000), order, 0.05)[8]
	fmt.Printf("false positives %.2f (%.2f to %.2f), false negatives %.2f (%.2f to %.2f)\n",
		p.FPR, p.FPRLower, p.FPRUpper, p.FNR, p.FNRLower, p.FNRUpper)
	// Output: false positives 0.31 (0.30 to 0.32), false negatives 0.31 (0.30 to 0.31)
}

func ExampleClaimPValue() {
	c := bounds.Counts{X: 350, N1: 1000, Y: 100, N0: 1000}
	fmt.Printf("claim 1: p-value %.4f, bound %.3f; claim 1.1: p-value %.4f\n",
		bounds.ClaimPValue(c, 1, 1e-5, 0.05), bounds.Exact(c, 1e-5, 0.05), bounds.ClaimPValue(c, 1.1, 1e-5, 0.05))
	// Output: claim 1: p-value 0.0077, bound 1.083; claim 1.1: p-value 0.0730
}

func ExampleMonitor() {
	r := rand.New(rand.NewPCG(9, 10))
	m := bounds.NewMonitor(0.5, 0, 0.05)
	n := map[[2]bool]int{}
	for !m.ClaimRejected() {
		n[[2]bool{r.Float64() < 0.5, r.Float64() < 0.15}]++
		m.Observe(n[[2]bool{true, true}], n[[2]bool{true, false}], n[[2]bool{false, true}], n[[2]bool{false, false}])
	}
	pairs := 0
	for _, k := range n {
		pairs += k
	}
	fmt.Printf("claim 0.5 refuted before %d pairs, and the looks were free\n", (pairs/100+1)*100)
	// Output: claim 0.5 refuted before 100 pairs, and the looks were free
}

func ExampleNewRenyiMonitor() {
	r := rand.New(rand.NewPCG(11, 12))
	explore := drawTable(r, 10_000)
	plan, err := bounds.TuneRenyi(explore, bounds.CalibrateRenyiOrdered(explore, 2), 2, 10_000, 0.05)
	if err != nil {
		fmt.Println(err)
		return
	}
	m, total := bounds.NewRenyiMonitor(plan.H, 2, 0.05), bounds.NewTable(16)
	for range 3 {
		total = total.Add(drawTable(r, 10_000))
		m.Observe(total)
		fmt.Printf("%d pairs: D_2 >= %.1f\n", total.Pairs(), m.LowerBound())
	}
	// Output:
	// 10000 pairs: D_2 >= 0.8
	// 20000 pairs: D_2 >= 0.8
	// 30000 pairs: D_2 >= 0.9
}

func ExampleEventMixture() {
	log := bounds.NewEventMixture(0.5, 0).LogWealth(20, 53, 7, 20)
	fmt.Printf("log wealth %.3f, p-value %.3f\n", log, math.Exp(-log))
	// Output: log wealth 2.762, p-value 0.063
}
