package scores

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/audit/stream"
	"github.com/dpscope/dpscope/bounds"
	"github.com/dpscope/dpscope/core/membership"
	"github.com/dpscope/dpscope/core/report"
	"github.com/dpscope/dpscope/internal/must"
	"github.com/dpscope/dpscope/internal/testsize"
	"github.com/dpscope/dpscope/mechanisms/source"
)

func samplePlan(eps, delta float64, m report.Method) Plan {
	claim := audit.DPClaim(eps, delta)
	return Plan{Version: PlanVersion, Claim: &claim, Relation: audit.AddRemove, Method: m, Seed: 1}
}

// replaced is the plan for a claim under replace.
func replaced(p Plan) Plan {
	p.Relation = audit.Replace
	return p
}

func checkScores(t *testing.T, p Plan, s Scores) Report {
	t.Helper()
	r := must.Get(Run(p, s, audit.Generator{Name: "dpscope", Version: audit.Version}))(t)
	return r
}

// gaussianScores are n scores a class of a Gaussian mechanism with sensitivity 1.
func gaussianScores(trial, n int, sigma float64) Scores {
	st := stream.New(stream.Key{Seed: 5, Purpose: "test/gaussian scores", Trial: trial, Side: n})
	s := Scores{In: make([]float64, n), Out: make([]float64, n)}
	st.Gaussian(s.In, sigma)
	st.Gaussian(s.Out, sigma)
	for i := range s.In {
		s.In[i]++
	}
	return s
}

// toldScores are m canaries by fair coins, each answered by randomised response at
// eps: score 1 for "in", 0 for "out".
func toldScores(trial, m int, eps float64) Scores {
	st := stream.New(stream.Key{Seed: 6, Purpose: "test/told scores", Trial: trial, Side: m})
	keep := 1 / (1 + math.Exp(-eps))
	var s Scores
	for range m {
		in, told := st.Uint64()>>63 == 1, st.Float64() < keep
		score := 0.0
		if in == told {
			score = 1
		}
		if in {
			s.In = append(s.In, score)
		} else {
			s.Out = append(s.Out, score)
		}
	}
	return s
}

// sharedRuns is a matrix of runs in which four of ten canaries are in, drawn at
// random, and all canaries of a run that are in share one answer of randomised
// response at eps, and so do those that are out.
func sharedRuns(trial, runs int, eps float64) Scores {
	st := stream.New(stream.Key{Seed: 7, Purpose: "test/shared runs", Trial: trial, Side: runs})
	keep := 1 / (1 + math.Exp(-eps))
	s := Scores{Runs: runs, Canaries: 10}
	for range runs {
		score := map[bool]float64{}
		if st.Float64() < keep {
			score[true] = 1
		}
		if st.Float64() >= keep {
			score[false] = 1
		}
		for _, k := range st.Perm(10) {
			s.Score, s.Member = append(s.Score, score[k < 4]), append(s.Member, k < 4)
		}
	}
	return s
}

// tossedRuns is a matrix of runs of eight canaries, where a coin decides of each
// entry whether it was in and randomised response at eps answers for it.
func tossedRuns(trial, runs int, eps float64) Scores {
	s := Scores{Runs: runs, Canaries: 8}
	st := stream.New(stream.Key{Seed: 8, Purpose: "test/tossed runs", Trial: trial, Side: runs})
	keep := 1 / (1 + math.Exp(-eps))
	for range runs * s.Canaries {
		in, told, score := st.Uint64()>>63 == 1, st.Float64() < keep, 0.0
		if in == told {
			score = 1
		}
		s.Score, s.Member = append(s.Score, score), append(s.Member, in)
	}
	return s
}

