package membership

import (
	"crypto/sha256"
	"encoding/hex"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/audit/stream"
	"github.com/dpscope/dpscope/bounds"
	"github.com/dpscope/dpscope/core/report"
	"github.com/dpscope/dpscope/internal/must"
	"github.com/dpscope/dpscope/internal/testsize"
)

// Scores whose counts are worked by hand.
func TestCountByHand(t *testing.T) {
	in, out := []float64{5, 4, 4, 1}, []float64{4, 3, 2, 1, 0}
	e := Count(in, out, 0.05)
	if e.ROC.In != 4 || e.ROC.Out != 5 || e.ROC.Wins != 14 || e.ROC.Ties != 3 { // 5; 4 and 4; 1
		t.Errorf("%+v", e.ROC)
	}
	must.Do(t, e.Check(4, 5))
	if h := e.Histogram; h.Edges[0] != 0 || h.Edges[len(h.Edges)-1] != 5 || h.In[len(h.In)-1] != 1 || h.In[0]+h.Out[0] != 0 || h.Out[1] != 1 {
		t.Errorf("%+v", h)
	}
	if !slices.Equal(in, []float64{5, 4, 4, 1}) {
		t.Error("counting moves the scores")
	}
	// All the same, and such that stand for none.
	same := Count([]float64{2, 2}, []float64{2, -math.MaxFloat64}, 0.05)
	if h := same.Histogram; len(h.Edges) != 1 || h.In[1] != 2 || h.Out[0] != 1 || h.Out[1] != 1 || same.Check(2, 2) != nil {
		t.Errorf("%+v", h)
	}
	huge := Count([]float64{1e308, 1e307}, []float64{-1e308}, 0.05)
	if err := huge.Check(2, 1); err != nil || len(huge.Histogram.Edges) < 20 {
		t.Errorf("%v: %+v", err, huge.Histogram)
	}
	none := Count([]float64{-math.MaxFloat64}, []float64{-math.MaxFloat64}, 0.05)
	if err := none.Check(1, 1); err != nil || none.ROC.AUROC() != 0.5 {
		t.Errorf("%v: %+v", err, none)
	}
	runs := OfRuns(2, 1, []float64{3, 1, 2, 5, 4, 0}, 0.05)
	if r := runs.Runs; r == nil || r.Number != 2 || r.AUROC != 0.75 || runs.ROC.AUROC() != (2+1+2+2)/8.0 {
		t.Errorf("%+v of %+v", r, runs.ROC)
	}
	if OfRuns(1, 1, nil, 0.05) != nil || OfRuns(1, 1, []float64{1, 0}, 0.05).Runs != nil {
		t.Error("no run, or one, has areas of runs")
	}
}

// The histogram holds a score in a bin by a count of all, wherever its edges are.
func TestHistogram(t *testing.T) {
	s := stream.New(stream.Key{Seed: 2, Purpose: "membership/histogram"})
	in, out := make([]float64, 900), make([]float64, 400)
	s.Laplace(in, 3)
	s.Gaussian(out, 1)
	in[0] = 1e300
	h := Count(in, out, 0.05).Histogram
	if len(h.Edges) != bins+1 || h.Edges[bins] > 100 {
		t.Fatalf("edges %v", h.Edges)
	}
	for i := range h.In {
		lo, hi := math.Inf(-1), math.Inf(1)
		if i > 0 {
			lo = h.Edges[i-1]
		}
		if i < len(h.Edges) {
			hi = h.Edges[i]
		}
		for _, x := range []struct {
			scores []float64
			got    int
		}{{in, h.In[i]}, {out, h.Out[i]}} {
			n := 0
			for _, v := range x.scores {
				if v >= lo && v < hi {
					n++
				}
			}
			if n != x.got {
				t.Errorf("%d scores in [%v, %v), counted %d", n, lo, hi, x.got)
			}
		}
	}
}

// thirdAbove are Gaussian scores, of which one in three is so far above the others.
func thirdAbove(n int, key stream.Key, sigma, by float64) []float64 {
	scores := make([]float64, n)
	stream.New(key).Gaussian(scores, sigma)
	for i := 0; i < n; i += 3 {
		scores[i] += by
	}
	return scores
}

