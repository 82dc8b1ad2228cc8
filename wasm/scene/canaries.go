package scene

import (
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/bounds"
	"github.com/dpscope/dpscope/core/membership"
	"github.com/dpscope/dpscope/core/report"
	"github.com/dpscope/dpscope/wasm/scene/plot"
)

// CanaryReport is what the views need of a report of canaries or of scores.
type CanaryReport struct {
	head
	Plan struct {
		Relation audit.Relation `json:"relation"`
		Beta     float64        `json:"beta"`
	} `json:"plan"`
	Evidence struct {
		Runs       *membership.Gathered `json:"runs"`
		Sequential *struct{}            `json:"sequential"`
		OneRun     *membership.Guessed  `json:"oneRun"`
		Membership *membership.Evidence `json:"membership"`
	} `json:"evidence"`
}

func canaryViews(r *CanaryReport, cloud *Cloud) []*plot.View {
	out := []*plot.View{newSpace(r, cloud, math.MaxInt)}
	if t := r.certified(); t != nil {
		out = append(out, canaryRuns(*t, r.coins()))
	}
	return present(append(out, NewROC(r), NewScores(r), NewCanaryBounds(r)))
}

// NewStill is a canary report's first picture; nil for none.
func NewStill(r *CanaryReport, cloud *Cloud) *plot.View {
	views := present([]*plot.View{newSpace(r, cloud, MostInStill), NewScores(r), NewCanaryBounds(r)})
	if len(views) == 0 {
		return nil
	}
	views[0].Said = r.Says()
	return views[0]
}

// newSpace is by what a report keeps where its runs are gone; nil for none.
func newSpace(r *CanaryReport, cloud *Cloud, most int) *plot.View {
	if r.Evidence.Runs == nil {
		return nil
	}
	if !cloud.there() {
		cloud = cloudOf(r.Evidence.Runs.ScoreSample)
	}
	return cloud.view(r.Evidence.Runs.Threshold, most, plot.If(r.Evidence.Sequential != nil, "Each training was bet on before an event was chosen by it. The picture certifies nothing.", "Threshold and stakes were chosen on these runs; nothing here is certified."))
}

func (r *CanaryReport) certified() *bounds.CanaryTable {
	if e := r.Evidence.Runs; e != nil && e.Certified.Table != nil && len(e.Certified.Table.Cells) > 0 {
		return e.Certified.Table
	}
	return nil
}

func (r *CanaryReport) coins() bool { return r.Kind == "scores" && r.Plan.Relation == audit.AddRemove }

const canaryQuestion = "Do the scores tell which canaries were in?"

// Says puts what certifies into words; nothing for no counts.
func (r *CanaryReport) Says() (x plot.Said) {
	x.Question = canaryQuestion
	epsilon := r.Claim.Epsilon
	claim := "ε = " + plot.Short(epsilon)
	if t := r.certified(); t != nil {
		in, out := membership.Shares(*t)
		n, of := inRuns(in, out)
		above := "above " + plot.If(r.Evidence.Sequential != nil, "the threshold of its time", plot.Short(r.Evidence.Runs.Threshold))
		x.Sentence = fmt.Sprintf("In %s of %s trainings a canary that was in scores %s; one that was not does in %s", n[0], of, above, n[1])
		if r.coins() {
			x.Sentence = fmt.Sprintf("Of %s canaries %s were in and score %s; %s were not and do", of, n[0], above, n[1])
		}
		if in > out && out > 0 {
			x.Sentence += fmt.Sprintf(": %s times as often", times(math.Log(in/out)))
		}
		x.Sentence += fmt.Sprintf(". %s allows %s times", claim, times(epsilon))
		if d := r.Claim.Delta; d > 0 {
			x.Sentence += fmt.Sprintf(" and %s more", percentWords(d))
		}
		x.Sentence += "."
	} else if e := r.Evidence.OneRun; e != nil && len(e.Guesses) == 1 {
		g := e.Guesses[0]
		n, of := inRuns(share(g.Right, g.Made), 0)
		x.Sentence = plot.Say("One training, and %s guesses which canaries were in: %s of %s are right. By chance it would be half; %s allows %s of %[3]s.",
			g.Made, n[0], of, claim, plot.Round(100/(1+math.Exp(-epsilon)), 3))
	}
	if x.Lit = r.Verdict == audit.Violation; x.Sentence != "" && r.LowerBound != nil && *r.LowerBound > 0 {
		x.Small = plot.Say("Shown with %s confidence: ε is at least %s.", percentFloor(r.Confidence), plot.Floor(*r.LowerBound, 3))
	}
	return x
}

