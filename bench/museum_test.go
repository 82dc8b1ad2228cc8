package main

import (
	"fmt"
	"strings"
	"testing"

	"github.com/dpscope/dpscope/internal/testsize"
)

// Claims that just hold are refuted no more often than chance explains at rate beta, with
// fixed seeds; nor by bettors that must bet.
func TestAlarms(t *testing.T) {
	l := lab{t.Context(), 2, t.Logf}
	for _, forced := range []bool{false, true} {
		rows := l.alarms(testsize.Of(24, 2000), testsize.Of(300, 2000), 900_000, forced)
		if len(rows) < 7 {
			t.Fatalf("%d rows", len(rows))
		}
		for _, row := range rows {
			testsize.Chance(t, fmt.Sprint(row.name, " at ", row.claim), row.alarms, row.runs, alarmBeta, 1e-4/20)
		}
	}
}

// What is printed of a fault, and of claims that hold.
func TestMuseum(t *testing.T) {
	for args, want := range map[string]string{
		"museum -only size-leak,svt5 -seeds 2":   "2 of 2 are refuted",
		"alarms -runs 8 -samples 100 -workers 2": "Bettors that stake 99.75 %",
	} {
		var out, errs strings.Builder
		if code := run(strings.Fields(args), &out, &errs); code != 0 || !strings.Contains(out.String(), want) {
			t.Errorf("%s: exit code %d, %s%s", args, code, out.String(), errs.String())
		}
	}
}
