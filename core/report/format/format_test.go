package format_test

import (
	"bytes"
	"context"
	"encoding/json"
	"encoding/xml"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"unicode"

	check "github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/audit/stream"
	"github.com/dpscope/dpscope/core/engine"
	"github.com/dpscope/dpscope/core/finders"
	"github.com/dpscope/dpscope/core/pair"
	"github.com/dpscope/dpscope/core/report"
	"github.com/dpscope/dpscope/core/report/format"
	"github.com/dpscope/dpscope/estimators"
	"github.com/dpscope/dpscope/internal/must"
	"github.com/dpscope/dpscope/mechanisms"
)

var update = flag.Bool("update", false, "write golden files anew")

// broken is a mechanism that fails.
type broken struct{}

func (broken) Columns() []audit.Column { return []audit.Column{{Name: "x", Kind: audit.Real}} }
func (broken) Sample(audit.Dataset, *stream.Stream, []float64) error {
	return errors.New("disk | <b>full</b>, at 50%:\nline two\x1b[31m\a")
}

func catalogue(t *testing.T) audit.Catalogue {
	t.Helper()
	cat := audit.Catalogue{Mechanisms: mechanisms.All(), Learners: estimators.Registry(), Finders: finders.Registry()}
	spec := must.Get(cat.Mechanism("laplace-mean"))(t)
	spec.Name, spec.New = "broken", func(audit.Params) (audit.Mechanism, error) { return broken{}, nil }
	cat.Mechanisms = append(cat.Mechanisms, spec)
	return cat
}

var reports sync.Map

// report audits a mechanism with few samples.
func audited(t *testing.T, mechanism string, claim audit.Claim, samples int) pair.Report {
	t.Helper()
	key := mechanism + claim.String()
	if r, ok := reports.Load(key); ok {
		return r.(pair.Report)
	}
	cat := catalogue(t)
	plan := pair.Plan{Version: pair.PlanVersion, Mechanism: mechanism, Claim: &claim, Learner: "histogram", Samples: samples, Trials: 1, Seed: 7}
	r, err := pair.Run{Plan: plan, Catalogue: cat, Pool: engine.LocalPool(2),
		Generator: audit.Generator{Name: "dpscope", Version: "0.4.0", GoOS: "linux", GoArch: "amd64", Go: "go1.26"}}.Do(context.Background())
	if err != nil && mechanism != "broken" {
		t.Fatal(err)
	}
	reports.Store(key, r)
	return r
}

// each is a run with an audit of every verdict.
func each(t *testing.T) format.Run {
	t.Helper()
	run := format.Run{Summary: "4 audits: 1 violation, 50% <done>.", Audits: []format.Audit{
		{Name: "svt, 4: 100%", Report: audited(t, "svt4", audit.DPClaim(1, 0), 5000), Location: &format.Location{File: "priv acy/dp,scope:1.json", Line: 12}},
		{Name: "mean", Report: audited(t, "gaussian-mean", audit.Claim{Kind: audit.ZCDP, Rho: 0.5}, 5000)},
		{Name: "few", Report: audited(t, "svt1", audit.DPClaim(9, 0), 200)},
		{Name: "broken", Report: audited(t, "broken", audit.DPClaim(1, 0), 200), Location: &format.Location{File: "/abs/x.json"}},
	}}
	for i, want := range []audit.Verdict{audit.Violation, audit.NoViolation, audit.Inconclusive, audit.Invalid} {
		if got := run.Audits[i].Report.Head().Verdict; got != want {
			t.Fatalf("audit %d: verdict %s, want %s", i, got, want)
		}
	}
	return run
}

func write(t *testing.T, name string, run format.Run) string {
	t.Helper()
	var out bytes.Buffer
	must.Do(t, format.Write(&out, name, run))
	return out.String()
}

// The forms of a run with every verdict and every awkward character.
func TestGolden(t *testing.T) {
	run := each(t)
	run.Value = map[string]any{"kind": "of the caller's own"}
	for _, format := range format.Formats {
		path := filepath.Join("testdata", "each."+format)
		got := write(t, format, run)
		if *update {
			must.Do(t, os.WriteFile(path, []byte(got), 0o644))
		}
		want := must.Get(os.ReadFile(path))(t)
		if got != string(want) {
			t.Errorf("%s differs; go test ./core/report/format -run TestGolden -update writes it:\n%s", path, got)
		}
	}
}

func sarifSchema(t *testing.T) *check.Schema {
	t.Helper()
	c := check.NewCompiler()
	c.AssertFormat()
	return must.Get(c.Compile(must.Get(filepath.Abs("testdata/sarif-schema-2.1.0.json"))(t)))(t) // in Node it is not found by itself
}

func valid(s *check.Schema, data string) error {
	value, err := check.UnmarshalJSON(strings.NewReader(data))
	if err != nil {
		return err
	}
	return s.Validate(value)
}

