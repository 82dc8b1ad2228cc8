package pair

import (
	"cmp"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/audit/phrase"
	"github.com/dpscope/dpscope/bounds"
	"github.com/dpscope/dpscope/core/pair/chart"
	"github.com/dpscope/dpscope/core/pair/threshold"
	"github.com/dpscope/dpscope/core/report"
)

// Evidence is what all bounds were certified on: a pair of datasets, a score cut into bins, and
// how the outputs fell into them. Bounds are functions of Table and Prepared.
type Evidence struct {
	Pair     audit.Pair    `json:"pair"`
	Witness  Witness       `json:"witness"`
	Learners []LearnerNote `json:"learners,omitempty"` // how the learners did on the pair's validation split
	// Edges of the bins of the score: bin k holds scores above Edges[k-1] and at or below Edges[k].
	Edges    []float64 `json:"edges"`
	Prepared Prepared  `json:"prepared" same:"ratio"`
	// Explored counts the validation pairs, Table the certification pairs.
	Explored bounds.Table  `json:"explored"`
	Table    *bounds.Table `json:"table,omitempty"`
	Chart    chart.Chart   `json:"chart"`
}

// TrialNote is one explored pair. Values are in units of the goal and compare
// trials; they are no certificates.
type TrialNote struct {
	Trial   int        `json:"trial"`
	Pair    audit.Pair `json:"pair"`
	Value   float64    `json:"value"`
	Learner string     `json:"learner"`
	Outputs int        `json:"outputs,omitempty"` // explored, a side, in all rounds
	Chosen  bool       `json:"chosen,omitempty"`
}

// Witness is a score that tells two datasets apart. Events are unions of its bins.
type Witness struct {
	Learner string          `json:"learner"` // names the learner, which decodes Model
	Model   json.RawMessage `json:"model"`
}

// decode builds the score of w for outputs of the audit.
func (w Witness) decode(a *Audit) (audit.Model, error) {
	spec, err := a.cat.Learner(w.Learner)
	if err != nil {
		return nil, fmt.Errorf("witness: %w", err)
	}
	m, err := spec.Decode(w.Model, a.Columns)
	if err != nil {
		return nil, fmt.Errorf("witness of learner %s: %w", w.Learner, err)
	}
	return m, nil
}

func (e Evidence) check(plan Plan) error {
	if err := cmp.Or(threshold.CheckEdges(e.Edges), e.Prepared.check(plan, len(e.Edges)+1)); err != nil {
		return err
	}
	for _, t := range []*bounds.Table{&e.Explored, e.Table} {
		if t == nil {
			continue
		}
		if err := t.Validate(); err != nil {
			return err
		}
		if t.Bins != len(e.Edges)+1 {
			return &audit.InputError{Field: "table.bins", Found: fmt.Sprint(t.Bins), Want: fmt.Sprintf("%d, one more than there are edges", len(e.Edges)+1)}
		}
	}
	if err := e.Chart.Check(); err != nil || e.Table == nil {
		return err
	}
	return e.Chart.CheckCounts(*e.Table, e.Prepared.Event)
}

// packed are counts, most of them 0, as a text in JSON: how many, and then as [packSparse] has them.
type packed []int

// mostPacked bounds them: the cells of a table of the most bins, or of a plane.
const mostPacked = 1 << 16

func (p packed) MarshalJSON() ([]byte, error) {
	return json.Marshal(append(binary.AppendUvarint(nil, uint64(len(p))), packSparse(p)...))
}

func (p *packed) UnmarshalJSON(text []byte) error {
	var data []byte
	if err := json.Unmarshal(text, &data); err != nil {
		return err
	}
	n, size := binary.Uvarint(data)
	if size <= 0 || n > mostPacked {
		return errPacked
	}
	var err error
	*p, err = unpackSparse(data[size:], int(n))
	return err
}

var errPacked = errors.New("packed counts are cut off or out of range")

// packSparse packs counts of which most are 0: how many zeros are passed over, then a
// count, and so on, as numbers of a variable length.
func packSparse(n []int) []byte {
	var out []byte
	zeros := 0
	for _, k := range n {
		if k == 0 {
			zeros++
			continue
		}
		out = binary.AppendUvarint(binary.AppendUvarint(out, uint64(zeros)), uint64(k))
		zeros = 0
	}
	return out
}

