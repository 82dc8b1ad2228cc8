package pair_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/audit/stream"
	"github.com/dpscope/dpscope/core/engine"
	"github.com/dpscope/dpscope/core/pair"
	"github.com/dpscope/dpscope/core/pair/chart"
	"github.com/dpscope/dpscope/internal/must"
)

// vectorPlans have outputs of several numbers, and more of them than a plane counts:
// real and mixed.
var vectorPlans = map[string]pair.Plan{
	"real":  {Mechanism: "laplace-parallel", Parameters: audit.Params{"copies": {Number: 4}}, Claim: &audit.Claim{Epsilon: 1}, Learner: "logistic", Samples: 70_000, Explore: 4_000, Trials: 2, Seed: 5},
	"mixed": {Mechanism: "svt3", Parameters: audit.Params{"m": {Number: 4}}, Learner: "logistic", Samples: 66_000, Explore: 3_000, Trials: 2, Seed: 6},
}

// planeRows is how many outputs a side a plane counts.
const planeRows = 1 << 16

func total(counts []int) int {
	n := 0
	for _, k := range counts {
		n += k
	}
	return n
}

// slowPlane counts a report's plane anew: it draws the certification outputs, puts
// every one where the report's numbers say, one after the other.
func slowPlane(t *testing.T, r pair.Report) (counts [2][]int) {
	t.Helper()
	a := must.Get(r.Plan.Resolve(catalogue))(t)
	e, p := r.Evidence, r.Evidence.Chart.Plane
	learner := must.Get(catalogue.Learner(e.Witness.Learner))(t)
	model := must.Get(learner.Decode(e.Witness.Model, a.Columns))(t)
	bin := func(edges []float64, v float64) int {
		n := 0
		for _, e := range edges {
			if v >= e {
				n++
			}
		}
		return n
	}
	width := audit.Width(a.Columns)
	for side, data := range []audit.Dataset{e.Pair.First, e.Pair.Second} {
		counts[side] = make([]int, (len(p.Edges)+1)*(len(p.ScoreEdges)+1))
		for drawn := 0; drawn < min(planeRows, r.Termination.SamplesUsed); {
			st := stream.New(stream.Key{Seed: r.Plan.Seed, Purpose: "certify", Side: side, Shard: drawn / pair.ShardRows})
			for end := min(drawn+pair.ShardRows, r.Termination.SamplesUsed); drawn < end; {
				n := min(pair.BlockRows, end-drawn)
				out := make([]float64, n*width)
				must.Do(t, a.Mechanism.Sample(data, st, out))
				for i := range n {
					row, score := out[i*width:(i+1)*width], []float64{0}
					model.Score(row, score)
					v := p.Offset - float64(p.Slope*score[0])
					for _, term := range p.Terms {
						x := row[term.At]
						if term.Symbol != nil {
							x = map[bool]float64{true: 1}[x == *term.Symbol]
						}
						v += float64(term.Weight / term.Deviation * x)
					}
					counts[side][bin(p.Edges, v)*(len(p.ScoreEdges)+1)+bin(p.ScoreEdges, score[0])]++
				}
				drawn += n
			}
		}
	}
	return counts
}

// TestPlane: the counts are those of a slow twin, one worker's are eight workers',
// the event's border is the first result's, and the report replays either way,
// as does one of an earlier version, which has no plane.
func TestPlane(t *testing.T) {
	t.Parallel()
	for name, plan := range vectorPlans {
		t.Run(name, func(t *testing.T) {
			r := runAudit(t, plan, 8)
			r.Generator.Version = audit.Version
			p := r.Evidence.Chart.Plane
			if p == nil || len(p.Terms) < 2 || p.Words == "" {
				t.Fatalf("no plane: %+v", p)
			}
			if other := runAudit(t, plan, 1).Evidence.Chart.Plane; !cmp.Equal(p, other) {
				t.Error(cmp.Diff(p, other))
			}
			want := slowPlane(t, r)
			if !cmp.Equal(want, [2][]int{p.First, p.Second}) {
				t.Errorf("a slow twin counts %v and %v, the report has %v and %v", want[0], want[1], p.First, p.Second)
			}
			if n := min(planeRows, r.Termination.SamplesUsed); total(p.First) != n || total(p.Second) != n {
				t.Errorf("%d and %d outputs, want %d", total(p.First), total(p.Second), n)
			}
			event := r.Evidence.Prepared.Event
			if p.Border == nil || *p.Border != r.Evidence.Edges[event.Edge] || p.Above != event.Above {
				t.Errorf("the border %v, above %v, of the event %+v", p.Border, p.Above, event)
			}
			data := must.Get(audit.Canonical(r))(t)
			validate(t, data)
			for _, whole := range []bool{false, true} {
				if whole && name != "mixed" {
					continue
				}
				if v, err := pair.Verify(context.Background(), catalogue, engine.LocalPool(2), r, whole); err != nil || !v.OK() {
					t.Errorf("whole: %v: %v %v", whole, err, v.Differences)
				}
			}
		})
	}
}