func TestSARIF(t *testing.T) {
	schema := sarifSchema(t)
	run := each(t)
	for strict, errors := range map[bool]int{false: 2, true: 3} { // a notification among them
		run.Strict = strict
		out := write(t, format.SARIF, run)
		if err := valid(schema, out); err != nil {
			t.Errorf("not SARIF 2.1.0: %v", err)
		}
		if n := strings.Count(out, `"level": "error"`); n != errors {
			t.Errorf("strict %v: %d errors, want %d", strict, n, errors)
		}
		var log struct {
			Runs []struct {
				Tool struct {
					Driver struct{ Rules []struct{ ID string } }
				}
				Results []struct {
					RuleID    string
					RuleIndex int
				}
			}
		}
		must.Do(t, json.Unmarshal([]byte(out), &log))
		rules := log.Runs[0].Tool.Driver.Rules
		for _, r := range log.Runs[0].Results {
			if r.RuleIndex >= len(rules) || rules[r.RuleIndex].ID != r.RuleID {
				t.Errorf("rule %d is to be %s, of %v", r.RuleIndex, r.RuleID, rules)
			}
		}
	}
	// The alert stays the same alert when the seed and so the counts change.
	again := run
	again.Audits = append([]format.Audit{}, run.Audits...)
	other := again.Audits[0].Report.(pair.Report)
	other.Plan.Seed++
	other.Summary = "other"
	again.Audits[0].Report = other
	if a, b := fingerprints(t, run), fingerprints(t, again); a[0] != b[0] || a[0] == a[1] {
		t.Errorf("fingerprints %v and %v", a, b)
	}
}

func fingerprints(t *testing.T, run format.Run) []string {
	t.Helper()
	var out []string
	for line := range strings.Lines(write(t, format.SARIF, run)) {
		if strings.Contains(line, "dpscopeAudit/v1") {
			out = append(out, strings.TrimSpace(line))
		}
	}
	return out
}

// The schema refuses a log that is no SARIF: the validation is not empty.
func TestSARIFSchemaRefuses(t *testing.T) {
	schema := sarifSchema(t)
	out := write(t, format.SARIF, each(t))
	for _, change := range [][2]string{{`"level": "error"`, `"level": "fatal"`}, {`"ruleId"`, `"rule"`}, {`"version": "2.1.0"`, `"version": "2.2"`}, {`"startLine": 12`, `"startLine": 0`}} {
		if !strings.Contains(out, change[0]) {
			t.Fatalf("no %s in the log", change[0])
		}
		if valid(schema, strings.ReplaceAll(out, change[0], change[1])) == nil {
			t.Errorf("%s passes", change[1])
		}
	}
}

func TestJUnit(t *testing.T) {
	run := each(t)
	run.Audits[1].Name = "control \x00\x1b\u202e & \"quoted\" <name>"
	run.Summary = "all \u2066sound"
	for _, strict := range []bool{false, true} {
		run.Strict = strict
		text := write(t, format.JUnit, run)
		if strings.ContainsAny(text, "\u202e\u2066") {
			t.Error("marks that turn text around stand in JUnit XML")
		}
		doc := readXML(t, strings.NewReader(text))
		if why := junitFault(doc); doc.name != "testsuites" || why != "" {
			t.Errorf("not JUnit XML: %s: %s", doc.name, why)
		}
		suite := doc.kid("testsuite")
		want := map[string]string{"tests": "4", "failures": "1", "errors": "1", "skipped": "1"}
		if strict {
			want["failures"], want["skipped"] = "2", "0"
		}
		for name, v := range want {
			if suite.attr[name] != v {
				t.Errorf("strict %v: %s is %s, want %s", strict, name, suite.attr[name], v)
			}
		}
	}
}

// Workflow commands are one line each, and reading them as the runner does gives
// back what was meant.
func TestGitHub(t *testing.T) {
	run := each(t)
	lines := strings.Split(strings.TrimSuffix(write(t, format.GitHub, run), "\n"), "\n")
	if len(lines) != 5 {
		t.Fatalf("%d lines, want 5:\n%s", len(lines), strings.Join(lines, "\n"))
	}
	back := strings.NewReplacer("%0D", "\r", "%0A", "\n", "%3A", ":", "%2C", ",", "%25", "%")
	for i, a := range run.Audits {
		want := []string{"error", "notice", "warning", "error"}[i]
		if head, data, _ := strings.Cut(strings.TrimPrefix(lines[i], "::"), "::"); !strings.HasPrefix(head, want+" ") || !strings.Contains(back.Replace(head), "title=dpscope: "+a.Name) || !strings.Contains(back.Replace(data), a.Report.Head().Summary) {
			t.Errorf("line %d: %s, want %s", i, lines[i], want)
		}
	}
	run.Strict = true
	if got := write(t, format.GitHub, run); strings.Contains(got, "::warning") {
		t.Errorf("strict, and a warning:\n%s", got)
	}
}