func unpackSparse(data []byte, n int) ([]int, error) {
	out := make([]int, n)
	for at := -1; len(data) > 0; {
		zeros, a := binary.Uvarint(data)
		k, b := binary.Uvarint(data[max(a, 0):])
		if a <= 0 || b <= 0 || zeros >= uint64(n) || k == 0 || k > MaxSamples {
			return nil, errPacked
		}
		if at += int(zeros) + 1; at >= n {
			return nil, errPacked
		}
		out[at], data = int(k), data[a+b:]
	}
	return out, nil
}

// Prepared is all that exploration fixed for the bounds on the chosen pair, so
// that nothing is chosen on the pairs that certify.
type Prepared struct {
	Event threshold.Event `json:"event"` // for epsilon
	// Steps is by how many steps of the relation the pair differs, where it is more than one.
	Steps        int                     `json:"steps,omitempty"`
	Alternatives []threshold.Alternative `json:"hedges,omitempty"` // other events for epsilon, with their shares of the error; the rest is Event's
	DeltaEvent   threshold.Event         `json:"deltaEvent"`       // for delta at the claimed epsilon
	MuEvent      threshold.Event         `json:"muEvent"`          // for mu
	// Point is that of a claim's curve at which the audit is.
	Point *audit.ProfilePoint `json:"point,omitempty"`
	Goal  *DirectedPlan       `json:"goal,omitempty"` // of the claim's own order, with all of the error
	Renyi []DirectedPlan      `json:"renyi"`          // of all orders, each with an equal share of it
}

// DirectedPlan is the plan of a Rényi bound on the divergence of the first
// dataset from the second or, reversed, of the second from the first.
type DirectedPlan struct {
	bounds.RenyiPlan
	Reversed bool `json:"reversed,omitempty"`
}

func (d DirectedPlan) side(t bounds.Table) bounds.Table { return threshold.Turned(t, d.Reversed) }

// prepare chooses on the exploration table what each bound needs, but for the events for
// epsilon, which are chosen with the witness.
func (a *Audit) prepare(e Evidence) (*Prepared, error) {
	out, table := &Prepared{Event: e.Prepared.Event, Alternatives: e.Prepared.Alternatives, Steps: e.Prepared.Steps}, e.Explored
	a = a.grouped(out.Steps)
	if a.Claim.Kind == audit.Profile {
		point, at := a.choosePoint(table)
		out.Point, out.Event, out.Alternatives = &point, at, nil
		a = a.at(&point)
	}
	p := a.Plan
	eps, _ := a.dpLimits()
	out.DeltaEvent, _ = threshold.Best(table, func(c bounds.Counts) float64 { // the lower limit of p1 - e^eps p0
		lo, _ := threshold.Wilson(c.X, c.N1)
		_, up := threshold.Wilson(c.Y, c.N0)
		return phrase.Floor(lo-float64(math.Exp(eps)*up), 12)
	})
	out.MuEvent, _ = threshold.Best(table, muWorth)
	for _, alpha := range renyiOrders {
		d, err := tuneRenyi(table, alpha, p.Samples, p.Beta/float64(len(renyiOrders)))
		if err != nil {
			return out, err
		}
		out.Renyi = append(out.Renyi, d)
	}
	if !p.divergent() {
		return out, nil
	}
	best := 0.0
	for _, alpha := range p.orders() {
		d, err := tuneRenyi(table, alpha, p.Samples, p.Beta)
		if err != nil {
			return out, &audit.InputError{Field: "alpha", Found: audit.Number(alpha), Want: "an order at which the witness can be used", Remedy: err.Error()}
		}
		// The order that promises most for its share of the claim.
		value, se := renyiEstimate(d.side(table), d.H, alpha)
		v := value - 2*se
		if p.goal() == report.Rho {
			v /= alpha
		}
		if v = phrase.Floor(v, 9); out.Goal == nil || v > best+threshold.ValueMargin {
			out.Goal, best = &d, v
		}
	}
	return out, nil
}

