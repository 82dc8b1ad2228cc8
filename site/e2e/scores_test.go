package e2e

import (
	"encoding/base64"
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/core/report"
	"github.com/dpscope/dpscope/core/scores"
	"github.com/dpscope/dpscope/internal/gear"
	"github.com/dpscope/dpscope/internal/must"
	"github.com/dpscope/dpscope/mechanisms/recorded"
	"github.com/dpscope/dpscope/site/e2e/browser"
)

// scored is a file of scores.
type scored struct{ name, content string }

// give drops files on the box for scores.
func give(t *testing.T, tab *browser.Tab, files ...scored) {
	t.Helper()
	var list strings.Builder
	for _, f := range files {
		fmt.Fprintf(&list, "data.items.add(new File([Uint8Array.from(atob(%q), c => c.charCodeAt(0))], %q));", base64.StdEncoding.EncodeToString([]byte(f.content)), f.name)
	}
	eval[bool](t, tab, `(() => {
		const data = new DataTransfer();
		`+list.String()+`
		document.querySelector("#k-scores-choose").dispatchEvent(new DragEvent("drop", {dataTransfer: data, bubbles: true, cancelable: true}));
		return true;
	})()`)
}

// nativeScores audits files as dpscope scores does.
func nativeScores(t *testing.T, plan scores.Plan, files ...scored) scores.Report {
	t.Helper()
	var parsed []*recorded.File
	for _, f := range files {
		p := must.Get(recorded.Read(strings.NewReader(f.content), recorded.ScoreOptions(recorded.Options{Name: f.name})))(t)
		parsed = append(parsed, p)
	}
	s := must.Get(scores.ReadScores(parsed, plan.ScoreColumns))(t)
	return must.Get(scores.Run(plan, *s, audit.Generator{Name: "dpscope", Version: audit.Version}))(t)
}

