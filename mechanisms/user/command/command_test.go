package command_test

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/audit/stream"
	"github.com/dpscope/dpscope/core/engine"
	"github.com/dpscope/dpscope/core/finders"
	"github.com/dpscope/dpscope/core/pair"
	"github.com/dpscope/dpscope/core/report"
	"github.com/dpscope/dpscope/estimators"
	"github.com/dpscope/dpscope/internal/child"
	"github.com/dpscope/dpscope/internal/must"
	"github.com/dpscope/dpscope/mechanisms/recorded"
	"github.com/dpscope/dpscope/mechanisms/user/command"
)

func space(t testing.TB) audit.Space {
	t.Helper()
	return must.Get(audit.ParseSpace("", "", "", false, 0))(t)
}

// open runs a form of the test's program until the test ends.
func open(t testing.TB, form string, change ...func(*command.Options)) (*command.Program, error) {
	t.Helper()
	o := command.Options{Command: line(t, form), Space: space(t)}
	for _, f := range change {
		f(&o)
	}
	p, err := command.Open(t.Context(), o)
	if err == nil {
		t.Cleanup(p.Close)
	}
	return p, err
}

func mustOpen(t testing.TB, form string, change ...func(*command.Options)) *command.Program {
	t.Helper()
	return must.Get(open(t, form, change...))(t)
}

func sample(p *command.Program, d audit.Dataset, seed uint64, n int) ([]float64, error) {
	out := make([]float64, n*audit.Width(p.Columns()))
	return out, p.Sample(d, stream.New(stream.Key{Seed: seed}), out)
}

func TestProgram(t *testing.T) {
	p := mustOpen(t, "correct")
	if p.UserMechanism().Unseeded != "" || len(p.Columns()) != 1 || p.Columns()[0].Kind != audit.Real {
		t.Errorf("%q %v", p.UserMechanism().Unseeded, p.Columns())
	}
	a := must.Get(sample(p, audit.Records(1, 0), 1, 5000))(t)
	// Another process and another size of block: the seed alone fixes outputs.
	q := mustOpen(t, "correct")
	b, err := sample(q, audit.Records(1, 0), 1, 5000)
	if err != nil || !slices.Equal(a, b) {
		t.Errorf("other outputs for the same seed: %v", err)
	}
	mean := 0.0
	for _, v := range a {
		mean += v / float64(len(a))
	}
	if math.Abs(mean-2) > 0.1 { // five standard deviations of a mean of 5000
		t.Errorf("a count of two rows has mean %v", mean)
	}
	b0 := p.UserMechanism()
	if b0.Kind != audit.UserCommand || b0.Name != line(t, "correct") || b0.NonFinite != "" {
		t.Errorf("%+v", b0)
	}
}

func TestColumns(t *testing.T) {
	kinds := func(k map[string]audit.ColumnKind) func(*command.Options) {
		return func(o *command.Options) { o.Kinds = k }
	}
	symbols := func(o *command.Options) { o.NonFinite = recorded.AsSymbol }
	for _, c := range []struct {
		form   string
		change []func(*command.Options)
		want   string // kinds
		words  string // labels of the first column with some
	}{
		{"correct", nil, "real", ""},
		{"correct", []func(*command.Options){symbols}, "mixed", "a number"},
		{"words", nil, "symbol", "few many null true"},
		{"mixed", nil, "real mixed real", "a number none"},
		{"mixed", []func(*command.Options){kinds(map[string]audit.ColumnKind{"c3": audit.Symbol})}, "real mixed symbol", "a number none"},
		{"nan", []func(*command.Options){symbols}, "mixed", "+Inf -Inf NaN a number"},
		{"quoted", []func(*command.Options){kinds(map[string]audit.ColumnKind{"c1": audit.Symbol})}, "symbol", "*"},
		{"nan", []func(*command.Options){kinds(map[string]audit.ColumnKind{"c1": audit.Symbol})}, "symbol", "+Inf -2 -Inf 1.5 NaN"},
		{"long", []func(*command.Options){kinds(map[string]audit.ColumnKind{"c1": audit.Symbol})}, "symbol", longWords},
	} {
		p, err := open(t, c.form, c.change...)
		if err != nil {
			t.Errorf("%s: %v", c.form, err)
			continue
		}
		var got, words []string
		for _, x := range p.Columns() {
			got = append(got, string(x.Kind))
			if words == nil {
				for _, l := range x.Labels {
					words = append(words, l.Text)
					if l.Text != "a number" && l.Value != audit.SymbolOf(l.Text) {
						t.Errorf("%s: %v for %q", c.form, l.Value, l.Text)
					}
				}
			}
		}
		slices.Sort(words)
		if strings.Join(got, " ") != c.want || c.words != "*" && strings.Join(words, " ") != c.words || len(words) > 256 {
			t.Errorf("%s: %v %v, want %s, %s", c.form, got, words, c.want, c.words)
		}
		// The columns of its report read it again.
		if _, err := open(t, c.form, func(o *command.Options) { o.Columns, o.NonFinite = p.Columns(), p.UserMechanism().NonFinite }); err != nil {
			t.Errorf("%s: again: %v", c.form, err)
		}
	}
	p := mustOpen(t, "mixed")
	out := must.Get(sample(p, audit.Records(1), 3, 1000))(t)
	for i := 0; i < len(out); i += 4 {
		row, none := out[i:i+4], audit.SymbolOf("none")
		if row[3] != 1 || !(row[0] == 1000 && row[1] == none && row[2] == 0 || row[0] < 1 && row[1] == 0 && row[2] > 0) {
			t.Fatalf("output %d is %v", i/4, row)
		}
	}
}

