package accounting

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/dpscope/dpscope/audit"
)

// ReadProfile reads a claim as a curve from JSON, see docs/claims.md: an account of dpscope, lists
// of epsilons and deltas or points, or an Opacus history of (noise multiplier, sample rate, steps),
// composed by [Composition]. name is the file's.
func ReadProfile(name string, data []byte) (audit.PrivacyProfile, error) {
	points, what, err := profilePoints(name, data)
	if err != nil {
		return audit.PrivacyProfile{}, err
	}
	p, err := audit.Profiled(points, what)
	return p, audit.At("claim-file", err)
}

func profilePoints(name string, data []byte) ([]audit.ProfilePoint, string, error) {
	const canBeRead = "docs/claims.md says what can be read"
	if text := bytes.TrimSpace(data); len(text) == 0 || text[0] != '{' {
		return nil, "", audit.Fault(name, "no JSON object", `one with a curve, such as {"epsilons": [1, 2], "deltas": [1e-3, 1e-5]}`, canBeRead)
	}
	var file struct {
		Query    json.RawMessage      `json:"query"` // of dpscope account
		History  [][]float64          `json:"history"`
		Points   []audit.ProfilePoint `json:"points"`
		Source   string               `json:"source"`
		Epsilons json.RawMessage      `json:"epsilons"` // of an account they are ways to one, of others a list
		Deltas   json.RawMessage      `json:"deltas"`
	}
	if err := json.Unmarshal(data, &file); err != nil {
		return nil, "", audit.JsonError(data, name, err)
	}
	if file.Query != nil {
		var a Account
		if err := audit.DecodeStrict(data, name, &a); err != nil {
			return nil, "", err
		}
		if len(a.Profile) == 0 && a.Epsilon != nil && a.Query.Delta != nil {
			a.Profile = []audit.ProfilePoint{{Epsilon: *a.Epsilon, Delta: *a.Query.Delta}}
		}
		return a.Profile, "dpscope account: " + a.Title, nil
	}
	switch {
	case file.History != nil:
		points, err := fromHistory(name, file.History)
		return points, "Opacus history in " + name, err
	case file.Points != nil:
		return file.Points, cmp.Or(file.Source, name), nil
	case file.Epsilons != nil:
		var epsilons, deltas []float64
		if err := errors.Join(json.Unmarshal(file.Epsilons, &epsilons), json.Unmarshal(file.Deltas, &deltas)); err != nil || len(epsilons) != len(deltas) {
			return nil, "", audit.Fault(name+": epsilons", fmt.Sprintf("%d numbers beside %d deltas", len(epsilons), len(deltas)), "numbers, one for each delta")
		}
		return audit.Listed(len(epsilons), func(i int) audit.ProfilePoint { return audit.ProfilePoint{Epsilon: epsilons[i], Delta: deltas[i]} }), name, nil
	}
	return nil, "", audit.Fault(name, "JSON without a curve", "an account of dpscope, lists epsilons and deltas, points, or an Opacus history", canBeRead)
}

// fromHistory composes an Opacus history. Its points are upper bounds, rounded up.
func fromHistory(name string, history [][]float64) ([]audit.ProfilePoint, error) {
	var c Composition
	for i, h := range history {
		at := fmt.Sprintf("%s: history[%d]", name, i)
		if len(h) != 3 {
			return nil, audit.Fault(at, fmt.Sprintf("%d numbers", len(h)), "noise multiplier, sample rate and steps")
		}
		if !(h[2] >= 1 && h[2] <= maxLossSteps) || h[2] != math.Trunc(h[2]) {
			return nil, audit.Fault(at, audit.Exactly(h[2])+" steps", fmt.Sprintf("a whole number in [1, %d]", maxLossSteps))
		}
		m := SubsampledGaussian{h[0], 1, h[1]}
		if err := m.Validate(); err != nil {
			return nil, audit.Amend(err, func(in *audit.InputError) { in.Field = at + ": " + in.Field })
		}
		c = append(c, Entry{m, int(h[2])})
	}
	if len(c) == 0 {
		return nil, audit.Fault("steps", audit.Absent, "one mechanism or more")
	}
	var points []audit.ProfilePoint
	for e := 0.5; e <= 10; e += 0.5 {
		delta := roundUp(math.Pow(10, -e))
		if _, upper := c.epsilon(delta, false); upper <= mostTarget {
			points = append(points, audit.ProfilePoint{Epsilon: roundUp(upper), Delta: delta})
		}
	}
	return points, nil
}

