package bounds_test

import (
	"fmt"
	"math/rand/v2"

	"github.com/dpscope/dpscope/audit"
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

func ExampleEpsilonFromRenyi() {
	fmt.Printf("D_1.5 of an epsilon = 1 mechanism: at most %.3f, published threshold %.3f\n",
		audit.RandomisedResponseRenyi(1, 1.5), published.PureThreshold(1, 1.5))
	fmt.Printf("D_1.5 >= 0.627 needs epsilon >= %.2f\n", bounds.EpsilonFromRenyi(0.627, 1.5))
	// Output:
	// D_1.5 of an epsilon = 1 mechanism: at most 0.627, published threshold 1.000
	// D_1.5 >= 0.627 needs epsilon >= 1.00
}

func ExampleGaussianMu() {
	c := bounds.Counts{X: 6915, N1: 10_000, Y: 3085, N0: 10_000}
	mu := bounds.GaussianMu(c, 0.05)
	fmt.Printf("mu >= %.2f; epsilon >= %.2f at delta = 1e-5 if the trade-off is Gaussian, else %.2f\n",
		mu, bounds.GaussianEpsilon(mu, 1e-5), bounds.Exact(c, 1e-5, 0.05))
	// Output: mu >= 0.95; epsilon >= 4.12 at delta = 1e-5 if the trade-off is Gaussian, else 0.78
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
