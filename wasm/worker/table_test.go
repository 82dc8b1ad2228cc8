package main

import (
	"fmt"
	"strings"
	"testing"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/core/pair"
	"github.com/dpscope/dpscope/internal/must"
	"github.com/dpscope/dpscope/mechanisms/learners"
	"github.com/dpscope/dpscope/mechanisms/train"
)

// people is a table of 40 rows, in which tall is a class.
func people() string {
	var b strings.Builder
	b.WriteString("age,height,tall\n")
	for i := range 40 {
		fmt.Fprintf(&b, "%d,%.2f,%s\n", 20+(i*7)%50, 1.5+float64(i%20)/40, map[bool]string{true: "yes", false: "no"}[i%20 > 9])
	}
	return b.String()
}

// A table of the user's is audited with the counts of the command line, and its report
// verifies with the same file only.
func TestTable(t *testing.T) {
	text, reading := []byte(people()), audit.LabelledReading{Label: "tall", Bounds: "age=0:120,height=1:2.2"}
	request := mustJSON(tableRequest{Name: "people.csv", Reading: reading})
	native, _ := must.Get2(learners.In(testCatalogue(), "people.csv", text, reading, nil))(t)
	plan := testPlan("naive-bayes-counts", 4000)
	plan.Claim = &audit.Claim{Kind: audit.Pure, Epsilon: 0.5}
	p := newPage(t, addTable(testCatalogue(), request, text), 2)
	answer := answerTo[reported](p, "run", plan)
	r, want := reportIn(t, answer), alone(t, native, plan)
	if r.Evidence == nil || fmt.Sprint(*r.Evidence.Table) != fmt.Sprint(*want.Evidence.Table) || r.Verdict != want.Verdict {
		t.Errorf("%s, natively %s", r.Summary, want.Summary)
	}
	if l := r.Inputs.Labelled; l == nil || l.File.SHA256 != want.Inputs.Labelled.File.SHA256 || l.Rows != 40 {
		t.Fatalf("%+v", l)
	}
	again := newPage(t, addTable(testCatalogue(), mustJSON(tableRequest{Name: "moved.csv", Reading: reading, Was: r.Inputs.Labelled}), text), 1)
	if v := answerTo[verified](again, "verify", answer.Text); !v.OK {
		t.Errorf("%+v", v)
	}
	other := newPage(t, addTable(testCatalogue(), mustJSON(tableRequest{Name: "people.csv", Reading: reading, Was: r.Inputs.Labelled}), append(text, "30,1.7,no\n"...)), 1)
	if no := answerTo[refusal](other, "verify", answer.Text); !strings.Contains(no.Message, "another file") {
		t.Errorf("%+v", no)
	}
}

// What is wrong with a table or its reading is refused at its place, before anything runs.
func TestTableRefused(t *testing.T) {
	for _, c := range []struct {
		reading    audit.LabelledReading
		path, says string
	}{
		{audit.LabelledReading{Label: "tall", Bounds: "age=0:120"}, "bounds/height", "known without the data"},
		{audit.LabelledReading{Label: "tall", Bounds: "age=120:0,height=1:2"}, "bounds/age", "age=120:0"},
		{audit.LabelledReading{Label: "small", Bounds: "0:1"}, "label", "small"},
		{audit.LabelledReading{Label: "tall", Bounds: "0:120", Classes: []string{"yes"}}, "/csv/classes", "2 to"},
	} {
		cat := addTable(testCatalogue(), mustJSON(tableRequest{Name: "people.csv", Reading: c.reading}), []byte(people()))
		p := newPage(t, cat, 1)
		no := answerTo[refusal](p, "check", pair.Plan{Version: pair.PlanVersion, Mechanism: "naive-bayes"})
		if no.Path != c.path || !strings.Contains(no.Message, c.says) {
			t.Errorf("%+v: %+v", c.reading, no)
		}
	}
}

// The page asks what columns a table has before it asks for their bounds.
func TestLookAtTable(t *testing.T) {
	p := newPage(t, testCatalogue(), 0)
	found := answerTo[train.Preview](p, "look", lookRequest{Text: people(), Label: "tall"})
	if fmt.Sprint(found.Names, found.Label, found.Labels, len(found.Head)) != fmt.Sprint([]string{"age", "height", "tall"}, 2, []string{"no", "yes"}, headRows) {
		t.Errorf("%+v", found)
	}
}
