package report

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/audit/phrase"
)

// letters stand for quantities where there is little room.
var letters = map[Quantity]string{Epsilon: "ε", RenyiEpsilon: "ε", GaussianEpsilon: "ε", Rho: "ρ", Mu: "µ", Delta: "δ"}

// Letter stands for the quantity where there is little room: ε, or words where it has no
// letter.
func (q Quantity) Letter() string {
	if letter := letters[q]; letter != "" {
		return letter
	}
	return strings.TrimPrefix(q.Symbol(), "the ")
}

// Banner is the verdict for whoever glances at it: a few words, the bound among them,
// and a line that says what it is of. [Report.Summary] has all of it.
func (r Report) Banner() (title, detail string) {
	row, limit := r.Deciding(), r.Claim.Limit()
	symbol, bound := "the bound", ""
	if row != nil {
		symbol = row.ID.Letter()
		if r.LowerBound != nil {
			sign, figure := " ≥ ", short(*r.LowerBound, limit)
			if row.Strict {
				sign = " > "
			}
			if *r.LowerBound == limit {
				figure = audit.Number(limit)
			}
			bound = symbol + sign + figure
		}
	}
	confidence := phrase.Percent(r.Confidence) + " confidence."
	switch r.Verdict {
	case audit.Violation:
		if bound == "" {
			return "Violation", r.ClaimedWords() + " claimed. " + confidence
		}
		return "Violation: " + bound, r.ClaimedWords() + " claimed. " + confidence
	case audit.NoViolation:
		if bound == "" {
			return "No violation found", r.ClaimedWords() + " claimed. Not a proof of privacy."
		}
		return "No violation found", fmt.Sprintf("%s shown of the %s claimed. %s Not a proof of privacy.", bound, audit.Number(limit), confidence)
	case audit.Inconclusive:
		title = "Not decided: too few outputs"
		if r.Termination.Reason == audit.Stopped {
			title = "Not decided: stopped early"
		}
		if bound == "" {
			return title, r.ClaimedWords() + " claimed. Nothing was certified."
		}
		return title, fmt.Sprintf("%s shown of the %s claimed. %s", bound, audit.Number(limit), confidence)
	}
	return "The run failed", phrase.Visible(r.Termination.Message)
}

// ClaimedWords are the claim's own figure: ε = 1, δ = 1e-05.
func (r Report) ClaimedWords() string {
	c := r.Claim
	switch c.Kind {
	case audit.ZCDP:
		return "ρ = " + audit.Number(c.Rho)
	case audit.GaussianDP:
		return "µ = " + audit.Number(c.Mu)
	case audit.Renyi:
		return fmt.Sprintf("Rényi ε = %s at α = %s", audit.Number(c.Epsilon), audit.Number(c.Alpha))
	}
	if c.Kind == audit.Profile {
		return "a curve"
	}
	words := "ε = " + audit.Number(c.Epsilon)
	if c.Delta > 0 {
		words += ", δ = " + audit.Number(c.Delta)
	}
	return words
}

// short prints a lower bound with two decimals, rounded down, or with as many as it
// takes to stay on its side of the claim.
func short(x, claim float64) string {
	for d := 2; d < 6; d++ {
		if y := phrase.Floor(x, d); (y > claim) == (x > claim) && (y > 0) == (x > 0) {
			return strconv.FormatFloat(max(0, y), 'f', d, 64)
		}
	}
	return strconv.FormatFloat(max(0, phrase.Floor(x, 6)), 'f', 6, 64)
}