// maimed is the report with a change.
func maimed(t *testing.T, good []byte, change func(*chart.Plane)) pair.Report {
	t.Helper()
	var r pair.Report
	must.Do(t, json.Unmarshal(good, &r))
	change(r.Evidence.Chart.Plane)
	return r
}

// TestForgedPlanes: a plane that is not what the run chose is found out by a whole replay,
// though its counts are right; one of another shape is refused by name.
func TestForgedPlanes(t *testing.T) {
	plan := vectorPlans["mixed"]
	plan.Samples, plan.Trials = 5_000, 1
	original := runAudit(t, plan, 2)
	original.Generator.Version = audit.Version
	good := must.Get(json.Marshal(original))(t)
	pool := rememberingPool()
	other := maimed(t, good, func(p *chart.Plane) { p.Edges[9] += 0.07 })
	counts := slowPlane(t, other)
	other.Evidence.Chart.Plane.First, other.Evidence.Chart.Plane.Second = counts[0], counts[1]
	for _, whole := range []bool{false, true} {
		if v, err := pair.Verify(context.Background(), catalogue, pool, other, whole); err != nil || v.OK() != !whole {
			t.Errorf("other edges, counted (whole: %v): %v %v", whole, err, v.Differences)
		}
	}
	for _, c := range []struct {
		says  string
		maim  func(*chart.Plane)
		later bool // seen where the mechanism is known
	}{
		{"chart.plane is 3 counts, must be", func(p *chart.Plane) { p.First = p.First[:3] }, false},
		{"chart.plane is counts of one dataset, must be of both or none", func(p *chart.Plane) { p.Second = nil }, false},
		{"chart.plane: count of bin 7 is -1", func(p *chart.Plane) { p.Second[7] = -1 }, false},
		{"chart.plane.edges is 0 numbers, must be 2 to 128", func(p *chart.Plane) { p.Edges = []float64{} }, false},
		{"chart.plane.scoreEdges is 1 numbers", func(p *chart.Plane) { p.ScoreEdges = p.ScoreEdges[:1] }, false},
		{"chart.plane.edges is 1000000 numbers", func(p *chart.Plane) { p.Edges = make([]float64, 1_000_000) }, false},
		{"chart.plane.edges is 25 numbers, must be 2 to 128 numbers in ascending order", func(p *chart.Plane) { p.Edges[4] = 1e300 }, false},
		{"of finite span", func(p *chart.Plane) { p.Edges = []float64{-1.7e308, 1.7e308} }, false},
		{"chart.plane.terms is 0, must be 1 to 32", func(p *chart.Plane) { p.Terms = []chart.PlaneTerm{} }, false},
		{"chart.plane.terms is 33", func(p *chart.Plane) { p.Terms = make([]chart.PlaneTerm, 33) }, false},
		{"chart.plane.terms[1].deviation is 0, must be above 0", func(p *chart.Plane) { p.Terms[1].Deviation = 0 }, false},
		{"chart.plane.terms[1].deviation is 1e-310", func(p *chart.Plane) { p.Terms[1].Deviation = 1e-310 }, false},
		{"chart.plane: at of a term is -1, must be in [0, 7]", func(p *chart.Plane) { p.Terms[0].At = -1 }, true},
		{"chart.plane: at of a term is 8, must be in [0, 7], as an output has 8 numbers", func(p *chart.Plane) { p.Terms[2].At = 8 }, true},
	} {
		r := maimed(t, good, c.maim)
		data := must.Get(json.Marshal(r))(t)
		if _, err := pair.ParseReport(data); (err == nil) != c.later || err != nil && (!strings.Contains(err.Error(), c.says) || !audit.IsInput(err)) {
			t.Errorf("a report is read with %v, want an error that says %q", err, c.says)
		}
		must.Refuse(t, must.Err(pair.Verify(context.Background(), catalogue, pool, r, false)), c.says)
	}
	// Numbers of any size are drawn, and found to be others.
	if v, err := pair.Verify(context.Background(), catalogue, pool, maimed(t, good, func(p *chart.Plane) { p.Slope, p.Offset, p.Terms[1].Weight = 1e308, -1e308, 1e308 }), false); err != nil || v.OK() {
		t.Errorf("vast weights: %v %v", err, v.Checked)
	}
	r := maimed(t, good, func(*chart.Plane) {})
	r.Evidence.Chart = chart.Chart{Kind: chart.Outcomes, Plane: r.Evidence.Chart.Plane}
	must.Refuse(t, must.Err(pair.Verify(context.Background(), catalogue, pool, r, false)), "chart.plane is there in a chart of kind \"outcomes\"", "a plane of outcomes")
}

