package report

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"strings"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/audit/phrase"
	"github.com/dpscope/dpscope/bounds"
)

// Method is a way to bound epsilon from scores; of a matrix the intervals of bounds are too.
type Method = bounds.Method

const (
	// MethodOneRun is [bounds.OneRunEpsilon], MethodOneRunGDP [bounds.OneRunGDPEpsilon].
	MethodOneRun    Method = "one-run"
	MethodOneRunGDP Method = "one-run-gdp"
	// Of the counts of an event: [bounds.Exact], [bounds.ClopperPearson] and [bounds.GaussianMu].
	MethodExact          Method = "exact"
	MethodClopperPearson Method = "clopper-pearson"
	MethodGaussian       Method = "gaussian-dp"
	// MethodPaired pairs scores in with scores out; of a matrix, its runs are the pairs.
	MethodPaired Method = Method(bounds.CanaryPairedBetting)
)

// Trainings says how scores must have come about for a method to hold.
type Trainings string

const (
	// FairCoins: in each training, a fair coin of its own decided of each canary whether it was in.
	FairCoins      Trainings = "one, by fair coins"
	EachItsOwn     Trainings = "one a score"
	EachRow        Trainings = "one a run"
	EachRowByCoins Trainings = "one a run, by fair coins"
)

// Assumes is what a method takes for granted under each relation; under others it does not hold.
type Assumes map[audit.Relation]string

// coinsAlone: with the canary of a coin there and not there two datasets differ by adding or
// removing it (Steinke, Nasr and Jagielski 2023, section 2).
var coinsAlone = Assumes{audit.AddRemove: "a separate fair coin decided for each canary whether it was in"}

// ownTrainings: scores in and out are independent samples of two laws; the relation says of which.
var ownTrainings = Assumes{
	audit.AddRemove: "each score is from a separate training, with or without its canary; canaries are from one distribution",
	audit.Replace:   "each score is from a separate training, with its canary or with another record in its place; canaries are from one distribution",
}

// ByRuns: under add-remove every run counts, see [bounds.CoinDelta]. Under replace the runs count
// that have K canaries in and M out, of which the seed draws as many. That is valid: let S, the
// canaries in, be drawn at random, so that given how many they are all such sets are equally
// likely, or canaries be drawn anew in every run. For i in S and j not, S' = S - i + j is another
// such set, the datasets of S and S' differ by one record replaced by another, and so P(score_i > t
// | S) <= e^eps P(score_i > t | S') + delta. The mean over i, j and S is p1 <= e^eps p0 + delta for
// a canary drawn from those in and one drawn from those out.
var ByRuns = Assumes{
	audit.AddRemove: "each run is a separate training, in which a separate fair coin decided for each canary whether it was in",
	audit.Replace:   "each run is a separate training; which canaries were in was drawn at random, in a fixed number",
}

func (a Assumes) and(more string) Assumes {
	out := Assumes{}
	for r, words := range a {
		out[r] = words + more
	}
	return out
}

// EndMessages say why a run ended, but for one that failed.
var EndMessages = map[audit.TerminationReason]string{
	audit.Stopped: "stopped before the end",
	audit.Refuted: "the claim was refuted before the end",
}

// Ended is how a run ended that returned err: one that was stopped has not failed.
func Ended(ctx context.Context, err error) (audit.Termination, error) {
	switch {
	case err == nil:
		return audit.Termination{Reason: audit.Completed}, nil
	case ctx.Err() != nil:
		return audit.Termination{Reason: audit.Stopped, Message: EndMessages[audit.Stopped]}, nil
	}
	return audit.Termination{Reason: audit.Failed, Message: phrase.Block(err.Error())}, err
}

// MethodWords are of the methods for scores without runs.
var MethodWords = map[Method]struct {
	title     string
	Assumes   Assumes
	valid     bool
	trainings Trainings
}{
	MethodOneRun:         {"guesses (Steinke, Nasr and Jagielski)", coinsAlone, true, FairCoins},
	MethodOneRunGDP:      {"guesses, f-DP (Mahloujifar, Melis and Chaudhuri)", coinsAlone.and(", and the trade-off of the mechanism is Gaussian"), false, FairCoins},
	MethodExact:          {"exact unconditional", ownTrainings, true, EachItsOwn},
	MethodClopperPearson: {"Clopper-Pearson", ownTrainings, true, EachItsOwn},
	MethodPaired:         {"paired betting", ownTrainings.and("; scores in and out are paired at random"), true, EachItsOwn},
	MethodGaussian:       {"Gaussian DP, Clopper-Pearson", ownTrainings.and(", and the trade-off of the mechanism is Gaussian"), false, EachItsOwn},
}

// OneRunOfReplace says why there is no bound in one run for a claim under replace.
const OneRunOfReplace = "an audit in one run includes or leaves out a canary by a coin, which adds or removes a record; a mechanism that is private under replace may reveal the number of records"

// NewRow is a method's for single trainings, under a relation, without bounds.
func NewRow(m Method, relation audit.Relation) Row {
	w := MethodWords[m]
	return Row{ID: Epsilon, Method: m, Title: w.title, Valid: w.valid, Trainings: w.trainings, Assumption: w.Assumes[relation]}
}

// NoteDelta says why there is no bound of a Gaussian trade-off at delta = 0.
func (x *Row) NoteDelta(delta float64) {
	if x.LowerBound == nil && delta == 0 {
		x.Note = "at delta = 0 no Gaussian trade-off has a finite epsilon; mu is bounded"
	}
}

