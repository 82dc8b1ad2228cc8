package scene

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/dpscope/dpscope/wasm/scene/plot"

	"gonum.org/v1/gonum/mat"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/audit/stream"
	"github.com/dpscope/dpscope/core/membership"
	"github.com/dpscope/dpscope/core/scores"
	"github.com/dpscope/dpscope/internal/must"
)

// TestCloud: each point is a score and the mean of the others of its run, whatever order runs
// come in; the direction is what the covariance within the sides and the means solve to; what
// is said of the line is counted; and so many points that are drawn in part are read as they
// are drawn.
func TestCloud(t *testing.T) {
	const k, m, runs = 3, 5, 700
	st := stream.New(stream.Key{Seed: 2, Purpose: "cloud"})
	all := make(membership.Floats, runs*(k+m))
	st.Gaussian(all, 1)
	noise := make([]float64, runs)
	st.Gaussian(noise, 2)
	for i := range all {
		if all[i] += noise[i/(k+m)]; i%(k+m) < k {
			all[i] += 1.5
		}
	}
	all[9] = -math.MaxFloat64 // none
	var c Cloud
	for _, first := range []int{300, 0, 450} {
		end := map[int]int{300: 450, 0: 300, 450: runs}[first]
		c.Add(membership.Scored{First: first, K: k, M: m, Scores: all[first*(k+m) : end*(k+m)]})
	}
	if c.runs != runs || len(c.points) != len(all)-1 {
		t.Fatalf("%d points of %d runs", len(c.points), c.runs)
	}
	within, means := mat.NewSymDense(2, nil), [2]*mat.VecDense{mat.NewVecDense(2, nil), mat.NewVecDense(2, nil)}
	for _, p := range c.points {
		i := (p.run-1)*(k+m) + p.side*k + p.canary - 1
		sum, n := 0.0, 0.0
		for j := i / (k + m) * (k + m); j < (i/(k+m)+1)*(k+m); j++ {
			if j != i && j != 9 {
				sum, n = sum+all[j], n+1
			}
		}
		if p.at[0] != all[i] || math.Abs(p.at[1]-sum/n) > 1e-12 {
			t.Fatalf("%s is at %v, want %v, %v", p.name(), p.at, all[i], sum/n)
		}
		means[p.side].AddScaledVec(means[p.side], 1/c.sides[p.side].n, mat.NewVecDense(2, p.at[:]))
	}
	for _, p := range c.points {
		var off mat.VecDense
		off.SubVec(mat.NewVecDense(2, p.at[:]), means[p.side])
		within.SymRankOne(within, 1, &off)
	}
	var apart, want mat.VecDense
	apart.SubVec(means[0], means[1])
	must.Do(t, want.SolveVec(within, &apart))
	tilt, border := c.border()
	if b := -want.AtVec(1) / want.AtVec(0); math.Abs(tilt-b) > 1e-9 || tilt < 0.5 {
		t.Errorf("the tilt is %v, want %v", tilt, b)
	}
	var beyond [2]int
	for _, p := range c.points {
		if along(p.at, tilt) > border {
			beyond[p.side]++
		}
	}
	v := c.view(1000)
	in, of := inRuns(share(beyond[0], int(c.sides[0].n)), share(beyond[1], int(c.sides[1].n)))
	if !strings.HasPrefix(v.Sentence, fmt.Sprintf("So far %s of %s canaries that were in lie beyond the line, and %s of", in[0], of, in[1])) {
		t.Errorf("it says %q, want %v of %s", v.Sentence, in, of)
	}
	everyChoice(t, "cloud", v)
	s := v.Layout(plot.Frame{Width: 700, Camera: plot.Everything})
	if n := len(s.Items) - len(v.Rows); n > 1000 || n < 500 || v.Tooltip(0) != "inside 1 of run 306: score "+plot.Short(all[305*(k+m)])+"; mean of the others of its run "+plot.Short(c.points[5*(k+m)].at[1]) {
		t.Errorf("%d points are drawn, the first is %q", n, v.Tooltip(0))
	}
	for side := range c.sides {
		sum := 0
		for _, row := range v.Rows {
			sum += row[1+side].(int)
		}
		if sum != int(c.sides[side].n) {
			t.Errorf("side %d: %d scores in bins", side, sum)
		}
	}
	if (&Cloud{}).view(9) != nil || (&Cloud{points: c.points[:1], sides: [2]moments{{n: 1}}}).view(9) != nil {
		t.Error("a side without points is drawn")
	}
}