// Intervals stand only where they hold, and the claim beside them only where it bounds
// what they are of.
func TestTable(t *testing.T) {
	scores := thirdAbove(6000, stream.Key{Seed: 4, Purpose: "membership/table"}, 1, 3)
	e := OfRuns(1, 2, scores, 0.05)
	claim := audit.DPClaim(1, 1e-5)
	for basis, want := range map[Basis][5]bool{OwnTrainings: {true, false, true, true, true}, OneTraining: {}, FixedRuns: {false, true}, OpenRuns: {}} {
		table := e.Table(claim, audit.AddRemove, basis, 0.05)
		if strings.Contains(table.Title, "confidence") != (basis == OwnTrainings || basis == FixedRuns) {
			t.Errorf("%d: %q", basis, table.Title)
		}
		for i, x := range table.Rows {
			if given := x.LowerBound != nil; given != want[i] || given != (x.UpperBound != nil) || given != x.Valid || given == (x.Note != "") || given != (x.Assumption != "") {
				t.Errorf("%d: row %+v", basis, x)
			}
			if (x.Claimed != nil) != (basis == OwnTrainings && i != 1) || x.Value == nil {
				t.Errorf("%d: row %+v", basis, x)
			}
			if x.LowerBound != nil && !(*x.LowerBound < *x.Value && *x.Value < *x.UpperBound) {
				t.Errorf("%d: %v in [%v, %v]", basis, *x.Value, *x.LowerBound, *x.UpperBound)
			}
		}
	}
	rows := e.Table(claim, audit.AddRemove, OwnTrainings, 0.05).Rows
	if x := rows[0]; !x.Exceeds() || math.Abs(*x.Claimed-math.E/(1+math.E)) > 1e-5 {
		t.Errorf("scores 3 apart keep epsilon = 1: %+v", x)
	}
	words := report.Table{Rows: rows}.Words()
	if got := words.Columns[3].Title; got != "at most" {
		t.Errorf("columns %+v", words.Columns)
	}
}

// The interval by runs, whose scores depend on each other: each run moves all of its own.
func TestRunsCoverage(t *testing.T) {
	const runs, k, beta = 40, 6, 0.1
	truth := math.Erfc(-0.5/math.Sqrt2/math.Sqrt2) / 2 // of N(0.5, 1) against N(0, 1)
	s := stream.New(stream.Key{Seed: 9, Purpose: "membership/coverage"})
	scores, moves := make([]float64, 2*k*runs), make([]float64, runs)
	lost, trials := 0, testsize.Of(300, 5000)
	for range trials {
		s.Gaussian(scores, 1)
		s.Gaussian(moves, 20)
		for i := range scores {
			if i%(2*k) < k {
				scores[i] += 0.5
			}
			scores[i] += moves[i/(2*k)]
		}
		x := OfRuns(k, k, scores, beta).Table(audit.DPClaim(1, 0), audit.Replace, FixedRuns, beta).Rows[1]
		if *x.LowerBound > truth || *x.UpperBound < truth {
			lost++
		}
	}
	testsize.Chance(t, "intervals that lost the area", lost, trials, beta, 1e-6)
}

// Forged counts are refused.
func TestCheck(t *testing.T) {
	for name, change := range map[string]func(*Evidence){
		"roc":        func(e *Evidence) { e.ROC.Wins++ },
		"sum":        func(e *Evidence) { e.Histogram.In[1]++ },
		"negative":   func(e *Evidence) { e.Histogram.In[1], e.Histogram.In[2] = -1, e.Histogram.In[2]+e.Histogram.In[1]+1 },
		"edges":      func(e *Evidence) { e.Histogram.Edges[1] = e.Histogram.Edges[0] },
		"no edge":    func(e *Evidence) { e.Histogram.Edges[0] = math.NaN() },
		"fewer bins": func(e *Evidence) { e.Histogram.Out = e.Histogram.Out[1:] },
		"runs":       func(e *Evidence) { e.Runs = &Runs{Number: 99, AUROC: 0.5} },
		"area":       func(e *Evidence) { e.Runs = &Runs{Number: 2, AUROC: 1.5} },
	} {
		e := Count([]float64{5, 4, 4, 1}, []float64{4, 3, 2, 1, 0}, 0.05)
		e.ROC.Steps = slices.Clone(e.ROC.Steps)
		if name == "roc" {
			e.ROC.Wins = e.ROC.In * e.ROC.Out
		}
		if change(e); e.Check(0, 0) == nil {
			t.Errorf("%s: %+v is taken", name, e)
		}
	}
	e := Count([]float64{5, 4, 4, 1}, []float64{4, 3, 2, 1, 0}, 0.05)
	if e.Check(5, 0) == nil || e.Check(0, 4) == nil {
		t.Error("other numbers of scores are taken")
	}
}

// The evidence is the same on every platform; what follows from it is within tolerances.
func TestSameBitsMembership(t *testing.T) {
	scores := thirdAbove(9000, stream.Key{Seed: 8, Purpose: "membership/bits"}, 2, 0.7)
	text := must.Get(audit.Canonical(OfRuns(2, 4, scores, 0.05)))(t)
	sum := sha256.Sum256(text)
	const want = "531ff36419ccb3956ef328fe8f1a20c2eac7f77009e20933b9efc5cfc3d973e1"
	if got := hex.EncodeToString(sum[:]); got != want {
		t.Errorf("the evidence is %s, want %s", got, want)
	}
}