// TestScoresCoverage: whole audits of scores where the truth is known, splits,
// thresholds and ties included. No bound of the table exceeds it oftener than beta
// = .05 allows; that a right method is called wrong has a probability below 4e-6 a
// method and case, 1e-4 in all.
func TestScoresCoverage(t *testing.T) {
	testsize.Native(t)
	counted := func(r Report, eps, mu float64, failed map[report.Method]int, best map[report.Method]float64) {
		for _, x := range r.Rows(report.Bounds) {
			if x.LowerBound != nil && (x.Mu == nil && *x.LowerBound > eps || x.Mu != nil && *x.Mu > mu) {
				failed[x.Method]++
			}
			if x.LowerBound != nil {
				best[x.Method] += *x.LowerBound
			}
		}
	}
	type want struct {
		name   string
		audits int
		plan   Plan
		draw   func(trial int) Scores
		eps    float64
		mu     float64 // of the smallest Gaussian trade-off that the mechanism keeps
		least  map[report.Method]float64
	}
	grid := samplePlan(3, 0, "")
	grid.Guesses = []int{50, 100, 200}
	sigma := source.Sigma(source.ByAnalytic, 2, 1e-5)
	for _, c := range []want{
		{"randomised response, ties everywhere", 600, samplePlan(3, 0, ""), func(i int) Scores { return toldScores(i, 300, 1) }, 1, audit.GaussianMuOfPure(1), map[report.Method]float64{report.MethodOneRun: .2, report.MethodExact: .6, report.MethodPaired: .4, report.MethodClopperPearson: .3}},
		{"the same, numbers of guesses paid for", 400, grid, func(i int) Scores { return toldScores(i, 300, 1) }, 1, audit.GaussianMuOfPure(1), map[report.Method]float64{report.MethodOneRun: .6}},
		{"Gaussian unit canaries", 150, samplePlan(2, 1e-5, ""), func(i int) Scores { return gaussianScores(i, 500, sigma) }, 2, 1 / sigma, map[report.Method]float64{report.MethodOneRun: .5, report.MethodOneRunGDP: .8, report.MethodExact: .3, report.MethodGaussian: .5, report.MethodPaired: .15}},
	} {
		failed, sum := map[report.Method]int{}, map[report.Method]float64{}
		c.audits /= testsize.Of(8, 1)
		for i := range c.audits {
			c.plan.Seed = uint64(i)
			counted(checkScores(t, c.plan, c.draw(i)), c.eps, c.mu, failed, sum)
		}
		for _, m := range FlatMethods() {
			t.Logf("%s: %s failed %d of %d, mean bound %.3f", c.name, m, failed[m], c.audits, sum[m]/float64(c.audits))
			testsize.Chance(t, c.name+": "+string(m), failed[m], c.audits, .05, 4e-6)
			if sum[m]/float64(c.audits) < c.least[m] {
				t.Errorf("%s: %s has the mean %v, want %v at least", c.name, m, sum[m]/float64(c.audits), c.least[m])
			}
		}
	}
	failed, sum := map[report.Method]int{}, map[report.Method]float64{}
	const eps = 1.0
	audits := 300 / testsize.Of(8, 1)
	for i := range audits {
		p := replaced(samplePlan(3, 0, ""))
		p.Seed = uint64(i)
		r := checkScores(t, p, sharedRuns(i, 200, eps))
		counted(r, eps, 99, failed, sum)
		if rowOf(r, report.MethodOneRun).LowerBound != nil {
			t.Fatal("one-run bound of four of ten")
		}
	}
	for _, kind := range bounds.CanaryIntervals() {
		m := report.Method(kind)
		t.Logf("runs that share an answer: %s failed %d of %d, mean bound %.3f", m, failed[m], audits, sum[m]/float64(audits))
		if kind.Valid() && failed[m] > testsize.Most(audits, .05, 4e-6) {
			t.Errorf("runs that share an answer: %s exceeds the truth in %d of %d audits", m, failed[m], audits)
		}
	}
	if mean := sum[report.MethodPaired] / float64(audits); mean < .3 {
		t.Errorf("paired betting by runs has the mean %v", mean)
	}
	clear(failed)
	clear(sum)
	tossed := 150 / testsize.Of(8, 1)
	for i := range tossed {
		p := samplePlan(3, 0, "")
		p.Seed = uint64(i)
		counted(checkScores(t, p, tossedRuns(i, 100, eps)), eps, audit.GaussianMuOfPure(eps), failed, sum)
	}
	for _, m := range []report.Method{report.MethodPaired, report.MethodOneRun, report.MethodOneRunGDP, report.Method(bounds.CanaryKL)} {
		t.Logf("runs by coins: %s failed %d of %d, mean bound %.3f", m, failed[m], tossed, sum[m]/float64(tossed))
		testsize.Chance(t, "runs by coins: "+string(m), failed[m], tossed, .05, 4e-6)
	}
	if paired, once := sum[report.MethodPaired]/float64(tossed), sum[report.MethodOneRun]/float64(tossed); paired < .4 || once < .3 {
		t.Errorf("runs by coins: means %v and %v", paired, once)
	}
}