// Trace is how epsilon changes: points (steps, epsilon) at the query's delta and (delta, epsilon)
// at its steps, both increasing, epsilon rounded up.
type Trace struct {
	OverSteps [][2]float64 `json:"overSteps"`
	OverDelta [][2]float64 `json:"overDelta"`
}

// Follow accounts a query, of which the noise is known, at other numbers of steps and deltas. It
// asks before every point whether to go on.
func Follow(q Query, goOn func() bool) (t Trace, err error) {
	if err := q.Validate(); err != nil {
		return t, err
	}
	q = q.filled()
	own, delta := *q.Steps, *q.Delta
	point := func(list *[][2]float64, at float64, steps int, delta float64) {
		if !goOn() {
			return
		}
		q.Steps = &steps
		parts, _ := q.parts()
		w, best := newWorksheet(q, parts), inf
		w.brief = true
		for _, by := range w.ways() {
			if best = min(best, by.epsilon(delta).value); slices.Contains([]Method{MethodGaussian, MethodLosses, MethodOptimal}, by.method) {
				break // no other says less
			}
		}
		if best != inf {
			*list = append(*list, [2]float64{at, roundUp(best)})
		}
	}
	steps, deltas := []int{own}, []float64{delta}
	for k := 1; k <= min(2*own, MaxSteps/5); k *= 10 {
		steps = append(steps, k, 2*k, 5*k)
	}
	for e := -12; e < 0; e++ {
		deltas = append(deltas, math.Pow10(e))
	}
	slices.Sort(steps)
	slices.Sort(deltas)
	for _, k := range slices.Compact(steps) {
		point(&t.OverSteps, float64(k), k, delta)
	}
	for _, d := range slices.Compact(deltas) {
		point(&t.OverDelta, d, own, d)
	}
	return t, nil
}

func (w *worksheet) notes(a Account) []string {
	var all []string
	say := func(format string, args ...any) {
		if text := fmt.Sprintf(format, args...); !slices.Contains(all, text) {
			all = append(all, text)
		}
	}
	for _, p := range w.parts {
		q, group := p.q, *p.q.Group
		if q.Mechanism.noise() && *q.Rate < 1 {
			say("Poisson sampling: each record takes part in a step independently with probability %v, and neighbours differ by adding or removing one record. This does not hold for batches of fixed size, or for replacing a record.", *q.Rate)
		}
		switch {
		case q.Mechanism == KindApproximate:
			say("An (epsilon, delta) guarantee alone bounds no Renyi divergence, so there is no curve.")
			if !p.stepwise {
				say("For a group of %d there is no guarantee: delta reaches 1.", group)
			}
		case group == 1:
		case q.Mechanism == KindRandomisedResponse:
			say("If a group reports one bit in all, its epsilon is that of one record. If each member reports a bit, pure epsilon is multiplied by the group size.")
		case q.Mechanism == KindGaussian && !p.gaussian, q.Mechanism == KindRenyi:
			c := stability(group)
			say("Group privacy by the general rule: for alpha >= 2, the divergence at alpha is 3^%d times that of one record at order %d alpha.", c, 1<<c)
		}
	}
	if p := w.parts[0]; p.stepwise && w.single() && p.k > maxOptimalSteps {
		say("The optimal composition is not computed above %d steps.", maxOptimalSteps)
	}
	if w.curve == nil && len(w.q.Event)+len(w.q.Odds) > 0 {
		say("Without a curve, events and odds cannot be bounded.")
	}
	if a.Epsilon == nil {
		say("No finite epsilon holds at this delta.")
	}
	return all
}

func title(parts []Query) string {
	words := strings.Join(audit.Listed(len(parts), func(i int) string { return parts[i].title() }), ", then ")
	if group := *parts[0].Group; group > 1 {
		words += fmt.Sprintf(", for groups of %d", group)
	}
	return strings.ToUpper(words[:1]) + words[1:]
}
