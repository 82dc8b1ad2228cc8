package e2e

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/core/scores"
	"github.com/dpscope/dpscope/internal/must"
	"github.com/dpscope/dpscope/site/e2e/browser"
)

// give drops a file on the box for scores.
func give(t *testing.T, tab *browser.Tab, name, content string) {
	t.Helper()
	dropOn(t, tab, "#k-scores-choose", file{name, content})
}

// TestScores: files of scores that are dropped on the panel are audited, as one of pairs in
// and out and as one of several runs; the report verifies with the file, and not with
// another; bad files are named with their place, and the old result stays. Seeds are fixed:
// there is no chance in it.
func TestScores(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(5, 6))
	var table, in, out strings.Builder
	table.WriteString("score,member\n")
	for i := range 400 {
		score := r.NormFloat64() + 2*float64(i%2)
		fmt.Fprintf(&table, "%.6f,%d\n", score, i%2)
		fmt.Fprintf([]*strings.Builder{&out, &in}[i%2], "%.6f\n", score)
	}
	var scored4, member4 []string
	for range 80 {
		scored4 = append(scored4, fmt.Sprintf("[%.4f, %.4f, %.4f, %.4f]", r.NormFloat64()+3, r.NormFloat64(), r.NormFloat64(), r.NormFloat64()+3))
		member4 = append(member4, "[1, 0, 0, 1]")
	}
	matrix := fmt.Sprintf(`{"score": [%s], "member": [%s]}`, strings.Join(scored4, ","), strings.Join(member4, ","))

	tab := planting(t, "&epsilon=1&seed=9&beta=0.1")
	until(t, tab, canaryIdle, 30*time.Second)
	const box = `document.querySelector("#result")`
	// Nothing is audited before the relation is chosen.
	give(t, tab, "scores.csv", table.String())
	until(t, tab, `document.querySelector("#k-scores-relation-error").textContent.includes("the neighbours of the claim") && `+canaryIdle, 30*time.Second)
	for _, c := range []struct {
		relation audit.Relation
		file     file
	}{{audit.AddRemove, file{"scores.csv", table.String()}}, {audit.Replace, file{"runs.json", matrix}}} {
		set(t, tab, "k-scores-relation", string(c.relation))
		give(t, tab, c.file.name, c.file.content)
		until(t, tab, fmt.Sprintf(`%s?.files?.at(-1).name === %q && %s`, canaryReport, c.file.name, canaryIdle), time.Minute)
		got := must.Get(scores.ParseReport([]byte(eval[string](t, tab, `JSON.stringify(`+canaryReport+`)`))))(t)
		if got.Plan.Relation != c.relation || got.Plan.Seed != 9 || got.Plan.Claim.Epsilon != 1 || got.Verdict != audit.Violation {
			t.Errorf("%s: %+v, %s", c.file.name, got.Plan, got.Summary)
		}
		if rows := eval[int](t, tab, `document.querySelector("#planted").querySelectorAll(".carded tbody tr").length`); rows != len(got.Tables[0].Rows)+len(got.Tables[1].Rows) || rows < 6+4 {
			t.Errorf("%d rows, want %d methods and %d of membership inference", rows, len(got.Tables[0].Rows), len(got.Tables[1].Rows))
		}
		eval[bool](t, tab, `(document.querySelectorAll("#planted > details").forEach((d) => { d.open = true }), true)`)
		until(t, tab, `document.querySelectorAll('#planted .picture svg[aria-label^="ROC"], #planted .picture svg[aria-label^="Scores"]').length === 2`, 10*time.Second)
		text := eval[string](t, tab, box+`.textContent`)
		for _, words := range append([]string{"* " + got.Deciding().Title, got.Reproduce.CLI, got.Files[0].SHA256, "What this result does not say"}, append(got.Notes, got.Warnings...)...) {
			if !strings.Contains(text, words) {
				t.Errorf("%s: the result does not say %q", c.file.name, words)
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
	for _, c := range []struct{ name, content, says string }{{"bad.csv", "in,out\n1,2\n3,x\n", "line 3"}, {"large.csv", "in,out\n" + strings.Repeat("1,2\n", 1000001), "4.0 MB"}} {
		give(t, tab, c.name, c.content)
		until(t, tab, fmt.Sprintf(`document.querySelector("#k-scores-error").textContent.includes(%q) && document.querySelector("#k-scores-error").textContent.includes("must be") && %s`, c.says, canaryIdle), 30*time.Second)
		if now := eval[string](t, tab, `JSON.stringify(`+canaryReport+`)`); now != saved {
			t.Errorf("%s: the old result is gone", c.name)
		}
	}
	// Another file than the report's is refused; without one the counts are checked.
	give(t, tab, "scores.csv", table.String())
	until(t, tab, canaryReport+`.files[0].name === "scores.csv" && `+canaryIdle, time.Minute)
	give(t, tab, "saved.json", saved)
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
	dropped := func(files ...file) {
		t.Helper()
		eval[bool](t, tab, `(document.querySelector("#doors a").click(), document.querySelector("#notice").replaceChildren(), true)`)
		dropOn(t, tab, "body", files...)
	}
	dropped(file{"dropped.csv", table.String()})
	reported("dropped.csv")
	if said := eval[string](t, tab, noticed); !strings.Contains(said, "dropped.csv looks like membership scores") {
		t.Errorf("it says %q", said)
	}
	sides := strings.ReplaceAll(strings.TrimSpace(in.String()), "\n", ",")
	sides = fmt.Sprintf(`{"in": [%s,0], "out": [%s,0]}`, sides, strings.ReplaceAll(strings.TrimSpace(out.String()), "\n", ","))
	dropped(file{"sides.json", sides})
	choose(t, tab, "outputs, or membership scores", "They are outputs")
	until(t, tab, samplesRead, 10*time.Second)
	dropped(file{"sides.json", sides})
	choose(t, tab, "outputs, or membership scores", "They are scores")
	reported("sides.json")
	dropped(file{"held-out.txt", out.String()}, file{"train-members.txt", in.String()})
	choose(t, tab, "outputs, or membership scores", "They are scores")
	reported("train-members.txt")
	if said := eval[string](t, tab, `document.querySelector("#k-scores-name").textContent`); !strings.HasPrefix(said, "in: train-members.txt") {
		t.Errorf("it takes %s", said)
	}
}
