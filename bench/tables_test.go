package main

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/core/pair"

	"github.com/dpscope/dpscope/internal/cli"
)

// tablesJSON is the output without the timing, and read.
func tablesJSON(t *testing.T, args ...string) (string, tablesResult) {
	t.Helper()
	var out, errs strings.Builder
	if code := run(append([]string{"tables", "-format", "json"}, args...), &out, &errs); code == cli.ExitUsage || errs.Len() > 0 {
		t.Fatalf("exit code %d: %s", code, errs.String())
	}
	var r tablesResult
	if err := json.Unmarshal([]byte(out.String()), &r); err != nil {
		t.Fatal(err)
	}
	if len(r.Timing) == 0 {
		t.Error("no timing")
	}
	r.Timing = nil
	data, err := audit.Canonical(r)
	if err != nil {
		t.Fatal(err)
	}
	return string(data), r
}

// The workers decide nothing but the timing; another seed gives another result.
func TestBenchTablesWorkers(t *testing.T) {
	args := []string{"-paper", "renyitester", "-quick", "-only", "figure-3", "-runs", "1"}
	one, r := tablesJSON(t, append(args, "-workers", "1")...)
	if three, _ := tablesJSON(t, append(args, "-workers", "3")...); three != one {
		t.Errorf("1 worker:\n%s\n3 workers:\n%s", one, three)
	}
	if _, other := tablesJSON(t, append(args, "-seed", "2")...); *other.Tables[0].Rows[0].Median == *r.Tables[0].Rows[0].Median {
		t.Error("seeds 1 and 2 give the same")
	}
	// Bounds keep below the truth but for one in twenty: more than 2 of 6 do not
	// with probability .002 at most.
	above := 0
	for _, row := range r.Tables[0].Rows {
		if row.Refuted > 0 { // the claim is the truth
			above++
		}
		if !(*row.Median > 0) {
			t.Errorf("%s, %s: nothing certified", row.Claim, row.Setting)
		}
	}
	if above > 2 {
		t.Errorf("%d of 6 bounds above the truth", above)
	}
}

// Every table of every paper resolves, quick and full: mechanisms, finders and
// pairs are there, and published figures are on every row that has some.
func TestBenchTablesResolve(t *testing.T) {
	want := map[string][]string{
		"auditorium":  {"table-1", "table-2", "figure-1", "figure-2", "figure-3a", "figure-3b"},
		"renyitester": {"table-1", "table-2", "table-3", "table-4", "table-5", "table-7", "figure-1", "figure-2", "figure-3"},
	}
	if len(want) != len(tablePaperNames) {
		t.Fatal("papers without a test")
	}
	for paper, ids := range want {
		for _, quick := range []bool{false, true} {
			tables, err := tablesPlan{Paper: paper, Quick: quick, Seed: 1}.tables()
			if err != nil {
				t.Fatalf("%s: %v", paper, err)
			}
			var got []string
			for _, table := range tables {
				got = append(got, table.ID)
				for _, r := range table.Rows {
					if r.Mechanism == "" || r.Claim == "" || len(r.Runs) == 0 || r.Samples == 0 || (r.Pair == nil) == (r.Finder == "") {
						t.Errorf("%s %s: %+v", paper, table.ID, r)
					}
				}
			}
			if !slices.Equal(got, ids) {
				t.Errorf("%s: %v", paper, got)
			}
		}
	}
	rows := auditoriumTable1(tablesPlan{}).Rows
	if len(rows) != 51 {
		t.Errorf("table 1 of DP-Auditorium has %d rows, want 3 sizes of 16 cells and SVT6 with 25+25", len(rows))
	}
	best := 0 // cells in which a published tester caught nine of ten at 500k
	for _, d := range auditoriumDetections {
		if max(d[2], d[5], d[8], d[11]) >= 9 {
			best++
		}
	}
	if best != 9 {
		t.Errorf("the published best is %d of 16 cells, want 9", best)
	}
}

