package main

import (
	"fmt"
	"strings"
)

// markdown is the part of docs/gallery.md between its two comments: the table of a run, what others
// say of each mechanism, and how often such a table is wrong.
func markdown(c Contents, run Run) string {
	results := map[string]Result{}
	for _, r := range run.Results {
		results[r.Name] = r
	}
	var b strings.Builder
	refuted, all := map[string]int{}, map[string]int{} // by kind
	var seconds float64
	for _, e := range c.Entries {
		r := results[e.Name]
		seconds += r.Processor
		if all[e.Kind]++; r.Error == "" && r.Verdict == "violation" {
			refuted[e.Kind]++
		}
	}
	broken := all[Fault] + all[Planted] + all[Finding]
	others := len(c.Entries) - broken
	fmt.Fprintf(&b, "Of %d mechanisms that break their claim, %d are refuted: %d of %d faults that were reported of a library's own code, %d that were found here, the others planted by authors of auditing tools as examples. Of the %d others, in which no fault is known that would show, %d are flagged. All audits took %.0f seconds, %.0f of processor time (dpscope %s, %s).\n\n", broken, refuted[Fault]+refuted[Planted]+refuted[Finding], refuted[Fault], all[Fault], refuted[Finding], others, refuted[Mended]+refuted[Control]+refuted[Sound], run.Seconds, seconds, run.Version, run.Machine)
	fmt.Fprintf(&b, "**How often such a table is wrong.** Each audit has an error of at most %g. By the union bound the %d audits together flag a mechanism that keeps its claim with probability at most %.2g %%. *No violation found* never says that a mechanism is private.\n\n", Beta, len(c.Entries), 100*Beta*float64(len(c.Entries)))
	b.WriteString("| Mechanism | Library | What it is | Claim | Verdict | Epsilon | Outputs | Seconds |\n|---|---|---|---|---|---|---|---|\n")
	for _, e := range c.Entries {
		r := results[e.Name]
		l := c.Libraries[e.Library]
		verdict := r.Verdict
		if r.Error != "" {
			verdict = "not run"
		}
		fmt.Fprintf(&b, "| `%s` | [%s](https://github.com/%s/tree/%s) | %s | %s | %s | %s %.3f | %d | %.1f |\n", e.Name, e.Library, l.Repository, l.Commit, e.Kind, e.claim(), verdict, strings.TrimSpace(r.relation(e)), r.Bound, r.Outputs, r.Seconds)
	}
	b.WriteString("\n## What is said of them\n\n| Mechanism | What is said | As it should be |\n|---|---|---|\n")
	for _, e := range c.Entries {
		if e.Says == "" {
			continue
		}
		place := e.Place
		if !strings.HasPrefix(place, "https:") {
			l := c.Libraries[e.Library]
			place = "https://github.com/" + l.Repository + "/blob/" + l.Commit + "/" + place
		}
		twin := e.Twin
		if twin != "" {
			twin = "`" + twin + "`"
		}
		fmt.Fprintf(&b, "| `%s` | \"%s\" ([place](%s)) | %s |\n", e.Name, strings.ReplaceAll(e.Says, "\"", ""), place, twin)
	}
	return b.String()
}