// tuneRenyi plans the bound of one order, in the direction that promises more.
func tuneRenyi(table bounds.Table, alpha float64, n int, beta float64) (DirectedPlan, error) {
	var best DirectedPlan
	promised := math.Inf(-1)
	for _, reversed := range []bool{false, true} {
		t := threshold.Turned(table, reversed)
		h := renyiWitness(table, alpha, reversed)
		value, se := renyiEstimate(t, h, alpha)
		if v := phrase.Floor(value-2*se, 9); v > promised+threshold.ValueMargin {
			promised = v
			best = DirectedPlan{RenyiPlan: bounds.RenyiPlan{Alpha: alpha, H: h}, Reversed: reversed}
		}
	}
	plan, err := bounds.TuneRenyi(threshold.Turned(table, best.Reversed), best.H, alpha, n, beta)
	if err != nil {
		return best, err
	}
	// Platforms differ in the last bits, and the report holds the numbers.
	decimals := 6 + max(0, int(math.Ceil(math.Log10(alpha))))
	for i := range plan.H {
		plan.H[i] = phrase.Round(plan.H[i], decimals)
	}
	if x := plan.Lambda; x > 0 {
		plan.Lambda = phrase.Floor(x, 5-int(math.Floor(math.Log10(x))))
	} else {
		plan.Lambda = 0
	}
	best.RenyiPlan = plan
	return best, plan.Validate()
}

func (p Prepared) check(plan Plan, bins int) error {
	edges := bins - 1
	if err := plan.checkPoint(p.Point); err != nil {
		return err
	}
	if p.Steps != 0 && (p.Steps < 2 || p.Steps > plan.Group) {
		return &audit.InputError{Field: "prepared.steps", Found: fmt.Sprint(p.Steps), Want: fmt.Sprintf("absent, or at least 2 and at most the plan's group of %d", max(1, plan.Group))}
	}
	own := plan.divergent()
	if own != (p.Goal != nil) {
		return &audit.InputError{Field: "prepared.goal", Found: audit.Pick(p.Goal != nil, "there", "absent"), Want: "there if and only if the claim is tested through a divergence"}
	}
	if own && !slices.Contains(plan.orders(), p.Goal.Alpha) {
		return &audit.InputError{Field: "prepared.goal.alpha", Found: audit.Number(p.Goal.Alpha), Want: fmt.Sprintf("one of %v", plan.orders())}
	}
	if len(p.Renyi) != len(renyiOrders) {
		return &audit.InputError{Field: "prepared.renyi", Found: fmt.Sprintf("of %d orders", len(p.Renyi)), Want: fmt.Sprint(len(renyiOrders))}
	}
	for i, d := range p.Renyi {
		if d.Alpha != renyiOrders[i] {
			return &audit.InputError{Field: fmt.Sprintf("prepared.renyi[%d].alpha", i), Found: audit.Number(d.Alpha), Want: audit.Number(renyiOrders[i])}
		}
	}
	if n := len(p.Alternatives); n > threshold.MostAlternatives {
		return &audit.InputError{Field: "prepared.hedges", Found: fmt.Sprintf("%d of them", n), Want: fmt.Sprintf("at most %d", threshold.MostAlternatives)}
	}
	cuts := []threshold.Event{p.Event, p.DeltaEvent, p.MuEvent}
	for _, h := range p.Alternatives {
		cuts = append(cuts, h.Event)
		if h.Share != threshold.AlternativeShare {
			return &audit.InputError{Field: "prepared.hedges: share", Found: audit.Number(h.Share), Want: audit.Number(threshold.AlternativeShare)}
		}
	}
	for _, c := range cuts {
		if err := c.Check(edges); err != nil {
			return err
		}
	}
	plans := p.Renyi
	if p.Goal != nil {
		plans = append(append([]DirectedPlan{}, plans...), *p.Goal)
	}
	for _, d := range plans {
		if len(d.H) != bins {
			return &audit.InputError{Field: "prepared: h", Found: fmt.Sprintf("%d numbers", len(d.H)), Want: fmt.Sprintf("%d, one a bin", bins)}
		}
		if err := d.Validate(); err != nil {
			return &audit.InputError{Field: "prepared", Found: "a Rényi " + err.Error(), Want: "one that can be used"}
		}
	}
	return nil
}

// bound is the largest of the exact bounds of the main event and of the hedges, each at
// its share of beta, and what it is of.
func (p Prepared) bound(t bounds.Table, delta, beta float64) (eps float64, at threshold.Alternative) {
	eps = math.Inf(-1)
	for i, h := range p.events() {
		if e := bounds.Exact(h.Counts(t), delta, h.Share*beta); i == 0 || e > eps {
			eps, at = e, h
		}
	}
	return eps, at
}

// events are the main event and the hedges. Their shares sum to 1.
func (p Prepared) events() []threshold.Alternative {
	main := threshold.Alternative{Event: p.Event, Share: 1}
	for _, h := range p.Alternatives {
		main.Share -= h.Share
	}
	return append([]threshold.Alternative{main}, p.Alternatives...)
}