// Least is the smallest n, from from on, at which enough holds; 0 if no number up to most suffices.
func Least(from, most int, enough func(int) bool) int {
	hi := from
	for !enough(hi) {
		if hi >= most {
			return 0
		}
		hi *= 2
	}
	lo := max(hi/2, from-1)
	for hi-lo > 1 {
		if mid := (lo + hi) / 2; enough(mid) {
			hi = mid
		} else {
			lo = mid
		}
	}
	return hi
}

// CheckByMethod refuses a report of canaries or scores whose parts do not fit. claim is its plan's.
func (r Report) CheckByMethod(claim *audit.Claim) error {
	n := len(r.Tables)
	return audit.First(
		audit.Require(claim != nil && *claim == r.Claim, "report: plan", "incomplete", "the whole plan, with the claim of the report"),
		audit.Require(r.Power != nil, "report: field power", audit.Absent, "what an audit of this size can show"),
		audit.Require(n == min(1, len(r.Rows(Bounds)))+min(1, len(r.Rows(Membership))) && (n == 0 || r.Tables[0].Name == Bounds), "report: tables", n,
			"the table %s with rows, then %s if there is one; or no table", Bounds, Membership),
		audit.Require(r.Deciding() != nil || r.LowerBound == nil && n == 0, "report: tables", "without a chosen row", "the method of the plan among them"),
		r.Check(),
	)
}

// SayInvalid says that the run failed, and why.
func (r *Report) SayInvalid() {
	r.Say("Invalid: the run failed: "+strings.TrimSuffix(r.Termination.Message, ".")+".", "")
}

// SayByMethod says the verdict. from is what the bound is from, as "one training with 1 000 canaries".
func (r *Report) SayByMethod(c StatedClaim, from string) {
	row := r.Deciding()
	at, given, bounded := c.At(), "", ""
	if r.LowerBound != nil {
		given = audit.Pick(row.Valid, "", ", if "+row.Assumption)
		bounded = fmt.Sprintf("epsilon >= %s%s with %s confidence, from %s, by %s%s; claimed %s.",
			phrase.Bound(*r.LowerBound, c.Epsilon), at, phrase.Percent(r.Confidence), from, row.Title, given, phrase.Number(c.Epsilon))
	}
	switch {
	case r.Verdict == audit.Invalid:
		r.SayInvalid()
	case r.Verdict == audit.Violation:
		r.Say("Violation: "+bounded, "")
	case r.Verdict == audit.NoViolation && given != "":
		r.Say("No violation found: "+bounded, "This is not a proof of privacy.")
	case r.Verdict == audit.NoViolation:
		r.Say("No violation found: "+bounded,
			fmt.Sprintf("No outcome could have shown more than %s. This is not a proof of privacy.", phrase.Bound(r.Power.Largest, math.Inf(1))))
	case r.LowerBound != nil && *r.LowerBound > c.Epsilon:
		r.Say("Inconclusive: "+bounded, "A bound that holds only for some mechanisms cannot refute the claim.")
	case r.LowerBound == nil:
		why := EndMessages[audit.Stopped] + "; no bound is certified"
		if row != nil && row.Note != "" {
			why = fmt.Sprintf("no bound by %s: %s", row.Title, row.Note)
		}
		r.Say("Inconclusive: "+why+".", fmt.Sprintf("Claimed epsilon = %s%s.", phrase.Number(c.Epsilon), at))
	default:
		r.SayTooSmall(from, "epsilon", at+" by "+row.Title)
	}
}

// SayTooSmall says that an audit of this size cannot refute the claim. symbol is bounded, at says where.
func (r *Report) SayTooSmall(size, symbol, at string) {
	limit, p := r.Claim.Limit(), *r.Power
	most, needs, rest := "any lower bound above 0", "", "Raise the number of samples."
	if p.Largest > 0 {
		most = fmt.Sprintf("more than %s = %s", symbol, phrase.Bound(p.Largest, limit))
	}
	if p.Needed > 0 {
		needs, rest = fmt.Sprintf(", which needs %s %s", phrase.Grouped(p.Needed), p.Unit), ""
	} else if p.Unit != "" {
		rest = "No number of " + p.Unit + " that dpscope tries is enough."
	}
	if r.LowerBound != nil && *r.LowerBound > 0 {
		rest = strings.TrimSpace(fmt.Sprintf("Certified here: %s >= %s with %s confidence. %s", symbol, phrase.Bound(*r.LowerBound, limit), phrase.Percent(r.Confidence), rest))
	}
	r.Say(fmt.Sprintf("Inconclusive: no outcome of %s shows %s%s, below the claim of %s%s.", size, most, at, phrase.Number(limit), needs), rest)
}

// Fact says what the audit could show. most is its size, as "of 1 000 runs ", or empty.
func (p Power) Fact(most string, claimed float64) string {
	text := fmt.Sprintf("No outcome %scertifies more than %s.", most, phrase.Bound(p.Largest, claimed))
	if p.Needed > 0 {
		text += fmt.Sprintf(" With %s %s or more, some outcome refutes the claim.", phrase.Grouped(p.Needed), p.Unit)
	}
	return text
}

// ResolveBetaSeed fills in the allowed error and checks the seed.
func ResolveBetaSeed(beta *float64, seed uint64) error {
	*beta = cmp.Or(*beta, 0.05)
	return audit.First(audit.Require(*beta >= 1e-9 && *beta <= 0.5, "beta", *beta, "in [1e-9, 0.5]"),
		audit.Require(seed <= audit.MaxSeed, "seed", seed, "in [0, %d]", uint64(audit.MaxSeed)))
}

// OneRunReferences are the papers of the one-run methods.
var OneRunReferences = []string{
	"T. Steinke, M. Nasr and M. Jagielski, Privacy auditing with one (1) training run, NeurIPS 2023",
	"S. Mahloujifar, L. Melis and K. Chaudhuri, Auditing f-differential privacy in one run, 2024",
}
