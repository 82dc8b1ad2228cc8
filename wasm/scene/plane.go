package scene

import (
	"fmt"
	"math"
	"slices"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/core/pair/chart"
	"github.com/dpscope/dpscope/wasm/scene/plot"
	"gonum.org/v1/gonum/mathext"
)

const planeID = "plane"

type plane struct {
	chart.Plane
	cells        []planeCell
	across, up   []Bin // by the score and by the direction, with the sums
	score, along []Bin // those that hold outputs
	full         float64
}

type planeCell struct {
	Bin
	i, j int // bins of the direction and of the score
	look int
}

const (
	unclear   = iota
	clear     // one side is likelier
	beyondAll // by more than the claimed epsilon
)

// newPlane is nil where there is nothing to draw, or nothing fits together.
func newPlane(ch chart.Chart, claim audit.Claim) *plane {
	p := ch.Plane
	if p == nil || p.First == nil || ch.Check() != nil || math.IsInf(4*(p.Edges[len(p.Edges)-1]-p.Edges[0]), 0) || math.IsInf(4*(p.ScoreEdges[len(p.ScoreEdges)-1]-p.ScoreEdges[0]), 0) {
		return nil
	}
	var of [2]int
	for side, counts := range [][]int{p.First, p.Second} {
		for _, n := range counts {
			if n > math.MaxInt32 {
				return nil
			}
			of[side] += n
		}
	}
	if of[0]+of[1] == 0 {
		return nil
	}
	v := &plane{Plane: *p, across: level{p.ScoreEdges}.bins(of), up: level{p.Edges}.bins(of)}
	var masses []float64
	for i := range v.up {
		for j := range v.across {
			at := i*len(v.across) + j
			c := planeCell{Bin{n: [2]int{p.First[at], p.Second[at]}, of: of}, i, j, unclear}
			if c.count() == 0 {
				continue
			}
			v.cells = append(v.cells, c)
			masses = append(masses, c.mass())
			v.across[j].add(c.Bin)
			v.up[i].add(c.Bin)
		}
	}
	v.score, v.along = occupied(v.across), occupied(v.up)
	slices.Sort(masses)
	v.full = masses[len(masses)-1-len(masses)/20]
	epsilon, _ := epsilonOf(claim)
	for k := range v.cells {
		v.cells[k].look = v.cells[k].Bin.look(epsilon, len(v.cells))
	}
	return v
}

func (v *plane) name(i int) string {
	c := v.cells[i]
	return "score " + v.across[c.j].Words + ", direction " + v.up[c.i].Words
}

// occupied leaves out what lies beyond the edges, where nothing does.
func occupied(bins []Bin) []Bin {
	if bins[0].count() == 0 {
		bins = bins[1:]
	}
	if bins[len(bins)-1].count() == 0 {
		bins = bins[:len(bins)-1]
	}
	return bins
}

func (b Bin) mass() float64 { return (b.share(0) + b.share(1)) / 2 }

// look says at 95 % for this cell alone that the sides differ, and for so many cells together that they
// differ by more than epsilon: by the binomial law of the first side's part, given both (Przyborowski
// and Wilenski, Biometrika 31, 1940).
func (b Bin) look(epsilon float64, cells int) int {
	likelier := likelierOn(-b.LogRatio())
	x, n, y, m := b.n[likelier], b.of[likelier], b.n[1-likelier], b.of[1-likelier]
	atLeast := func(epsilon float64) float64 {
		weight := math.Exp(epsilon) * float64(n)
		return mathext.RegIncBeta(float64(x), float64(y+1), weight/(weight+float64(m)))
	}
	switch {
	case epsilon > 0 && atLeast(epsilon) <= 0.025/float64(cells):
		return beyondAll
	case atLeast(0) <= 0.025:
		return clear
	}
	return unclear
}

func (v *plane) inEvent(c planeCell) float64 {
	b := v.across[c.j]
	switch {
	case v.Border == nil:
		return 0
	case b.low >= *v.Border:
		return plot.If(v.Above, 1.0, 0)
	case b.high <= *v.Border:
		return plot.If(v.Above, 0.0, 1)
	}
	return 0.5
}

