package format

import (
	"fmt"
	"strings"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/audit/phrase"
	"github.com/dpscope/dpscope/core/report"
)

// markdown is GitHub's: a headline and facts an audit, and above several a table of all.
func markdown(run Run) ([]byte, error) {
	var b strings.Builder
	row := func(cells ...string) {
		b.WriteString("| " + strings.Join(audit.Each(cells, markdownCell), " | ") + " |\n")
	}
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
		for _, f := range a.Report.Facts() {
			row(f.Name, f.Value)
		}
		b.WriteString("\n")
		for _, t := range r.Words() {
			fmt.Fprintf(&b, "<details><summary>%s</summary>\n\n", markdownText(t.Title))
			row(audit.Each(t.Columns, func(c report.Column) string { return c.Title })...)
			b.WriteString("|" + strings.Repeat(" --- |", len(t.Columns)) + "\n")
			for _, line := range t.Lines {
				row(t.Marked(line)...)
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
	return []byte(phrase.Visible(strings.TrimRight(b.String(), "\n") + "\n")), nil
}

// mark is a sign before the words; none where nothing was found: a tick would read as a proof.
func mark(run Run, a Audit) string {
	return run.graded(a, "❌ ", "⚠️ ", "")
}

// markdownText escapes Markdown and HTML: reports hold words of others' files and mechanisms.
var markdownText = strings.NewReplacer("\\", "\\\\", "`", "\\`", "*", "\\*", "_", "\\_", "[", "\\[", "]", "\\]",
	"<", "&lt;", ">", "&gt;", "&", "&amp;", "|", "\\|", "~", "\\~", "#", "\\#", "@", "&#64;", "\r", " ", "\n", " ").Replace

func markdownCell(s string) string {
	return audit.Pick(strings.TrimSpace(s) == "", " ", markdownText(s))
}

// fenced is a block of code, with a fence longer than any run of backticks in it.
func fenced(s string) string {
	fence := "```"
	for strings.Contains(s, fence) {
		fence += "`"
	}
	return fence + "sh\n" + s + "\n" + fence
}
