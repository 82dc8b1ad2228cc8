package accounting

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/audit/settings"
	"github.com/dpscope/dpscope/bounds"
)

// Kind names what a [Query] is about.
type Kind string

const (
	KindGaussian           Kind = "gaussian"
	KindLaplace            Kind = "laplace"
	KindRandomisedResponse Kind = "randomised-response"
	KindPure               Kind = "pure"
	KindApproximate        Kind = "approximate"
	KindRenyi              Kind = "renyi"
	KindConcentrated       Kind = "zcdp"
	KindGaussianDP         Kind = "gaussian-dp"
)

type mechanism interface {
	Curve
	Validate() error
}

// kinds are all kinds, in the order in which to show them.
var kinds = []struct {
	name       Kind
	title      string   // of a choice
	parameters []string // that it needs, sensitivity and rate apart
	words      string   // of their values
	// step is of a filled query, for one record; nil for approximate privacy.
	step func(q Query) mechanism
}{
	{KindGaussian, "Gaussian noise (DP-SGD)", []string{"sigma"}, "Gaussian noise, sigma %v", func(q Query) mechanism {
		if *q.Rate == 1 {
			return Gaussian{*q.Sigma, *q.Sensitivity}
		}
		return SubsampledGaussian{*q.Sigma, *q.Sensitivity, *q.Rate}
	}},
	{KindLaplace, "Laplace noise", []string{"scale"}, "Laplace noise, scale %v", func(q Query) mechanism {
		if *q.Rate == 1 {
			return Laplace{*q.Scale, *q.Sensitivity}
		}
		return SubsampledLaplace{*q.Scale, *q.Sensitivity, *q.Rate}
	}},
	{KindRandomisedResponse, "randomised response", []string{"p"}, "randomised response, true with probability %v", func(q Query) mechanism { return RandomisedResponse{*q.P} }},
	{KindPure, "pure: epsilon", []string{"epsilon"}, "a pure mechanism, epsilon %v", func(q Query) mechanism { return PureDP{*q.Epsilon} }},
	{KindApproximate, "approximate: epsilon and delta", []string{"epsilon", "stepDelta"}, "an approximate mechanism, epsilon %v, delta %v", func(Query) mechanism { return nil }},
	{KindRenyi, "Rényi: epsilon at order alpha", []string{"alpha", "epsilon"}, "a Renyi mechanism, epsilon %[2]v at order %[1]v", func(q Query) mechanism { return RenyiDP{*q.Alpha, *q.Epsilon} }},
	{KindConcentrated, "zero-concentrated (zCDP): rho", []string{"rho"}, "a zero-concentrated mechanism, rho %v", func(q Query) mechanism { return Concentrated{*q.Rho} }},
	{KindGaussianDP, "Gaussian privacy: mu", []string{"mu"}, "a Gaussian-private mechanism, mu %v", func(q Query) mechanism { return Gaussian{1, *q.Mu} }},
}

// at is the kind's place among kinds, -1 for a name that is not a kind.
func (k Kind) at() int { return slices.Index(Kinds(), k) }

// Kinds are all kinds, in the order in which to show them.
func Kinds() []Kind {
	return audit.Listed(len(kinds), func(i int) Kind { return kinds[i].name })
}

// KindNames are the names of all kinds.
func KindNames() []string { return audit.Each(Kinds(), func(k Kind) string { return string(k) }) }

// Title says what a known kind is, for a choice.
func (k Kind) Title() string { return kinds[k.at()].title }

// Parameters are the names of those that the kind needs, sensitivity and rate apart; nil if there
// is no such kind.
func (k Kind) Parameters() []string {
	if k.at() < 0 {
		return nil
	}
	return kinds[k.at()].parameters
}

func (k Kind) noise() bool { return k == KindGaussian || k == KindLaplace }

// Options are the names of the parameters that the kind may have beside.
func (k Kind) Options() []string {
	if k.noise() {
		return []string{"sensitivity", "rate", "targetEpsilon"}
	}
	return nil
}