// TestScoresTies: which of equal scores is guessed does not depend on membership.
// All scores the same: guesses are right as coins fall. 400 audits of 45 guesses
// of 1000: the mean share lies within 5 deviations of 1/2, but for 6e-7.
func TestScoresTies(t *testing.T) {
	right, made := 0, 0
	for i := range 400 {
		p := samplePlan(2, 1e-5, "")
		p.Seed = uint64(i)
		s := Scores{In: make([]float64, 500), Out: make([]float64, 500)}
		r := checkScores(t, p, s)
		for _, g := range r.Evidence.Guesses {
			right, made = right+g.Right, made+g.Made
		}
		if i > 0 {
			continue
		}
		if r.Verdict != audit.NoViolation || *r.LowerBound != 0 || !strings.Contains(strings.Join(r.Warnings, "\n"), "all scores that were explored are the same") {
			t.Errorf("%s, bound %v, %q", r.Verdict, *r.LowerBound, r.Warnings)
		}
		for _, x := range r.Rows(report.Bounds) {
			if x.LowerBound != nil && *x.LowerBound > 0 {
				t.Errorf("%s: bound %v of equal scores", x.Method, *x.LowerBound)
			}
		}
	}
	if dev := math.Abs(float64(right)-float64(made)/2) / math.Sqrt(float64(made)/4); dev > 5 {
		t.Errorf("%d of %d guesses among equal scores are right, %.1f deviations", right, made, dev)
	}
}

// TestScoresBelow: where the canary that is out is told for certain now and then,
// the event is on the lower side.
func TestScoresBelow(t *testing.T) {
	s := gaussianScores(1, 600, 100)
	for i := range 200 {
		s.Out[i] = -1e6 - float64(i)
	}
	r := checkScores(t, samplePlan(1, 1e-5, report.MethodExact), s)
	if r.Verdict != audit.Violation || r.Evidence.Events[0].Side != Below || r.Evidence.Events[0].Certified.Y != 0 {
		t.Errorf("%s, %+v", r.Summary, r.Evidence.Events[0])
	}
}

// TestScoresReplay: a report verifies with the scores and without, on its way
// through JSON, and does not when anything that counts is changed.
func TestScoresReplay(t *testing.T) {
	for _, c := range []struct {
		name string
		s    Scores
		m    report.Method
	}{{"flat", gaussianScores(2, 400, 1), ""}, {"exact", gaussianScores(3, 400, 1), report.MethodExact}, {"paired", gaussianScores(3, 90, 1), report.MethodPaired},
		{"gaussian", gaussianScores(3, 90, 1), report.MethodGaussian}, {"matrix", sharedRuns(1, 80, 2), ""}, {"wilson", sharedRuns(1, 80, 2), report.Method(bounds.CanaryWilson4)}, {"one run of a matrix", sharedRuns(1, 80, 2), report.MethodOneRun}} {
		c.s.Files, c.s.Notes = []ScoreFile{{"x.csv", "aa"}}, []string{"a note"}
		r := checkScores(t, samplePlan(1.5, 1e-5, c.m), c.s)
		back := must.Get(ParseReport(must.Get(audit.Canonical(r))(t)))(t)
		for _, scores := range []*Scores{&c.s, nil} {
			v, err := Verify(back, scores)
			if err != nil || !v.OK() || v.Summary != r.Summary {
				t.Errorf("%s, with scores %v: %v, %q", c.name, scores != nil, err, v.Differences)
			}
		}
		other := c.s
		other.In, other.Score = slices.Clone(c.s.In), slices.Clone(c.s.Score)
		for i := range other.In {
			other.In[i] = -other.In[i]
		}
		for i, in := range other.Member {
			if in {
				other.Score[i] = -other.Score[i]
			}
		}
		if v, err := Verify(back, &other); err != nil || v.OK() {
			t.Errorf("%s: other scores verify, %v", c.name, err)
		}
		other.Files = []ScoreFile{{"x.csv", "bb"}}
		must.Refuse(t, must.Err(Verify(back, &other)), "SHA-256", c.name)
	}
}

