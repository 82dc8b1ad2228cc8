package scene

import (
	"fmt"
	"math"
	"strings"
)

// Said is what a picture shows in one plain sentence, with what else there is to say.
type Said struct {
	Sentence string `json:"sentence,omitempty"`
	Small    string `json:"small,omitempty"`
	Lit      bool   `json:"lit,omitempty"` // the claim is refuted
}

// Says puts the picture into words by its own numbers, so that the two cannot disagree.
// What is certified is rounded down. With a violation the observed ratio comes first,
// else only what is certified is said.
func (v *outputs) Says() Said {
	x := Said{Lit: v.refuted}
	t := v.tested
	sofar := choose(v.live, "So far: w", "W")
	if t == nil {
		x.Sentence, x.Small = v.whole(), v.shownSmall()
		return x
	}
	likelier, other := likelierOn(t.sign)
	where := sofar + "here " + t.words + ", "
	confidence := v.confidence() + " confidence"
	observed := t.sign * t.seen()
	switch {
	case t.lit && v.claim.Delta > 0:
		x.Sentence = fmt.Sprintf("%sdataset %s has %s of its outputs and %s has %s. %s allows %s times that and %s more.", where,
			likelier, percentWords(t.on(t.sign), false), other, percentWords(t.on(-t.sign), false), v.claimWords(), times(v.epsilon), percentWords(v.claim.Delta, false))
		x.Small = fmt.Sprintf("Shown with %s: even without the %s that δ allows, at least %s times.", confidence, percentWords(v.claim.Delta, false), timesTo(t.bound, false))
	case t.lit:
		least, allowed := toldApart(t.bound, v.epsilon)
		often := fmt.Sprintf("is %s times as likely as %s", times(observed), other)
		if math.IsInf(observed, 1) {
			often = fmt.Sprintf("gives this and %s never did", other)
		}
		if math.IsNaN(observed) { // of counts that were made up
			often = fmt.Sprintf("is at least %s times as likely as %s", least, other)
		}
		x.Sentence = fmt.Sprintf("%sdataset %s %s. %s allows %s.", where, likelier, often, v.claimWords(), allowed)
		x.Small = fmt.Sprintf("Shown with %s: at least %s times.", confidence, least)
		if v.live {
			x.Small += " It may still rise; it cannot be taken back."
		}
	case v.refuted && v.corridor:
		x.Sentence, x.Small = v.whole(), v.shownSmall()
		if t.certain && timesTo(t.bound, false) != times(0) {
			x.Small += fmt.Sprintf(" What tells most by itself: where %s, %s is at least %s times as likely as %s.", t.words, likelier, timesTo(t.bound, false), other)
		}
	case t.certain && timesTo(t.bound, false) == times(0):
		x.Sentence = choose(v.live, "So far nothing", "Nothing") + " shows a difference between A and B."
		if v.corridor {
			x.Sentence += fmt.Sprintf(" %s allows %s times.", v.claimWords(), v.allowed())
		}
		x.Small = v.shownSmall()
	case t.certain && !v.corridor:
		x.Sentence = fmt.Sprintf("%s%s is at least %s times as likely as %s.", where, likelier, timesTo(t.bound, false), other)
		x.Small = v.shownSmall()
	case t.certain:
		x.Sentence = fmt.Sprintf("%s%s is at least %s times as likely as %s. %s allows %s.", where, likelier, timesTo(t.bound, false), other, v.claimWords(), v.allowed())
		x.Small = v.shownSmall()
	case observed > 0 && !math.IsInf(observed, 1):
		x.Sentence = fmt.Sprintf("%s%s may be %s times as likely as %s.", where, likelier, times(observed), other)
		x.Small = v.shownSmall()
		if !v.refuted {
			x.Small = strings.TrimSpace("This is what was seen, without a certificate. " + x.Small)
		}
	default:
		x.Sentence, x.Small = v.whole(), v.shownSmall()
	}
	return x
}

// on is the event's share on one dataset: B for a sign above 0.
func (t *tested) on(sign float64) float64 {
	if sign > 0 {
		return share(t.second, t.n0)
	}
	return share(t.first, t.n1)
}

// whole is the sentence where no event has one.
func (v *outputs) whole() string {
	switch {
	case v.refuted && v.corridor:
		return fmt.Sprintf("All outputs together tell A from B better than %s allows.", v.claimWords())
	case v.refuted:
		return "All outputs together tell A from B better than the claim allows."
	case v.live:
		return "So far nothing shows more than the claim allows."
	}
	return "Nothing shows more than the claim allows."
}

// shownSmall says what else holds.
func (v *outputs) shownSmall() string {
	switch {
	case v.refuted && v.live:
		return "The claim is refuted by bets on all outputs as they came; it cannot be taken back."
	case v.refuted:
		return v.summary
	case v.live:
		return fmt.Sprintf("Shown with %s confidence. The bars get shorter as outputs come in.", v.confidence())
	case !v.corridor:
		return v.summary
	}
	return fmt.Sprintf("Shown with %s confidence.", v.confidence())
}

// allowed is how many times the claim allows.
func (v *outputs) allowed() string {
	words := times(v.epsilon)
	if v.claim.Delta > 0 {
		words += " times, and " + percentWords(v.claim.Delta, false) + " more"
	}
	return words
}

// toldApart are the certified ratio, rounded down, and the one that is allowed, to as many
// decimals as tell them apart.
func toldApart(bound, epsilon float64) (least, allowed string) {
	least, allowed = timesTo(bound, false), times(epsilon)
	for d := 2; d <= 6 && bound > epsilon && least == allowed; d++ {
		p := math.Pow(10, float64(d))
		least, allowed = fmt.Sprintf("%.*f", d, math.Floor(math.Exp(bound)*p)/p), fmt.Sprintf("%.*f", d, math.Round(math.Exp(epsilon)*p)/p)
	}
	return least, allowed
}
