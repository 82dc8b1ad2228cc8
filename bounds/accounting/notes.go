package accounting

import (
	"fmt"
	"slices"
	"strings"
)

// notes say what holds of the account, and what was left out.
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

// title says what is accounted.
func title(parts []Query) string {
	var all []string
	for _, q := range parts {
		all = append(all, q.title())
	}
	words := strings.Join(all, ", then ")
	if group := *parts[0].Group; group > 1 {
		words += fmt.Sprintf(", for groups of %d", group)
	}
	return strings.ToUpper(words[:1]) + words[1:]
}