// TestForgedScores: evidence that no scores give is refused, not computed with.
func TestForgedScores(t *testing.T) {
	for name, forge := range map[string]func(r *Report){
		"no claim":        func(r *Report) { r.Plan.Claim = nil },
		"no evidence":     func(r *Report) { r.Evidence = nil },
		"right":           func(r *Report) { r.Evidence.Guesses[0].Right = r.Evidence.Guesses[0].Made + 1 },
		"guesses":         func(r *Report) { r.Evidence.Guesses = nil },
		"shape":           func(r *Report) { r.Evidence.Shape.In = -1 },
		"another shape":   func(r *Report) { r.Evidence.Shape.In += 2 },
		"events":          func(r *Report) { r.Evidence.Events = r.Evidence.Events[:2] },
		"order of events": func(r *Report) { slices.Reverse(r.Evidence.Events) },
		"counts":          func(r *Report) { r.Evidence.Events[0].Certified.X = 1 << 30 },
		"split":           func(r *Report) { r.Evidence.Events[0].Split = 1 },
		"pairs":           func(r *Report) { r.Evidence.Events[1].Pairs = nil },
		"stakes":          func(r *Report) { r.Evidence.Events[1].Stakes = &bounds.CanaryStakes{Paired: []float64{-1}} },
		"side":            func(r *Report) { r.Evidence.Events[2].Side = "beside" },
		"verdict":         func(r *Report) { r.Verdict = audit.Violation },
	} {
		r := checkScores(t, samplePlan(2, 1e-5, ""), gaussianScores(1, 100, 2))
		forge(&r)
		data := must.Get(audit.Canonical(r))(t)
		must.Refuse(t, must.Err(ParseReport(data)), "", name, "accepted")
	}
}

