package host

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"html/template"
	"io"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/audit/phrase"
	"github.com/dpscope/dpscope/core/report/format"
)

// badge has no colour for good: an audit never shows privacy.
func badge(c *content) []byte {
	left, right := "dpscope", "code to audit"
	switch {
	case c.suite != nil:
		right, _ = c.words()
	case c.code == nil:
		h := c.audits[0].Report.Head()
		title, _ := h.Banner()
		right = h.ClaimedWords() + " claimed"
		if row := h.Deciding(); h.LowerBound != nil && row != nil {
			sign := audit.Pick(row.Strict, ">", "≥")
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
	colour := audit.Pick(refuted, "#a3152f", "#525c65")
	right = phrase.Line(right)
	wide := func(s string) int { return 10 + int(6.6*float64(utf8.RuneCountInString(s))) }
	a, b := wide(left), wide(right)
	var out bytes.Buffer
	fmt.Fprintf(&out, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="20" role="img" aria-label="%s"><title>%[2]s</title>`, a+b, text(left+": "+right))
	fmt.Fprintf(&out, `<rect width="%d" height="20" fill="#14191d"/><rect x="%d" width="%d" height="20" fill="%s"/>`, a, a, b, colour)
	fmt.Fprintf(&out, `<g fill="#ffffff" font-family="Verdana,DejaVu Sans,sans-serif" font-size="11"><text x="5" y="14">%s</text><text x="%d" y="14" textLength="%d">%s</text></g></svg>`, text(left), a+5, b-10, text(right))
	return out.Bytes()
}

func text(s string) string {
	var b strings.Builder
	xml.EscapeText(&b, []byte(s)) //nolint:errcheck // a builder takes everything
	return b.String()
}

func codePage(w io.Writer, p *format.Page, c *content) error {
	settings := map[string]string{} // in the page by name
	for name, value := range c.code.Settings {
		settings[phrase.Line(name)] = phrase.Line(value)
	}
	said := ""
	if c.result != nil {
		said = fmt.Sprintf("Whoever shared it says: %s", c.result.Verdict)
		if c.result.Bound != nil {
			said += fmt.Sprintf(", a bound of %s", phrase.Bound(*c.result.Bound, 0))
		}
		said += ". This host has not checked it."
	}
	return codeTemplate().Execute(w, map[string]any{"Page": p, "Code": phrase.Visible(c.code.Code), "Language": c.code.Language, "Settings": settings, "Said": phrase.Line(said)})
}

var codeTemplate = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("code").Parse(`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8"/>
<meta name="viewport" content="width=device-width, initial-scale=1"/>
<meta name="color-scheme" content="light dark"/>
<title>{{.Page.Title}} · dpscope</title>
<meta name="description" content="{{.Page.Description}}"/>
<link rel="canonical" href="{{.Page.Address}}"/>
<meta property="og:title" content="{{.Page.Title}}"/>
<meta property="og:description" content="{{.Page.Description}}"/>
<meta property="og:url" content="{{.Page.Address}}"/>
<style>` + format.Style + `</style>
</head>
<body>
<header><h1>dpscope</h1>
<p><a href="{{.Page.Open}}">Open in the instrument</a></p>
<p class="small">{{.Page.Note}}</p></header>
<main><section class="audit">
<h2>Code to audit</h2>
{{- with .Said}}
<p class="warning">{{.}}</p>
{{- end}}
<table class="facts"><tbody>
<tr><th scope="row">language</th><td>{{.Language}}</td></tr>
{{- range $name, $value := .Settings}}
<tr><th scope="row">{{$name}}</th><td>{{$value}}</td></tr>
{{- end}}
</tbody></table>
<pre>{{.Code}}</pre>
</section></main>
</body>
</html>
`))
})