// TestUnseededPlane: where counts cannot be drawn again they are the report's own,
// and are held to their shape.
func TestUnseededPlane(t *testing.T) {
	cat := catalogue
	for i, m := range cat.Mechanisms {
		if m.Name == "svt3" {
			m.Unseeded = "it is said to draw elsewhere"
			cat.Mechanisms = append(append([]audit.MechanismSpec{}, cat.Mechanisms[:i]...), m)
			break
		}
	}
	plan := vectorPlans["mixed"]
	plan.Version, plan.Samples, plan.Trials = pair.PlanVersion, 5_000, 1
	r := must.Get(pair.Run{Plan: plan, Catalogue: cat, Pool: engine.LocalPool(2), Generator: audit.Generator{Version: audit.Version}}.Do(context.Background()))(t)
	good := must.Get(json.Marshal(r))(t)
	for says, change := range map[string]func(*chart.Plane){
		"":                     func(*chart.Plane) {},
		"evidence.chart":       func(p *chart.Plane) { *p.Border++ },
		"at of a term is 99":   func(p *chart.Plane) { p.Terms[0].At = 99 },
		"3 counts, must be 67": func(p *chart.Plane) { p.First = p.First[:3] },
	} {
		v, err := pair.Verify(context.Background(), cat, engine.LocalPool(1), maimed(t, good, change), true)
		found := strings.Join(v.Differences, "; ")
		if err != nil {
			found = err.Error()
		}
		if !strings.Contains(found, says) || (says == "") != (err == nil && v.OK()) {
			t.Errorf("%q, want one that says %q", found, says)
		}
	}
}

// TestLivePlane: what a run shows on its way is the plane so far, small enough to
// be sent with every word of it, and in the end the report's. Two workers may end several
// shards before one that comes first, which are then one look.
func TestLivePlane(t *testing.T) {
	plan := vectorPlans["real"]
	plan.Version, plan.Mode = pair.PlanVersion, pair.Fixed
	var last *chart.Plane
	looks, largest := 0, 0
	r := must.Get(pair.Run{Catalogue: catalogue, Pool: engine.LocalPool(1), Plan: plan, Progress: func(p pair.Progress) {
		if p.Live == nil || p.Live.Event == nil {
			return
		}
		looks++
		last = p.Live.Chart.Plane
		data, err := json.Marshal(last)
		if err != nil {
			t.Error(err)
		}
		largest = max(largest, len(data))
		if n := min(planeRows, p.Live.Rows); total(last.First) != n || total(last.Second) != n {
			t.Errorf("%d and %d outputs in the plane, want %d of %d", total(last.First), total(last.Second), n, p.Live.Rows)
		}
	}}.Do(context.Background()))(t)
	if looks < 5 || !cmp.Equal(last, r.Evidence.Chart.Plane) {
		t.Errorf("after %d looks %+v, the report has %+v", looks, last, r.Evidence.Chart.Plane)
	}
	t.Logf("a plane is sent with %d bytes at most", largest)
	if largest > 8000 {
		t.Errorf("a plane is sent with %d bytes", largest)
	}
}
