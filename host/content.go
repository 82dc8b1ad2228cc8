package host

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/audit/phrase"
	"github.com/dpscope/dpscope/core"
	"github.com/dpscope/dpscope/core/pair"
	"github.com/dpscope/dpscope/core/report/format"
	"github.com/dpscope/dpscope/core/suite"
	"github.com/dpscope/dpscope/internal/packed"
)

type content struct {
	data   []byte
	audits []format.Audit // of a report
	whole  any            // the report as it was read
	suite  *suite.Report  // of several
	code   *packed.Code
	link   string // the code as an address holds it
	result *pair.LinkSummary
	day    string // on which it was stored
}

// check refuses what is neither a report nor a link's code, a report that its counts contradict, and one whose replay
// costs more than the host has.
func (s *Host) check(data []byte) error {
	c, err := read(data)
	if err != nil {
		return err
	}
	var cost core.Cost
	env := core.Env{Catalogue: s.Catalogue}
	for _, a := range c.audits {
		one := core.CostOf(a.Report, env)
		cost = core.Cost{Outputs: cost.Outputs + one.Outputs, Bytes: max(cost.Bytes, one.Bytes)}
	}
	if err := cost.Within(s.Most); s.Most != (core.Cost{}) && err != nil {
		return err
	}
	for _, a := range c.audits {
		v, err := core.Verify(context.Background(), a.Report, env, false)
		if err == nil && !v.OK() {
			err = differs(v.Differences)
		}
		if c.suite != nil {
			err = audit.Of("audit "+a.Name, err)
		}
		if err != nil {
			return err
		}
	}
	if c.suite != nil {
		if v := c.suite.Verify(nil); !v.OK() {
			return differs(v.Differences)
		}
	}
	return nil
}

func load(ctx context.Context, s Store, id string) (*content, error) {
	k, data, err := find(ctx, s, id)
	if err != nil {
		return nil, err
	}
	c, err := read(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", id, err)
	}
	c.day = k.Day
	return c, nil
}

func read(data []byte) (*content, error) {
	if len(data) > MostBytes {
		return nil, &audit.InputError{Field: "report", Found: "larger than 1 MiB", Want: "at most that", Remedy: "share a file instead"}
	}
	if !utf8.Valid(data) {
		return nil, &audit.InputError{Field: "report", Found: "no text in UTF-8", Want: "a report of dpscope, or the text of a link with code"}
	}
	c := &content{data: data}
	if trimmed := bytes.TrimSpace(data); len(trimmed) > 0 && trimmed[0] >= '0' && trimmed[0] <= '9' {
		return c, c.readCode(string(trimmed))
	}
	audits, whole, err := suite.AuditsIn(data)
	if err != nil {
		return nil, err
	}
	c.audits = audit.Each(audits, func(a suite.Audited) format.Audit {
		return format.Audit{Name: cmp.Or(a.Name, a.Report.Head().Subject), Report: a.Report}
	})
	if c.suite, c.whole = whole, any(audits[0].Report); whole != nil {
		c.whole = *whole
	}
	return c, nil
}

// differs: a difference begins with its path.
func differs(differences []string) error {
	if len(differences) == 0 {
		differences = []string{"report: nothing of it could be checked"}
	}
	path, what, _ := strings.Cut(differences[0], ": ")
	return &audit.InputError{Field: path, Found: what, Want: "what follows from the counts in the report", Remedy: "share the report as dpscope wrote it"}
}

func (c *content) readCode(text string) error {
	var code packed.Code
	if err := packed.Unpack(text, &code); err != nil {
		return &audit.InputError{Field: "link", Found: err.Error(), Want: "the text after code= in a link"}
	}
	if code.Code == "" || code.Language != "javascript" && code.Language != "python" {
		return &audit.InputError{Field: "link: language", Found: fmt.Sprintf("%q", code.Language), Want: "javascript or python, with code"}
	}
	c.code, c.link = &code, text
	if len(code.Result) > 0 {
		var g pair.LinkSummary
		if err := audit.DecodeStrict(code.Result, "link: result", &g); err != nil {
			return err
		}
		c.result = &g
	}
	return nil
}

func (c *content) words() (title, description string) {
	switch {
	case c.code != nil:
		return "Code to audit", fmt.Sprintf("A mechanism in %s with its settings. It has not run here.", map[string]string{"javascript": "JavaScript", "python": "Python"}[c.code.Language])
	case c.suite != nil:
		worst := map[audit.Verdict]string{audit.Violation: "Violation", audit.NoViolation: "No violation found", audit.Inconclusive: "Not decided", audit.Invalid: "The run failed"}[c.suite.Verdict]
		return worst + " · " + phrase.Count(len(c.audits), "audit"), c.suite.Verify(nil).Summary
	}
	h := c.audits[0].Report.Head()
	title, detail := h.Banner()
	return title + " · " + h.Subject, detail
}

type refusal struct {
	Error  string `json:"error"`
	Field  string `json:"field,omitempty"`
	Path   string `json:"path,omitempty"`
	Found  string `json:"found,omitempty"`
	Want   string `json:"want,omitempty"`
	Remedy string `json:"remedy,omitempty"`
}
