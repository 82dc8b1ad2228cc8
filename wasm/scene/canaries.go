package scene

import (
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/dpscope/dpscope/wasm/scene/plot"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/bounds"
	"github.com/dpscope/dpscope/core/membership"
)

// CanaryReport is what the views need of a report of core/canary: of canaries in
// many runs, in one run, or of scores.
type CanaryReport struct {
	head
	Plan struct {
		Relation audit.Relation `json:"relation"`
		Beta     float64        `json:"beta"`
	} `json:"plan"`
	Evidence *struct {
		Runs       *membership.Gathered `json:"runs"`
		Membership *membership.Evidence `json:"membership"`
	} `json:"evidence"`
}

// canaryViews are the pictures of a canary report.
func canaryViews(r *CanaryReport) []*plot.View {
	var out []*plot.View
	if r.Evidence != nil && r.Evidence.Runs != nil {
		e := r.Evidence.Runs
		if t := e.Certified.Table; t != nil && len(t.Cells) > 0 {
			v := newCanaryRuns(*t)
			v.coins = r.Kind == "scores" && r.Plan.Relation == audit.AddRemove
			out = append(out, v.view())
		}
		if p := newScoreSample(e.ScoreSample, e.Threshold); p != nil {
			out = append(out, newCanarySpace(p).view())
		}
	}
	return present(append(out, NewROC(r), NewScores(r), NewCanaryBounds(r)))
}

// canaryRuns are the runs of an audit by how many of their canaries, and of the
// fresh ones, were in the event.
type canaryRuns struct {
	table bounds.CanaryTable
	runs  int
	most  int // runs of a cell
	// coins: fair coins put canaries in or left them out; the table counts those of all
	// that were in, or out, and in the event.
	coins bool
}

func newCanaryRuns(t bounds.CanaryTable) *canaryRuns {
	v := &canaryRuns{table: t}
	for _, c := range t.Cells {
		v.runs += c.Runs
		v.most = max(v.most, c.Runs)
	}
	return v
}

func (v *canaryRuns) caption() string {
	in, out := membership.Shares(v.table)
	if v.coins {
		return fmt.Sprintf("%s certification runs of %s canaries, each in by a fair coin: %s of all were in and in the event, %s out and in the event. If nothing leaked, both would be distributed alike.",
			plot.Grouped(v.runs), plot.Grouped(v.table.K), plot.Percent(in), plot.Percent(out))
	}
	return fmt.Sprintf("%s certification runs: %s of the %s canaries inside were in the event, and %s of the %s fresh ones. If nothing leaked, both would be distributed alike.",
		plot.Grouped(v.runs), plot.Percent(in), plot.Grouped(v.table.K), plot.Percent(out), plot.Grouped(v.table.M))
}

func (v *canaryRuns) view() *plot.View {
	in, out, end := v.columns()
	shares := plot.Plot{X: plot.Axis{Scale: plot.Scale{Hi: end}, Words: plot.Percent, Ticks: plot.Ticks(0, end, 8)}, Height: plot.Px(150)}
	shares.Y = plot.Axis{Title: "share of runs, by the share of their canaries in the event", Short: "runs by the share in the event",
		Scale: plot.Scale{Lo: -slices.Max(out) * 1.05, Hi: slices.Max(in) * 1.05}, Words: func(at float64) string { return plot.Percent(math.Abs(at)) }}
	up, down := plot.Bars{Key: "canaries inside (up)", Paint: plot.Ink(plot.First)}, plot.Bars{Key: "fresh canaries (down)", Paint: plot.Ink(plot.Second)}
	wide := end / float64(len(in))
	for i := range in {
		from, to := float64(i)*wide, float64(i+1)*wide
		up.Boxes, down.Boxes = append(up.Boxes, plot.Span(from, to, 0, in[i])), append(down.Boxes, plot.Span(from, to, -out[i], 0))
	}
	shares.Marks = []plot.Mark{up, down}

	runs := plot.Plot{Height: plot.Height{240, 0.5, 380}, Framed: true, Hit: [2]float64{12, 12}, Outline: 12}
	most := [2]int{1, 1}
	sizes := map[float64]plot.Points{}
	for _, c := range v.table.Cells {
		most = [2]int{max(most[0], c.X), max(most[1], c.Y)}
		at := [2]float64{float64(c.X), float64(c.Y)}
		r := math.Round(2*max(2, 11*math.Sqrt(float64(c.Runs)/float64(v.most)))) / 2
		sizes[r] = plot.Points{Paint: plot.Ink(plot.Event).At(0.65), At: append(sizes[r].At, at), Radius: r}
		runs.Items = append(runs.Items, at)
	}
	for k, axis := range []*plot.Axis{&runs.X, &runs.Y} { // a little beyond the runs
		of := [2]int{v.table.K, v.table.M}[k]
		*axis = plot.Axis{Title: [2]string{"canaries inside", "fresh canaries"}[k] + " in the event, of " + plot.Grouped(of), Zooms: true, Whole: true, Words: plot.Short,
			Scale: plot.Scale{Lo: -0.5, Hi: min(float64(of), 1.1*float64(most[k])) + 0.5}}
	}
	runs.Marks = []plot.Mark{plot.Points{Key: "runs (the more, the larger)", Paint: plot.Ink(plot.Event)},
		plot.Line{Key: "as large a share inside as fresh", Paint: plot.Ink(plot.Text), Width: 1.3, Dash: true, Points: [][2]float64{{0, 0}, {float64(v.table.K), float64(v.table.M)}}}}
	for _, r := range slices.Backward(slices.Sorted(maps.Keys(sizes))) {
		runs.Marks = append(runs.Marks, sizes[r])
	}
	p := plot.Plot{Panels: []plot.Plot{shares, runs}, Caption: v.caption()}
	p.Numbers = plot.Numbers{Title: "Runs by canaries in the event", Head: []string{"inside", "of", "fresh", "of", "runs", "share"}}
	if v.coins {
		p.Head[0], p.Head[2] = "in and in the event", "out and in the event"
	}
	for _, c := range v.table.Cells {
		p.Rows = append(p.Rows, []any{c.X, v.table.K, c.Y, v.table.M, c.Runs, plot.Share(share(c.Runs, v.runs))})
	}
	return plot.View{ID: "runs", Title: "Canaries"}.Always(p)
}

const mostColumns = 64

// columns are shares of runs by the share of their canaries in the event, from 0
// to a little beyond the most that occurs.
func (v *canaryRuns) columns() (in, out []float64, end float64) {
	n := min(mostColumns, max(v.table.K, v.table.M)+1)
	in, out = make([]float64, n), make([]float64, n)
	last := 0
	put := func(into []float64, x, of, runs int) {
		i := min(n-1, x*n/of)
		into[i] += share(runs, v.runs)
		last = max(last, i)
	}
	for _, c := range v.table.Cells {
		put(in, c.X, v.table.K, c.Runs)
		put(out, c.Y, v.table.M, c.Runs)
	}
	shown := min(n, last+2)
	return in[:shown], out[:shown], float64(shown) / float64(n)
}

var sideWords = [2]string{"inside", "fresh"}