// canaryRuns shows runs by how many of their canaries, and of the fresh ones, were in the event.
// coins: fair ones chose which were in.
func canaryRuns(t bounds.CanaryTable, coins bool) *plot.View {
	runs, largest := 0, 0
	for _, c := range t.Cells {
		runs, largest = runs+c.Runs, max(largest, c.Runs)
	}
	p := plot.Plot{Height: plot.Height{240, 0.5, 380}, Hit: [2]float64{12, 12}, Outline: 12}
	most := [2]int{1, 1}
	sizes := map[float64]plot.Points{}
	for _, c := range t.Cells {
		most = [2]int{max(most[0], c.X), max(most[1], c.Y)}
		at := [2]float64{float64(c.X), float64(c.Y)}
		r := math.Round(2*max(2, 11*math.Sqrt(float64(c.Runs)/float64(largest)))) / 2
		sizes[r] = plot.Points{Paint: plot.Event.At(0.65), At: append(sizes[r].At, at), Radius: r}
		p.Items = append(p.Items, at)
	}
	for k, axis := range []*plot.Axis{&p.X, &p.Y} { // a little beyond the runs
		of := [2]int{t.K, t.M}[k]
		title := [2]string{"canaries inside", "fresh canaries"}[k] + " in the event, of " + plot.Grouped(of)
		*axis = plot.Linear(title, -0.5, min(float64(of), 1.1*float64(most[k]))+0.5).Zooming()
		axis.Whole = true
	}
	p.Marks = []plot.Mark{plot.Points{Key: "runs (the more, the larger)", Paint: plot.Event},
		plot.Line{Key: "as large a share inside as fresh", Width: 1.3, Dash: true, Points: [][2]float64{{0, 0}, {float64(t.K), float64(t.M)}}}}
	for _, r := range slices.Backward(slices.Sorted(maps.Keys(sizes))) {
		p.Mark(sizes[r])
	}
	in, out := membership.Shares(t)
	p.Caption = plot.Say("%s certification runs: %s of the %s canaries inside were in the event, and %s of the %s fresh ones. If nothing leaked, both would be distributed alike.",
		runs, plot.Share(in), t.K, plot.Share(out), t.M)
	p.Numbers = plot.Numbers{Title: "Runs by canaries in the event", Head: []string{"inside", "of", "fresh", "of", "runs", "share"}}
	if coins {
		p.Caption = plot.Say("%s certification runs of %s canaries, each in by a fair coin: %s of all were in and in the event, %s out and in the event. If nothing leaked, both would be distributed alike.",
			runs, t.K, plot.Share(in), plot.Share(out))
		p.Head[0], p.Head[2] = "in and in the event", "out and in the event"
	}
	p.Rows = audit.Each(t.Cells, func(c bounds.CanaryCell) []any {
		return []any{c.X, t.K, c.Y, t.M, c.Runs, plot.Share(share(c.Runs, runs))}
	})
	return plot.View{ID: "runs", Title: "Canaries"}.Always(p)
}

var sideWords = [2]string{"inside", "fresh"}

// NewCanaryBounds shows what every interval makes of the same counts; nil for none.
func NewCanaryBounds(r *CanaryReport) *plot.View {
	claimed := r.Claim.Epsilon
	bars := slices.DeleteFunc(slices.Clone(report.Report(r.head).Rows(report.Bounds)), func(row report.Row) bool { return row.LowerBound == nil })
	if len(bars) == 0 {
		return nil
	}
	valid := plot.Points{Key: "valid", Paint: plot.First, Radius: 5}
	assumed := plot.Points{Key: "asymptotic, or by an assumption", Paint: plot.Muted, Form: plot.Ring, Radius: 5}
	own := plot.Points{Key: "the audit's own", Paint: plot.Event, Radius: 5}
	least, most := 0.0, claimed
	for _, b := range bars {
		least, most = min(least, *b.LowerBound), max(most, *b.LowerBound)
	}
	least = max(least, -most) // far below 0 a bound says nothing
	pad := max(0.06*(most-least), 1e-9)
	p := plot.Plot{X: plot.Linear("epsilon", least-pad, most+pad)}
	p.Caption = plot.Say("Lower bounds on epsilon from the same canaries; claimed: %s. Each valid bound holds with the report's confidence; the largest of them does not, unless it was chosen in advance.", claimed)
	p.Numbers = plot.Numbers{Title: "Bounds", Head: []string{"interval", "bound", "kind"}}
	p.Y.Bold = func(i float64) bool { return bars[int(i)].Chosen }
	for i, b := range bars {
		at := [2]float64{max(*b.LowerBound, p.X.Lo), float64(i) + 0.5}
		p.Y.Names = append(p.Y.Names, string(b.Method))
		p.Add(at[0], at[1], plot.Row(i),
			string(b.Method), plot.Down(*b.LowerBound), plot.If(b.Valid, valid.Key, assumed.Key)+plot.If(b.Chosen, ", the audit's own", ""))
		of := plot.If(b.Chosen, &own, plot.If(b.Valid, &valid, &assumed))
		of.At = append(of.At, at)
		p.Mark(plot.Line{Paint: of.Paint.At(0.5), Width: 1, Points: [][2]float64{{max(0, p.X.Lo), at[1]}, at}})
	}
	p.Marks = append([]plot.Mark{valid, assumed, own, plot.Rule{Key: "claimed (dashed)", At: claimed, Upright: true}}, p.Marks...)
	return plot.View{ID: "intervals", Title: "Bounds"}.Always(p)
}
