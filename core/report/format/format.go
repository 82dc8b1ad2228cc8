// Package format writes reports of audits. All forms tell the verdict in words, the facts behind it, seed and command.
package format

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/audit/phrase"
	"github.com/dpscope/dpscope/core/report"
)

// SARIF is for code scanning, JUnit for test runners, GitHub for workflow commands of its Actions.
const (
	Text     = "text"
	JSON     = "json"
	SARIF    = "sarif"
	JUnit    = "junit"
	Markdown = "markdown"
	GitHub   = "github"
	HTML     = "html"
	SVG      = "svg"
)

// Formats are all of them.
var Formats = []string{Text, JSON, SARIF, JUnit, Markdown, GitHub, HTML, SVG}

var writers = map[string]func(Run) ([]byte, error){Text: text, JSON: canonical, SARIF: sarif, JUnit: junit,
	Markdown: markdown, GitHub: github, HTML: html, SVG: svg}

// Run is what a command did.
type Run struct {
	Audits   []Audit
	Broken   []Broken
	Summary  string                               // what several came to together, with the error of all
	Value    any                                  // what JSON writes; nil: the report of the only audit
	Strict   bool                                 // an inconclusive audit is a failure
	Page     *Page                                // of HTML, for those who link to it; may be nil
	Sentence func(report.View) string             // what tells most, for the brief form of text; nil: the text is whole
	Columns  int                                  // of the terminal that shows the brief form; 0: it is none
	Pictures func(report.View) ([]Picture, error) // for HTML and SVG; nil: none
}

func (r Run) pictures(v report.View) ([]Picture, error) {
	if r.Pictures == nil {
		return nil, nil
	}
	return r.Pictures(v)
}

// Page is what a page that stands at an address says of itself. Addresses are absolute.
type Page struct {
	Title, Description string
	Address            string // its own
	Open               string // of the instrument with this report
	Forms              []Link // the report in other formats
	Note               string // stands above the report
}

// Link is another form of the report, by name and address.
type Link struct{ Name, Address string }

// Broken is an audit without a report, as the user's program is at fault.
type Broken struct{ Name, Why string }

// Audit is one report. Its names are distinct within a run.
type Audit struct {
	Name     string
	Report   report.View
	Location *Location // nil: no file can be named
}

// Location is a place in a file of the user's.
type Location struct {
	File string // with forward slashes; relative to the root of the repository, or absolute
	Line int    // from 1; 0: the whole file
}

// ParseLocation reads FILE or FILE:LINE.
func ParseLocation(s string) (Location, error) {
	l := Location{File: s}
	if i := strings.LastIndexByte(s, ':'); i >= 0 {
		if n, err := strconv.Atoi(s[i+1:]); err == nil {
			if l = (Location{File: s[:i], Line: n}); n < 1 {
				return l, &audit.InputError{Field: "-location", Found: fmt.Sprintf("%q", s), Want: "FILE or FILE:LINE with a line of at least 1"}
			}
		}
	}
	return l, audit.Require(l.File != "", "-location", strconv.Quote(s), "FILE or FILE:LINE")
}

// Write refuses an unknown format with a *audit.InputError.
func Write(w io.Writer, format string, run Run) error {
	of, known := writers[format]
	if !known {
		return audit.UnknownName("-format", format, Formats)
	}
	data, err := of(run)
	if err != nil {
		return err
	}
	_, err = w.Write(data)
	return err
}

func (r Run) failed(a Audit) bool {
	v := a.Report.Head().Verdict
	return v == audit.Violation || v == audit.Invalid || r.Strict && v == audit.Inconclusive
}

// graded is one of three words: of an audit that failed, of an inconclusive one, and of others.
func (r Run) graded(a Audit, failed, inconclusive, other string) string {
	other = audit.Pick(a.Report.Head().Verdict == audit.Inconclusive, inconclusive, other)
	return audit.Pick(r.failed(a), failed, other)
}

func canonical(run Run) ([]byte, error) {
	if run.Value != nil {
		return audit.Canonical(run.Value)
	}
	return audit.Canonical(run.Audits[0].Report)
}

func text(run Run) ([]byte, error) {
	write, more := report.Text, ""
	if run.Sentence != nil {
		write = func(v report.View) string { return report.Brief(v, run.Sentence(v), run.Columns) }
		more = "\nAll bounds and settings: -all. Pictures: -output report.html.\n"
	}
	if run.Summary == "" && len(run.Audits) == 1 {
		return []byte(phrase.Visible(write(run.Audits[0].Report) + more)), nil
	}
	var b strings.Builder
	for i, a := range run.Audits {
		fmt.Fprintf(&b, "== %s (%d of %d)\n\n%s\n", a.Name, i+1, len(run.Audits), write(a.Report))
	}
	b.WriteString(run.Summary + "\n" + more)
	return []byte(phrase.Visible(b.String())), nil
}

func details(a Audit) string {
	lines := []string{a.Name + ": " + a.Report.Head().Summary}
	for _, row := range a.Report.Facts() {
		if slices.Contains(report.Reasons, row.Name) || row.Name == "p-value" || row.Name == "Seed" {
			lines = append(lines, row.Name+": "+row.Value)
		}
	}
	if cli := a.Report.Head().Reproduce.CLI; cli != "" {
		lines = append(lines, "Run it again: "+cli)
	}
	return strings.Join(lines, "\n")
}

// seconds prints milliseconds too, as an xs:decimal.
func seconds(x float64) string {
	return strconv.FormatFloat(audit.Pick(x >= 0 && !math.IsInf(x, 1), x, 0), 'f', 3, 64)
}