// testTables is a bench of one row.
func testTables(t *testing.T, r *tableRow) tableRow {
	t.Helper()
	if err := r.resolve(catalogue); err != nil {
		t.Fatal(err)
	}
	b := &tablesBench{catalogue: catalogue, workers: 2, now: func() float64 { return 0 }, say: func(string, ...any) {}}
	if _, err := b.measure(context.Background(), tablesPlan{Seed: 1}, []paperTable{{ID: "test", Rows: []*tableRow{r}}}); err != nil {
		t.Fatal(err)
	}
	return *r
}

// A search finds a loud fault at once, counts trials and outputs, and refutes a
// mechanism that keeps its claim in beta of all searches at most: of 20, three
// or more with probability .08 at most at .05, and the seed is fixed.
func TestBenchTablesSearch(t *testing.T) {
	claim := audit.DPClaim(0.1, 0)
	row := func(mechanism string, runs, trials int) *tableRow {
		return &tableRow{Name: mechanism, Kind: tableSearch, Runs: make([]tableRun, runs),
			plan: pair.Plan{Mechanism: mechanism, Claim: &claim, Finder: "random", Trials: trials, Explore: 2000, Samples: 2000}}
	}
	r := testTables(t, row("laplace-mean-raw-count", 4, 10))
	if r.Refuted != 4 || *r.Mean > 5 {
		t.Errorf("refuted %d of 4, %g trials", r.Refuted, *r.Mean)
	}
	for _, run := range r.Runs {
		// Each confirmation is one more exploration and one certification.
		least := 4000*run.Trials + 8000
		if !run.Refuted || run.Bound <= 0.1 || run.Pair == "" || run.Outputs < least || (run.Outputs-4000*run.Trials)%8000 != 0 {
			t.Errorf("%+v", run)
		}
	}
	r = testTables(t, row("randomised-response", 20, 5))
	if r.Refuted > 2 || *r.Mean < 4 {
		t.Errorf("a private mechanism was refuted in %d of 20 searches, mean %g trials", r.Refuted, *r.Mean)
	}
}

// Errors of confirmations add up to beta at most, and their seeds differ from
// each other and from those of runs.
func TestConfirmations(t *testing.T) {
	sum := 0.0
	seen := map[uint64]bool{}
	for seed := range uint64(50) {
		seen[seed] = true
	}
	for k := 1; k <= 50; k++ {
		sum += tablesBeta / float64(k*(k+1))
		for seed := range uint64(50) {
			if s := confirmSeed(seed, k); seen[s] || s > audit.MaxSeed {
				t.Fatalf("seed %d, confirmation %d: seed %d", seed, k, s)
			} else {
				seen[s] = true
			}
		}
	}
	if sum > tablesBeta {
		t.Errorf("errors add up to %g", sum)
	}
	if confirmSeed(maxTablesSeed+10_000, 50) > audit.MaxSeed {
		t.Error("the largest seed is too large to confirm")
	}
}

// A ladder stops at the first rung that refutes.
func TestBenchTablesLadder(t *testing.T) {
	claim := audit.DPClaim(0.1, 0)
	r := testTables(t, &tableRow{Name: "x", Kind: tableLadder, Runs: make([]tableRun, 3), ladder: []int{100, 500, 5000},
		plan: pair.Plan{Mechanism: "laplace-mean-raw-count", Claim: &claim, Pair: meanPair()}})
	if r.Needed == nil || *r.Needed > 10_000 || r.Refuted != 3 {
		t.Errorf("%+v", r)
	}
	claim = audit.DPClaim(1, 0)
	r = testTables(t, &tableRow{Name: "x", Kind: tableLadder, Runs: make([]tableRun, 3), ladder: []int{100, 500},
		plan: pair.Plan{Mechanism: "randomised-response", Claim: &claim, Pair: &audit.Pair{First: audit.Records(0), Second: audit.Records(1)}}})
	if r.Needed != nil {
		t.Errorf("a private mechanism took %g outputs", *r.Needed)
	}
}