// TestScores: files of scores that are dropped on the panel give what dpscope scores
// gives; the report verifies with the file, and not with another; bad files are named
// with their place, and the old result stays. Seeds are fixed: there is no chance in
// it.
func TestScores(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(5, 6))
	var table, in, out, matrix strings.Builder
	table.WriteString("score,member\n")
	for i := range 400 {
		score := r.NormFloat64() + 2*float64(i%2)
		fmt.Fprintf(&table, "%.6f,%d\n", score, i%2)
		fmt.Fprintf([]*strings.Builder{&out, &in}[i%2], "%.6f\n", score)
	}
	matrix.WriteString(`{"score": [`)
	for i := range 80 {
		fmt.Fprintf(&matrix, "%s[%.4f, %.4f, %.4f, %.4f]", []string{"", ","}[min(i, 1)], r.NormFloat64()+3, r.NormFloat64(), r.NormFloat64(), r.NormFloat64()+3)
	}
	matrix.WriteString(`], "member": [`)
	for i := range 80 {
		fmt.Fprintf(&matrix, "%s[1, 0, 0, 1]", []string{"", ","}[min(i, 1)])
	}
	matrix.WriteString("]}")

	tab := planting(t, "&epsilon=1&seed=9&beta=0.1")
	until(t, tab, canaryIdle, 30*time.Second)
	if !eval[bool](t, tab, `document.querySelector("#k-scores-group").textContent.includes("Nothing is uploaded")`) {
		t.Error("it is not said that nothing is uploaded")
	}
	plan := scores.Plan{Version: scores.PlanVersion, Claim: &audit.Claim{Kind: audit.Approximate, Epsilon: 1, Delta: report.DefaultDelta}, DeltaDefaulted: true, Beta: 0.1, Seed: 9}
	const box = `document.querySelector("#result")`
	// Nothing is audited before the relation is chosen.
	give(t, tab, scored{"scores.csv", table.String()})
	until(t, tab, `document.querySelector("#k-scores-relation-error").textContent.includes("the neighbours of the claim") && `+canaryIdle, 30*time.Second)
	type given struct {
		method   report.Method
		relation audit.Relation
		files    []scored
	}
	all := []given{
		{"", audit.AddRemove, []scored{{"scores.csv", table.String()}}},
		{report.MethodExact, audit.AddRemove, []scored{{"scores.csv", table.String()}}},
		{report.MethodGaussian, audit.Replace, []scored{{"in.txt", in.String()}, {"out.txt", out.String()}}},
		{"", audit.Replace, []scored{{"runs.json", matrix.String()}}},
	}
	for _, c := range gear.Of([]given{all[0], all[3]}, all) {
		plan.Method, plan.Relation = c.method, c.relation
		want := nativeScores(t, plan, c.files...)
		set(t, tab, "k-scores-relation", string(c.relation))
		set(t, tab, "k-method", string(c.method))
		give(t, tab, c.files...)
		until(t, tab, fmt.Sprintf(`%s?.files?.at(-1).name === %q && %s.plan.method === %q && %s`, canaryReport, c.files[len(c.files)-1].name, canaryReport, want.Plan.Method, canaryIdle), time.Minute)
		got := must.Get(scores.ParseReport([]byte(eval[string](t, tab, `JSON.stringify(`+canaryReport+`)`))))(t)
		// Stakes and splits may differ in the last bit between platforms.
		if got.Summary != want.Summary || got.Verdict != want.Verdict || !reflect.DeepEqual(got.Plan, want.Plan) || !reflect.DeepEqual(got.Files, want.Files) ||
			!reflect.DeepEqual(got.Notes, want.Notes) || !reflect.DeepEqual(got.Warnings, want.Warnings) || !reflect.DeepEqual(got.Evidence.Guesses, want.Evidence.Guesses) || got.Evidence.Shape != want.Evidence.Shape {
			t.Errorf("%s by %q: the page has %+v, natively %+v", c.files[0].name, c.method, got, want)
		}
		if rows := eval[int](t, tab, `document.querySelector("#planted").querySelectorAll(".carded tbody tr").length`); rows != len(want.Tables[0].Rows)+len(want.Tables[1].Rows) || rows < 6+4 {
			t.Errorf("%d rows, want %d methods and %d of membership inference", rows, len(want.Tables[0].Rows), len(want.Tables[1].Rows))
		}
		until(t, tab, `document.querySelectorAll('#planted .picture svg[aria-label^="ROC"], #planted .picture svg[aria-label^="Scores"]').length === 2`, 10*time.Second)
		text := eval[string](t, tab, box+`.textContent`)
		for _, words := range append([]string{"* " + want.Deciding().Title, want.Reproduce.CLI, want.Files[0].SHA256, "What this result does not say"}, append(want.Notes, want.Warnings...)...) {
			if !strings.Contains(text, words) {
				t.Errorf("%s: the result does not say %q", c.files[0].name, words)
			}
		}
		if eval[bool](t, tab, `/NaN|Infinity|undefined|null/.test(document.querySelector("#planted").innerHTML)`) {
			t.Error("the result holds what is no number")
		}
		click(t, tab, "#verify")
		until(t, tab, box+`.querySelector(".verification").textContent.includes("is the same as in the report") && !`+box+`.querySelector(".verification").textContent.includes("taken from the report") && `+canaryIdle, time.Minute)
	}
	saved := eval[string](t, tab, `JSON.stringify(`+canaryReport+`)`)

	set(t, tab, "k-scores-relation", "add-remove")
	for _, c := range []struct{ name, content, says string }{
		{"bad.csv", "in,out\n1,2\n3,x\n", "line 3"},
		{"large.csv", "in,out\n" + strings.Repeat("1,2\n", 1000001), "4.0 MB"},
	} {
		give(t, tab, scored{c.name, c.content})
		until(t, tab, fmt.Sprintf(`(%q === "large.csv" || document.querySelector("#k-scores-name").textContent.includes(%[1]q)) && document.querySelector("#k-scores-error").textContent.includes(%[2]q) && document.querySelector("#k-scores-error").textContent.includes("must be") && %[3]s`, c.name, c.says, canaryIdle), 30*time.Second)
		if now := eval[string](t, tab, `JSON.stringify(`+canaryReport+`)`); now != saved {
			t.Errorf("%s: the old result is gone", c.name)
		}
	}
	// Another file than the report's is refused; without one the counts are checked.
	give(t, tab, scored{"scores.csv", table.String()})
	until(t, tab, canaryReport+`.files[0].name === "scores.csv" && `+canaryIdle, time.Minute)
	give(t, tab, scored{"saved.json", saved})
	until(t, tab, canaryReport+`.files[0].name === "runs.json" && `+box+`.textContent.includes("Opened: saved.json") && `+canaryIdle, time.Minute)
	click(t, tab, "#verify")
	until(t, tab, `document.querySelector("#k-scores-error").textContent.includes("SHA-256") && `+canaryIdle, 30*time.Second)
	click(t, tab, "#k-scores-forget")
	click(t, tab, "#verify")
	until(t, tab, box+`.querySelector(".verification").textContent.includes("taken from the report") && `+canaryIdle, 30*time.Second)
	// Dropped anywhere on the page, scores go to their panel, or the user is asked.
	reported := func(name string) {
		t.Helper()
		until(t, tab, fmt.Sprintf(`!document.querySelector("#canaries").hidden && %s?.files?.[0].name === %q && %s`, canaryReport, name, canaryIdle), time.Minute)
		if eval[bool](t, tab, `document.querySelector("#mechanism").value === "samples"`) {
			t.Errorf("%s: it is audited as outputs, too", name)
		}
	}
	dropped := func(files ...scored) {
		t.Helper()
		eval[bool](t, tab, `(document.querySelector("#doors a").click(), document.querySelector("#notice").replaceChildren(), true)`)
		var list []string
		for _, f := range files {
			list = append(list, fmt.Sprintf("new File([%q], %q)", f.content, f.name))
		}
		dropFiles(t, tab, "["+strings.Join(list, ",")+"]")
	}
	press := func(words string) {
		t.Helper()
		until(t, tab, fmt.Sprintf(`[...document.querySelectorAll("#notice button")].find(b => b.textContent === %q)`, words), 30*time.Second)
		eval[bool](t, tab, fmt.Sprintf(`([...document.querySelectorAll("#notice button")].find(b => b.textContent === %q).click(), true)`, words))
	}
	dropped(scored{"dropped.csv", table.String()})
	reported("dropped.csv")
	if said := eval[string](t, tab, noticed); !strings.Contains(said, "dropped.csv looks like membership scores") {
		t.Errorf("it says %q", said)
	}
	sides := strings.ReplaceAll(strings.TrimSpace(in.String()), "\n", ",")
	sides = fmt.Sprintf(`{"in": [%s,0], "out": [%s,0]}`, sides, strings.ReplaceAll(strings.TrimSpace(out.String()), "\n", ","))
	dropped(scored{"sides.json", sides})
	press("They are outputs")
	until(t, tab, samplesRead, 10*time.Second)
	dropped(scored{"sides.json", sides})
	press("They are scores")
	reported("sides.json")
	dropped(scored{"held-out.txt", out.String()}, scored{"train-members.txt", in.String()})
	press("They are scores")
	reported("train-members.txt")
	if said := eval[string](t, tab, `document.querySelector("#k-scores-name").textContent`); !strings.HasPrefix(said, "in: train-members.txt") {
		t.Errorf("it takes %s", said)
	}
	dropped(scored{"a.txt", in.String()}, scored{"b.txt", out.String()})
	until(t, tab, samplesRead, 30*time.Second)
	if said := eval[string](t, tab, noticed); said != "" {
		t.Errorf("of two files of outputs it says %q", said)
	}
	click(t, tab, "#yours-scores")
	reported("a.txt")
}
