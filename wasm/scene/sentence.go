package scene

import (
	"cmp"
	"fmt"
	"math"
	"strings"

	"github.com/dpscope/dpscope/wasm/scene/plot"
)

// Says puts the picture into words by its own numbers, what is certified rounded down. Observed
// shares are said with a violation only, and come first.
func (v *outputs) Says() plot.Said {
	shown := fmt.Sprintf("Shown with %s confidence", v.confidence())
	x := plot.Said{Sentence: "Nothing shows more than the claim allows.", Small: shown + ".", Lit: v.refuted,
		Question: v.People.Question, Who: v.People.Words}
	switch {
	case v.refuted:
		x.Sentence = fmt.Sprintf("%s and %s, the answers together differ more than %s allows.", upperFirst(v.People.Names[0]), v.People.Again[1], plot.If(v.corridor, v.claimWords(), "the claim"))
		x.Small = plot.If(v.live, "The claim is refuted by bets on all outputs as they came; the refutation is final.",
			v.summary)
	case v.live:
		x.Sentence = "So far nothing shows more than the claim allows."
		x.Small += " The bars get shorter as outputs come in."
	case !v.corridor:
		x.Small = v.summary
	}
	t := v.tested
	if t == nil {
		return x
	}
	likelier := likelierOn(t.sign)
	other := 1 - likelier
	with, without := v.People.Names[likelier], v.People.Again[other]
	begun := plot.If(v.live, "So far: "+with, upperFirst(with)) + " " + t.words
	least, allowed := toldApart(t.bound, v.epsilon)
	slack := ""
	if d := v.Claim.Delta; d > 0 {
		allowed += fmt.Sprintf(" times, and %s more", percentWords(d))
		slack = fmt.Sprintf("even without the %s that δ allows, ", percentWords(d))
	}
	allows := fmt.Sprintf(" %s allows %s.", v.claimWords(), allowed)
	observed := t.sign * t.seen()
	switch {
	case t.lit:
		in, of := inRuns(t.share(likelier), t.share(other))
		switch {
		case math.IsNaN(observed): // of counts that were made up
			x.Sentence = fmt.Sprintf("%s at least %s times as often as %s.", begun, least, without)
		case math.IsInf(observed, 1):
			x.Sentence = fmt.Sprintf("%s in %s of %s runs, %s never.", begun, in[0], of, without)
		default:
			x.Sentence = fmt.Sprintf("%s in %s of %s runs, %s in %s: %s times as often.", begun, in[0], of, without, in[1], times(observed))
		}
		x.Sentence += allows
		x.Small = fmt.Sprintf("%s: %sat least %s times.%s", shown, slack, least, plot.If(v.live, " It may still rise; the refutation is final.", ""))
	case v.refuted && v.corridor:
		if t.certain && timesDown(t.bound) != times(0) {
			x.Small += fmt.Sprintf(" The most telling single event: %s %s at least %s times as often as %s.", with, t.words, timesDown(t.bound), without)
		}
	case t.certain && timesDown(t.bound) == times(0):
		x.Sentence = fmt.Sprintf("%s shows a difference between the answers %s and %s.", plot.If(v.live, "So far nothing", "Nothing"), v.People.Names[0], v.People.Again[1])
		if v.corridor {
			x.Sentence += plot.If(v.Claim.Delta > 0, allows, strings.TrimSuffix(allows, ".")+" times.")
		}
	case t.certain:
		x.Sentence = fmt.Sprintf("%s at least %s times as often as %s.", begun, least, without)
		if v.corridor {
			x.Sentence += allows
			if !v.live {
				x.Small = strings.TrimSuffix(x.Small, ".") + ", by this event alone." + plot.If(t.bound > v.epsilon, " It is more than the claim allows; the verdict is by bets on all outputs, which do not show it yet.", "")
			}
		}
	case observed > 0 && !math.IsInf(observed, 1):
		x.Sentence = fmt.Sprintf("%s perhaps %s times as often as %s.", begun, times(observed), without)
		if !v.refuted {
			x.Small = strings.TrimSpace("This was observed, not certified. " + x.Small)
		}
	}
	return x
}