// longWords are the answers of the form long, all kept apart; those that float64
// holds are words as it prints them.
var longWords = func() string {
	var words []string
	for n := uint64(1 << 53); n < 1<<53+20; n++ {
		words = append(words, strconv.FormatFloat(float64(n), 'g', -1, 64))
		if n%2 > 0 {
			words[len(words)-1] = strconv.FormatUint(n, 10)
		}
	}
	slices.Sort(words)
	return strings.Join(words, " ")
}()

func TestFaults(t *testing.T) {
	refuse := func(o *command.Options) { o.NonFinite = recorded.Refuse }
	for _, c := range []struct {
		form   string
		change func(*command.Options)
		says   string // Open
		later  string // Sample
	}{
		{"few", nil, "its answer is of 199 outputs, must be the 200 outputs of the request", ""},
		{"many", nil, "its answer is of more than 200 outputs", ""},
		{"empty", nil, "output 1 of its answer is an empty array", ""},
		{"ragged", nil, "output 8 of its answer is of 2 values, must be of 3", ""},
		{"garbage", nil, `what it printed is "Loading the model ... xxx`, ""},
		{"garbage", nil, `x"... (522 bytes), must be an answer: {"outputs": [...]}, or the array alone; write everything else to standard error`, ""},
		{"twice", nil, "it printed more than one line as its answer; after the line came", ""},
		{"refuses", nil, "it refuses the request: no model file", ""},
		{"key", nil, `its answer, character 2 is "\"output\": [1]}", must be the one key "outputs"`, ""},
		{"half-way", nil, "it ended with exit code 3 in the middle of its answer, after ", ""},
		{"half-way", nil, "  the end of its standard error:\n    Traceback (most recent call last):\n      [31mOut of luck[0m", ""},
		{"killed", nil, "it was ended by a signal (killed), as the system does when memory runs out, before its first answer", ""},
		{"unheard of", nil, "exit code 8 before its first answer", ""},
		{"dies", nil, "", "it ended with exit code 4 before it answered"},
		{"nan", refuse, ": c1 is NaN, must be a finite number; without -nonfinite refuse", ""},
		{"late-nan", refuse, "", "output 37 of 1000: c1 is NaN, must be a finite number"},
		{"long", nil, "must be a number that float64 does not round: a whole one up to 2^53, or one with an exponent; print it as two columns", ""},
		{"long", func(o *command.Options) { o.Kinds = map[string]audit.ColumnKind{"c1": audit.Mixed} }, "must be a number that float64 does not round", ""},
		{"late-long", nil, "", `output 37 of 1000: c1 is "9007199254740993", must be a number that float64 does not round`},
		{"quoted", nil, "must be numbers, or a few names; print numbers without quotes; if they are names, -kind c1=symbol", ""},
		{"correct", func(o *command.Options) { o.Kinds = map[string]audit.ColumnKind{"c2": audit.Real} }, `-kind is of a column "c2"`, ""},
		{"correct", func(o *command.Options) { o.Kinds = map[string]audit.ColumnKind{"c1": "word"} }, `kind of column c1 is "word"`, ""},
		{"correct", func(o *command.Options) { o.NonFinite = "drop" }, `nonfinite is "drop"`, ""},
		{"correct", func(o *command.Options) { o.Space.MaxRows = -1 }, "rows is 0:-1", ""},
		{"correct", func(o *command.Options) { o.Command = "no-such-program-here x" }, `whose program "no-such-program-here" is not found`, ""},
		{"correct", func(o *command.Options) { o.Command = "A=1 x" }, "to set a variable, write -exec 'env A=1 ...'", ""},
		{"correct", func(o *command.Options) { o.Columns = []audit.Column{{Name: "c1"}, {Name: "c2"}} }, "an output is of 1 values, must be of 2, as the report says", ""},
		{"words", func(o *command.Options) {
			o.Columns = []audit.Column{{Name: "c1", Kind: audit.Symbol, Labels: []audit.Label{{Value: audit.SymbolOf("few"), Text: "many"}}}}
		}, `report: inputs.brought.columns[0].labels is the word "many"`, ""},
		{"hangs", func(o *command.Options) { o.Timeout = 3 * time.Second }, "", "the answer to a request for 1000 outputs is not there after 3s, must be there by then; -exec-timeout allows more; 200 outputs at the start took "},
	} {
		t.Run(c.form, func(t *testing.T) {
			t.Parallel()
			p, err := open(t, c.form, func(o *command.Options) {
				if c.change != nil {
					c.change(o)
				}
			})
			want := c.says
			if err == nil && want == "" {
				want = c.later
				_, err = sample(p, audit.Records(1), 1, 1000)
			}
			must.Refuse(t, err, want)
		})
	}
}

