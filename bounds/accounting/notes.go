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
	if w.gaussian {
		say("Composed Gaussian noise is one Gaussian mechanism, so its epsilon is exact; values from the Renyi curve are for comparison.")
	}
	worst := false
	for _, p := range w.parts {
		q := p.q
		worst = worst || p.worst || q.Mechanism == KindApproximate
		switch {
		case p.gaussian:
		case q.Mechanism == KindGaussian:
			say("Poisson sampling: each record takes part in a step independently with probability %v, and neighbours differ by adding or removing one record. This does not hold for batches of fixed size, or for replacing a record.", *q.Rate)
		case q.Mechanism == KindLaplace && *q.Rate < 1:
			say("Poisson sampling: each record takes part in a step independently with probability %v, and neighbours differ by adding or removing one record. The curve is that of pure privacy at the largest log ratio.", *q.Rate)
		case p.stepwise && p.worst && p.k > 1 && w.single():
			say("The optimal composition is exact for the worst mechanism of this guarantee.")
		case q.Mechanism == KindRenyi:
			say("Only one order of the Renyi curve is known, so the conversion uses that order.")
		}
	}
	if w.losses != nil && worst {
		say("The privacy loss distribution is that of the worst mechanisms of these guarantees, so no proof for all of them can give a value below its lower figure.")
	} else if w.losses != nil {
		say("The privacy loss distribution is that of this mechanism, so no proof can give a value below its lower figure.")
	}
	for _, p := range w.parts {
		q := p.q
		if q.Mechanism == KindApproximate {
			say("An (epsilon, delta) guarantee alone bounds no Renyi divergence, so there is no curve.")
			if !p.stepwise {
				say("For a group of %d there is no guarantee: delta reaches 1.", *q.Group)
			}
		}
		if *q.Group > 1 {
			switch q.Mechanism {
			case KindRandomisedResponse:
				say("If a group reports one bit in all, its epsilon is that of one record. If each member reports a bit, pure epsilon is multiplied by the group size.")
			case KindGaussian, KindRenyi:
				if !p.gaussian {
					c := stability(*q.Group)
					say("Group privacy by the general rule: for alpha >= 2, the divergence at alpha is 3^%d times that of one record at order %d alpha.", c, 1<<c)
				}
			case KindApproximate:
				say("One step for the group is (%.7g, %.7g).", roundUp(p.eps), roundUp(p.delta))
			}
		}
		if p.stepwise && w.single() && p.k > maxOptimalSteps {
			say("The optimal composition is not computed above %d steps.", maxOptimalSteps)
		}
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
