package scores

import (
	"math"
	"strings"
	"testing"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/audit/stream"
	"github.com/dpscope/dpscope/bounds"
	"github.com/dpscope/dpscope/core/canary"
	"github.com/dpscope/dpscope/core/report"
	"github.com/dpscope/dpscope/internal/must"
	"github.com/dpscope/dpscope/internal/testsize"
	"github.com/dpscope/dpscope/mechanisms/source"
)

// laplaceSums are runs of sum s_j in_j + Laplace(1), s_j = 1, -1, 1, ..., by fair
// coins, exactly epsilon = 1 under add-remove and 2 under replace where two signs
// differ. A canary's score is s_j times the output.
func laplaceSums(trial, runs, canaries int) Scores {
	st := stream.New(stream.Key{Seed: 11, Purpose: "test/laplace sums", Trial: trial, Side: canaries})
	s := Scores{Runs: runs, Canaries: canaries, Files: []ScoreFile{{"x.csv", "aa"}}}
	noise := make([]float64, runs)
	st.Laplace(noise, 1)
	sign := func(k int) float64 { return float64(1 - 2*(k%2)) }
	for _, sum := range noise {
		for k := range canaries {
			in := st.Uint64()>>63 == 1
			if in {
				sum += sign(k)
			}
			s.Member = append(s.Member, in)
		}
		for k := range canaries {
			s.Score = append(s.Score, sign(k)*sum)
		}
	}
	return s
}

// TestRelationOfRuns: a private mechanism is not refuted. Under add-remove no run is
// left out, and its bound exceeds 1 no oftener than beta allows; under replace it
// exceeds 1, as it should, but not 2.
func TestRelationOfRuns(t *testing.T) {
	testsize.Native(t)
	lower := func(r Report) float64 {
		if r.LowerBound == nil {
			must.Say(t, r.Summary, "bounds nothing on these counts")
			return 0
		}
		return *r.LowerBound
	}
	audits := testsize.Of(16, 80)
	for _, canaries := range []int{2, 3} {
		var added, twice, replacedMean float64
		for i := range audits {
			s := laplaceSums(i, 600, canaries)
			p := samplePlan(1, 1e-6, "")
			p.Seed = uint64(i)
			r := checkScores(t, p, s)
			if x := r.Evidence.Runs; x.Explored.Table.Runs()+x.Certified.Table.Runs() != 600 {
				t.Fatal("a run was left out")
			}
			if lower(r) > 1 {
				added++
			}
			if (lower(r) > 1) != (r.Verdict == audit.Violation) {
				t.Errorf("%s", r.Summary)
			}
			r = checkScores(t, replaced(p), s)
			if lower(r) > 2 {
				twice++
			}
			replacedMean += lower(r) / float64(audits)
		}
		t.Logf("%d canaries: above 1 in %v of %d under add-remove, above 2 in %v under replace, whose mean is %.3f", canaries, added, audits, twice, replacedMean)
		testsize.Chance(t, "under add-remove", int(max(added, twice)), audits, .05, 4e-6)
		if canaries == 2 && replacedMean < 1 {
			t.Errorf("%d canaries: mean %v under replace; the case shows nothing", canaries, replacedMean)
		}
	}
}

// TestRunsOfEitherHalf: a run explores or certifies, and none does both.
func TestRunsOfEitherHalf(t *testing.T) {
	st := stream.New(stream.Key{Seed: 5, Purpose: "test/halves"})
	s := Scores{Runs: 300, Canaries: 2, Score: make([]float64, 600)}
	st.Laplace(s.Score, 1)
	for i := range s.Score {
		s.Member = append(s.Member, i%2 == 0)
		s.Score[i] += float64(1 - i%2)
	}
	x := checkScores(t, replaced(samplePlan(1, 1e-6, "")), s).Evidence.Runs
	want := bounds.NewCanaryTable(1, 1)
	for i := range s.Runs {
		want.Add(one(s.Score[2*i] > x.Threshold), one(s.Score[2*i+1] > x.Threshold), 1)
	}
	got := *x.Explored.Table
	got.Merge(*x.Certified.Table)
	if !sameCells(got, want) {
		t.Errorf("both halves count %+v, all runs %+v", got, want)
	}
}

