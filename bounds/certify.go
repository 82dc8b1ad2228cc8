package bounds

import "math"

// Method names how a bound was computed.
type Method string

const (
	// MethodExact is [Exact].
	MethodExact Method = "exact-unconditional"
	// MethodClopperPearson is [ClopperPearson] with the split of [TuneSplit].
	MethodClopperPearson Method = "clopper-pearson"
	// MethodPairedBetting is [PairedBetting].
	MethodPairedBetting Method = "paired-betting"
)

// Result is a lower confidence bound and what is needed to compute it again.
type Result struct {
	Epsilon float64 `json:"epsilon"` // the bound in nats, rounded down to six decimals; may be negative or -Inf
	Method  Method  `json:"method"`
	Beta    float64 `json:"beta"` // probability that Epsilon exceeds the truth, at most
	Delta   float64 `json:"delta"`
	Split   float64 `json:"split"` // share of Beta for the first side; 0 unless Method is MethodClopperPearson
}

// ExactReach is the largest number of outputs a side for which [Certify] uses
// [Exact]: it still takes well under a second there, in WebAssembly too.
const ExactReach = 100_000_000

// Certify returns the bound that the engine reports: [Exact] if both sizes are
// at most [ExactReach], else [ClopperPearson] with the split tuned on the
// exploration counts. Which of the two depends on the sizes alone, the split on
// sizes and exploration alone, so that nothing is chosen on c.
//
// It panics on arguments out of range, except that an empty or invalid explore
// means that there was no exploration.
func Certify(c Counts, explore Counts, delta, beta float64) Result {
	mustBeSound(c, delta, beta)
	if max(c.N1, c.N0) <= ExactReach {
		return Result{Epsilon: Exact(c, delta, beta), Method: MethodExact, Beta: beta, Delta: delta}
	}
	return certifyClopperPearson(c, explore, delta, beta)
}

func certifyClopperPearson(c, explore Counts, delta, beta float64) Result {
	split := TuneSplit(explore, c.N1, c.N0, delta, beta)
	return Result{
		Epsilon: RoundDown(ClopperPearson(c, delta, beta, split)),
		Method:  MethodClopperPearson, Beta: beta, Delta: delta, Split: split,
	}
}

// RoundDown takes a margin of 10^-9 for the last bits of logarithm and
// exponential, then rounds down to six decimals, so that platforms whose
// elementary functions differ in the last bits give the same number.
func RoundDown(eps float64) float64 {
	return math.Floor((eps-1e-9)*1e6) / 1e6
}