// Fields are the names of all numbers in a query of the kind.
func (k Kind) Fields() []string {
	return slices.Concat(k.Parameters(), k.Options(), []string{"steps", "with", "group", "delta", "atEpsilon", "event", "odds"})
}

// Query asks for the account of Steps mechanisms of one kind, each on a value of this sensitivity,
// and of others beside them, for groups of Group records. What is nil takes its default; what the
// kind does not use must be nil.
type Query struct {
	Mechanism Kind     `json:"mechanism"`
	Sigma     *float64 `json:"sigma,omitempty"`     // standard deviation of the noise, above 0
	Scale     *float64 `json:"scale,omitempty"`     // scale of Laplace noise, above 0
	P         *float64 `json:"p,omitempty"`         // probability of the true answer, in (0, 1)
	Epsilon   *float64 `json:"epsilon,omitempty"`   // of one step, at least 0
	StepDelta *float64 `json:"stepDelta,omitempty"` // delta of one step, in [0, 1)
	Alpha     *float64 `json:"alpha,omitempty"`     // order at which Epsilon bounds the divergence, above 1
	Rho       *float64 `json:"rho,omitempty"`       // of one step, at least 0
	Mu        *float64 `json:"mu,omitempty"`        // of one step, above 0

	Sensitivity *float64 `json:"sensitivity,omitempty"` // gaussian, laplace; above 0; default 1
	// Rate is the probability that a record takes part in a step, in (0, 1]; gaussian, laplace;
	// default 1.
	Rate  *float64 `json:"rate,omitempty"`
	Steps *int     `json:"steps,omitempty"` // default 1
	Group *int     `json:"group,omitempty"` // default 1
	// With are further mechanisms of the composition, see [Query.parts].
	With string `json:"with,omitempty"`

	// TargetEpsilon asks for the least noise at which the composition has at most this epsilon at
	// Delta; gaussian, laplace. Then the noise may be absent.
	TargetEpsilon *float64 `json:"targetEpsilon,omitempty"`

	// Profile asks for points of delta over epsilon.
	Profile bool `json:"profile,omitempty"`

	Delta     *float64 `json:"delta,omitempty"`     // in (0, 1): asks for epsilon; default 1e-5
	AtEpsilon *float64 `json:"atEpsilon,omitempty"` // at least 0: asks for delta; default: no such question
	// Orders of the curve, increasing, at least 1, at most 1000; default: 24 of them up to 512.
	Orders []float64 `json:"orders,omitempty"`
	// Event are probabilities of an event on one dataset, in (0, 1): asks for the range of its
	// probability on the neighbour. Odds are factors above 1: asks how probable it is that
	// posterior odds grow by more. At most 100 each.
	Event []float64 `json:"event,omitempty"`
	Odds  []float64 `json:"odds,omitempty"`
}

const mostAsked = 100

// parts are the mechanisms of the composition, as filled queries: the query's, and those of With,
// texts with semicolons between.
func (q Query) parts() ([]Query, error) {
	first := q
	first.With = ""
	all := []Query{first.filled()}
	if q.With == "" {
		return all, nil
	}
	for i, text := range strings.Split(q.With, ";") {
		bad := func(err error) error {
			return audit.Amend(err, func(in *audit.InputError) {
				in.Field, in.Path = fmt.Sprintf("with[%d].%s", i, in.Field), ""
			})
		}
		words := strings.Fields(text)
		if len(words) == 0 || i >= mostAsked {
			return nil, bad(audit.Fault("mechanism", strconv.Quote(text), `a kind and its parameters, such as "laplace scale=2 steps=3"`, fmt.Sprintf("at most %d, with semicolons between", mostAsked)))
		}
		texts := settings.Texts{"mechanism": words[0]}
		for _, word := range words[1:] {
			name, value, _ := strings.Cut(word, "=")
			texts[name] = value
		}
		var part Query
		if err := settings.Read(settings.Only(Keys(), "mechanism", "sigma", "scale", "p", "epsilon", "step-delta", "alpha", "rho", "mu", "sensitivity", "rate", "steps"), texts, &part); err != nil {
			return nil, bad(err)
		}
		part.Group = q.Group
		if err := part.Validate(); err != nil {
			return nil, bad(err)
		}
		all = append(all, part.filled())
	}
	return all, nil
}

