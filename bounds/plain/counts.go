// Package plain bounds epsilon from counts of an event, in trainings with and without a canary,
// which no run of dpscope made.
package plain

import (
	"cmp"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/audit/phrase"
	"github.com/dpscope/dpscope/bounds"
)

// Plan is what is asked.
type Plan struct {
	Counts         bounds.Counts
	Delta          float64
	DeltaDefaulted bool // the user gave none
	Beta           float64
	Claimed        *float64 // nil: no epsilon is claimed
}

func (p Plan) check() error {
	claimed := *cmp.Or(p.Claimed, new(1.0))
	return audit.First(audit.Require(bounds.CheckDelta(p.Delta) == nil, "delta", p.Delta, "at least 0 and below 1"),
		audit.Remedy("0.05 is 95 % confidence", audit.Require(p.Beta >= 1e-9 && p.Beta <= 0.5, "beta", p.Beta, "in [1e-9, 0.5]")),
		audit.Require(claimed > 0 && !math.IsInf(claimed, 1), "epsilon", claimed, "a finite number above 0"))
}

// Report is what the counts show. Absent bounds bound nothing.
type Report struct {
	Kind         string        `json:"kind"`
	Counts       bounds.Counts `json:"counts"` // x of n1 in, y of n0 out, in the event
	Delta        float64       `json:"delta"`
	Beta         float64       `json:"beta"`
	Claimed      *float64      `json:"claimedEpsilon,omitempty"`
	Verdict      audit.Verdict `json:"verdict,omitempty"` // absent without a claim
	LowerBound   *float64      `json:"lowerBound"`        // the exact one, of both directions
	LargestBound float64       `json:"largestBound"`      // of the best counts of as many trainings
	PValue       *float64      `json:"pValue,omitempty"`  // of the claim
	Methods      []Bound       `json:"methods"`
	Summary      string        `json:"summary"`
}

// Bound is what one method shows, in both directions.
type Bound struct {
	Method string   `json:"method"`
	Event  *float64 `json:"event"`      // in over out
	Other  *float64 `json:"complement"` // out over in, of all that is not in the event
	Valid  bool     `json:"valid"`      // has the stated confidence
	Note   string   `json:"note"`
}

// Conclude computes the table. Privacy bounds the event in over out, and all that is not in it out
// over in, each with half of the error, so that the larger has the whole confidence.
func Conclude(p Plan) (Report, error) {
	if err := p.check(); err != nil {
		return Report{}, err
	}
	r := Report{Kind: "counts", Counts: p.Counts, Delta: p.Delta, Beta: p.Beta, Claimed: p.Claimed}
	c := r.Counts
	rest := bounds.Counts{X: c.N0 - c.Y, N1: c.N0, Y: c.N1 - c.X, N0: c.N1}
	half := r.Beta / 2
	row := func(name bounds.Method, valid bool, note string, at func(c bounds.Counts) float64) Bound {
		return Bound{string(name), audit.Finite(at(c)), audit.Finite(at(rest)), valid, note}
	}
	exact := func(c bounds.Counts) float64 { return bounds.Exact(c, r.Delta, half) }
	r.Methods = []Bound{
		row(bounds.MethodExact, true, "Buehler's: the verdict's", exact),
		row(bounds.MethodClopperPearson, true, "both limits at half of the error each", func(c bounds.Counts) float64 {
			return phrase.Floor(bounds.ClopperPearson(c, r.Delta, half, 0.5), 6)
		}),
	}
	if note := "a Bayesian credible bound, not a confidence bound: it never decides the verdict"; max(c.N1, c.N0) <= bounds.MostJeffreys {
		r.Methods = append(r.Methods, row(bounds.MethodJeffreys, false, note, func(c bounds.Counts) float64 { return bounds.Jeffreys(c, r.Delta, half) }))
	}
	best := func(x, y *float64) *float64 {
		if x == nil || y != nil && *y > *x {
			return y
		}
		return x
	}
	r.LowerBound = best(r.Methods[0].Event, r.Methods[0].Other)
	r.LargestBound = max(0, exact(bounds.Counts{X: c.N1, N1: c.N1, N0: c.N0}), exact(bounds.Counts{X: c.N0, N1: c.N0, N0: c.N1}))
	at := fmt.Sprintf(" at delta = %v", r.Delta)
	if p.DeltaDefaulted {
		at += " (the default)"
	}
	claim := math.Inf(1)
	if r.Claimed != nil {
		claim = *r.Claimed
	}
	found := "nothing is certified"
	if r.LowerBound != nil && *r.LowerBound > 0 {
		found = fmt.Sprintf("epsilon >= %s%s with %s confidence, exact", phrase.Bound(*r.LowerBound, claim), at, phrase.Percent(1-r.Beta))
	} else {
		found += at
	}
	if r.Claimed == nil {
		r.Summary = strings.ToUpper(found[:1]) + found[1:] + "."
		return r, nil
	}
	r.PValue = new(min(1, 2*min(bounds.ClaimPValue(c, claim, r.Delta, half), bounds.ClaimPValue(rest, claim, r.Delta, half))))
	switch claimed := strconv.FormatFloat(claim, 'g', -1, 64); {
	case r.LowerBound != nil && *r.LowerBound > claim:
		r.Verdict = audit.Violation
		r.Summary = fmt.Sprintf("Violation: %s; claimed %s.", found, claimed)
	case r.LargestBound <= claim:
		r.Verdict = audit.Inconclusive
		r.Summary = fmt.Sprintf("Inconclusive: no counts of %s and %s trainings show more than epsilon >= %s%s; claimed %s. More trainings are needed.", phrase.Grouped(c.N1), phrase.Grouped(c.N0), phrase.Bound(r.LargestBound, claim), at, claimed)
	default:
		r.Verdict = audit.NoViolation
		r.Summary = fmt.Sprintf("No violation found: %s; claimed %s. This is not a proof of privacy.", found, claimed)
	}
	return r, nil
}

// Text is the report in words.
func (r Report) Text() string {
	var b strings.Builder
	c := r.Counts
	fmt.Fprintf(&b, "%s\n\nIn the event: %s of %s trainings in, %s of %s out.\n", r.Summary, phrase.Grouped(c.X), phrase.Grouped(c.N1), phrase.Grouped(c.Y), phrase.Grouped(c.N0))
	if r.PValue != nil {
		fmt.Fprintf(&b, "p-value of the claim: at most %s.\n", phrase.PValue(*r.PValue))
	}
	fmt.Fprintf(&b, "\nLower bounds on epsilon, each direction with half of the allowed error:\n")
	cell := func(x *float64) string {
		if x == nil {
			return "-"
		}
		return phrase.Bound(*x, math.Inf(1))
	}
	lines := [][]string{{"method", "in over out", "complement, out over in", "confidence", ""}}
	for _, m := range r.Methods {
		confidence := audit.Pick(m.Valid, phrase.Percent(1-r.Beta), "none")
		lines = append(lines, []string{m.Method, cell(m.Event), cell(m.Other), confidence, m.Note})
	}
	phrase.Table(&b, lines)
	fmt.Fprintf(&b, "\nThe bounds assume that trainings are independent, that the event was fixed before they were counted, and that trainings in and out differ as neighbours of the claim do.\n")
	return b.String()
}
