package host

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/audit/phrase"
	"github.com/dpscope/dpscope/core/report/format"
)

// badge is a small picture that says what was claimed and what was shown, with the number
// of outputs and the day. It has no colour for good: an audit never shows privacy.
func badge(c *content) []byte {
	left, right := "dpscope", ""
	if c.suite != nil {
		right, _ = c.words()
	} else {
		h := c.audits[0].Report.Head()
		title, _ := h.Banner()
		right = h.ClaimedWords() + " claimed"
		if row := h.Deciding(); h.LowerBound != nil && row != nil {
			sign := "≥"
			if row.Strict {
				sign = ">"
			}
			right += fmt.Sprintf(" · %s %s %s shown", row.ID.Letter(), sign, phrase.Bound(*h.LowerBound, h.Claim.Limit()))
		} else {
			right += " · " + strings.ToLower(title)
		}
		if n := h.Termination.SamplesUsed; n > 0 {
			right += " · n = " + phrase.Grouped(n)
		}
	}
	if c.day != "" {
		right += " · stored " + c.day
	}
	refuted := slices.ContainsFunc(c.audits, func(a format.Audit) bool { return a.Report.Head().Verdict == audit.Violation })
	colour := "#525c65"
	if refuted {
		colour = "#a3152f"
	}
	right = phrase.Line(right)
	wide := func(s string) int { return 10 + int(6.6*float64(utf8.RuneCountInString(s))) }
	a, b := wide(left), wide(right)
	var out bytes.Buffer
	fmt.Fprintf(&out, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="20" role="img" aria-label="%s"><title>%[2]s</title>`, a+b, text(left+": "+right))
	fmt.Fprintf(&out, `<rect width="%d" height="20" fill="#14191d"/><rect x="%d" width="%d" height="20" fill="%s"/>`, a, a, b, colour)
	fmt.Fprintf(&out, `<g fill="#ffffff" font-family="Verdana,DejaVu Sans,sans-serif" font-size="11"><text x="5" y="14">%s</text><text x="%d" y="14" textLength="%d">%s</text></g></svg>`, text(left), a+5, b-10, text(right))
	return out.Bytes()
}

// text is text of an element of XML, or of an attribute in double quotes.
func text(s string) string {
	var b strings.Builder
	xml.EscapeText(&b, []byte(s)) //nolint:errcheck // a builder takes everything
	return b.String()
}
