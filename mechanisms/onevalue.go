package mechanisms

import (
	"math"
	"math/bits"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/audit/stream"
)

const valueReach = 10 // values lie in [-10, 10]

// oneValue completes a mechanism that releases a single value of sensitivity 1 with Laplace noise.
func oneValue(m mechanism) mechanism {
	m.Epsilon, m.Relations = 1, only(audit.LInfinity)
	m.Domain = in(answers(1, -valueReach, valueReach, 1))
	m.Pairs = always(pairs{
		{"{0} against {1}", of(0), of(1)},
		{"{9} against {10}", of(9), of(10)},
	})
	return m
}

var laplaceParallel = oneValue(mechanism{
	Name: "laplace-parallel", Title: "One value released several times, with Laplace noise scaled for all releases",
	Source: dpSniper + ": LaplaceParallel; Dwork and Roth (2014), theorems 3.6 and 3.16",
	Params: []audit.ParamSpec{{Name: "copies", Doc: "how often the value is released, each time with epsilon/copies", Default: 20, Min: 1, Max: 64, Integer: true}},
	Tight:  &audit.Tight{Params: audit.Params{"copies": {Number: 2}}, Pair: 1, Floats: true, Why: "both copies beyond both values"},

	Output: func(p audit.Params) []audit.Column { return columnsOf(p.Int("copies"), audit.Real, "answer %d", 1) },
	Release: func(p audit.Params, d audit.Dataset) sampler {
		return plusLaplace(p.Num("copies")/p.Num("epsilon"), vector(p.Int("copies"), d.Values[0])...)
	},
})

var budgetSpentTwice = oneValue(mechanism{
	Name: "budget-spent-twice", Title: "One question answered several times, each time with the full epsilon",
	Source: dworkRoth + ", theorem 3.16 (composition), which it ignores",
	Fault:  "answers each time with noise for epsilon and claims epsilon for all answers together: budgets add up", Mended: "laplace-parallel",
	Params: []audit.ParamSpec{{Name: "copies", Doc: "how often it is answered, each time with epsilon", Default: 2, Min: 2, Max: 64, Integer: true, Fault: true}},
	Truth: func(p audit.Params) string {
		return "epsilon = " + audit.Number(p.Num("copies")) + " times the claimed = " + audit.Number(p.Num("copies")*p.Num("epsilon"))
	},

	Output: laplaceParallel.Output,
	Release: func(p audit.Params, d audit.Dataset) sampler {
		return plusLaplace(1/p.Num("epsilon"), vector(p.Int("copies"), d.Values[0])...)
	},
})

const mironov = "Mironov, On Significance of the Least Significant Bits for Differential Privacy, CCS 2012"

// doubles is the output of a mechanism whose claim is about doubles.
func doubles(audit.Params) []audit.Column {
	return []audit.Column{{Name: "value", Kind: audit.Real, Bits: true}}
}

// laplaceFloat inverts the distribution function, at one uniform multiple of 2^-53.
var laplaceFloat = oneValue(mechanism{
	Name: "laplace-float", Title: "Textbook Laplace mechanism in floating-point arithmetic",
	Source: mironov + ", section 4",
	Fault: "adds two doubles: doubles are denser near 0 than near the value, so the low bits of the output depend on the value" +
		" (a learner must read these bits)", Mended: "laplace-snapping",
	Truth: neverPrivate(": some outputs near 0 are possible for one value and impossible for another"),

	Output: doubles,
	Release: func(p audit.Params, d audit.Dataset) sampler {
		value, scale := d.Values[0], 1/p.Num("epsilon")
		return func(b *block) {
			out := b.out
			b.Uniform(out, 0, 1)
			for i, u := range out {
				if u < 0.5 {
					out[i] = value + float64(scale*stream.Log(2*max(u, 0x1p-54)))
				} else {
					out[i] = value - float64(scale*stream.Log(2-float64(2*u)))
				}
			}
		}
	},
})

// laplaceSnapping claims Mironov's theorem 1: 1/λ + 2^-49 B/λ.
var laplaceSnapping = oneValue(mechanism{
	Name: "laplace-snapping", Title: "Snapping mechanism: Laplace noise, clamped and rounded",
	Source: mironov + ", section 5",
	Claim: func(p audit.Params) audit.Claim {
		return audit.DPClaim(p.Num("epsilon")+float64(0x1p-49*newSnapping(p).bound*p.Num("epsilon")), 0)
	},
	Truth: func(p audit.Params) string {
		return "epsilon = " + audit.Number(p.Num("epsilon")) + " (1 + 2^-49 B), B = " + audit.Number(newSnapping(p).bound)
	},
	Tight: &audit.Tight{Pair: 1, Why: "an output beyond both values"},

	Output: doubles,
	Release: func(p audit.Params, d audit.Dataset) sampler {
		m := newSnapping(p)
		value := m.clamp(d.Values[0])
		return func(b *block) {
			for i := range b.out {
				r, zeros := b.Uint64(), bits.LeadingZeros64(b.Uint64())
				u := math.Ldexp(1+float64(float64(r&(1<<52-1))*0x1p-52), -1-zeros)
				noise := float64(m.scale * stream.Log(u))
				if r>>63 != 0 {
					noise = -noise
				}
				y := (value + noise) / m.grid // exact but for the sum
				whole := math.Floor(y)
				if y-whole >= 0.5 {
					whole++
				}
				b.out[i] = m.clamp(float64(whole * m.grid))
			}
		}
	},
})

// snapping is clamp(round_Λ(clamp(value) + S λ ln U)): clamp to [-B, B], S a fair sign, U
// uniform on (0, 1) to the full precision of doubles, down to 2^-64, Λ the least power of 2 at
// or above λ = 1/epsilon, ties rounded up. B is 64 Λ and at least 16, so that λ < B < 2^46 λ.
// ln is good to 1 ulp, where Mironov asks for a correctly rounded one.
type snapping struct{ scale, grid, bound float64 }

func newSnapping(p audit.Params) snapping {
	scale := 1 / p.Num("epsilon")
	fraction, exponent := math.Frexp(scale) // in [1/2, 1)
	grid := audit.Pick(fraction == 0.5, scale, math.Ldexp(1, exponent))
	return snapping{scale, grid, max(16, 64*grid)}
}

func (m snapping) clamp(x float64) float64 { return min(max(x, -m.bound), m.bound) }
