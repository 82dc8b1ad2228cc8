package mechanisms

import (
	"math"
	"math/bits"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/stream"
)

// sideBySide is several mechanisms on one dataset, their outputs one after the
// other. A block draws all of the first part's noise, then the second's, ....
type sideBySide struct {
	parts    []audit.Mechanism
	prefixes []string // of the columns' names; none where nil
}

func (m *sideBySide) Columns() []audit.Column {
	var columns []audit.Column
	for i, part := range m.parts {
		for _, c := range part.Columns() {
			if m.prefixes != nil {
				c.Name = m.prefixes[i] + c.Name
			}
			columns = append(columns, c)
		}
	}
	return columns
}

func (m *sideBySide) Sample(d audit.Dataset, s *stream.Stream, out []float64) (err error) {
	width := audit.Width(m.Columns())
	scratch := make([]float64, min(len(out), blockRows*width))
	eachBlock(out, width, func(block []float64, rows int) {
		at := 0
		for _, part := range m.parts {
			w := audit.Width(part.Columns())
			if err == nil {
				err = part.Sample(d, s, scratch[:rows*w])
			}
			for r := range rows {
				copy(block[r*width+at:r*width+at+w], scratch[r*w:(r+1)*w])
			}
			at += w
		}
	})
	return err
}

// valueFamily releases a single value of sensitivity 1, the only row of its
// dataset, with Laplace noise.
type valueFamily struct {
	name, title, source, fault string

	params []audit.ParamSpec // beside epsilon
	claim  func(audit.Params) audit.Claim
	truth  func(audit.Params) string
	build  func(audit.Params) audit.Mechanism
}

const valueReach = 10 // values lie in [-10, 10]

var (
	laplaceParallel = valueFamily{
		name: "laplace-parallel", title: "One value many times over, with Laplace noise that is scaled for all of them",
		source: "Bichsel, Steffen, Bogunovic and Vechev, DP-Sniper, S&P 2021: LaplaceParallel; Dwork and Roth (2014), theorems 3.6 and 3.16",
		params: []audit.ParamSpec{{Name: "copies", Doc: "how often the value is released, each time with epsilon/copies", Default: 20, Min: 1, Max: 64, Integer: true}},
		claim:  pureClaim, truth: epsilonTruth,
		build: func(p audit.Params) audit.Mechanism {
			return &repeated{p.Int("copies"), p.Num("copies") / p.Num("epsilon")}
		},
	}
	budgetSpentTwice = valueFamily{
		name: "budget-spent-twice", title: "Two answers to one question, each with the whole of epsilon",
		source: "Dwork and Roth, The Algorithmic Foundations of Differential Privacy (2014), theorem 3.16 (composition), forgotten",
		fault:  "answers twice with noise for epsilon and claims epsilon for both: budgets add up",
		claim:  pureClaim,
		truth:  func(p audit.Params) string { return "epsilon = twice the claimed = " + show(2*p.Num("epsilon")) },
		build:  func(p audit.Params) audit.Mechanism { return &repeated{2, 1 / p.Num("epsilon")} },
	}
)

func (f valueFamily) spec() audit.MechanismSpec {
	return audit.MechanismSpec{
		Name: f.name, Title: f.title, Source: f.source, Fault: f.fault,
		Params:    append([]audit.ParamSpec{epsilonParam(1)}, f.params...),
		Relations: only(audit.LInfinity),
		Claim:     f.claim,
		Truth:     f.truth,
		Domain:    func(audit.Params, audit.Relation) audit.Domain { return answersDomain(1, valueReach) },
		Pairs: func(audit.Params, audit.Relation) []audit.Pair {
			return []audit.Pair{
				{Label: "{0} against {1}", First: audit.Records(0), Second: audit.Records(1)},
				{Label: "{9} against {10}", First: audit.Records(9), Second: audit.Records(10)},
			}
		},
		New: func(p audit.Params) (audit.Mechanism, error) { return f.build(p), nil },
	}
}

// repeated releases the value several times. It draws the noise of all copies
// of all rows of a block at once.
type repeated struct {
	copies int
	scale  float64
}

func (m *repeated) Columns() []audit.Column { return columnsOf(m.copies, audit.Real, "answer %d") }

