package format

import (
	"fmt"
	"strings"

	"github.com/dpscope/dpscope/audit"
)

// markdown is GitHub's: a headline and facts an audit, and above several a table of all.
func markdown(run Run) string {
	var b strings.Builder
	if run.Summary != "" {
		fmt.Fprintf(&b, "## dpscope\n\n%s\n\n| Audit | Claim | Verdict |\n| --- | --- | --- |\n", markdownText(run.Summary))
		for _, a := range run.Audits {
			fmt.Fprintf(&b, "| %s | %s | %s%s |\n", markdownCell(a.Name), markdownCell(a.Report.Head().StatedClaim), mark(run, a), markdownCell(a.Report.Head().Summary))
		}
		b.WriteString("\n")
	}
	for _, a := range run.Audits {
		r := a.Report.Head()
		fmt.Fprintf(&b, "### %s%s\n\n**%s**\n\n| Fact | Value |\n| --- | --- |\n", mark(run, a), markdownText(a.Name), markdownText(r.Summary))
		for _, row := range a.Report.Facts() {
			fmt.Fprintf(&b, "| %s | %s |\n", markdownCell(row.Name), markdownCell(row.Value))
		}
		b.WriteString("\n")
		for _, t := range r.Words() {
			fmt.Fprintf(&b, "<details><summary>%s</summary>\n\n|", markdownText(t.Title))
			for _, c := range t.Columns {
				fmt.Fprintf(&b, " %s |", markdownCell(c.Title))
			}
			b.WriteString("\n|" + strings.Repeat(" --- |", len(t.Columns)) + "\n")
			for _, line := range t.Lines {
				b.WriteString("|")
				for _, cell := range t.Marked(line) {
					fmt.Fprintf(&b, " %s |", markdownCell(cell))
				}
				b.WriteString("\n")
			}
			b.WriteString("\n</details>\n\n")
		}
		for _, w := range r.Warnings {
			fmt.Fprintf(&b, "> Note: %s\n\n", markdownText(w))
		}
		if r.Reproduce.CLI != "" {
			fmt.Fprintf(&b, "Run it again:\n\n%s\n\n", fenced(r.Reproduce.CLI))
		}
		if r.Reproduce.Note != "" {
			b.WriteString(markdownText(r.Reproduce.Note) + "\n\n")
		}
	}
	return strings.TrimRight(b.String(), "\n") + "\n"
}

// mark is a sign before the words, never instead of them. There is none for an
// audit that found nothing: a tick would read as a proof.
func mark(run Run, a Audit) string {
	switch {
	case run.failed(a):
		return "❌ "
	case a.Report.Head().Verdict == audit.Inconclusive:
		return "⚠️ "
	}
	return ""
}

// markdownText takes their meaning from the characters that Markdown and HTML
// read: what stands in a report comes from files and mechanisms of others.
var markdownText = strings.NewReplacer("\\", "\\\\", "`", "\\`", "*", "\\*", "_", "\\_", "[", "\\[", "]", "\\]",
	"<", "&lt;", ">", "&gt;", "&", "&amp;", "|", "\\|", "~", "\\~", "#", "\\#", "@", "&#64;", "\r", " ", "\n", " ").Replace

func markdownCell(s string) string {
	if strings.TrimSpace(s) == "" {
		return " "
	}
	return markdownText(s)
}

// fenced is a block of code, with a fence longer than any run of backticks in it.
func fenced(s string) string {
	fence := "```"
	for strings.Contains(s, fence) {
		fence += "`"
	}
	return fence + "sh\n" + s + "\n" + fence
}