func (v *plane) caption(claim audit.Claim) string {
	var seen [3]int
	for _, c := range v.cells {
		seen[c.look]++
	}
	of := v.cells[0].of
	outputs := plot.Grouped(of[0]) + plot.If(of[1] != of[0], " and "+plot.Grouped(of[1]), "")
	words := fmt.Sprintf("%s certification outputs a side, by the witness's score and the direction of largest remaining variance: %s (in standard deviations, minus what the score explains). If the score captures all that distinguishes the datasets, the ratio is constant in the vertical direction. ", outputs, v.Words)
	words += plot.Say("Of %s cells, %s are likelier on one dataset, each at 95 %% on its own (by chance up to about %s)", len(v.cells), seen[clear]+seen[beyondAll], (len(v.cells)+19)/20)
	if epsilon, dp := epsilonOf(claim); dp {
		words += plot.Say("; %s by more than e^%s, at 95 %% for all together", seen[beyondAll], epsilon)
	}
	return words + ". The report has the certified bound."
}

func (v *plane) plot(claim audit.Claim) plot.Plot {
	epsilon, dp := epsilonOf(claim)
	scores := level{v.ScoreEdges}
	score := scores.axis("score of the witness (higher: likelier on A)", v.score)
	score.Short = "score of the witness"
	sums := plot.Plot{X: score, Height: plot.Px(74), Marks: []plot.Mark{outline(plot.Line{Paint: plot.First}, v.score, 0), outline(plot.Line{Paint: plot.Second, Dash: true}, v.score, 1)}}
	sums.X.Title, sums.X.Words = "", nil
	sums.Y = plot.Axis{Title: "share of outputs by score: A (line), B (dashed)", Short: "share: A (line), B (dashed)", Words: plot.Percent}
	for _, b := range v.score {
		sums.Y.Hi = max(sums.Y.Hi, 1.06*b.share(0), 1.06*b.share(1))
	}
	p := plot.Plot{X: score, Height: plot.Height{280, 0.66, 480}}
	p.Y = level{v.Edges}.axis("direction: "+v.Words, v.along)
	p.Numbers = plot.Numbers{Title: "Outputs by score and direction", Head: []string{"score of the witness", p.Y.Title, "on A", "share", "on B", "share", "ln(A/B)", "±", "in the event"}}
	if v.Border != nil {
		at := scores.place(*v.Border)
		from, to := plot.If(v.Above, at, score.Lo), plot.If(v.Above, score.Hi, at)
		event := plot.Bars{Key: "in the event: score" + plot.If(v.Above, " > ", " ≤ ") + plot.Short(*v.Border), Paint: plot.EventArea, Form: plot.KeyRegion, Boxes: []plot.Box{plot.Column(from, to)}}
		sums.Mark(event)
		p.Mark(event, plot.Rule{Paint: plot.Event, At: at, Upright: true})
	}
	p.Mark(plot.Bars{Key: "likelier on A", Paint: plot.First, Form: plot.KeyDiamond}, plot.Bars{Key: "likelier on B", Paint: plot.Second, Form: plot.KeySquare}, plot.Bars{Key: "no clear difference", Paint: plot.Muted, Form: plot.KeyHollow})
	if dp {
		p.Mark(plot.Bars{Key: "beyond the claimed ε = " + plot.Short(epsilon), Form: plot.KeyOutline})
	}
	for _, c := range v.cells {
		across, up := &v.across[c.j], &v.up[c.i]
		box := plot.Span(across.From, across.To, up.From, up.To)
		p.Add((box.X0+box.X1)/2, (box.Y0+box.Y1)/2, box, across.Words, up.Words,
			c.n[0], plot.Share(c.share(0)), c.n[1], plot.Share(c.share(1)),
			c.LogRatio(), c.Spread(), map[float64]string{0: "no", 0.5: "partly", 1: "yes"}[v.inEvent(c)])
		// Its area is the share of outputs; a larger ratio makes it stronger.
		less := (1 - max(0.12, math.Sqrt(min(1, c.mass()/v.full)))) / 2
		dx, dy := less*(box.X1-box.X0), less*(box.Y1-box.Y0)
		shown := plot.Bars{Boxes: []plot.Box{plot.Span(box.X0+dx, box.X1-dx, box.Y0+dy, box.Y1-dy)}, Paint: plot.Muted.At(0.75), Form: plot.KeyHollow}
		first := c.LogRatio() > 0
		if c.look != unclear {
			shown.Form = plot.If(first, plot.KeyDiamond, plot.KeySquare)
			shown.Paint = plot.Between(plot.Panel, plot.If(first, plot.First, plot.Second), 0.35+0.65*min(1, math.Abs(c.LogRatio())/max(epsilon, 0.5)))
		}
		if p.Mark(shown); c.look == beyondAll {
			shown.Form, shown.Paint = plot.If(first, plot.KeyOutline, plot.KeyHollow), plot.Text
			p.Mark(shown)
		}
	}
	return plot.Plot{Panels: []plot.Plot{sums, p}, Caption: v.caption(claim), Numbers: p.Numbers, Name: v.name}
}
