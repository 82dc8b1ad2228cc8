package scene

import (
	"fmt"
	"math"
	"slices"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/bounds"
)

// CanaryReport is what the views need of a report of core/canary: of canaries in
// many runs, in one run, or of scores.
type CanaryReport struct {
	head
	Plan struct {
		Relation audit.Relation `json:"relation"`
	} `json:"plan"`
	Evidence *struct {
		CanaryEvidence
		Runs *CanaryEvidence `json:"runs"` // of a matrix of scores, instead
	} `json:"evidence"`
	In         *CanarySide `json:"in"`
	Out        *CanarySide `json:"out"`
	Equation10 *struct {
		Single    *float64 `json:"single"`
		First     *float64 `json:"first"`
		Bias      *float64 `json:"bias"`
		Variance2 *float64 `json:"variance2"`
		Variance4 *float64 `json:"variance4"`
	} `json:"equation10"`
	Growth []CanaryGrowth `json:"growth"`
}

// CanaryEvidence is canary.Evidence.
type CanaryEvidence struct {
	Threshold float64         `json:"threshold"`
	Portrait  *CanaryPortrait `json:"portrait"`
	Certified struct {
		Table *bounds.CanaryTable `json:"table"`
	} `json:"certified"`
}

// CanarySide is canary.Side.
type CanarySide struct {
	Canaries int       `json:"canaries"`
	Moments  []float64 `json:"moments"`
}

// canaryViews are the pictures of a canary report.
func canaryViews(r *CanaryReport) []View {
	var out []View
	if r.Evidence != nil {
		e := &r.Evidence.CanaryEvidence
		if r.Evidence.Runs != nil {
			e = r.Evidence.Runs
		}
		if t := e.Certified.Table; t != nil && len(t.Cells) > 0 {
			v := newCanaryRuns(*t)
			v.coins = r.Evidence.Runs != nil && r.Plan.Relation == audit.AddRemove
			out = append(out, v)
		}
		p := newPortrait(e.Portrait, e.Threshold)
		if v := newCanarySpace(p); v != nil {
			out = append(out, v)
		}
		if v := newCanaryPair(p); v != nil {
			out = append(out, v)
		}
	}
	if v := newMoments(r.In, r.Out); v != nil {
		out = append(out, v)
	}
	if v := newGrowth(r.Growth); v != nil {
		out = append(out, v)
	}
	if v := newCanaryBounds(r); v != nil {
		out = append(out, v)
	}
	return out
}

// CanaryRuns shows every run of an audit by how many of its canaries, and of the
// fresh ones, were in the event.
type CanaryRuns struct {
	still
	table bounds.CanaryTable
	runs  int
	most  int // runs of a cell
	// coins: fair coins put canaries in or left them out; the table counts those of all
	// that were in, or out, and in the event.
	coins bool
}

func newCanaryRuns(t bounds.CanaryTable) *CanaryRuns {
	v := &CanaryRuns{table: t}
	for _, c := range t.Cells {
		v.runs += c.Runs
		v.most = max(v.most, c.Runs)
	}
	return v
}

func (v *CanaryRuns) ID() string         { return "runs" }
func (v *CanaryRuns) Title() string      { return "Canaries" }
func (v *CanaryRuns) Zooms() (x, y bool) { return true, true }

// rates are the shares of canaries in the event, inside and fresh, over all runs.
func (v *CanaryRuns) rates() (in, out float64) {
	for _, c := range v.table.Cells {
		in += float64(c.X) * float64(c.Runs)
		out += float64(c.Y) * float64(c.Runs)
	}
	n := float64(v.runs)
	return in / n / float64(v.table.K), out / n / float64(v.table.M)
}

func (v *CanaryRuns) Words() string {
	in, out := v.rates()
	if v.coins {
		return fmt.Sprintf("%s certification runs of %s canaries, each in by a fair coin: %s of all were in and in the event, %s out and in the event. Were nothing leaked, both would scatter alike.",
			Grouped(v.runs), Grouped(v.table.K), Percent(in), Percent(out))
	}
	return fmt.Sprintf("%s certification runs: %s of the %s canaries inside were in the event, and %s of the %s fresh ones. Were nothing leaked, both would scatter alike.",
		Grouped(v.runs), Percent(in), Grouped(v.table.K), Percent(out), Grouped(v.table.M))
}

func (v *CanaryRuns) Reading(i int) string {
	c := v.table.Cells[i]
	if v.coins {
		return fmt.Sprintf("of %s canaries %s in and %s out in the event: %s runs (%s)", Grouped(v.table.K), Grouped(c.X), Grouped(c.Y), Grouped(c.Runs), Percent(share(c.Runs, v.runs)))
	}
	return fmt.Sprintf("%s of %s canaries inside and %s of %s fresh ones in the event: %s runs (%s)", Grouped(c.X), Grouped(v.table.K), Grouped(c.Y), Grouped(v.table.M), Grouped(c.Runs), Percent(share(c.Runs, v.runs)))
}

func (v *CanaryRuns) Facts(fig Figures) Table {
	f := Table{Title: "Runs by canaries in the event", Head: []string{"inside", "of", "fresh", "of", "runs"}}
	for _, c := range v.table.Cells {
		f.Rows = append(f.Rows, []string{fmt.Sprint(c.X), fmt.Sprint(v.table.K), fmt.Sprint(c.Y), fmt.Sprint(v.table.M), fmt.Sprint(c.Runs)})
	}
	return f
}

