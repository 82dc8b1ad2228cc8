package membership

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/audit/phrase"
	"github.com/dpscope/dpscope/audit/settings"
	"github.com/dpscope/dpscope/bounds"
	"github.com/dpscope/dpscope/core/report"
)

// Sides are those of the order of scores on which canaries of one run are guessed.
type Sides string

const (
	// ChosenSides: one canary in eight is set aside and not guessed. Their scores and coins choose how
	// many others are guessed on which side and, without given numbers, how many in all: valid by the
	// proofs at [bounds.OneRunPValue] and [bounds.OneRunChosenPValue].
	ChosenSides Sides = "chosen"
	BothSides   Sides = "both" // as many in as out, one more in of an odd number
	InSide      Sides = "in"   // the largest scores, guessed in
	OutSide     Sides = "out"  // the smallest scores, guessed out
)

// Sides of a plan that says nothing. Attacks of other programs may know one side only, which canaries
// set aside find out. The sources here tell both sides equally, and setting aside costs a sixth.
const (
	UsualOfScores = ChosenSides
	UsualOfRun    = BothSides
)

func (s Sides) count() int { return audit.Pick(s == InSide || s == OutSide, 1, 2) }

// AllSides are the sides that a plan may name.
func AllSides() []Sides { return []Sides{ChosenSides, BothSides, InSide, OutSide} }

// Guess is how many guesses were made and how many of them are right.
type Guess struct {
	Made  int `json:"made"`
	In    int `json:"in"` // of those made, guessed in
	Right int `json:"right"`
}

// Rule decides how many canaries are guessed where a plan does not say.
type Rule struct {
	Usual Sides // of a plan that says nothing
	Claim audit.Claim
	Beta  float64 // allowed error
}

func (u Rule) usual(m int, sides Sides) int {
	return bounds.OneRunGuessesFor(m, sides.count(), u.Claim.Epsilon, u.Claim.Delta, u.Beta)
}

// GuessPlan says how canaries of one run are guessed; a plan has its fields.
type GuessPlan struct {
	Sides Sides `json:"sides,omitempty"`
	// Guesses are numbers of guesses, fixed before the run, which share the allowed error; the best
	// counts. Default: chosen with the sides, or bounds.OneRunGuessesFor the claim.
	Guesses    []int `json:"guesses,omitempty"`
	GDPGuesses []int `json:"gdpGuesses,omitempty"` // of the f-DP method; default: Guesses, or bounds.OneRunGDPGuesses
}

// Guessed is what came of guesses, by each method.
type Guessed struct {
	Guesses    []Guess `json:"guesses"`
	GDPGuesses []Guess `json:"gdpGuesses"`
}

// Guessing is how the M canaries of one run are guessed, all of it fixed before.
type Guessing struct {
	GuessPlan // without Guesses where their number is chosen, too
	M         int
	Rule      Rule
}

const (
	mostGuessings = 64      // in a grid of numbers of guesses
	mostNeeded    = 1 << 24 // canaries that are tried
)