// TestDependentOutputs: programs whose outputs cannot be independent are refused.
func TestDependentOutputs(t *testing.T) {
	for form, says := range map[string]string{
		"ignores": "outputs for two seeds is the same, must be different",
		"start":   "its first answer is the same in two processes, although outputs do not depend on the seed",
		"again":   "outputs for one seed is one output, repeated, and another one for another seed",
	} {
		must.Refuse(t, must.Err(open(t, form)), says, form)
	}
	// The same in all answers is no fault: a constant leaks what it leaks.
	if p, err := open(t, "constant"); err != nil || p.UserMechanism().Unseeded != "" {
		t.Errorf("a constant: %v", err)
	}
	// 4 bits of a seed are soon used up.
	p := mustOpen(t, "short")
	var err error
	for i := 0; i < 17 && err == nil; i++ {
		_, err = sample(p, audit.Records(1), uint64(i), 200)
	}
	must.Refuse(t, err, "the same 200 outputs for the seeds", "a short seed")
	// Rare symbols come alike by chance, and are not refused.
	q := mustOpen(t, "rare")
	for i := range 40 {
		must.Get(sample(q, audit.Records(1), uint64(i), 200))(t)
	}
}

func TestUnseeded(t *testing.T) {
	for form, says := range map[string]string{
		"own": "the same request with the same seed gave different outputs",
		"pid": "another process of the program gave different outputs for the same seed",
	} {
		p := mustOpen(t, form)
		if p.UserMechanism().Unseeded != says {
			t.Errorf("%s: %q", form, p.UserMechanism().Unseeded)
		}
	}
}

func TestStop(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	p := must.Get(command.Open(ctx, command.Options{Command: line(t, "hangs"), Space: space(t)}))(t)
	defer p.Close()
	time.AfterFunc(50*time.Millisecond, cancel)
	if _, err := sample(p, audit.Records(1), 1, 1000); !errors.Is(err, context.Canceled) {
		t.Errorf("a run that is stopped answers %v", err)
	}
	if _, err := sample(p, audit.Records(1), 1, 1000); !errors.Is(err, context.Canceled) {
		t.Errorf("after it, %v", err)
	}
	q := mustOpen(t, "correct")
	q.Close()
	must.Refuse(t, must.Err(sample(q, audit.Records(1), 1, 1000)), "", "a closed program answers")
}

// runAudit audits a form at epsilon 1. Seeds are fixed, so that the outcome is, but of
// the form that ignores them.
func runAudit(t *testing.T, p *command.Program, workers int) (pair.Report, audit.Catalogue) {
	t.Helper()
	cat := audit.Catalogue{Mechanisms: []audit.MechanismSpec{p.UserMechanism().Spec(p)}, Learners: estimators.Registry(), Finders: finders.Registry()}
	r := must.Get(pair.Run{Plan: pair.Plan{Version: pair.PlanVersion, Mechanism: "command", Claim: &audit.Claim{Epsilon: 1}, Samples: 20_000, Trials: 2, Seed: 3, Mode: pair.Fixed}, Catalogue: cat,
		Pool: engine.LocalPool(workers), Generator: audit.Generator{Version: audit.Version}}.Do(t.Context()))(t)
	return r, cat
}

