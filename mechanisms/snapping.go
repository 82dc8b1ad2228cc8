package mechanisms

import (
	"math"
	"math/bits"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/audit/stream"
)

const mironov = "Mironov, On Significance of the Least Significant Bits for Differential Privacy, CCS 2012"

// doubles is a real column of a mechanism whose claim is about doubles.
func doubles(audit.Params) []audit.Column {
	return []audit.Column{{Name: "value", Kind: audit.Real, Bits: true}}
}

// laplaceFloat adds noise by the inverse of the distribution function, from one
// uniform multiple of 2^-53 an output.
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

// snapping is clamp(round_Λ(clamp(value) + S λ ln U)): clamp to [-B, B], S a fair
// sign, U uniform on (0, 1) to the full precision of doubles, Λ the least power
// of 2 at or above λ = 1/epsilon, ties rounded up. B is 64 Λ and at least 16, in
// which the values lie, so that λ < B < 2^46 λ. Two words an output: the first one
// is the sign and 52 bits of U, the second one U's exponent, cut at 2^-64. ln is
// good to 1 ulp, where Mironov asks for a correctly rounded one.
type snapping struct{ scale, grid, bound float64 }

func newSnapping(p audit.Params) snapping {
	scale := 1 / p.Num("epsilon")
	fraction, exponent := math.Frexp(scale) // in [1/2, 1)
	grid := audit.Pick(fraction == 0.5, scale, math.Ldexp(1, exponent))
	return snapping{scale, grid, max(16, 64*grid)}
}

func (m snapping) clamp(x float64) float64 { return min(max(x, -m.bound), m.bound) }