// TestRelationPower: by coins two canaries in 3000 runs certify .78 of epsilon = 1
// on average at least; of the same runs under replace more than 1, as they should.
func TestRelationPower(t *testing.T) {
	testsize.Native(t)
	const audits = 20
	mean, exchanged := 0.0, 0.0
	for i := range audits {
		p := samplePlan(1, 1e-6, "")
		p.Seed = uint64(i)
		s := laplaceSums(1000+i, 3000, 2)
		mean += *checkScores(t, p, s).LowerBound / audits
		exchanged += *checkScores(t, replaced(p), s).LowerBound / audits
	}
	t.Logf("mean bound %.3f of 1, under replace %.3f of 2", mean, exchanged)
	if mean < .78 || exchanged < 1 {
		t.Errorf("mean bounds %v and %v", mean, exchanged)
	}
}

// TestRelationRefused: each method is refused under a relation that it does not
// bound, and runs that are plainly not by coins have no bound under add-remove.
func TestRelationRefused(t *testing.T) {
	flat, matrix := gaussianScores(1, 200, 1), laplaceSums(1, 100, 5)
	for _, x := range []struct {
		s       Scores
		methods []report.Method
	}{{flat, FlatMethods()}, {matrix, MatrixMethods()}} {
		for _, m := range x.methods {
			for _, relation := range []audit.Relation{audit.AddRemove, audit.Replace} {
				p := samplePlan(1, 1e-5, m)
				p.Relation = relation
				r, err := Run(p, x.s, audit.Generator{})
				byCoins := m == report.MethodOneRun || m == report.MethodOneRunGDP
				if byCoins && relation == audit.Replace {
					must.Input(t, err, "may reveal the number of records", m, relation)
					continue
				}
				if err != nil || rowOf(r, m) == nil || rowOf(r, m).Assumption == "" {
					if err == nil || !strings.Contains(err.Error(), "at least") { // too few runs
						t.Errorf("%s under %s: %v", m, relation, err)
					}
					continue
				}
				if one := rowOf(r, report.MethodOneRun); relation == audit.Replace && (one.LowerBound != nil || one.Note != report.OneRunOfReplace) {
					t.Errorf("%s under %s has a bound by one run: %+v", m, relation, one)
				}
			}
		}
	}
	for name, c := range map[string]struct {
		member func(i, k int, st *stream.Stream) bool
		want   string
	}{
		"fixed number": {func(i, k int, _ *stream.Stream) bool { return (i+k)%4 < 2 }, "2 of 4 canaries were in in 200 of 200 runs"},
		"one coin":     {func(i, k int, _ *stream.Stream) bool { return i%2 == 0 }, "2 of 4 canaries were in in 0 of 200 runs"},
		"the same":     {func(_, k int, _ *stream.Stream) bool { return k < 2 }, "no coin was thrown"},
		"a third":      {func(_, _ int, st *stream.Stream) bool { return st.Float64() < 0.3 }, "memberships were in"},
		"one always in": {func(_, k int, st *stream.Stream) bool {
			return k == 3 || st.Float64() < 0.5 && (k > 0 || st.Float64() < 0.3)
		}, "a canary was in in 200 of 200 runs"},
		"by coins": {func(_, _ int, st *stream.Stream) bool { return st.Uint64()>>63 == 1 }, ""},
	} {
		st := stream.New(stream.Key{Seed: 12, Purpose: "test/coins"})
		s := Scores{Runs: 200, Canaries: 4}
		for i := range s.Runs {
			for k := range s.Canaries {
				s.Member = append(s.Member, c.member(i, k, st))
				s.Score = append(s.Score, st.Float64())
			}
		}
		r := checkScores(t, samplePlan(1, 1e-5, ""), s)
		if c.want == "" {
			if r.LowerBound == nil {
				t.Errorf("%s: %s", name, r.Summary)
			}
			continue
		}
		if r.LowerBound != nil || r.Verdict != audit.Inconclusive || !strings.Contains(r.Summary, c.want) || !strings.Contains(strings.Join(r.Warnings, "\n"), "-relation replace -epsilon 2 -delta 3.71828e-05") {
			t.Errorf("%s: %s\n%q", name, r.Summary, r.Warnings)
		}
	}
}

// TestCoinsAreFair: of 4000 files by fair coins none is called unfair, which happens
// with probability 4e-3 at most.
func TestCoinsAreFair(t *testing.T) {
	testsize.Native(t)
	for i := range 4000 {
		s := tossedRuns(i, 30, 1)
		if why := must.Get(s.sorted())(t).shape(Plan{Relation: audit.AddRemove}).coins(); why != "" {
			t.Error(why)
		}
	}
}

