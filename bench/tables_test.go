package main

import (
	"strings"
	"testing"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/core/pair"
	"github.com/dpscope/dpscope/internal/must"
)

// What is printed; another seed gives another result.
func TestBenchTables(t *testing.T) {
	args := strings.Fields("tables -paper auditorium -quick -only figure-2 -runs 1")
	one := printedOnce(t, args...)
	must.Say(t, one, "figure-2  ScaleGD", "s = 0.95", "not caught", "seconds", "truth")
	if strings.ReplaceAll(printedOnce(t, append(args, "-seed", "2")...), "seeds from 2", "seeds from 1") == one {
		t.Error("seeds 1 and 2 give the same")
	}
}

// Every table of every paper resolves, quick and full: mechanisms, finders and pairs are
// there.
func TestBenchTablesResolve(t *testing.T) {
	for paper, want := range map[string]string{
		"auditorium":  "table-1 table-2 figure-1 figure-2 figure-3a figure-3b",
		"renyitester": "table-1 table-2 table-3 table-4 table-5 table-7 figure-1 figure-2 figure-3",
	} {
		for _, quick := range []bool{false, true} {
			var got []string
			for _, table := range (tablesPlan{paper: paper, quick: quick, seed: 1}).tables() {
				got = append(got, table.id)
				for _, r := range table.rows {
					if r.claim == "" || r.runs == 0 || r.plan.Samples == 0 || r.plan.Pair == nil && r.finder == "" {
						t.Errorf("%s %s: %+v", paper, table.id, r)
					}
				}
			}
			if strings.Join(got, " ") != want {
				t.Errorf("%s: %v", paper, got)
			}
		}
	}
	if rows := auditoriumTable1(tablesPlan{}).rows; len(rows) != 51 {
		t.Errorf("table 1 of DP-Auditorium has %d rows, want 3 sizes of 16 cells and SVT6 with 25+25", len(rows))
	}
}

// testTables does the runs of one row.
func testTables(t *testing.T, r *auditRow) *auditRow {
	t.Helper()
	must.Do(t, r.resolve())
	lab{t.Context(), 2, t.Logf}.rows([]*auditRow{r}, 1)
	return r
}

// A search finds a loud fault at once, counts trials and outputs, and refutes a
// mechanism that keeps its claim in beta of all searches at most: of 20, three
// or more with probability .08 at most at .05, and the seed is fixed.
func TestBenchTablesSearch(t *testing.T) {
	claim := audit.DPClaim(0.1, 0)
	row := func(mechanism string, runs, trials int) *auditRow {
		return &auditRow{name: mechanism, runs: runs,
			plan: pair.Plan{Mechanism: mechanism, Claim: &claim, Finder: "random", Trials: trials, Explore: 2000, Samples: 2000}}
	}
	r := testTables(t, row("laplace-mean-raw-count", 4, 10))
	if r.count(refuted) != 4 || r.trials() > 5 {
		t.Errorf("refuted %d of 4, %g trials", r.count(refuted), r.trials())
	}
	for _, run := range r.found {
		// Each confirmation is one more exploration and one certification.
		least := 4000*run.trials + 8000
		if !run.refuted || run.bound <= 0.1 || run.outputs < least || (run.outputs-4000*run.trials)%8000 != 0 {
			t.Errorf("%+v", run)
		}
	}
	r = testTables(t, row("randomised-response", 20, 5))
	if r.count(refuted) > 2 || r.trials() < 4 {
		t.Errorf("a private mechanism was refuted in %d of 20 searches, mean %g trials", r.count(refuted), r.trials())
	}
}

// Seeds of confirmations differ from each other and from those of runs, and none is too large.
func TestConfirmations(t *testing.T) {
	seen := map[uint64]bool{}
	for seed := range uint64(50) {
		seen[seed] = true
		for k := 1; k <= 50; k++ {
			seen[confirmSeed(seed, k)] = true
		}
	}
	if len(seen) != 50*51 || confirmSeed(maxTablesSeed+10_000, 50) > audit.MaxSeed {
		t.Errorf("%d seeds of %d", len(seen), 50*51)
	}
}

// A ladder stops at the first rung that refutes.
func TestBenchTablesLadder(t *testing.T) {
	r := testTables(t, &auditRow{runs: 3, ladder: []int{100, 500, 5000},
		plan: pair.Plan{Mechanism: "laplace-mean-raw-count", Claim: new(audit.DPClaim(0.1, 0)), Pair: meanPair()}})
	if r.needed() == 0 || r.needed() > 10_000 || r.count(refuted) != 3 {
		t.Errorf("%+v", r.found)
	}
	r = testTables(t, &auditRow{runs: 3, ladder: []int{100, 500},
		plan: pair.Plan{Mechanism: "randomised-response", Claim: new(audit.DPClaim(1, 0)), Pair: &audit.Pair{First: audit.Records(0), Second: audit.Records(1)}}})
	if r.needed() != 0 {
		t.Errorf("a private mechanism took %d outputs", r.needed())
	}
}

// A row has our bound of a tester's learner and its own verdict, and a kernel's estimate; a
// learner that does not apply is left out.
func TestBenchTablesTesters(t *testing.T) {
	row := &auditRow{runs: 1, plan: pair.Plan{Mechanism: "laplace-mean-raw-count", Claim: new(audit.DPClaim(0.01, 0)), Samples: 20_000, Explore: 4000, Pair: meanPair()}}
	tablesPlan{quick: true}.testers(row, 1, 2000, "histogram-tester:bins=10")
	if err := row.testers[0].resolve(); err != nil || row.testers[0].plan.Explore != 2000 {
		t.Fatal(row.testers[0].plan.Explore, err)
	}
	if got := testTables(t, row).ours(); !strings.HasSuffix(got, "; histogram-tester 1/1, its own 1") {
		t.Errorf("%q", got)
	}
	row = tablesPlan{quick: true, runs: 1}.gaussians(2, 500, "x")
	row.plan.Learner = "kernel-renyi:outputs=50"
	if got := testTables(t, row).ours(); !strings.HasPrefix(got, "estimate ") || !strings.HasSuffix(row.what(), row.plan.Learner) {
		t.Errorf("%q", got)
	}
}

// A table says how many trials there were; numbers of outputs are as the paper prints them.
func TestBenchTablesSaid(t *testing.T) {
	for quick, want := range map[bool]string{true: "at most 15", false: "at most 25"} {
		for _, table := range []paperTable{renyiTable5(tablesPlan{quick: quick}), renyiTable7(tablesPlan{quick: quick})} {
			if !strings.Contains(table.title, want) || table.rows[0].plan.Trials != audit.Pick(quick, 15, 25) {
				t.Errorf("%s, %d trials", table.title, table.rows[0].plan.Trials)
			}
		}
	}
	for n, want := range map[float64]string{521_000: "521K", 1_779_000: "1.78M", 999_600: "1M", 29.2e6: "29.2M"} {
		if got := thousands(n); got != want {
			t.Errorf("%v: %s, want %s", n, got, want)
		}
	}
}