func TestAudit(t *testing.T) {
	for _, c := range []struct {
		form    string
		verdict audit.Verdict
		least   float64
	}{
		{"correct", audit.NoViolation, 0.9},
		{"half", audit.Violation, 1.8},
		{"own", audit.Violation, 1.3}, // its randomness is its own: the outcome differs from run to run, and was 1.62 once
		{"constant", audit.Violation, 8},
		{"words", audit.Violation, 1.3}, // its true epsilon is log(.65/.15) = 1.47
	} {
		t.Run(c.form, func(t *testing.T) {
			p := mustOpen(t, c.form)
			r, cat := runAudit(t, p, 2)
			if r.Verdict != c.verdict || *r.Rows(report.Bounds)[0].LowerBound < c.least {
				t.Errorf("%s\nwant a bound of at least %v", r.Summary, c.least)
			}
			v, err := pair.Verify(t.Context(), cat, engine.LocalPool(1), r, true)
			if err != nil || !v.OK() || v.Recomputed != (c.form == "own") {
				t.Errorf("%v %+v", err, v)
			}
			if c.form == "words" && !strings.Contains(r.Rows(report.Bounds)[0].Event.Words, "many") && !strings.Contains(r.Rows(report.Bounds)[0].Event.Words, "few") {
				t.Errorf("the event has no word: %s", r.Rows(report.Bounds)[0].Event.Words)
			}
		})
	}
}

// TestWorkers: counts do not depend on how many processes there are.
func TestWorkers(t *testing.T) {
	one, _ := runAudit(t, mustOpen(t, "half"), 1)
	three, _ := runAudit(t, mustOpen(t, "half"), 3)
	for _, r := range []*pair.Report{&one, &three} {
		r.Timing = audit.Timing{}
	}
	a, _ := json.Marshal(one)
	b, _ := json.Marshal(three)
	if string(a) != string(b) {
		t.Errorf("one worker:\n%s\nthree:\n%s", a, b)
	}
}

// TestPython audits the example of the documentation.
func TestPython(t *testing.T) {
	must.Have(t, "python3")
	child.Reads(t, "../../../docs/examples")
	script := must.Get(filepath.Abs("../../../docs/examples/count_mechanism.py"))(t)
	for form, verdict := range map[string]audit.Verdict{"correct": audit.NoViolation, "half": audit.Violation, "words": audit.NoViolation} {
		p := mustOpen(t, "", func(o *command.Options) { o.Command = "python3 '" + script + "' " + form })
		r, cat := runAudit(t, p, 2)
		if r.Verdict != verdict || *r.Rows(report.Bounds)[0].LowerBound < 0.9 {
			t.Errorf("%s: %s", form, r.Summary)
		}
		if form != "half" {
			continue
		}
		if v, err := pair.Verify(t.Context(), cat, engine.LocalPool(2), r, true); err != nil || !v.OK() || v.Recomputed {
			t.Errorf("%s: %v %+v", form, err, v)
		}
	}
	if p := mustOpen(t, "", func(o *command.Options) { o.Command = "python3 '" + script + "' unseeded" }); p.UserMechanism().Unseeded == "" {
		t.Error("noise of the operating system is not seen")
	}
	// The program in the text is the first form of the example.
	page := must.Get(os.ReadFile("../../../docs/command.md"))(t)
	_, rest, _ := strings.Cut(string(page), "```python\n")
	code, _, _ := strings.Cut(rest, "```")
	file := filepath.Join(t.TempDir(), "mechanism.py")
	must.Do(t, os.WriteFile(file, []byte(code), 0o600))
	var outs [2][]float64
	for i, line := range []string{"python3 '" + file + "'", "python3 '" + script + "' correct"} {
		p := mustOpen(t, "", func(o *command.Options) { o.Command = line })
		outs[i] = must.Get(sample(p, audit.Records(1, 0), 1, 300))(t)
	}
	if !slices.Equal(outs[0], outs[1]) {
		t.Error("the program in docs/command.md is another mechanism than the example")
	}
}