// scales reach a little beyond the runs.
func (v *CanaryRuns) scales() (x, y Scale) {
	mostX, mostY := 1, 1
	for _, c := range v.table.Cells {
		mostX, mostY = max(mostX, c.X), max(mostY, c.Y)
	}
	end := func(most, of int) float64 { return min(float64(of), 1.1*float64(most)) + 0.5 }
	return Scale{Lo: -0.5, Hi: end(mostX, v.table.K)}, Scale{Lo: -0.5, Hi: end(mostY, v.table.M)}
}

func (v *CanaryRuns) Place(i int) (px, py float64) {
	x, y := v.scales()
	x.From, x.To, y.From, y.To = 0, 1, 1, 0
	return x.At(float64(v.table.Cells[i].X)), y.At(float64(v.table.Cells[i].Y))
}

const mostColumns = 64

// columns are shares of runs by the share of their canaries in the event, from 0
// to a little beyond the most that occurs.
func (v *CanaryRuns) columns() (in, out []float64, end float64) {
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

func (v *CanaryRuns) Layout(f Frame) *Scene {
	s := f.scene(0)
	top := s.legend([]key{{words: "canaries inside (up)", paint: Ink(First), form: keyBox}, {words: "fresh canaries (down)", paint: Ink(Second), form: keyBox},
		{words: "runs (the more, the larger)", paint: Ink(Event), form: keyDot, mark: Disc}, {words: "as large a share inside as fresh", paint: Ink(Text), form: keyDash}}, 4) + 22
	const upper, gap = 150, 60
	lower := min(380, max(240, f.Width*0.5))
	s.Height = top + upper + gap + lower + 44
	in, out, end := v.columns()
	mostIn, mostOut := slices.Max(in), slices.Max(out)
	left := s.wide(Grouped(v.table.M))
	for _, m := range []float64{mostIn, mostOut} {
		left = max(left, s.wide(Percent(round(m, 1))))
	}
	left += 16
	right := f.Width - 14

	// Both distributions, over the share of canaries.
	share := Scale{Lo: 0, Hi: end, From: left, To: right}
	box := Rect{left, top, right - left, upper}
	y := Scale{Lo: -mostOut * 1.05, Hi: mostIn * 1.05, From: box.Bottom(), To: box.Y}
	title := "share of runs, by the share of their canaries in the event"
	if f.Width < 480 {
		title = "runs by the share in the event"
	}
	s.label(0, top-9, title, Start, Muted)
	s.across(y, 5, box, func(v float64) string { return Percent(math.Abs(v)) })
	width := (right - left) / float64(len(in))
	for i := range in {
		at := left + float64(i)*width
		s.rect(Rect{at + 0.5, y.At(in[i]), max(1, width-1), y.At(0) - y.At(in[i])}, Ink(First), box)
		s.rect(Rect{at + 0.5, y.At(0), max(1, width-1), y.At(-out[i]) - y.At(0)}, Ink(Second), box)
	}
	s.ticksUnder(share, share.Marks(int(max(3, box.W/60))), box.Bottom(), Percent, left-14, right+14)

	// The runs in the plane.
	x, y := v.scales()
	box = Rect{left, top + upper + gap, right - left, lower}
	x.From, x.To, y.From, y.To = box.X, box.Right(), box.Bottom(), box.Y
	x, y = x.Zoomed(f.Camera.X), y.Zoomed(Window{1 - f.Camera.Y.Hi, 1 - f.Camera.Y.Lo})
	s.Plot = box
	whole := func(marks []float64) []float64 {
		return slices.DeleteFunc(marks, func(v float64) bool { return v != math.Round(v) })
	}
	s.label(0, box.Y-9, "fresh canaries in the event, of "+Grouped(v.table.M), Start, Muted)
	for _, m := range whole(y.Marks(5)) {
		s.line(box.X, y.At(m), box.Right(), y.At(m), 1, Ink(Line), box)
		s.label(box.X-6, y.At(m)+4, Short(m), End, Muted)
	}
	marks := whole(x.Marks(int(max(3, box.W/60))))
	for _, m := range marks {
		s.line(x.At(m), box.Y, x.At(m), box.Bottom(), 1, Ink(Line), box)
	}
	s.line(box.X, box.Bottom(), box.Right(), box.Bottom(), 1, Ink(Axis), Rect{})
	s.line(box.X, box.Y, box.X, box.Bottom(), 1, Ink(Axis), Rect{})
	s.ticksUnder(x, marks, box.Bottom(), Short, left-10, right+12)
	s.label((left+right)/2, box.Bottom()+37, "canaries inside in the event, of "+Grouped(v.table.K), Middle, Muted)
	if from, to, in := clipSegment(Point{x.At(0), y.At(0)}, Point{x.At(float64(v.table.K)), y.At(float64(v.table.M))}, box); in {
		s.dash([]Point{from, to}, 1.3, Ink(Text), box)
	}
	sizes := map[float64]*Shape{}
	for _, c := range v.table.Cells {
		r := math.Round(2*max(2, 11*math.Sqrt(float64(c.Runs)/float64(v.most)))) / 2
		if sizes[r] == nil {
			sizes[r] = &Shape{Kind: Dots, Form: Disc, Radius: r, Paint: Ink(Event).At(0.65), Clip: Rect{box.X - 1, box.Y - 1, box.W + 2, box.H + 2}}
		}
		p := Point{x.At(float64(c.X)), y.At(float64(c.Y))}
		sizes[r].Points = append(sizes[r].Points, p)
		hit := max(r, 5)
		s.Items = append(s.Items, Item{Box: intersect(Rect{p.X - hit, p.Y - hit, 2 * hit, 2 * hit}, box), Mark: intersect(Rect{p.X - r - 2, p.Y - r - 2, 2*r + 4, 2*r + 4}, box)})
	}
	for r := 11.0; r >= 2; r -= 0.5 {
		if sizes[r] != nil {
			s.add(*sizes[r])
		}
	}
	return s
}