// TestGuessesShareTheError: of several numbers of guesses each has its share of it.
func TestGuessesShareTheError(t *testing.T) {
	const m, delta, beta = 200, 1e-5, 0.05
	g := Guessing{GuessPlan{BothSides, []int{20, 60}, []int{20, 60}}, m, Rule{Claim: audit.DPClaim(1, delta), Beta: beta}}
	made := []Guess{{20, 10, 19}, {60, 30, 44}}
	eps, mu, p := 0.0, 0.0, 1.0
	for _, x := range made {
		eps = max(eps, bounds.OneRunEpsilon(m, x.Made, x.Right, delta, beta/2))
		mu = max(mu, bounds.OneRunGDPMu(m, x.Made, x.Right, 2, beta/2))
		p = min(p, 2*bounds.OneRunPValue(m, x.Made, x.Right, 1, delta))
	}
	rows := g.Rows(Guessed{made, made}, 1)
	if got := g.PValue(Guessed{made, made}, 1); eps == 0 || mu == 0 || *rows[0].LowerBound != eps || *rows[1].Mu != mu || got != p {
		t.Errorf("epsilon %v, mu %v, p-value %v, want %v, %v, %v", *rows[0].LowerBound, *rows[1].Mu, got, eps, mu, p)
	}
}

// TestForgedGuesses: numbers that the plan's guesses cannot be are refused.
func TestForgedGuesses(t *testing.T) {
	rule := Rule{Claim: audit.DPClaim(1, 1e-5), Beta: 0.05}
	chosen, in := Guessing{GuessPlan{ChosenSides, nil, []int{20}}, 80, rule}, Guessing{GuessPlan{InSide, []int{8}, []int{8}}, 80, rule}
	for _, k := range []struct {
		g       Guessing
		made    Guess
		ok      bool
		guesses int
	}{
		{chosen, Guess{70, 0, 70}, true, 1}, {chosen, Guess{71, 0, 70}, false, 1}, // ten are set aside
		{chosen, Guess{70, 0, 70}, false, 2}, {chosen, Guess{70, 0, 70}, false, 0},
		{chosen, Guess{9, 10, 5}, false, 1}, {chosen, Guess{9, 9, 10}, false, 1}, {chosen, Guess{0, 0, 0}, false, 1},
		{in, Guess{8, 8, 5}, true, 1}, {in, Guess{8, 7, 5}, false, 1}, {in, Guess{9, 9, 5}, false, 1}, {in, Guess{8, 8, 9}, false, 1},
	} {
		gdp := Guess{k.g.GDPGuesses[0], k.g.GDPGuesses[0], 4}
		if err := k.g.Check(Guessed{slices.Repeat([]Guess{k.made}, k.guesses), []Guess{gdp}}); (err == nil) != k.ok {
			t.Errorf("%d times %+v, sides %q: %v", k.guesses, k.made, k.g.Sides, err)
		}
		if gdp.Made++; k.g.Check(Guessed{[]Guess{k.made}, []Guess{gdp}}) == nil {
			t.Errorf("%+v of f-DP pass, with %+v", gdp, k.made)
		}
	}
}

// TestForgedRuns: counts of more runs than were planned, or of other canaries, are refused.
func TestForgedRuns(t *testing.T) {
	for name, change := range map[string]func(g *Gathered){
		"":                 func(*Gathered) {},
		"more explored":    func(g *Gathered) { g.Explored.Table.Add(1, 0, 1) },
		"more certified":   func(g *Gathered) { g.Certified.Table.Add(1, 0, 1) },
		"other canaries":   func(g *Gathered) { g.Certified.Table.K = 3 },
		"other fresh ones": func(g *Gathered) { g.Certified.Table.M = 4 },
		"fewer diverged":   func(g *Gathered) { g.Certified.Diverged = -1 },
		"more diverged":    func(g *Gathered) { g.Certified.Diverged = 31 },
		"no threshold":     func(g *Gathered) { g.Threshold = math.Inf(1) },
		"a stake of 0":     func(g *Gathered) { g.Stakes.Paired = []float64{0} },
	} {
		explored, certified := bounds.NewCanaryTable(2, 3), bounds.NewCanaryTable(2, 3)
		explored.Add(2, 0, 20)
		certified.Add(1, 1, 30)
		g := Gathered{Threshold: 1, Explored: Counted{Table: &explored}, Certified: Counted{Table: &certified, Diverged: 30}}
		if change(&g); (g.Check(20, 30, 2, 3) == nil) != (name == "") {
			t.Errorf("%q: %v", name, g.Check(20, 30, 2, 3))
		}
	}
}
