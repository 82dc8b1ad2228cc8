package format

import (
	"bytes"
	"encoding/xml"
	"strconv"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/audit/phrase"
	"github.com/dpscope/dpscope/core/report"
)

type element struct {
	XMLName xml.Name
	Attr    []xml.Attr `xml:",any,attr"`
	Text    string     `xml:",chardata"`
	Kids    []element
}

func elementOf(name, text string, attributes ...string) element {
	e := element{XMLName: xml.Name{Local: name}, Text: text}
	for i := 0; i < len(attributes); i += 2 {
		e.Attr = append(e.Attr, xml.Attr{Name: xml.Name{Local: attributes[i]}, Value: attributes[i+1]})
	}
	return e
}

// junit has a case an audit, in the elements of Jenkins' junit-10.xsd: a violation fails, an inconclusive
// audit is skipped unless it counts as a failure, a run that failed is an error.
func junit(run Run) ([]byte, error) {
	total, count := 0.0, map[string]int{}
	var cases []element
	add := func(name, class string, took float64, kids ...element) {
		c := elementOf("testcase", "", "name", phrase.Line(name), "classname", class, "time", seconds(took))
		c.Kids = kids
		cases = append(cases, c)
	}
	problem := func(kind string, v audit.Verdict, words, text string) element {
		count[kind]++
		return elementOf(kind, text, "type", string(v), "message", phrase.Visible(words))
	}
	for _, a := range run.Audits {
		r := a.Report.Head()
		var kids []element
		if run.failed(a) {
			kind := audit.Pick(r.Verdict == audit.Invalid, "error", "failure")
			kids = []element{problem(kind, r.Verdict, r.Summary, phrase.Visible(details(a)))}
		} else if r.Verdict == audit.Inconclusive {
			kids = []element{problem("skipped", r.Verdict, r.Summary, "")}
		}
		add(a.Name, "dpscope."+string(r.Claim.Kind), r.Timing.Total, append(kids, elementOf("system-out", phrase.Visible(report.Text(a.Report))))...)
		total += r.Timing.Total
	}
	for _, b := range run.Broken {
		add(b.Name, "dpscope", 0, problem("error", audit.Invalid, b.Why, ""), elementOf("system-out", ""))
	}
	suite := elementOf("testsuite", "", "name", "dpscope", "tests", strconv.Itoa(len(cases)), "failures", strconv.Itoa(count["failure"]), "errors", strconv.Itoa(count["error"]), "skipped", strconv.Itoa(count["skipped"]), "time", seconds(total))
	properties := elementOf("properties", "")
	if len(run.Audits) > 0 {
		g := run.Audits[0].Report.Head().Generator
		properties.Kids = []element{elementOf("property", "", "name", "generator", "value", phrase.Line(g.Name+" "+g.Version)), elementOf("property", "", "name", "platform", "value", phrase.Line(g.GoOS+"/"+g.GoArch))}
	}
	suite.Kids = append([]element{properties}, cases...)
	if run.Summary != "" {
		suite.Kids = append(suite.Kids, elementOf("system-out", phrase.Visible(run.Summary)))
	}
	all := elementOf("testsuites", "", "name", "dpscope", "time", seconds(total), "tests", strconv.Itoa(len(cases)), "failures", strconv.Itoa(count["failure"]), "errors", strconv.Itoa(count["error"]))
	all.Kids = []element{suite}
	data, err := xml.MarshalIndent(all, "", "  ")
	return bytes.Join([][]byte{[]byte(xml.Header), data, {'\n'}}, nil), err
}
