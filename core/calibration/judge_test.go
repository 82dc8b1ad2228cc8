package calibration_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/core/calibration"
	"gonum.org/v1/gonum/stat/distuv"
)

// alarmed is a row with so many alarms.
func alarmed(subject string, alarms, runs int) calibration.Row {
	c := calibration.Cell{Block: calibration.Learners, Name: fmt.Sprint(subject, alarms), Subject: subject, Met: true, Runs: runs}
	outcomes := make([]calibration.Outcome, runs)
	for i := range outcomes {
		outcomes[i].Verdict, outcomes[i].Share = audit.NoViolation, 0.5
		if i < alarms {
			outcomes[i].Verdict, outcomes[i].Share = audit.Violation, 2
		}
	}
	return calibration.Tally(c, outcomes)
}

// The errors of all tests, exactly, add up to no more than the judgement's; and
// each is the largest that its share allows.
func TestJudgementKeepsItsError(t *testing.T) {
	p := plan()
	var rows []calibration.Row
	for i := range 60 {
		rows = append(rows, alarmed(fmt.Sprint("s", i%7), 0, 4+7*i))
	}
	r := p.Judge(rows, nil)
	if r.Tests != 60+7 || r.Error != .001 || len(r.Above) != 0 {
		t.Fatalf("%d tests at %g, above %v", r.Tests, r.Error, r.Above)
	}
	total := 0.0
	check := func(c calibration.Count) {
		bin := distuv.Binomial{N: float64(c.Of), P: p.Beta}
		err := bin.Survival(float64(c.Most))
		total += err
		if level := r.Error / float64(r.Tests); err > level*(1+1e-6) || c.Most > 0 && bin.Survival(float64(c.Most-1)) < level*(1-1e-6) {
			t.Errorf("%d runs are accused above %d alarms, by chance with probability %g; want at most %g", c.Of, c.Most, err, level)
		}
	}
	for _, row := range r.Rows {
		check(row.Count)
	}
	for _, g := range r.Groups {
		check(g.Count)
	}
	if total > .001 || total < 1e-4 {
		t.Errorf("sound audits are accused with probability %g at most", total)
	}
}

// A cell that errs is accused; cells that each err a little are accused
// together; float-bits on noise in floating point is not.
func TestJudgementAccuses(t *testing.T) {
	p := plan()
	if r := p.Judge([]calibration.Row{alarmed("a", 30, 100), alarmed("a", 5, 100), alarmed("b", 6, 100)}, nil); !slices.Equal(r.Above, []string{"a30", "learner a"}) ||
		!r.Rows[0].Above || r.Rows[1].Above || r.Rows[0].Rate != 0.3 || r.Rows[0].Median != 0.5 {
		t.Errorf("%+v", r)
	}
	var rows []calibration.Row
	for range 40 {
		rows = append(rows, alarmed("a", 8, 100))
	}
	if r := p.Judge(rows, nil); !slices.Equal(r.Above, []string{"learner a"}) || r.Groups[0].Alarms != 320 || r.Groups[0].Of != 4000 || r.Groups[0].Cells != 40 {
		t.Errorf("above %v, %+v", r.Above, r.Groups)
	}
	for i := range rows {
		rows[i].Met = false
	}
	if r := p.Judge(rows, nil); len(r.Above)+len(r.Groups) != 0 || r.Tests != 40 {
		t.Errorf("above %v, %+v", r.Above, r.Groups)
	}
	bits := alarmed("float-bits", 100, 100)
	bits.Unjudged = "reads floating point"
	if r := p.Judge([]calibration.Row{bits}, []string{"x"}); len(r.Above) != 0 || r.Tests != 0 || r.Rows[0].Above || r.Rows[0].Rate != 1 || len(r.Left) != 1 {
		t.Errorf("%+v", r)
	}
	if all := calibration.Total([]calibration.Row{bits, alarmed("a", 1, 100)}); all.Alarms != 1 || all.Of != 100 {
		t.Errorf("with rows that are not judged %d of %d", all.Alarms, all.Of)
	}
}