func (m *repeated) Sample(d audit.Dataset, s *stream.Stream, out []float64) error {
	if err := checkShape(d, 1, 1); err != nil {
		return err
	}
	values := vector(m.copies, d.Values[0])
	eachBlock(out, m.copies, func(block []float64, rows int) {
		s.Laplace(block, m.scale)
		addToRows(block, values)
	})
	return nil
}

const mironov = "Mironov, On Significance of the Least Significant Bits for Differential Privacy, CCS 2012"

var (
	laplaceFloat = valueFamily{
		name: "laplace-float", title: "Laplace mechanism in floating-point numbers, as textbooks have it",
		source: mironov + ", section 4",
		fault: "adds two doubles: near 0 the doubles lie closer together than near the value, so that the low bits of the output show what was added to what" +
			" (a learner needs the bits of the output as features, such as float-bits)",
		claim: pureClaim, truth: neverPrivate(": outputs near 0 that one value gives are out of reach of another"),
		build: func(p audit.Params) audit.Mechanism { return &floatLaplace{1 / p.Num("epsilon")} },
	}
	laplaceSnapping = valueFamily{
		name: "laplace-snapping", title: "Snapping mechanism: Laplace noise, clamped and rounded",
		source: mironov + ", section 5",
		claim:  snappingClaim,
		truth: func(p audit.Params) string {
			return "epsilon = " + show(p.Num("epsilon")) + " (1 + 2^-49 B), B = " + show(newSnapping(p).bound)
		},
		build: func(p audit.Params) audit.Mechanism { return newSnapping(p) },
	}
)

// snappingClaim is Mironov's theorem 1: 1/λ + 2^-49 B/λ.
func snappingClaim(p audit.Params) audit.Claim {
	return audit.DPClaim(p.Num("epsilon")+float64(0x1p-49*newSnapping(p).bound*p.Num("epsilon")), 0)
}

// floatLaplace adds noise by the inverse of the distribution function, from one
// uniform multiple of 2^-53 an output.
type floatLaplace struct{ scale float64 }

func (m *floatLaplace) Columns() []audit.Column { return oneColumn(audit.Real, "value") }

func (m *floatLaplace) Sample(d audit.Dataset, s *stream.Stream, out []float64) error {
	if err := checkShape(d, 1, 1); err != nil {
		return err
	}
	value := d.Values[0]
	eachBlock(out, 1, func(block []float64, _ int) {
		s.Uniform(block, 0, 1)
		for i, u := range block {
			if u < 0.5 {
				block[i] = value + float64(m.scale*stream.Log(2*max(u, 0x1p-54)))
			} else {
				block[i] = value - float64(m.scale*stream.Log(2-float64(2*u)))
			}
		}
	})
	return nil
}

// snapping is clamp(round_Λ(clamp(value) + S λ ln U)): clamp to [-B, B], S a fair
// sign, U uniform on (0, 1) to the full precision of doubles, Λ the least power
// of 2 at or above λ = 1/epsilon, ties rounded up. B is 64 Λ and at least 16, in
// which the values lie, so that λ < B < 2^46 λ. Two words an output: the first one
// is the sign and 52 bits of U, the second one U's exponent, cut at 2^-64. ln is
// good to 1 ulp, where Mironov asks for a correctly rounded one.
type snapping struct{ scale, grid, bound float64 }

func newSnapping(p audit.Params) *snapping {
	scale := 1 / p.Num("epsilon")
	fraction, exponent := math.Frexp(scale) // in [1/2, 1)
	grid := math.Ldexp(1, exponent)
	if fraction == 0.5 {
		grid = scale
	}
	return &snapping{scale, grid, max(16, 64*grid)}
}

func (m *snapping) Columns() []audit.Column { return oneColumn(audit.Real, "value") }

func (m *snapping) Sample(d audit.Dataset, s *stream.Stream, out []float64) error {
	if err := checkShape(d, 1, 1); err != nil {
		return err
	}
	value := m.clamp(d.Values[0])
	for i := range out {
		r, zeros := s.Uint64(), bits.LeadingZeros64(s.Uint64())
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
		out[i] = m.clamp(float64(whole * m.grid))
	}
	return nil
}

func (m *snapping) clamp(x float64) float64 { return min(max(x, -m.bound), m.bound) }