// BenchmarkCloud lays out as many points as a run tells of.
func BenchmarkCloud(b *testing.B) {
	st := stream.New(stream.Key{Seed: 2, Purpose: "cloud"})
	s := membership.Scored{K: 50, M: 50, Scores: make(membership.Floats, 100_000)}
	st.Gaussian(s.Scores, 1)
	var c Cloud
	c.Add(s)
	var v plot.Viewer
	v.Resize(900)
	v.Take([]*plot.View{c.view(math.MaxInt)}, true)
	b.Run("new points", func(b *testing.B) {
		for b.Loop() {
			v.Take([]*plot.View{c.view(math.MaxInt)}, true)
		}
	})
	b.Run("zoom", func(b *testing.B) {
		for b.Loop() {
			v.Zoom(0.9999, plot.Point{X: 300, Y: 200})
		}
	})
	b.Run("hover", func(b *testing.B) {
		for b.Loop() {
			v.Point(plot.Point{X: 300, Y: 200})
		}
	})
	b.Run("still", func(b *testing.B) {
		for b.Loop() {
			plot.Draw(NewLiveSpace(&c), plot.Request{Width: 900})
		}
	})
}

// TestCanarySpace: what it says is what the report holds.
func TestCanarySpace(t *testing.T) {
	r, in := canaryAudit(t)
	p := r.Evidence.Runs.ScoreSample
	sample := newScoreSample(in.Evidence.Runs.ScoreSample, in.Evidence.Runs.Threshold)
	space := &canarySpace{sample, sample.cloud(), math.MaxInt}
	v := space.view()
	if len(v.Choices) != 3 || v.Choices[0].ID != inPlane || space.cloud.runs != 64 || len(space.cloud.points) != 64*20 {
		t.Fatalf("%v, %d runs", v.Choices, space.cloud.runs)
	}
	v.Choose(inRows)
	rows := v.Table(plot.Rounded).Rows
	if len(rows) != 8+12 {
		t.Fatalf("%d canaries", len(rows))
	}
	for i := range rows {
		scores := func(run int) *float64 {
			if i < 8 {
				return p.In[run][i]
			}
			return p.Out[run][i-8]
		}
		above, sum, least, most := 0, 0.0, math.Inf(1), math.Inf(-1)
		for run := range p.In {
			x := *scores(run)
			sum, least, most = sum+x, min(least, x), max(most, x)
			if x > r.Evidence.Runs.Threshold {
				above++
			}
		}
		name := fmt.Sprintf("inside %d", i+1)
		if i >= 8 {
			name = fmt.Sprintf("fresh %d", i-7)
		}
		want := []string{name, "64", fmt.Sprint(above), fmt.Sprintf("%.6g", sum/64), fmt.Sprintf("%.6g", least), fmt.Sprintf("%.6g", most)}
		if !slices.Equal(rows[i][:6], want) {
			t.Errorf("%q, want %q", rows[i], want)
		}
		if words := fmt.Sprintf("%s: scores 64, above the threshold %d, ", name, above); !strings.HasPrefix(v.Tooltip(i), words) {
			t.Errorf("%q, want %q", v.Tooltip(i), words)
		}
	}
	v.Choose(inMatrix)
	rows = v.Table(plot.Rounded).Rows
	at := 0
	blocks := map[string][]float64{}
	for i, row := range p.Correlations {
		for k, c := range row {
			for _, cell := range []int{19*i + k, 19*k + i - 1} { // both ways
				if rows[cell][2] != fmt.Sprintf("%.6g", *c) {
					t.Errorf("correlation of %d and %d: %q, want %v", i, k, rows[cell], *c)
				}
				at++
			}
			block := rows[19*i+k][3]
			blocks[block] = append(blocks[block], *c)
		}
	}
	if at != len(rows) || len(blocks["inside"]) != 28 || len(blocks["fresh"]) != 66 || len(blocks["across"]) != 96 {
		t.Errorf("%d cells in blocks of %d, %d, %d", at, len(blocks["inside"]), len(blocks["fresh"]), len(blocks["across"]))
	}
	for b, mean := range space.blocks() {
		sum := 0.0
		all := blocks[[]string{"inside", "fresh", "across"}[b]]
		for _, x := range all {
			sum += x
		}
		if math.Abs(mean-sum/float64(len(all))) > 1e-12 {
			t.Errorf("block %d: mean %v, want %v", b, mean, sum/float64(len(all)))
		}
	}
	s := v.Layout(plot.Frame{Width: 800, Camera: plot.Everything})
	if len(s.Items) != 20*19 {
		t.Fatalf("%d cells", len(s.Items))
	}
	if words := v.Tooltip(19*9 + 3); words != "fresh 2: with inside 4, correlation "+plot.Short(*p.Correlations[9][3])+", block across" {
		t.Errorf("%q", words)
	}
}