// A column of a tester has our bound of its learner and its own verdict, and a dash where
// it does not apply; a kernel's estimate has a column.
func TestBenchTablesTesters(t *testing.T) {
	row := &tableRow{Name: "x", Kind: tableAudit, Runs: make([]tableRun, 1),
		plan: pair.Plan{Mechanism: "laplace-mean-raw-count", Claim: new(audit.DPClaim(0.01, 0)), Samples: 20_000, Explore: 4000, Pair: meanPair()}}
	tablesPlan{Quick: true}.testers(row, 1, 2000, "histogram-tester:bins=10")
	if err := row.Testers[0].resolve(catalogue); err != nil || row.Testers[0].Explore != 2000 {
		t.Fatal(row.Testers[0].Explore, err)
	}
	r := testTables(t, row)
	if got := r.testerText("histogram-tester"); got != "1/1, its own 1" || r.testerText("mmd-tester") != "-" {
		t.Errorf("%q", got)
	}
	row = tablesPlan{Quick: true, Runs: 1}.gaussians(2, 500, "x")
	row.plan.Learner = "kernel-renyi:outputs=50"
	if r = testTables(t, row); r.Runs[0].Witness == 0 || r.Learner != row.plan.Learner {
		t.Errorf("%+v", r.Runs)
	}
	paper := paperTable{Rows: []*tableRow{&r}}
	var heads []string
	for _, c := range paper.columns() {
		heads = append(heads, c.head)
	}
	if !slices.Contains(heads, "estimate") || !slices.Contains(heads, "learner") {
		t.Errorf("%v", heads)
	}
}

// A table says how many trials there were; numbers of outputs are as the paper prints them.
func TestBenchTablesSaid(t *testing.T) {
	for quick, want := range map[bool]string{true: "at most 15", false: "at most 25"} {
		for _, table := range []paperTable{renyiTable5(tablesPlan{Quick: quick}), renyiTable7(tablesPlan{Quick: quick})} {
			if !strings.Contains(table.Title, want) || table.Rows[0].plan.Trials != map[bool]int{true: 15, false: 25}[quick] {
				t.Errorf("%s, %d trials", table.Title, table.Rows[0].plan.Trials)
			}
		}
	}
	for n, want := range map[float64]string{521_000: "521K", 1_779_000: "1.78M", 999_600: "1M", 29.2e6: "29.2M"} {
		if got := thousands(n); got != want {
			t.Errorf("%v: %s, want %s", n, got, want)
		}
	}
}

func TestBenchTablesText(t *testing.T) {
	var out, errs strings.Builder
	if code := run(strings.Fields("tables -paper auditorium -quick -only figure-2 -runs 1"), &out, &errs); code == cli.ExitUsage {
		t.Fatalf("exit code %d: %s", code, errs.String())
	}
	for _, want := range []string{"figure-2  ScaleGD", "s = 0.95", "not caught", "seconds"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the text lacks %q:\n%s", want, out.String())
		}
	}
}

func TestBenchTablesRefuses(t *testing.T) {
	for _, test := range []struct{ args, want string }{
		{"", "-paper is missing: give one of [auditorium renyitester]"},
		{"-paper statdp", `-paper is "statdp"`},
		{"-paper auditorium -only table-9", `-only is "table-9", must be part of one of table-1`},
		{"-paper auditorium -runs -1", "-runs is -1, must be in [0, 10000]"},
		{"-paper auditorium -seed 9007199254740991", "-seed is 9007199254740991"},
		{"-paper auditorium -format xml", "-format"},
		{"-paper auditorium -workers -1", "-workers is -1"},
	} {
		var out, errs strings.Builder
		if code := run(append([]string{"tables"}, strings.Fields(test.args)...), &out, &errs); code != cli.ExitUsage || !strings.Contains(errs.String(), test.want) {
			t.Errorf("%s: exit code %d, %q, want %d and %q", test.args, code, errs.String(), cli.ExitUsage, test.want)
		}
	}
	// A run that is stopped has no result.
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	tables, err := tablesPlan{Paper: "auditorium", Quick: true, Seed: 1}.tables()
	if err != nil {
		t.Fatal(err)
	}
	b := &tablesBench{catalogue: catalogue, workers: 1, now: func() float64 { return 0 }, say: func(string, ...any) {}}
	if _, err := b.measure(ctx, tablesPlan{Seed: 1}, tables); err == nil || !strings.Contains(fmt.Sprint(err), "stopped") {
		t.Errorf("stopped: %v", err)
	}
}