// TestClaims: plans that name no delta have the default and say so, relations have
// one name and the names of before, and the whole claim stands in the first line and
// in the command to run again.
func TestClaims(t *testing.T) {
	for text, want := range map[string]struct {
		delta     float64
		defaulted bool
	}{
		`{"version":1,"claim":{"epsilon":1}}`:                                 {report.DefaultDelta, true},
		`{"version":1,"claim":{"kind":"approximate","epsilon":1}}`:            {report.DefaultDelta, true},
		`{"version":1,"claim":{"epsilon":1,"delta":0}}`:                       {0, false},
		`{"version":1,"claim":{"kind":"pure","epsilon":1}}`:                   {0, false},
		`{"version":1,"claim":{"epsilon":1,"delta":1e-5}}`:                    {1e-5, false},
		`{"version":1,"claim":{"epsilon":1,"delta":0.25}}`:                    {0.25, false},
		`{"version":1,"claim":{"epsilon":1},"relation":"add-remove"}`:         {report.DefaultDelta, true},
		`{"version":1,"deltaDefaulted":true,"claim":{"epsilon":1,"delta":0}}`: {0, true},
	} {
		runs, err1 := canary.ParsePlan([]byte(text))
		scores, err2 := ParsePlan([]byte(text))
		if err1 != nil || err2 != nil {
			t.Fatal(text, err1, err2)
		}
		for _, got := range []report.StatedClaim{runs.StatedClaim(), scores.statedClaim()} {
			if got.Delta != want.delta || got.Defaulted != want.defaulted {
				t.Errorf("%s: delta %v, defaulted %v", text, got.Delta, got.Defaulted)
			}
		}
		claim, err := report.ResolveClaim(runs.Claim, runs.DeltaDefaulted)
		if (err == nil) != (!want.defaulted || want.delta == report.DefaultDelta) || err == nil && claim.Delta != want.delta {
			t.Errorf("%s: %+v, %v", text, claim, err)
		}
	}
	for text, want := range map[string]audit.Relation{
		`{"version":1,"relation":"replace"}`: audit.Replace,
		`{"version":1}`:                      "",
		`{"version":1,"form":"add-remove"}`:  "refused",
	} {
		p, err := canary.ParsePlan([]byte(text))
		if (err != nil) != (want == "refused") || err == nil && p.Relation != want {
			t.Errorf("%s: %q, %v", text, p.Relation, err)
		}
	}
	p := samplePlan(2, report.DefaultDelta, report.MethodExact)
	p.DeltaDefaulted = true
	r := checkScores(t, replaced(p), gaussianScores(1, 200, 1))
	first, _, _ := strings.Cut(report.Text(r), "\n")
	must.Say(t, first, "at delta = 1e-05 (the default) under replace with 95 % confidence")
	if !strings.Contains(report.Text(r), "epsilon = 2 at delta = 1e-05, the default because none was given, under replace: a record is replaced by another") ||
		!strings.Contains(r.Reproduce.CLI, "-epsilon 2 -delta 1e-05 -relation replace") {
		t.Error(report.Text(r))
	}
	if h := runCanaries(t, oneRunPlan(2, 400, nil), 1); !strings.Contains(h.Summary, "under add-remove") || !strings.Contains(h.Reproduce.CLI, "-relation add-remove") {
		t.Error(h.Summary, h.Reproduce.CLI)
	}
	once := oneRunPlan(2, 400, nil)
	once.Relation = audit.Replace
	must.Refuse(t, must.Err(once.Resolve(source.Sources(), nil)), "may reveal the number of records")
}

// TestManyCanaries: a matrix with many canaries a run is counted without a table of
// all cells.
func TestManyCanaries(t *testing.T) {
	s := laplaceSums(5, 60, 3000)
	r := checkScores(t, samplePlan(1, 1e-5, report.Method(bounds.CanaryKL)), s)
	if x := r.Evidence.Runs.Certified.Table; x.K != 3000 || x.M != 3000 || x.Runs() != 30 || math.IsNaN(r.Evidence.Runs.Threshold) {
		t.Error(x.K, x.M, x.Runs())
	}
}