// TestOddPortraits: scores that are none, sides of one canary, and what no core
// writes.
func TestOddPortraits(t *testing.T) {
	x := func(v ...float64) []*float64 {
		out := make([]*float64, len(v))
		for i := range v {
			if !math.IsNaN(v[i]) {
				out[i] = &v[i]
			}
		}
		return out
	}
	no := math.NaN()
	views := func(p *membership.ScoreSample, threshold float64) []*plot.View {
		all := Views(canaryInput(t, map[string]any{"kind": "canary", "evidence": map[string]any{"runs": map[string]any{"threshold": threshold, "portrait": p}}}))
		everyChoice(t, "", all...)
		return all
	}
	ids := func(all []*plot.View) (out string) {
		for _, v := range all {
			choices := v.Choices
			out += fmt.Sprint(v.ID, len(choices), " ")
		}
		return out
	}
	for _, c := range []struct {
		name string
		p    *membership.ScoreSample
		want string
	}{
		{"one canary a side", &membership.ScoreSample{In: [][]*float64{x(1), x(2)}, Out: [][]*float64{x(0), x(1)}}, "space2 "},
		{"one run", &membership.ScoreSample{In: [][]*float64{x(1, 2)}, Out: [][]*float64{x(0, 3)}}, "space2 "},
		{"gaps", &membership.ScoreSample{In: [][]*float64{x(1, no), x(2, 4), x(2, 5)}, Out: [][]*float64{x(0, 3), x(no, no), x(1, 7)},
			Correlations: [][]*float64{x(), x(no), x(1, -1), x(0.5, 0, -0.25)}, Correlated: 2}, "space3 "},
		{"a canary without scores", &membership.ScoreSample{In: [][]*float64{x(no, 2), x(no, 3)}, Out: [][]*float64{x(0, 3), x(1, 4)}}, "space2 "},
		{"all alike", &membership.ScoreSample{In: [][]*float64{x(2, 2), x(2, 2)}, Out: [][]*float64{x(2, 2), x(2, 2)}, Correlations: [][]*float64{x(), x(no), x(no, no), x(no, no, no)}, Correlated: 2}, "space3 "},
		{"huge", &membership.ScoreSample{In: [][]*float64{x(1e300, -1e149), x(1e149, 2)}, Out: [][]*float64{x(-1e149, 3), x(1e149, -1e308)}}, "space2 "},
		{"correlations of others", &membership.ScoreSample{In: [][]*float64{x(1), x(2)}, Out: [][]*float64{x(0), x(1)}, Correlations: [][]*float64{x(), x(1), x(1, 1)}, Correlated: 2}, "space2 "},
		{"a row of correlations less", &membership.ScoreSample{In: [][]*float64{x(1), x(2)}, Out: [][]*float64{x(0), x(1)}, Correlations: [][]*float64{x(), x()}, Correlated: 2}, "space2 "},
		{"correlations over nothing", &membership.ScoreSample{In: [][]*float64{x(1), x(2)}, Out: [][]*float64{x(0), x(1)}, Correlations: [][]*float64{x(), x(2)}}, "space2 "},
		{"no scores", &membership.ScoreSample{In: [][]*float64{x(no)}, Out: [][]*float64{x(no)}}, ""},
		{"ragged", &membership.ScoreSample{In: [][]*float64{x(1, 2), x(1)}, Out: [][]*float64{x(1), x(1)}}, ""},
		{"one side", &membership.ScoreSample{In: [][]*float64{x(1, 2)}}, ""},
		{"empty", &membership.ScoreSample{In: [][]*float64{{}}, Out: [][]*float64{{}}}, ""},
	} {
		all := views(c.p, 1.5)
		if got := ids(all); got != c.want {
			t.Errorf("%s: pictures %q, want %q", c.name, got, c.want)
		}
		if c.name == "gaps" && !strings.HasPrefix(all[0].Caption, "9 canaries of 3 runs") {
			t.Errorf("%q", all[0].Caption)
		}
	}
	if got := ids(views(&membership.ScoreSample{In: [][]*float64{x(1)}, Out: [][]*float64{x(2)}}, 1e200)); got != "" {
		t.Errorf("a threshold beyond everything: %q", got)
	}
}

