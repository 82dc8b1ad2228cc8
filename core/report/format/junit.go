package format

import (
	"bytes"
	"encoding/xml"
	"fmt"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/audit/phrase"
	"github.com/dpscope/dpscope/core/report"
)

// The elements of JUnit XML as Jenkins' junit-10.xsd defines them.
type junitSuites struct {
	XMLName  xml.Name   `xml:"testsuites"`
	Name     string     `xml:"name,attr"`
	Time     string     `xml:"time,attr"`
	Tests    int        `xml:"tests,attr"`
	Failures int        `xml:"failures,attr"`
	Errors   int        `xml:"errors,attr"`
	Suite    junitSuite `xml:"testsuite"`
}

type junitSuite struct {
	Name       string          `xml:"name,attr"`
	Tests      int             `xml:"tests,attr"`
	Failures   int             `xml:"failures,attr"`
	Errors     int             `xml:"errors,attr"`
	Skipped    int             `xml:"skipped,attr"`
	Time       string          `xml:"time,attr"`
	Properties []junitProperty `xml:"properties>property"`
	Cases      []junitCase     `xml:"testcase"`
	Out        string          `xml:"system-out,omitempty"`
}

type junitProperty struct {
	Name  string `xml:"name,attr"`
	Value string `xml:"value,attr"`
}

type junitCase struct {
	Name    string        `xml:"name,attr"`
	Class   string        `xml:"classname,attr"`
	Time    string        `xml:"time,attr"`
	Failure *junitProblem `xml:"failure"`
	Error   *junitProblem `xml:"error"`
	Skipped *junitProblem `xml:"skipped"`
	Out     string        `xml:"system-out"`
}

type junitProblem struct {
	Type    string `xml:"type,attr"`
	Message string `xml:"message,attr"`
	Text    string `xml:",chardata"`
}

// junit is a suite with a case an audit: a violation fails, an inconclusive
// audit is skipped unless it counts as a failure, a run that failed is an error.
func junit(run Run) ([]byte, error) {
	suite := junitSuite{Name: "dpscope", Tests: len(run.Audits) + len(run.Broken), Out: phrase.Visible(run.Summary)}
	total := 0.0
	for i, a := range run.Audits {
		r := a.Report.Head()
		if i == 0 {
			suite.Properties = []junitProperty{{"generator", phrase.Line(r.Generator.Name + " " + r.Generator.Version)}, {"platform", phrase.Line(r.Generator.GoOS + "/" + r.Generator.GoArch)}}
		}
		c := junitCase{Name: phrase.Line(a.Name), Class: "dpscope." + string(r.Claim.Kind), Time: seconds(r.Timing.Total), Out: phrase.Visible(report.Text(a.Report))}
		problem := &junitProblem{Type: string(r.Verdict), Message: phrase.Visible(r.Summary), Text: phrase.Visible(details(a))}
		switch {
		case r.Verdict == audit.Invalid:
			c.Error = problem
			suite.Errors++
		case run.failed(a):
			c.Failure = problem
			suite.Failures++
		case r.Verdict == audit.Inconclusive:
			c.Skipped = &junitProblem{Type: problem.Type, Message: problem.Message}
			suite.Skipped++
		}
		suite.Cases = append(suite.Cases, c)
		total += r.Timing.Total
	}
	for _, b := range run.Broken {
		suite.Cases = append(suite.Cases, junitCase{Name: phrase.Line(b.Name), Class: "dpscope", Time: seconds(0), Error: &junitProblem{Type: string(audit.Invalid), Message: phrase.Visible(b.Why)}})
		suite.Errors++
	}
	suite.Time = seconds(total)
	data, err := xml.MarshalIndent(junitSuites{Name: suite.Name, Time: suite.Time, Tests: suite.Tests, Failures: suite.Failures, Errors: suite.Errors, Suite: suite}, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("junit: %w", err)
	}
	return bytes.Join([][]byte{[]byte(xml.Header), data, {'\n'}}, nil), nil
}
