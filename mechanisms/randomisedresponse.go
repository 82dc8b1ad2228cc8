package mechanisms

import (
	"cmp"
	"math"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/audit/stream"
)

var randomisedResponse = mechanism{
	Name: "randomised-response", Title: "Randomised response of one bit",
	Source:  "Warner, Randomized response, JASA 60 (1965); " + dworkRoth + ", section 3.2",
	Epsilon: 1,
	Params:  []audit.ParamSpec{{Name: "p", Doc: "probability of the true answer, in (0.5, 1); 0 derives it from epsilon: e^epsilon/(1+e^epsilon)", Min: 0, Max: 1}},
	Check: func(p audit.Params) error {
		truthful := p.Num("p")
		return demand(truthful == 0 || truthful > 0.5 && truthful < 1, p, "p", "0 derives it from epsilon",
			"a number in (0.5, 1), or 0")
	},
	Relations: only(audit.Replace),
	Claim:     func(p audit.Params) audit.Claim { return audit.DPClaim(claimedOdds(p), 0) },
	Truth: func(p audit.Params) string {
		odds, note := claimedOdds(p), ""
		if p.Num("p") == 0 && odds > 30 { // rounding p shows: it changes epsilon by 1e-3
			odds, note = logOddsUp(truthfulProbability(odds)), ", below the epsilon given: 1-p is a few multiples of 2^-53"
		}
		return "epsilon = ln(p/(1-p)) = " + audit.Number(odds) + note
	},
	Domain: in(whole(1, 1, 1)),
	Pairs:  always(pairs{{"the bit 1 against the bit 0", of(1), of(0)}}),
	Tight:  &audit.Tight{Pair: 1, Why: "the answer yes"},

	Output: oneColumn(audit.Symbol, "answer", audit.Label{Value: 0, Text: "no"}, audit.Label{Value: 1, Text: "yes"}),
	Release: func(p audit.Params, d audit.Dataset) sampler {
		truthful, bit := cmp.Or(p.Num("p"), truthfulProbability(p.Num("epsilon"))), d.Values[0]
		return func(b *block) {
			b.Bernoulli(b.out, truthful)
			if bit == 0 {
				for i, truth := range b.out {
					b.out[i] = 1 - truth
				}
			}
		}
	},
}

func claimedOdds(p audit.Params) float64 {
	if truthful := p.Num("p"); truthful != 0 {
		return logOddsUp(truthful)
	}
	return p.Num("epsilon")
}

// truthfulProbability is e^epsilon/(1+e^epsilon) as a multiple of 2^-53, which a Bernoulli hits
// exactly, rounded down so that its log odds are at most epsilon. It is above 1/2 from epsilon
// = 2^-50 on.
func truthfulProbability(epsilon float64) float64 {
	// The probability of the lie, rounded up: the logistic function is good to 2 ulp, 4 are added.
	lie := stream.Logistic(-epsilon)
	lie += float64(lie * 0x1p-50)
	return 1 - float64(math.Ceil(float64(lie*0x1p53))*0x1p-53)
}

// logOddsUp is ln(p/(1-p)) rounded up, so that a claim of it is never below the truth. 1-p is
// exact for p in [1/2, 1); quotient and logarithm are good to 1 ulp, far below the margin.
func logOddsUp(p float64) float64 { return upToNano(stream.Log(p / (1 - p))) }

// upToNano rounds up to a multiple of 1e-9, a margin of 1e-12 added.
func upToNano(x float64) float64 { return math.Ceil((x+1e-12)*1e9) / 1e9 }