// inRuns are two shares of so many runs that 7 or more have the rarer.
func inRuns(a, b float64) (in [2]string, of string) {
	n := 100.0
	for rarest := cmp.Or(min(a, b), 10*max(a, b)); rarest*n < 7 && n < 1e9; {
		n *= 10
	}
	for i, p := range [2]float64{a, b} {
		in[i] = plot.Grouped(int(math.Round(float64(p * n))))
	}
	return in, plot.Grouped(int(n))
}

// toldApart are the certified ratio, rounded down, and the allowed one, by enough decimals.
func toldApart(bound, epsilon float64) (least, allowed string) {
	least, allowed = timesDown(bound), times(epsilon)
	for d := 2; d <= 6 && bound != epsilon && least == allowed; d++ {
		p := math.Pow(10, float64(d))
		least, allowed = fmt.Sprintf("%.*f", d, math.Floor(math.Exp(bound)*p)/p), fmt.Sprintf("%.*f", d, math.Round(math.Exp(epsilon)*p)/p)
	}
	return least, allowed
}

func (v *outputs) confidence() string { return percentFloor(1 - v.Beta) }

func percentFloor(p float64) string { return plot.Short(plot.Floor(100*p, 3)) + "\u202f%" }

func (v *outputs) caption() string {
	what := plot.If(v.outcomes, "answer", "range of answers")
	words := fmt.Sprintf("How often each %s occurs %s (A) and %s (B), and how many times likelier it is on one side. All bars hold together with %s confidence%s.", what, v.People.Names[0], v.People.Names[1], v.confidence(), plot.If(v.anytime, ", whenever one looks", ""))
	if v.corridor {
		words += fmt.Sprintf(" Hatched: more than %s allows.", v.claimWords())
	} else {
		words += " The claim does not limit single ratios, so it draws no line."
	}
	return words
}

func (v *outputs) claimWords() string {
	return "ε\u00a0=\u00a0" + plot.Short(v.epsilon) + plot.If(v.Claim.Delta > 0, " with δ\u00a0=\u00a0"+plot.Short(v.Claim.Delta), "")
}

func times(r float64) string {
	if more := math.Expm1(r); more > 0 && more < 0.005 {
		return plot.Short(1 + plot.Round(more, 1))
	}
	return decimals(math.Exp(r), math.Round)
}

func timesDown(r float64) string { return decimals(math.Exp(r), math.Floor) }

func decimals(x float64, whole func(float64) float64) string {
	switch {
	case x >= 9.95e5:
		return strings.Replace(plot.Short(plot.ToSide(x, 2, whole)), "e", "\u202f×\u202f10^", 1)
	case x >= 9.95:
		return plot.Grouped(int(whole(x)))
	case x >= 1.25:
		return fmt.Sprintf("%.1f", whole(10*x)/10)
	}
	return fmt.Sprintf("%.2f", whole(100*x)/100)
}

func (v *outputs) numbers() plot.Numbers {
	n := plot.Numbers{Title: "The chart", Head: []string{plot.If(v.outcomes, "answer", v.Chart.AxisWords()), v.People.Names[0], "share", v.People.Names[1], "share", "B/A", "at least", "at most", "in the event"}}
	add := func(name any, m mark, in string) []any {
		row := []any{name, m.n[0], plot.Share(m.share(0)), m.n[1], plot.Share(m.share(1)), "", "", "", in}
		if m.count() > 0 {
			row[5] = math.Exp(m.seen())
		}
		if m.lower != 0 || m.upper != 0 {
			row[6], row[7] = plot.Down(math.Exp(m.lower)), plot.Up(math.Exp(m.upper))
		}
		n.Rows = append(n.Rows, row)
		return row
	}
	for _, m := range v.marks {
		add(plot.If[any](v.outcomes, m.Words, plot.Range{A: m.low, B: m.high}), m, plot.If(m.in > 0.999, "yes", plot.If(m.in > 0, "in part", "no")))
	}
	if e := v.tested; e != nil {
		m := e.mark
		m.lower, m.upper = 0, 0
		switch row := add("event: "+e.words, m, "yes"); {
		case !e.certain:
		case e.sign > 0:
			row[6] = plot.Down(math.Exp(e.bound))
		default:
			row[7] = plot.Up(math.Exp(-e.bound))
		}
	}
	return n
}