// TestScoresOfAMatrix: an audit of scores by runs has its runs and portrait.
func TestScoresOfAMatrix(t *testing.T) {
	st := stream.New(stream.Key{Seed: 4, Purpose: "a matrix"})
	s := scores.Scores{Runs: 80, Canaries: 6}
	for range s.Runs {
		row := make([]float64, s.Canaries)
		st.Gaussian(row, 1)
		for _, k := range st.Perm(s.Canaries) {
			if k < 3 {
				row[k] += 2
			}
			s.Score, s.Member = append(s.Score, row[k]), append(s.Member, k < 3)
		}
	}
	claim := audit.DPClaim(1, 1e-5)
	r := must.Get(scores.Run(scores.Plan{Version: scores.PlanVersion, Claim: &claim, Relation: audit.Replace}, s, audit.Generator{}))(t)
	var ids []string
	all := Views(canaryInput(t, r))
	everyChoice(t, "", all...)
	for _, v := range all {
		ids = append(ids, v.ID)
	}
	if want := []string{"space", "runs", "roc", "scores", "intervals"}; !slices.Equal(ids, want) {
		t.Errorf("%q, want %q", ids, want)
	}
	if !strings.HasPrefix(all[0].Caption, "240 canaries of 40 runs") {
		t.Errorf("%q", all[0].Caption)
	}
}

// TestChooseAnotherPicture: a choice that pans and zooms otherwise begins anew.
func TestChooseAnotherPicture(t *testing.T) {
	_, in := canaryAudit(t)
	var v plot.Viewer
	v.Resize(700)
	v.Take(Views(Input{Canary: in}), false)
	v.Show("space")
	v.Step(2)
	v.ZoomRead(0.5)
	if v.Whole() {
		t.Fatal("it does not zoom")
	}
	v.Choose(inMatrix)
	if i, _ := v.Read(); i != -1 || !v.Whole() {
		t.Error("the matrix is looked at as the plane was")
	}
}