const maxOrders = 1000

var defaultOrders = []float64{1.25, 1.5, 1.75, 2, 2.5, 3, 4, 5, 6, 8, 10, 12, 16, 20, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512}

type parameter struct {
	name  string
	value *float64
}

func (q Query) parameters() []parameter {
	return []parameter{{"sigma", q.Sigma}, {"scale", q.Scale}, {"p", q.P}, {"epsilon", q.Epsilon}, {"stepDelta", q.StepDelta}, {"alpha", q.Alpha}, {"rho", q.Rho}, {"mu", q.Mu},
		{"sensitivity", q.Sensitivity}, {"rate", q.Rate}, {"targetEpsilon", q.TargetEpsilon}}
}

// Validate reports the first fault as a [audit.InputError].
func (q Query) Validate() error {
	needed := q.Mechanism.Parameters()
	if needed == nil {
		return audit.Fault("mechanism", fmt.Sprintf("%q", q.Mechanism), "a known kind", "known: "+strings.Join(KindNames(), ", "))
	}
	for _, p := range q.parameters() {
		switch {
		case p.value == nil && slices.Contains(needed, p.name) && !(q.TargetEpsilon != nil && q.Mechanism.noise()):
			return audit.Fault(p.name, audit.Absent, fmt.Sprintf("it for %s", q.Mechanism))
		case p.value != nil && !slices.Contains(q.Mechanism.Fields(), p.name):
			return audit.Fault(p.name, *p.value, fmt.Sprintf("absent for %s, which takes %s", q.Mechanism, strings.Join(needed, " and ")))
		}
	}
	q = q.filled()
	if err := audit.First(checkCount("steps", *q.Steps, MaxSteps), checkCount("group", *q.Group, MaxGroup), checkDelta(*q.Delta)); err != nil {
		return err
	}
	if q.TargetEpsilon != nil {
		switch v := *q.TargetEpsilon; {
		case !(v >= leastTarget && v <= mostTarget):
			return audit.Fault("targetEpsilon", v, "in [0.001, 500]")
		case *q.Rate < 1 && *q.Group > 1:
			return audit.Fault("targetEpsilon", v, "absent for groups of sampled records", "leave group out, or rate")
		case q.With != "":
			return audit.Fault("targetEpsilon", v, "absent beside with", "noise is found for one mechanism")
		case *q.Steps > maxLossSteps:
			return audit.Fault("targetEpsilon", v, fmt.Sprintf("absent above %d steps", maxLossSteps))
		}
		if noise := q.noise(); *noise == nil { // to be found
			*noise = q.Sensitivity
		}
	}
	err := audit.First(checkEpsilon("atEpsilon", *cmp.Or(q.AtEpsilon, new(0.0))), checkOrders(q.Orders),
		checkAsked("event", q.Event, 1e-300, 1, "above 0 and below 1"),
		checkAsked("odds", q.Odds, 1, MaxNumber, "above 1 and below 1e50"))
	if err != nil {
		return err
	}
	if q.With != "" {
		parts, err := q.parts()
		total := 0
		for _, part := range parts {
			total += *part.Steps
		}
		if err := audit.First(err, checkCount("steps", min(total, MaxSteps+1), MaxSteps)); err != nil {
			return err
		}
	}
	if q.Mechanism == KindApproximate {
		d := *q.StepDelta
		return audit.First(checkEpsilon("epsilon", *q.Epsilon), audit.Require(d >= 0 && d < 1, "stepDelta", d, "at least 0 and below 1"),
			audit.Require(d == 0 || d >= MinDelta, "stepDelta", d, "0 or at least 1e-100"))
	}
	if err := audit.First(checkPositive("mu", *cmp.Or(q.Mu, new(1.0))), q.step().Validate()); err != nil {
		return err
	}
	if least := math.Ldexp(2, stability(*q.Group)); q.Mechanism == KindRenyi && *q.Group > 1 && *q.Alpha < least {
		return audit.Fault("alpha", *q.Alpha, fmt.Sprintf("at least %v for a group of %d", least, 1<<stability(*q.Group)),
			"the order falls to alpha/2^c and has to stay at 2 or above; take a larger order or a smaller group")
	}
	return nil
}