func TestBadScores(t *testing.T) {
	some := gaussianScores(1, 100, 1)
	nan := Scores{In: []float64{1, math.NaN()}, Out: []float64{1, 2}}
	for _, c := range []struct {
		name string
		p    Plan
		s    Scores
		want string
	}{
		{"one class", samplePlan(2, 1e-5, ""), Scores{In: []float64{1, 2}}, "one class"},
		{"NaN", samplePlan(2, 1e-5, ""), nan, "score number 2 of those in is NaN"},
		{"one each", samplePlan(2, 1e-5, report.MethodExact), Scores{In: []float64{1}, Out: []float64{0}}, "at least two of each class"},
		{"few, exact", samplePlan(2, 1e-5, report.MethodExact), Scores{In: []float64{1, 2, 3}, Out: []float64{1, 2, 3}}, "must be at least 5 of each class: no outcome"},
		{"few, one run", samplePlan(2, 1e-5, ""), Scores{In: []float64{1, 2}, Out: []float64{1, 2}}, "4 canaries, must be at least 5"},
		{"few runs", replaced(samplePlan(2, 1e-5, "")), sharedRuns(1, 4, 1), "4 runs, must be at least"},
		{"method", samplePlan(2, 1e-5, "exakt"), some, `did you mean "exact"`},
		{"method of a matrix", samplePlan(2, 1e-5, report.MethodExact), sharedRuns(1, 40, 1), "method is"},
		{"Gaussian at delta 0", samplePlan(2, 0, report.MethodGaussian), some, "delta = 0"},
		{"too many guesses", Plan{Version: PlanVersion, Claim: &audit.Claim{Epsilon: 1}, Relation: audit.AddRemove, GuessPlan: membership.GuessPlan{Guesses: []int{201}}}, some, "in [1, 200]"},
		{"guesses fall", Plan{Version: PlanVersion, Claim: &audit.Claim{Epsilon: 1}, Relation: audit.AddRemove, GuessPlan: membership.GuessPlan{Guesses: []int{20, 10}}}, some, "rising"},
		{"no claim", Plan{Version: PlanVersion, Relation: audit.AddRemove}, some, "claim is missing"},
		{"version", Plan{}, some, "version"},
		{"no relation", Plan{Version: PlanVersion, Claim: &audit.Claim{Epsilon: 1}}, some, `relation is missing: give "add-remove" or "replace"`},
		{"a relation of datasets of numbers", Plan{Version: PlanVersion, Claim: &audit.Claim{Epsilon: 1}, Relation: audit.LInfinity}, some, "add-remove"},
		{"one run under replace", replaced(samplePlan(2, 1e-5, "")), some, "must be another method"},
		{"beta", Plan{Version: PlanVersion, Claim: &audit.Claim{Epsilon: 1}, Relation: audit.AddRemove, Beta: 2}, some, "beta is 2"},
	} {
		must.Input(t, must.Err(Run(c.p, c.s, audit.Generator{})), c.want, c.name)
	}
}

// TestScoresSay: what is odd is said, and an audit that cannot refute says so.
func TestScoresSay(t *testing.T) {
	s := gaussianScores(1, 100, 1)
	r := checkScores(t, samplePlan(5, 1e-5, ""), s)
	if r.Verdict != audit.Inconclusive || !strings.Contains(r.Summary, ", which needs 518 canaries.") {
		t.Error(r.Summary)
	}
	r = checkScores(t, samplePlan(1, .99, ""), s)
	if r.Verdict != audit.Inconclusive || !strings.Contains(strings.Join(r.Warnings, "\n"), "no outcome shows anything") || !strings.Contains(strings.Join(r.Warnings, "\n"), "not more than delta = 0.99") {
		t.Error(r.Summary, r.Warnings)
	}
	s.Out = s.Out[:20]
	r = checkScores(t, samplePlan(1, 1e-5, ""), s)
	if r.Verdict != audit.Inconclusive || r.LowerBound != nil || !strings.Contains(r.Summary, "100 of 120 canaries were in") {
		t.Error(r.Summary)
	}
	r = checkScores(t, samplePlan(.1, 1e-5, report.MethodGaussian), gaussianScores(1, 2000, .5))
	if r.Verdict != audit.Inconclusive || !strings.Contains(r.Summary, "cannot refute the claim") {
		t.Error(r.Summary)
	}
	r = checkScores(t, samplePlan(1, 0, ""), gaussianScores(1, 500, .5))
	if r.Verdict != audit.Violation || !strings.Contains(report.Text(r), "at delta = 0 no Gaussian trade-off has a finite epsilon") {
		t.Error(report.Text(r))
	}
	// Coins in every run: some runs have too few of a class.
	m := sharedRuns(1, 100, 3)
	m.Member[0] = !m.Member[0]
	for i := range 20 { // of the first two runs: none is in
		m.Member[i] = false
	}
	r = checkScores(t, replaced(samplePlan(1, 1e-5, "")), m)
	if r.Evidence.Shape.Used != 98 || r.Evidence.Shape.K != 4 || !strings.Contains(strings.Join(r.Warnings, "\n"), "2 of 100 runs have fewer than 4 canaries in") {
		t.Error(r.Evidence.Shape, r.Warnings)
	}
}

