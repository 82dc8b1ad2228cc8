package main

import (
	"strings"
	"testing"

	"github.com/dpscope/dpscope/internal/cli"
	"github.com/dpscope/dpscope/internal/testsize"
)

// Claims that just hold are refuted no more often than chance explains at rate beta, with
// fixed seeds; nor by bettors that must bet.
func TestSequentialAlarms(t *testing.T) {
	plan := alarmPlan{Runs: testsize.Of(24, 2000), Samples: testsize.Of(300, 2000), Beta: 0.05, Seed: 900_000}
	r, err := sequentialAlarms(t.Context(), plan, alarmCells(), 2, t.Logf)
	if err != nil {
		t.Fatal(err)
	}
	cells := len(r.Races) + len(r.Forced)
	if cells < 15 {
		t.Errorf("%d cells", cells)
	}
	for _, rows := range [][]alarmRow{r.Races, r.Forced} {
		for _, row := range rows {
			if most := testsize.Most(row.Runs, plan.Beta, 1e-4/float64(cells)); row.Alarms > most {
				t.Errorf("%s at %s: %d of %d refuted, chance explains %d", row.Name, row.Claim, row.Alarms, row.Runs, most)
			}
		}
	}
}

// What the bench prints: every case and the museum.
func TestSequential(t *testing.T) {
	for args, want := range map[string]string{
		"sequential -mechanism svt5 -seeds 2":                             "2/2",
		"sequential -museum -mechanism size-leak -seeds 2":                "1 of 1 are refuted",
		"sequential -alarms -runs 8 -samples 100":                         "Bettors that stake 99.75 %",
		"sequential -mechanism randomised-response -seeds 1 -samples 200": "0/1",
	} {
		var out, errs strings.Builder
		code := run(strings.Fields(args), &out, &errs)
		if code != cli.ExitOK || !strings.Contains(out.String(), want) {
			t.Errorf("%s: exit code %d, %s%s", args, code, out.String(), errs.String())
		}
	}
}
