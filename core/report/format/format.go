// Package format writes the reports of one or several audits. All forms tell the verdict in words,
// the facts behind it, the seed and the command.
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
	var data []byte
	var err error
	switch format {
	case Text:
		data = []byte(phrase.Visible(text(run)))
	case JSON:
		value := run.Value
		if value == nil {
			value = run.Audits[0].Report
		}
		data, err = audit.Canonical(value)
	case SARIF:
		data, err = audit.Canonical(sarif(run))
	case JUnit:
		data, err = junit(run)
	case Markdown:
		data = []byte(phrase.Visible(markdown(run)))
	case GitHub:
		data = []byte(phrase.Visible(github(run)))
	case HTML:
		data, err = html(run)
	case SVG:
		data, err = svg(run)
	default:
		return audit.UnknownName("-format", format, Formats)
	}
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

func text(run Run) string {
	write, more := report.Text, ""
	if run.Sentence != nil {
		write = func(v report.View) string { return report.Brief(v, run.Sentence(v), run.Columns) }
		more = "\nAll bounds and settings: -all. Pictures: -output report.html.\n"
	}
	if run.Summary == "" && len(run.Audits) == 1 {
		return write(run.Audits[0].Report) + more
	}
	var b strings.Builder
	for i, a := range run.Audits {
		fmt.Fprintf(&b, "== %s (%d of %d)\n\n%s\n", a.Name, i+1, len(run.Audits), write(a.Report))
	}
	b.WriteString(run.Summary + "\n" + more)
	return b.String()
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
	if !(x >= 0) || math.IsInf(x, 1) {
		x = 0
	}
	return strconv.FormatFloat(x, 'f', 3, 64)
}