// Scores that are all the same, of fair coins. The file says who was in by the order of
// its rows, and that order and the seed break ties: with one order for all files of 358
// canaries a fifth of them was a false alarm. More than 45 of 400 is so of one in 20 with
// probability 2e-7.
func TestTiesOfOneSeed(t *testing.T) {
	alarms := 0
	for trial := range 400 {
		coins := make([]float64, 358)
		stream.New(stream.Key{Seed: 7, Purpose: "ties", Trial: trial}).Bernoulli(coins, 0.5)
		in := 0
		for _, c := range coins {
			in += int(c)
		}
		s := Scores{In: make([]float64, in), Out: make([]float64, len(coins)-in), Files: []ScoreFile{{"scores.csv", fmt.Sprint(coins)}}}
		p := samplePlan(1e-9, 0, "")
		p.Seed = 42
		r := checkScores(t, p, s)
		if r.PValue != nil && *r.PValue <= 0.05 {
			alarms++
		}
		if !slices.Equal(r.Plan.Data, []string{s.Files[0].SHA256}) {
			t.Fatal(r.Plan.Data)
		}
	}
	if alarms > 45 {
		t.Errorf("%d false alarms of 400", alarms)
	}
}

// TestSameBitsOfScores pins what seeds give, so that platforms are held to the same
// split, pairing, thresholds and counts.
func TestSameBitsOfScores(t *testing.T) {
	ev := checkScores(t, samplePlan(2, 1e-5, ""), gaussianScores(9, 1000, 1)).Evidence
	var got []any
	for _, e := range ev.Events {
		got = append(got, e.Side, e.Threshold, e.Certified.X, e.Certified.Y)
	}
	for _, c := range ev.Events[1].Pairs.Cells {
		got = append(got, c.Runs)
	}
	got = append(got, ev.Guesses[0].Right, ev.GDPGuesses[0].Right)
	m := checkScores(t, replaced(samplePlan(2, 1e-5, "")), sharedRuns(9, 300, 2)).Evidence.Runs
	got = append(got, m.Threshold, len(m.Certified.Table.Cells), m.Certified.Table.Cells[0].Runs)
	if s := fmt.Sprint(got); s != goldenScores {
		t.Errorf("%s\nwant %s", s, goldenScores)
	}
}

const goldenScores = "[below -1.1612535442497578 61 13 below -1.265367503515659 55 8 below 0.7572903614223243 384 208 439 6 53 2 108 141 0 4 13]"

// TestSameBitsOfOneRun does so for runs.
func TestSameBitsOfOneRun(t *testing.T) {
	var got []any
	for _, d := range []source.Design{source.Orthogonal, source.Sphere} {
		p := oneRunPlan(2, 400, audit.Params{"d": {Number: 400}})
		p.Design = d
		e := runCanaries(t, p, 1).Evidence.OneRun
		got = append(got, e.In, e.Guesses, e.GDPGuesses)
	}
	p := oneRunPlan(2, 200, audit.Params{"steps": {Number: 20}})
	p.Source = "dp-sgd"
	e := runCanaries(t, p, 1).Evidence.OneRun
	got = append(got, e.In, e.Guesses, e.GDPGuesses)
	if s := fmt.Sprint(got); s != goldenOneRun {
		t.Errorf("%s\nwant %s", s, goldenOneRun)
	}
}

const goldenOneRun = "[199 [{75 38 51}] [{80 40 55}] 199 [{75 38 55}] [{80 40 58}] 102 [{53 27 32}] [{57 29 33}]]"