// Resolve fills in how m canaries are guessed. Numbers without sides mean both; the f-DP method's number
// is never chosen.
func (g *GuessPlan) Resolve(m int, rule Rule) error {
	if g.Sides == "" {
		g.Sides = rule.Usual
		if len(g.Guesses) > 0 || len(g.GDPGuesses) > 0 {
			g.Sides = BothSides
		}
	}
	if err := report.OneOf("sides", g.Sides, AllSides()...); err != nil {
		return err
	}
	rest := Guessing{*g, m, rule}.rest()
	if len(g.GDPGuesses) == 0 {
		g.GDPGuesses = g.Guesses
	}
	if len(g.Guesses) == 0 && g.Sides != ChosenSides {
		g.Guesses = []int{rule.usual(m, g.Sides)}
	}
	if len(g.GDPGuesses) == 0 {
		g.GDPGuesses = []int{bounds.OneRunGDPGuesses(rest)}
	}
	aside := audit.Pick(rest < m, fmt.Sprintf(", of which %d are set aside", m-rest), "")
	for _, grid := range [][]int{g.Guesses, g.GDPGuesses} {
		err := audit.Require(len(grid) <= mostGuessings, "guesses", fmt.Sprintf("%d numbers", len(grid)), "at most %d", mostGuessings)
		before := 0
		for i := 0; i < len(grid) && err == nil; i++ {
			r := grid[i]
			err = audit.First(audit.Require(r >= 1 && r <= rest, "guesses", r, "in [1, %d], as there are %d canaries%s", rest, m, aside),
				audit.Require(r > before, "guesses", fmt.Sprintf("%d after %d", r, before), "rising numbers"))
			before = r
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (g Guessing) aside() int {
	return audit.Pick(g.Sides == ChosenSides, bounds.OneRunAside(g.M), 0)
}

func (g Guessing) rest() int { return g.M - g.aside() }

func (g Guessing) chosen() bool { return len(g.Guesses) == 0 && g.aside() > 0 }

func (g Guessing) tried() float64 { return float64(max(1, len(g.Guesses))) }

// leak is the delta of p-values: where all guesses go one way half of it.
func (g Guessing) leak() float64 { return g.Rule.Claim.Delta * float64(g.Sides.count()) / 2 }

func (g Guessing) share() float64 {
	return bounds.OneRunShare(g.rest(), bounds.OneRunLeast(g.rest()), g.Rule.Claim.Delta, g.Rule.Beta)
}

// Made counts the right guesses. The scores' order, which breaks ties, must say nothing of membership.
func (g Guessing) Made(scores []float64, member []bool) Guessed {
	k := g.aside()
	f := bounds.NewOneRunForecast(scores[:k], member[:k])
	right := bounds.OneRunRight(scores[k:], member[k:])
	guess := func(up, down int) Guess { return Guess{up + down, up, right(up, down)} }
	fixed := func(r int) Guess {
		up := g.up(r)
		if g.Sides == ChosenSides {
			up, _ = f.Split(g.rest(), r)
		}
		return guess(up, r-up)
	}
	made := Guessed{audit.Each(g.Guesses, fixed), audit.Each(g.GDPGuesses, fixed)}
	if len(g.Guesses) == 0 {
		made.Guesses = []Guess{guess(f.Choose(g.rest(), g.Rule.Beta))}
	}
	return made
}

// Check refuses guesses that are not made this way.
func (g Guessing) Check(made Guessed) error {
	planned := func(got []Guess, want []int) error {
		return audit.Require(slices.Equal(numbers(got), want), "guesses", numbers(got), "%v, as the plan says", want)
	}
	err := planned(made.Guesses, g.Guesses)
	if len(g.Guesses) == 0 {
		err = audit.Require(len(made.Guesses) == 1, "guesses", numbers(made.Guesses), "one number, which was chosen")
	}
	err = audit.First(err, planned(made.GDPGuesses, g.GDPGuesses))
	for _, x := range append(slices.Clip(made.Guesses), made.GDPGuesses...) {
		ok := x.In == g.up(x.Made) || g.Sides == ChosenSides && x.In >= 0 && x.In <= x.Made
		err = audit.First(err, audit.Of("guesses", bounds.CheckOneRun(g.rest(), x.Made, x.Right)),
			audit.Require(ok, "guesses: in", x.In, "as the sides %q of %d guesses say", g.Sides, x.Made))
	}
	return err
}

// up is how many of r guesses are that a canary was in, unless that is chosen.
func (g Guessing) up(r int) int {
	switch g.Sides {
	case InSide:
		return r
	case OutSide:
		return 0
	}
	return r - r/2
}

func numbers(guesses []Guess) []int {
	return audit.Each(guesses, func(g Guess) int { return g.Made })
}

func (g Guessing) epsilon(made, right int) float64 {
	if g.chosen() {
		return bounds.OneRunChosenEpsilon(g.rest(), made, right, g.leak(), g.Rule.Beta, g.share())
	}
	return bounds.OneRunEpsilon(g.rest(), made, right, g.leak(), g.Rule.Beta/g.tried())
}

func (g Guessing) mu(made, right int) float64 {
	return bounds.OneRunGDPMu(g.rest(), made, right, g.Sides.count(), g.Rule.Beta/float64(len(g.GDPGuesses)))
}

// PValue is a p-value of the claim by [MethodOneRun].
func (g Guessing) PValue(made Guessed, eps float64) float64 {
	p := 1.0
	for _, x := range made.Guesses {
		if g.chosen() {
			return bounds.OneRunChosenPValue(g.rest(), x.Made, x.Right, eps, g.leak(), g.share())
		}
		p = math.Min(p, bounds.OneRunPValue(g.rest(), x.Made, x.Right, eps, g.leak()))
	}
	return math.Min(1, p*g.tried())
}

// Largest is the bound of the first method if all guesses are right, and the mu of the second.
func (g Guessing) Largest(m report.Method) float64 {
	grid, at := g.Guesses, g.epsilon
	switch {
	case m == report.MethodOneRunGDP:
		grid, at = g.GDPGuesses, g.mu
	case g.chosen():
		grid = []int{g.rest()}
	case len(grid) == 0:
		grid = []int{g.Rule.usual(g.M, g.Sides)}
	}
	best := 0.0
	for _, r := range grid {
		best = math.Max(best, at(r, r))
	}
	if m == report.MethodOneRunGDP {
		return bounds.GaussianEpsilon(best, g.Rule.Claim.Delta)
	}
	return best
}

// Rows are those of both methods. Of several numbers the best counts, at its share of the error
// (Bonferroni).
func (g Guessing) Rows(made Guessed, claimed float64) []report.Row {
	steinke, f := report.NewRow(report.MethodOneRun, audit.AddRemove), report.NewRow(report.MethodOneRunGDP, audit.AddRemove)
	steinke.Claimed, f.Claimed = &claimed, &claimed
	eps, mu := 0.0, 0.0
	for _, x := range made.Guesses {
		eps = math.Max(eps, g.epsilon(x.Made, x.Right))
	}
	for _, x := range made.GDPGuesses {
		mu = math.Max(mu, g.mu(x.Made, x.Right))
	}
	steinke.LowerBound, steinke.Largest = audit.Finite(eps), audit.Finite(g.Largest(report.MethodOneRun))
	f.Mu, f.LowerBound, f.Largest = audit.Finite(mu), audit.Finite(bounds.GaussianEpsilon(mu, g.Rule.Claim.Delta)), audit.Finite(g.Largest(report.MethodOneRunGDP))
	f.NoteDelta(g.Rule.Claim.Delta)
	return []report.Row{steinke, f}
}

// Needed is how many canaries it takes to show more than eps at best, with guesses by default.
func Needed(m report.Method, rule Rule, eps float64) int {
	return report.Least(1, mostNeeded, func(n int) bool {
		g := Guessing{M: n, Rule: rule}
		return g.Resolve(n, rule) == nil && g.Largest(m) > eps
	})
}

// Facts are the guesses in words. of says of what the scores are, empty for nothing.
func (g Guessing) Facts(add func(name, format string, args ...any), made Guessed, of string) {
	if k := g.aside(); k > 0 {
		what := audit.Pick(g.chosen(), "sides and number", "sides")
		add("Set aside", "%s canaries, whose scores and coins chose %s of the guesses; none of them is guessed", phrase.Grouped(k), what)
	}
	add("Guesses", "%s; the f-DP bound: %s. Largest scores guessed in, smallest out%s", guessWords(made.Guesses), guessWords(made.GDPGuesses), of)
}

func guessWords(all []Guess) string {
	s := strings.Join(audit.Each(all, func(g Guess) string {
		return fmt.Sprintf("%s of %s right (%s in, %s out)", phrase.Grouped(g.Right), phrase.Grouped(g.Made), phrase.Grouped(g.In), phrase.Grouped(g.Made-g.In))
	}), ", ")
	if len(all) > 1 {
		s += fmt.Sprintf(", each at a %dth of the allowed error", len(all))
	}
	return s
}

// Otherwise is what guesses are where a plan says nothing of them.
func (g Guessing) Otherwise() GuessPlan {
	var none GuessPlan
	if none.Resolve(g.M, g.Rule); none.Sides == g.Sides && slices.Equal(none.Guesses, g.Guesses) && slices.Equal(none.GDPGuesses, g.GDPGuesses) {
		return none
	}
	sides := GuessPlan{"", g.Guesses, slices.Clone(g.GDPGuesses)}
	sides.Resolve(g.M, g.Rule)
	gdp := GuessPlan{g.Sides, g.Guesses, nil}
	gdp.Resolve(g.M, g.Rule)
	return GuessPlan{sides.Sides, nil, gdp.GDPGuesses}
}

// GuessKeys are the settings of the guesses of a plan.
func GuessKeys[P any](at func(*P) *GuessPlan) []settings.Key[P] {
	return []settings.Key[P]{
		{Name: "sides", At: settings.Word(func(p *P) *Sides { return &at(p).Sides }),
			Usage: "which canaries are guessed: chosen (one canary in eight is set aside to choose the sides and, without -guesses, their number), both (as many large scores guessed in as small ones out), in, out; default both, and chosen for scores without -guesses"},
		{Name: "guesses", At: settings.Wholes(func(p *P) *[]int { return &at(p).Guesses }),
			Usage: "how many canaries are guessed: `numbers` separated by commas; they share -beta, and the best decides; default: chosen, or from the claim and the number of canaries"},
		{Name: "gdp-guesses", Field: "gdpGuesses", At: settings.Wholes(func(p *P) *[]int { return &at(p).GDPGuesses }),
			Usage: "the same `numbers` for the f-DP bound; default: those of -guesses, or by the number of canaries"},
	}
}

// Title is that of a table of bounds by methods.
func Title(beta float64) string {
	return fmt.Sprintf("Lower bounds on epsilon, each with %s confidence where what it assumes holds (* decides)", phrase.Percent(1-beta))
}

// Blind says why no outcome of m canaries shows anything.
func Blind(m int, rule Rule) string {
	c := rule.Claim
	if n := Needed(report.MethodOneRun, rule, 0); n > m {
		return fmt.Sprintf("no outcome of %s canaries shows anything: at least %s are needed", phrase.Grouped(m), phrase.Grouped(n))
	}
	if c.Delta > 0 {
		return fmt.Sprintf("no outcome shows anything: with %s canaries the guesses are too few, or delta = %s is too large, because it allows %s of them to be revealed outright", phrase.Grouped(m), phrase.Number(c.Delta), phrase.Number(float64(m)*c.Delta))
	}
	return "no outcome shows anything: the guesses are too few"
}