// Tables stay tables, and nothing of the report's is markup.
func TestMarkdown(t *testing.T) {
	out := write(t, format.Markdown, each(t))
	bars := 0 // of the head of the table that a line is in
	for line := range strings.Lines(out) {
		n := strings.Count(line, "|") - strings.Count(line, "\\|")
		switch {
		case !strings.HasPrefix(line, "|"):
			bars = 0
		case bars == 0:
			bars = n
		case n != bars || n < 3:
			t.Errorf("a row of %d bars in a table of %d: %s", n, bars, line)
		}
	}
	for _, not := range []string{"<b>", "<done>"} {
		if strings.Contains(out, not) {
			t.Errorf("markup of a message went through: %s", not)
		}
	}
	must.Say(t, out, "```sh\ndpscope audit -mechanism svt4")
}

func TestOneAudit(t *testing.T) {
	r := audited(t, "svt4", audit.DPClaim(1, 0), 5000)
	run := format.Run{Audits: []format.Audit{{Name: "svt4", Report: r}}}
	if got := write(t, format.Text, run); got != report.Text(r) {
		t.Errorf("text is not the report's own:\n%s", got)
	}
	want := must.Get(audit.Canonical(r))(t)
	if got := write(t, format.JSON, run); got != string(want) {
		t.Errorf("JSON is not the report's own:\n%s", got)
	}
}

func TestUnknownFormat(t *testing.T) {
	must.Input(t, format.Write(&bytes.Buffer{}, "sarf", format.Run{}), `did you mean "sarif"`)
}

func TestParseLocation(t *testing.T) {
	for s, want := range map[string]format.Location{"a.go": {"a.go", 0}, "a.go:12": {"a.go", 12}, "dir/a:b.go": {"dir/a:b.go", 0}, "C:/x.go:3": {"C:/x.go", 3}} {
		if got, err := format.ParseLocation(s); err != nil || got != want {
			t.Errorf("%s: %+v, %v", s, got, err)
		}
	}
	for _, s := range []string{"", ":3", "a.go:0", "a.go:-1"} {
		must.Input(t, must.Err(format.ParseLocation(s)), "", s)
	}
}

// What a program wrote is no command to a terminal, in no format.
func TestControlCharacters(t *testing.T) {
	run := each(t)
	run.Audits[3].Name = "named \x1b[2J"
	run.Summary = "all \x07"
	for _, format := range format.Formats {
		got := write(t, format, run)
		if i := strings.IndexFunc(got, func(r rune) bool { return unicode.IsControl(r) && r != '\n' && r != '\t' }); i >= 0 {
			t.Errorf("%s holds %q", format, got[i:min(len(got), i+20)])
		}
		if strings.Contains(got, "\nline two") {
			t.Errorf("%s: a line of the program's looks like one of ours:\n%s", format, got)
		}
	}
}

// A card is XML of the size that pages keep room for, its title is the verdict, its
// metadata runs the audit again, and what a program wrote is text in it.
func TestSVG(t *testing.T) {
	run := each(t)
	one := run
	one.Summary, one.Audits = "", run.Audits[:1]
	one.Pictures = func(report.View) ([]format.Picture, error) {
		return []format.Picture{{Words: "a < b", Middle: `<svg width="560" height="999"/>`, MiddleHeight: 999}, {Words: "the second"}}, nil
	}
	type card struct {
		XMLName  xml.Name `xml:"http://www.w3.org/2000/svg svg"`
		Width    int      `xml:"width,attr"`
		Height   int      `xml:"height,attr"`
		Title    string   `xml:"title"`
		Desc     string   `xml:"desc"`
		Metadata string   `xml:"metadata"`
		Groups   []struct {
			Texts []string `xml:"text"`
			Scale []struct {
				Transform string `xml:"transform,attr"`
			} `xml:"g"`
		} `xml:"g"`
	}
	parse := func(run format.Run) (c card) {
		t.Helper()
		text := write(t, format.SVG, run)
		if err := xml.Unmarshal([]byte(text), &c); err != nil {
			t.Fatalf("%v:\n%s", err, text)
		}
		return c
	}
	h := run.Audits[0].Report.Head()
	got := parse(one)
	if got.Width != format.CardWidth || got.Height != format.CardHeight || got.Title != "svt4: "+h.Headline || got.Desc != "a < b" || got.Metadata != h.Reproduce.URL {
		t.Errorf("%+v", got)
	}
	if texts := strings.Join(got.Groups[0].Texts, " "); !strings.HasPrefix(texts, "svt4 "+h.Headline+" Recorded by dpscope 0.4.0, seed 7") {
		t.Errorf("it says %q", texts)
	}
	if scale := got.Groups[0].Scale[0].Transform; !strings.Contains(scale, "scale(0.46") {
		t.Errorf("a tall picture stands at %s", scale)
	}
	all := parse(run)
	if all.Height != 4*format.CardHeight || len(all.Groups) != 4 || all.Title != run.Summary || all.Metadata != "" {
		t.Errorf("%+v", all)
	}
	if texts := strings.Join(all.Groups[3].Texts, " "); !strings.Contains(texts, "broken") || len(all.Groups[3].Texts) > 6 {
		t.Errorf("of a mechanism that failed it says %q", texts)
	}
}