// checkAsked wants numbers from least, below most, but 1.
func checkAsked(field string, all []float64, least, most float64, words string) error {
	if len(all) > mostAsked {
		return audit.Fault(field, fmt.Sprintf("a list of %d", len(all)), fmt.Sprintf("at most %d", mostAsked))
	}
	for i, x := range all {
		if !(x >= least && x < most) || x == 1 {
			return audit.Fault(fmt.Sprintf("%s[%d]", field, i), x, words)
		}
	}
	return nil
}

func checkOrders(orders []float64) error {
	err := audit.First(audit.Require(orders == nil || len(orders) > 0, "orders", "empty", "one order or more, or absent"),
		audit.Require(len(orders) <= maxOrders, "orders", fmt.Sprintf("a list of %d", len(orders)), "at most 1000"))
	if err != nil {
		return err
	}
	for i, alpha := range orders {
		field := fmt.Sprintf("orders[%d]", i)
		if alpha != 1 && checkAlpha(alpha) != nil {
			return audit.Fault(field, alpha, "at least 1 and at most 1e6")
		}
		if i > 0 && alpha <= orders[i-1] {
			return audit.Fault(field, alpha, "above the previous order, "+audit.Exactly(orders[i-1]), "sort the orders")
		}
	}
	return nil
}

func (q Query) filled() Query {
	fill(&q.Steps, 1)
	fill(&q.Group, 1)
	fill(&q.Delta, 1e-5)
	if q.Mechanism.noise() {
		fill(&q.Sensitivity, 1)
		fill(&q.Rate, 1)
	}
	return q
}

func (q *Query) noise() **float64 { return audit.Pick(q.Mechanism == KindLaplace, &q.Scale, &q.Sigma) }

func fill[T any](p **T, value T) {
	if *p == nil {
		*p = &value
	}
}

func (q Query) step() mechanism { return kinds[q.Mechanism.at()].step(q) }

func (q Query) title() string {
	all := q.parameters()
	values := audit.Each(q.Mechanism.Parameters(), func(name string) any {
		return *all[slices.IndexFunc(all, func(p parameter) bool { return p.name == name })].value
	})
	words := fmt.Sprintf(kinds[q.Mechanism.at()].words, values...)
	if *q.Steps > 1 {
		words = fmt.Sprintf("%d steps of ", *q.Steps) + words
	}
	if q.Mechanism.noise() {
		words += fmt.Sprintf(", sensitivity %v", *q.Sensitivity)
		if *q.Rate < 1 {
			words += fmt.Sprintf(", Poisson sampling at rate %v", *q.Rate)
		}
	}
	return words
}

// roundUp rounds a figure up to seven significant digits, after raising it by 1e-9 of it for the
// last bits of the elementary functions. A figure within 1e-12 of one with seven digits is that
// one; one below 1e-290 is raised to that.
func roundUp(x float64) float64 {
	switch {
	case x > 0 && x < 1e-290:
		return 1e-290
	case !(x > 0 && x < 1e290):
		return x
	}
	digits := 6 - int(math.Floor(math.Log10(x)))
	rounded := func(x float64, round func(float64) float64) float64 {
		if digits < 0 {
			return round(x/math.Pow10(-digits)) * math.Pow10(-digits)
		}
		return round(x*math.Pow10(digits)) / math.Pow10(digits) // correctly rounded decimals
	}
	if v := rounded(x, math.Round); math.Abs(v-x) <= 1e-12*x {
		return v
	}
	return rounded(x*(1+1e-9), math.Ceil)
}

func roundDown(x float64) float64 {
	if !(x > 1e-290 && x < 1e290) {
		return 0
	}
	scale := math.Pow10(6 - int(math.Floor(math.Log10(x))))
	v, _ := strconv.ParseFloat(strconv.FormatFloat(math.Floor(x*(1-1e-9)*scale)/scale, 'e', 6, 64), 64) // no power of ten as large is exact
	return v
}

