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
			t.Fatalf("%+v is at %v, want %v, %v", p, p.at, all[i], sum/n)
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
	v := c.Live(1000)
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
			sum += row[1+2*side].(int)
		}
		if sum != int(c.sides[side].n) {
			t.Errorf("side %d: %d scores in bins", side, sum)
		}
	}
	if (&Cloud{}).Live(9) != nil || (&Cloud{points: c.points[:1], sides: [2]moments{{n: 1}}}).Live(9) != nil {
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
	v.Take([]*plot.View{c.Live(math.MaxInt)}, true)
	b.Run("new points", func(b *testing.B) {
		for b.Loop() {
			v.Take([]*plot.View{c.Live(math.MaxInt)}, true)
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
			plot.Draw(c.Live(MostInStill), plot.Request{Width: 900})
		}
	})
}

// TestOddPortraits: scores that are none, sides of one canary, and what no core writes.
func TestOddPortraits(t *testing.T) {
	no := math.NaN()
	for name, c := range map[string]struct {
		in, out [][]float64
		points  string // in a caption
	}{
		"one canary a side":       {[][]float64{{1}, {2}}, [][]float64{{0}, {1}}, "4"},
		"gaps":                    {[][]float64{{1, no}, {2, 4}, {2, 5}}, [][]float64{{0, 3}, {no, no}, {1, 7}}, "9"},
		"a canary without scores": {[][]float64{{no, 2}, {no, 3}}, [][]float64{{0, 3}, {1, 4}}, "6"},
		"all alike":               {[][]float64{{2, 2}, {2, 2}}, [][]float64{{2, 2}, {2, 2}}, "8"},
		"huge":                    {[][]float64{{1e300, -1e149}, {1e149, 2}}, [][]float64{{-1e149, 3}, {1e149, -1e308}}, "6"},
		"ragged":                  {[][]float64{{1, 2}, {1}}, [][]float64{{1}, {1}}, "5"},
		"no scores":               {[][]float64{{no}}, [][]float64{{no}}, ""},
		"one score":               {[][]float64{{1}}, [][]float64{{no}}, ""},
		"one side":                {[][]float64{{1, 2}}, nil, ""},
		"empty":                   {[][]float64{{}}, [][]float64{{}}, ""},
	} {
		portrait := map[string]any{}
		for side, rows := range map[string][][]float64{"in": c.in, "out": c.out} {
			var all [][]*float64
			for _, row := range rows {
				made := make([]*float64, len(row))
				for i, x := range row {
					if !math.IsNaN(x) {
						made[i] = &x
					}
				}
				all = append(all, made)
			}
			portrait[side] = all
		}
		for _, threshold := range []float64{1.5, 1e200} {
			all := Views(canaryInput(t, map[string]any{"kind": "canary", "evidence": map[string]any{"runs": map[string]any{"threshold": threshold, "portrait": portrait}}}))
			everyChoice(t, name, all...)
			if len(all) != map[bool]int{true: 1}[c.points != ""] || c.points != "" && !strings.HasPrefix(all[0].Caption, c.points+" canaries of") {
				t.Errorf("%s: %d views", name, len(all))
			}
		}
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
