package e2e

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/core/scores"
	"github.com/dpscope/dpscope/internal/must"
)

// scoresRead: the form audits scores.
var scoresRead = strings.Replace(samplesRead, "samples\"", "scores\"", 1)

// TestScores: files of scores that are dropped anywhere are audited, as one of pairs in
// and out and as one of several runs; the report verifies with the file, or
// by its counts; bad files are named with their place, and the old result stays. Seeds are fixed:
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

	tab := open(t, "")
	const box = `document.querySelector("#result")`
	// Nothing is audited before the relation is chosen.
	drop(t, tab, "scores.csv", table.String())
	until(t, tab, scoresRead)
	click(t, tab, "#run")
	until(t, tab, `document.querySelector("#relation-error").textContent.includes("the neighbours of the claim") && `+scoresRead)
	for id, text := range map[string]string{"epsilon": "1", "seed": "9", "beta": "0.1"} {
		set(t, tab, id, text)
	}
	audited := func(name string) {
		t.Helper()
		until(t, tab, scoresRead+fmt.Sprintf(` && document.querySelector("#yours-card").textContent.startsWith(%q)`, name))
		click(t, tab, "#run")
		until(t, tab, fmt.Sprintf(`%s?.files?.[0].name === %q && %s`, canaryReport, name, scoresRead))
	}
	for _, c := range []struct {
		relation audit.Relation
		file     file
	}{{audit.AddRemove, file{"scores.csv", table.String()}}, {audit.Replace, file{"runs.json", matrix}}} {
		set(t, tab, "relation", string(c.relation))
		if c.relation == audit.Replace {
			drop(t, tab, c.file.name, c.file.content)
		}
		audited(c.file.name)
		got := must.Get(scores.ParseReport([]byte(eval[string](t, tab, `JSON.stringify(`+canaryReport+`)`))))(t)
		if got.Plan.Relation != c.relation || got.Plan.Seed != 9 || got.Plan.Claim.Epsilon != 1 || got.Verdict != audit.Violation {
			t.Errorf("%s: %+v, %s", c.file.name, got.Plan, got.Summary)
		}
		if rows := eval[int](t, tab, `document.querySelector("#planted").querySelectorAll(".carded tbody tr").length`); rows != len(got.Tables[0].Rows)+len(got.Tables[1].Rows) || rows < 6+4 {
			t.Errorf("%d rows, want %d methods and %d of membership inference", rows, len(got.Tables[0].Rows), len(got.Tables[1].Rows))
		}
		eval[bool](t, tab, `(document.querySelectorAll("#planted > details").forEach((d) => { d.open = true }), true)`)
		until(t, tab, `document.querySelectorAll('#planted .picture svg[aria-label^="ROC"], #planted .picture svg[aria-label^="Scores"]').length === 2`)
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
		until(t, tab, box+`.querySelector(".verification").textContent.includes("is the same as in the report") && !`+box+`.querySelector(".verification").textContent.includes("taken from the report") && `+scoresRead)
	}
	saved := eval[string](t, tab, `JSON.stringify(`+canaryReport+`)`)

	drop(t, tab, "bad.csv", "in,out\n1,2\n3,x\n")
	until(t, tab, noticed+`.includes("line 3") && `+noticed+`.includes("a number, as the other rows")`)
	if now := eval[string](t, tab, `JSON.stringify(`+canaryReport+`)`); now != saved {
		t.Error("the old result is gone")
	}
	// Without the report's own file its counts are checked.
	set(t, tab, "relation", "add-remove")
	drop(t, tab, "scores.csv", table.String())
	audited("scores.csv")
	drop(t, tab, "saved.json", saved)
	until(t, tab, canaryReport+`.files[0].name === "runs.json" && `+box+`.textContent.includes("Opened: saved.json")`)
	click(t, tab, "#verify")
	until(t, tab, box+`.querySelector(".verification").textContent.includes("taken from the report") && `+scoresRead)
	// What may be outputs, too, can be said to be; of two files the names tell whose they are.
	sides := strings.ReplaceAll(strings.TrimSpace(in.String()), "\n", ",")
	drop(t, tab, "sides.json", fmt.Sprintf(`{"in": [%s,0], "out": [%s,0]}`, sides, strings.ReplaceAll(strings.TrimSpace(out.String()), "\n", ",")))
	audited("sides.json")
	say(t, tab, "What it is", "outputs on two datasets")
	until(t, tab, samplesRead)
	eval[bool](t, tab, `(document.querySelector("#doors a").click(), true)`)
	dropOn(t, tab, "body", file{"held-out.txt", out.String()}, file{"train-members.txt", in.String()})
	until(t, tab, scoresRead+` && document.querySelector("#yours-card").textContent.includes("members; a")`)
	if first := eval[string](t, tab, `document.querySelector("#yours-card select[aria-label=\"The first file\"]").selectedOptions[0].text`); first != "train-members.txt" {
		t.Errorf("%s is taken for that of members", first)
	}
}