// What sorted lists tell of the half that explores is what its scores and pairs tell: counts
// and pairs, of ties, on both sides, and of classes of any size.
func TestHalf(t *testing.T) {
	st := stream.New(stream.Key{Seed: 9, Purpose: "test/half"})
	for trial := range 200 {
		var scores Scores
		for _, list := range []*[]float64{&scores.In, &scores.Out} {
			for range 2 + st.Uint64()%40 {
				*list = append(*list, float64(st.Uint64()%uint64(2+trial)))
			}
		}
		p := Plan{Seed: uint64(trial)}
		in, _ := scores.split(p, true)
		out, _ := scores.split(p, false)
		for _, below := range []bool{false, true} {
			s, _ := scores.sides(p, below)
			h := newHalf(s, 1, 1)
			for _, cut := range h.pooled {
				x, y, beyond := in, out, func(v float64) bool { return v > cut }
				if below {
					x, y, beyond = out, in, func(v float64) bool { return -v > cut }
				}
				want, pairs := bounds.Counts{N1: len(x), N0: len(y)}, bounds.NewCanaryTable(1, 1)
				for i := range max(len(x), len(y)) {
					if i < len(x) {
						want.X += one(beyond(x[i]))
					}
					if i < len(y) {
						want.Y += one(beyond(y[i]))
					}
					if i < min(len(x), len(y)) {
						pairs.Add(one(beyond(x[i])), one(beyond(y[i])), 1)
					}
				}
				if h.counts(cut) != want || !sameCells(h.pairs(cut), pairs) || !sameCells(*s.pairs(cut), pairs) {
					t.Fatalf("cut %v, below %v: %v and %v, want %v and %v", cut, below, h.counts(cut), h.pairs(cut), want, pairs)
				}
			}
		}
	}
}

// sameCells says whether tables count the same, in whatever order.
func sameCells(a, b bounds.CanaryTable) bool {
	a.Merge(bounds.NewCanaryTable(1, 1))
	b.Merge(bounds.NewCanaryTable(1, 1))
	return reflect.DeepEqual(a, b)
}

// What is certified depends on the scores, not on the order in which a file has them.
func TestLayout(t *testing.T) {
	s := stream.New(stream.Key{Seed: 5})
	in, out := make([]float64, 400), make([]float64, 400)
	s.Gaussian(in, 1.5)
	s.Gaussian(out, 1.5)
	for i := range in {
		in[i], out[i] = math.Round(in[i]+2), math.Round(out[i]) // with ties
	}
	claim := audit.DPClaim(1, 1e-5)
	var want []byte
	for turn := range 4 {
		r := must.Get(Run(Plan{Version: PlanVersion, Claim: &claim, Relation: audit.AddRemove},
			Scores{In: in, Out: out, Files: []ScoreFile{{Name: "scores.csv", SHA256: strings.Repeat("0123"[turn:turn+1], 64)}}}, audit.Generator{}))(t)
		got := must.Get(json.Marshal(r.Tables))(t)
		if turn == 0 {
			want = got
		} else if !bytes.Equal(got, want) {
			t.Errorf("layout %d:\n%s\nfirst:\n%s", turn, got, want)
		}
		s.Shuffle(len(in), func(i, j int) { in[i], in[j] = in[j], in[i] })
		slices.Sort(out)
	}
}

// TestCertifiedIn: the memberships of the runs that certify are counted, not of those that explore: what
// they could certify at best depends on how many there are.
func TestCertifiedIn(t *testing.T) {
	s := tossedRuns(1, 31, 1)
	for i, in := range s.Member {
		s.Score[i] = float64(one(in)) // every membership is seen
	}
	ev := checkScores(t, samplePlan(1, 0, ""), s).Evidence
	seen := 0
	for _, c := range ev.Runs.Certified.Table.Cells {
		seen += c.X * c.Runs
	}
	if seen != ev.Shape.CertifiedIn {
		t.Errorf("%d memberships in runs that certify, of which %d were counted", seen, ev.Shape.CertifiedIn)
	}
}

// TestContent: other scores of either class are other content, and so are those of the other class.
func TestContent(t *testing.T) {
	names := map[string]int{}
	for i, s := range []Scores{{In: []float64{1, 2}, Out: []float64{3}}, {In: []float64{1, 2}, Out: []float64{4}}, {In: []float64{1, 4}, Out: []float64{3}},
		{In: []float64{1}, Out: []float64{2, 3}}, {In: []float64{3}, Out: []float64{1, 2}}} {
		if twin, twice := names[s.content()]; twice {
			t.Errorf("scores %d have the content of scores %d", i, twin)
		}
		names[s.content()] = i
	}
}