// Limits of what is accepted.
const (
	MaxOrder = 1e6     // largest order that a user may name
	MaxSteps = 1 << 40 // most mechanisms in a composition
	MaxGroup = 1 << 20 // largest group
	// MinNoise is the least sigma/sensitivity of [SubsampledGaussian]: the cost of its integral
	// grows with 1/sigma, and there a record that takes part already shows by 200 nats.
	MinNoise = 0.05
	// What is not 0 lies between these, and deltas above [MinDelta]: products with steps, orders
	// and groups neither overflow nor vanish.
	MinNumber = 1e-50
	MaxNumber = 1e50
	MinDelta  = 1e-100
)

func checkAlpha(alpha float64) error {
	return audit.Remedy("2 to 64 are usual", audit.Require(alpha > 1 && alpha <= MaxOrder, "alpha", alpha, "above 1 and at most 1e6"))
}

func checkDelta(delta float64) error {
	return audit.Remedy("usually less than 1 / (number of records), such as 1e-5",
		audit.First(audit.Require(delta > 0 && delta < 1, "delta", delta, "above 0 and below 1"),
			audit.Require(delta >= MinDelta, "delta", delta, "at least 1e-100")))
}

func checkCount(field string, k, most int) error {
	return audit.Require(k >= 1 && k <= most, field, k, "a whole number in [1, %d]", most)
}

func checkPositive(field string, v float64) error {
	return audit.First(audit.Require(v > 0 && v != inf, field, v, "a finite number above 0"),
		audit.Require(v >= MinNumber && v <= MaxNumber, field, v, "in [1e-50, 1e50]"))
}

func checkEpsilon(field string, v float64) error {
	return audit.First(audit.Require(bounds.CheckClaim(v) == nil, field, v, "a finite number of at least 0"),
		audit.Require(v == 0 || v >= MinNumber && v <= MaxNumber, field, v, "0 or in [1e-50, 1e50]"))
}

func checkRate(q float64) error {
	part := audit.Require(q > 0 && q <= 1, "rate", q, "above 0 and at most 1")
	return audit.First(audit.Remedy("it is the probability that a record takes part in a step", part), checkPositive("rate", q))
}

func mustBeOrder(alpha float64) { bounds.Refuse(!(alpha >= 1), "an order is at least 1") }

func mustBeDelta(delta float64) { bounds.Refuse(!(delta > 0 && delta < 1), "delta outside (0, 1)") }

func mustBeEpsilon(eps float64) { bounds.Must(bounds.CheckClaim(eps)) }

// Command asks the query.
func (q Query) Command() string {
	return audit.CommandOf("dpscope account", settings.Written(Keys(), q, Query{}))
}

