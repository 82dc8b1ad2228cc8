package scores

import (
	"slices"
	"strings"
	"testing"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/audit/stream"
	"github.com/dpscope/dpscope/core/membership"
	"github.com/dpscope/dpscope/core/report"
	"github.com/dpscope/dpscope/internal/must"
)

// oneSidedScores: half in, half out, normal, a fifth of those in shifted by 10; with low
// the fifth of those out by -10.
func oneSidedScores(seed uint64, n int, low bool) Scores {
	st := stream.New(stream.Key{Seed: seed, Purpose: "one-sided"})
	s := Scores{In: make([]float64, n), Out: make([]float64, n)}
	st.Gaussian(s.In, 1)
	st.Gaussian(s.Out, 1)
	for i := range n / 5 {
		if low {
			s.Out[i] -= 10
		} else {
			s.In[i] += 10
		}
	}
	return s
}

// The case of issue 14: both bounds see a one-sided attack, on either side; guesses on both
// sides, as plans with numbers have them, do not.
func TestOneSidedAttackIsSeen(t *testing.T) {
	for _, low := range []bool{false, true} {
		s := oneSidedScores(1, 5000, low)
		r := checkScores(t, samplePlan(3, 1e-5, ""), s)
		g := r.Evidence.Guesses[0]
		if r.Verdict != audit.Violation || *r.LowerBound < 4.5 || *rowOf(r, report.MethodOneRunGDP).LowerBound < 6.3 {
			t.Errorf("low %v: %s, f-DP %v", low, r.Summary, *rowOf(r, report.MethodOneRunGDP).LowerBound)
		}
		if side := map[bool]int{false: g.In, true: g.Made - g.In}[low]; side != g.Made || g.Made < 400 {
			t.Errorf("low %v: %+v", low, g)
		}
		must.Say(t, report.Text(r), "1 250 canaries, whose scores and coins chose sides and number")
		p := samplePlan(3, 1e-5, "")
		p.Guesses, p.GDPGuesses = []int{209}, []int{400}
		r = checkScores(t, p, s)
		if r.Plan.Sides != membership.BothSides || *r.LowerBound > 1.5 || r.Evidence.Guesses[0].In != 105 {
			t.Errorf("low %v, both sides: %v, %+v", low, *r.LowerBound, r.Evidence.Guesses)
		}
		p.Sides = membership.InSide
		if low {
			p.Sides = membership.OutSide
		}
		p.Guesses = []int{800}
		if r = checkScores(t, p, s); *r.LowerBound < 4.5 || *rowOf(r, report.MethodOneRunGDP).LowerBound < 6.3 {
			t.Errorf("low %v, %s: %v, f-DP %v", low, p.Sides, *r.LowerBound, *rowOf(r, report.MethodOneRunGDP).LowerBound)
		}
		must.Get(Verify(r, nil))(t)
	}
}

// Reports of every kind of sides verify, and guesses that are not of their sides do not.
func TestGuessesFitTheirSides(t *testing.T) {
	s := oneSidedScores(2, 200, false)
	for _, sides := range membership.AllSides() {
		p := samplePlan(3, 1e-5, "")
		p.Sides = sides
		r := checkScores(t, p, s)
		if v, err := Verify(r, &s); err != nil || !v.OK() {
			t.Errorf("%s: %v, %+v", sides, err, v)
		}
		if sides == membership.ChosenSides {
			continue
		}
		for _, guesses := range [][]membership.Guess{r.Evidence.Guesses, r.Evidence.GDPGuesses} {
			kept := slices.Clone(guesses)
			guesses[0].In = (guesses[0].In + 1) % (guesses[0].Made + 1)
			must.Refuse(t, must.Err(Verify(r, nil)), "guesses: in is", sides)
			copy(guesses, kept)
		}
	}
	p := samplePlan(3, 1e-5, "")
	p.Sides = "left"
	must.Input(t, must.Err(Run(p, s, audit.Generator{})), `sides is "left"`)
	p.Sides, p.Guesses = membership.ChosenSides, []int{351}
	must.Refuse(t, must.Err(Run(p, s, audit.Generator{})), "in [1, 350], as there are 400 canaries, of which 50 are set aside")
}

// Of halves the error is multiplied by the share of all coins that have half in, computed here
// as a product; a report of equal numbers names it.
func TestHalvesNeedASmallerBeta(t *testing.T) {
	for _, m := range []int{100, 1000, 10_000} {
		h := Shape{In: m / 2, Out: m / 2}
		coin := 1.0 // C(m, m/2)/2^m
		for i := 1; i <= m/2; i++ {
			coin *= 1 - 1/float64(2*i)
		}
		if got := h.halfBeta(0.05); got > 0.05*coin || got < 0.9*0.05*coin {
			t.Errorf("m %d: %v, want just below %v", m, got, 0.05*coin)
		}
	}
	r := checkScores(t, samplePlan(3, 1e-5, ""), oneSidedScores(1, 5000, false))
	must.Say(t, strings.Join(r.Warnings, "\n"), "do not hold at beta = 0.05; with -beta 0.00039 they do")
}

// Numbers that fair coins hardly give are pointed out before they are refused.
func TestUnlikelyNumbersAreToldOf(t *testing.T) {
	for in, want := range map[int]bool{500: false, 541: false, 542: true, 570: true, 458: true} {
		r := checkScores(t, samplePlan(3, 1e-5, ""), Scores{In: make([]float64, in), Out: make([]float64, 1000-in)})
		if got := strings.Contains(strings.Join(r.Warnings, "\n"), "probability below 0.01: if the numbers were fixed"); got != want {
			t.Errorf("%d in: %v", in, r.Warnings)
		}
	}
}
