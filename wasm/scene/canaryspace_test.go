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

// TestPrincipal: the plane is that of a singular value decomposition.
func TestPrincipal(t *testing.T) {
	st := stream.New(stream.Key{Seed: 2, Purpose: "principal"})
	for _, size := range [][2]int{{2, 1}, {2, 7}, {5, 3}, {20, 64}, {32, 64}} {
		n, d := size[0], size[1]
		points, dense := make([][]float64, n), mat.NewDense(n, d, nil)
		for i := range points {
			points[i] = make([]float64, d)
			st.Gaussian(points[i], 3)
			points[i][0] += float64(i)
		}
		for j := range d {
			mean := 0.0
			for i := range n {
				mean += points[i][j] / float64(n)
			}
			for i := range n {
				dense.Set(i, j, points[i][j]-mean)
			}
		}
		var svd mat.SVD
		if !svd.Factorize(dense, mat.SVDThin) {
			t.Fatal("no decomposition")
		}
		var u mat.Dense
		svd.UTo(&u)
		values := svd.Values(nil)
		total := 0.0
		for _, s := range values {
			total += s * s
		}
		first := (n + 1) / 2
		at, share, ok := principal(points, first)
		if !ok {
			t.Fatal(size)
		}
		for c := range 2 {
			want, length := 0.0, 0.0
			if c < len(values) {
				want, length = values[c]*values[c]/total, values[c]
			}
			if math.Abs(share[c]-want) > 1e-12 {
				t.Errorf("%v: component %d holds %v, want %v", size, c, share[c], want)
			}
			for i := range at {
				coordinate := 0.0
				if c < len(values) {
					coordinate = u.At(i, c) * length
				}
				if math.Abs(math.Abs(at[i][c])-math.Abs(coordinate)) > 1e-6 {
					t.Errorf("%v: point %d is at %v on component %d, want ±%v", size, i, at[i][c], c, coordinate)
				}
			}
			sum := 0.0
			for _, p := range at[:first] {
				sum += p[c]
			}
			if sum < -1e-9 {
				t.Errorf("%v: the first points lie at %v on component %d", size, sum, c)
			}
		}
	}
	for _, none := range [][][]float64{nil, {{1, 2}}, {{1, 2}, {1, 2}}, {nil, nil}} {
		if _, _, ok := principal(none, 0); ok {
			t.Errorf("%v has components", none)
		}
	}
}

// TestCanarySpace: what it says is what the report holds.
func TestCanarySpace(t *testing.T) {
	r, in := canaryAudit(t)
	p := r.Evidence.Runs.ScoreSample
	space := newCanarySpace(newScoreSample(in.Evidence.Runs.ScoreSample, in.Evidence.Runs.Threshold))
	v := space.view()
	choices := v.Choices
	if len(choices) != 3 || choices[0].ID != inPlane || space.used != 64 {
		t.Fatalf("%v, %d runs", choices, space.used)
	}
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
		{"a canary without scores", &membership.ScoreSample{In: [][]*float64{x(no, 2), x(no, 3)}, Out: [][]*float64{x(0, 3), x(1, 4)}}, "space1 "},
		{"all alike", &membership.ScoreSample{In: [][]*float64{x(2, 2), x(2, 2)}, Out: [][]*float64{x(2, 2), x(2, 2)}, Correlations: [][]*float64{x(), x(no), x(no, no), x(no, no, no)}, Correlated: 2}, "space2 "},
		{"huge", &membership.ScoreSample{In: [][]*float64{x(1e300, -1e149), x(1e149, 2)}, Out: [][]*float64{x(-1e149, 3), x(1e149, -1e308)}}, "space1 "},
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
		if c.name == "gaps" && !strings.Contains(all[0].Caption, "of the first 3 exploration runs (1 of them, in which all have a score)") {
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
	if want := []string{"runs", "space", "roc", "scores", "intervals"}; !slices.Equal(ids, want) {
		t.Errorf("%q, want %q", ids, want)
	}
	if !strings.Contains(all[1].Caption, "of the first 40 exploration runs") {
		t.Errorf("%q", all[1].Caption)
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