// Keys are the settings of a query. The page takes a form's Empty where nothing is typed.
func Keys() []settings.Key[Query] {
	number := func(name, field string, at func(*Query) **float64, usage, label, hint, empty string) settings.Key[Query] {
		return settings.Key[Query]{Name: name, Field: field, At: settings.Optional(settings.Number[float64], at), Usage: usage + ", a `number`", Form: &settings.Form{Label: label, Hint: hint, Empty: empty}}
	}
	count := func(name string, at func(*Query) **int, most float64, usage, label, hint string) settings.Key[Query] {
		return settings.Key[Query]{Name: name, At: settings.Optional(settings.Whole[int, int], at), Range: settings.In(1, most), Default: "1", Usage: usage, Form: &settings.Form{Label: label, Hint: hint, Empty: "1"}}
	}
	return []settings.Key[Query]{
		{Name: "mechanism", At: settings.Word(func(q *Query) *Kind { return &q.Mechanism }), Usage: "what to account for: " + strings.Join(KindNames(), ", ")},
		number("sigma", "", func(q *Query) **float64 { return &q.Sigma }, "gaussian: standard deviation of the noise",
			"Sigma", "standard deviation of the noise", "1"),
		number("scale", "", func(q *Query) **float64 { return &q.Scale }, "laplace: scale of the noise",
			"Scale", "of the noise", "1"),
		number("p", "", func(q *Query) **float64 { return &q.P }, "randomised-response: probability of the true answer",
			"p", "probability of the true answer", "0.75"),
		number("epsilon", "", func(q *Query) **float64 { return &q.Epsilon }, "pure, approximate, renyi: epsilon of one step",
			"Epsilon", "of one step", "0.1"),
		number("step-delta", "stepDelta", func(q *Query) **float64 { return &q.StepDelta }, "approximate: delta of one step",
			"Delta of a step", "", "1e-7"),
		number("alpha", "", func(q *Query) **float64 { return &q.Alpha }, "renyi: order at which -epsilon holds",
			"Order alpha", "at which epsilon holds", "8"),
		number("rho", "", func(q *Query) **float64 { return &q.Rho }, "zcdp: rho of one step",
			"Rho", "of one step", "0.01"),
		number("mu", "", func(q *Query) **float64 { return &q.Mu }, "gaussian-dp: mu of one step",
			"Mu", "of one step", "0.1"),
		number("sensitivity", "", func(q *Query) **float64 { return &q.Sensitivity }, "gaussian, laplace: sensitivity of the value; default 1",
			"Sensitivity", "largest change of the value by one record", "1"),
		number("rate", "", func(q *Query) **float64 { return &q.Rate }, "gaussian, laplace: Poisson sampling rate of a step, in (0, 1]; default 1",
			"Sampling rate", "probability that a record takes part in a step (Poisson)", "1"),
		count("steps", func(q *Query) **int { return &q.Steps }, MaxSteps, "mechanisms in the composition",
			"Steps", "mechanisms in the composition"),
		{Name: "with", At: settings.Text(func(q *Query) *string { return &q.With }), Usage: "further mechanisms of the composition, such as `laplace scale=2 steps=3; pure epsilon=0.1`, each with its own settings and steps",
			Form: &settings.Form{Label: "And", Hint: "further mechanisms: kind and settings, semicolons between", Empty: "", Wide: true}},
		count("group", func(q *Query) **int { return &q.Group }, MaxGroup, "records in a group",
			"Group size", "records protected together"),
		number("delta", "", func(q *Query) **float64 { return &q.Delta }, "delta at which epsilon is computed, in (0, 1); default 1e-5",
			"Delta", "at which epsilon is computed", "0.00001"),
		number("at-epsilon", "atEpsilon", func(q *Query) **float64 { return &q.AtEpsilon }, "also compute delta at this epsilon",
			"At epsilon", "also compute delta at this epsilon; empty: no", ""),
		number("target-epsilon", "targetEpsilon", func(q *Query) **float64 { return &q.TargetEpsilon }, "gaussian, laplace: also compute the least noise with which all steps together have this epsilon at delta; -sigma or -scale may then be left out",
			"Target epsilon", "also compute the least noise that meets it; empty: no", ""),
		{Name: "event", At: settings.Numbers(func(q *Query) *[]float64 { return &q.Event }), Usage: "probabilities of a bad outcome on one dataset, such as `0.5,0.001`: asks for the range of its probability on a neighbour",
			Form: &settings.Form{Label: "Bad outcome", Hint: "probabilities on one dataset; gives their ranges on a neighbour"}},
		{Name: "odds", At: settings.Numbers(func(q *Query) *[]float64 { return &q.Odds }), Usage: "factors above 1, such as `2,10`: asks how probable it is that posterior odds over prior odds exceed them (Bayes factor)",
			Form: &settings.Form{Label: "Odds factor", Hint: "above 1: gives the probability that the odds grow by more"}},
		{Name: "profile", At: settings.Switch(func(q *Query) *bool { return &q.Profile }), Usage: "also give points of the curve of delta over epsilon; dpscope audit -claim-file reads them from the JSON"},
		{Name: "orders", At: settings.Numbers(func(q *Query) *[]float64 { return &q.Orders }), Usage: "orders of the curve, increasing, such as `2,4,8`; default: 24 up to 512"},
	}
}
