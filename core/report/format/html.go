package format

import (
	"fmt"
	"html/template"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode/utf16"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/audit/phrase"
	"github.com/dpscope/dpscope/core/report"
)

// Picture is a picture of a report, for [HTML] and [SVG].
type Picture struct {
	Title, Words string
	Headline     string // of the report, where the picture stands without it
	// Wide, Narrow and, where it may be made a card, Middle are elements svg, written as they are.
	// Their colours are custom properties, see [cardColours].
	Wide, Narrow, Middle template.HTML
	MiddleHeight         float64 // of Middle, in px
	Table                PictureTable
}

// PictureTable holds the numbers of a picture; the first column heads its rows.
type PictureTable struct {
	Title string
	Head  []string
	Rows  [][]string
}

// Widths of pictures, in px: on a screen and on paper, on a phone, and of a card.
const (
	WideWidth   = 760
	NarrowWidth = 328
	MiddleWidth = 560
)

type htmlPage struct {
	Title, Summary string
	Generator      audit.Generator
	Several        bool
	Page           *Page
	Audits         []htmlAudit
	JSON           string // of all; empty: each audit has its own
}

type htmlAudit struct {
	report.Report
	ID, Name, Word, Said, Rest string // verdict: word, what the headline says of it, what else there is to say
	Place                      string
	Facts                      []audit.FactRow
	Shown                      []report.TableWords
	Pictures                   []Picture
	JSON                       string
}

var verdictWords = map[audit.Verdict]string{audit.Violation: "Violation", audit.NoViolation: "No violation found", audit.Inconclusive: "Inconclusive", audit.Invalid: "Invalid"}

// html is one page that needs no script and no other file.
func html(run Run) ([]byte, error) {
	page := htmlPage{Page: run.Page, Summary: run.Summary, Several: run.Summary != "" || len(run.Audits) != 1}
	if page.Several {
		page.Title = phrase.Count(len(run.Audits), "audit")
	}
	var err error
	if run.Value != nil {
		if page.JSON, err = jsonText(run.Value); err != nil {
			return nil, err
		}
	}
	for i, a := range run.Audits {
		h := htmlAudit{Report: a.Report.Head(), ID: fmt.Sprintf("audit-%d", i+1), Name: a.Name, Facts: a.Report.Facts()}
		h.Word = verdictWords[h.Verdict]
		h.Said, h.Rest = strings.TrimSpace(strings.TrimPrefix(h.Headline, h.Word+":")), strings.TrimPrefix(h.Summary, h.Headline)
		page.Generator = h.Generator
		if l := a.Location; l != nil {
			h.Place = audit.Pick(l.Line > 0, fmt.Sprintf("%s:%d", l.File, l.Line), l.File)
		}
		h.Shown = audit.Each(h.Words(), marked)
		if h.Pictures, err = run.pictures(a.Report); err != nil {
			return nil, err
		}
		if run.Value == nil {
			if h.JSON, err = jsonText(a.Report); err != nil {
				return nil, err
			}
		}
		if !page.Several {
			page.Title = a.Name + ": " + h.Word
		}
		page.Audits = append(page.Audits, h)
	}
	var b strings.Builder
	err = htmlTemplate().Execute(&b, page)
	return []byte(phrase.Visible(b.String())), err
}

// marked has no column that marks the row that decides: the row says it.
func marked(t report.TableWords) report.TableWords {
	if at := slices.IndexFunc(t.Columns, func(c report.Column) bool { return c.Key == "chosen" }); at >= 0 {
		t.Columns = slices.Delete(t.Columns, at, at+1)
		for i, line := range t.Lines {
			t.Lines[i].Cells = slices.Delete(line.Cells, at, at+1)
		}
	}
	return t
}

// jsonText is the canonical form of a value, with what nobody would see as JSON escapes it.
func jsonText(value any) (string, error) {
	data, err := audit.Canonical(value)
	var b strings.Builder
	for _, r := range string(data) {
		if r == '\n' || strconv.IsGraphic(r) {
			b.WriteRune(r)
			continue
		}
		for _, unit := range utf16.Encode([]rune{r}) {
			fmt.Fprintf(&b, `\u%04x`, unit)
		}
	}
	return b.String(), err
}

// Style is of pages of HTML, with the colours of the site's pages (site/page/page.css), by the same names.
const Style = `
:root {
  color-scheme: light dark;
  --page: #f4f6f7; --panel: #ffffff; --sunk: #eceff1;
  --text: #14191d; --muted: #525c65; --line: #d5dbe0; --field-line: #84919a;
  --accent: #0a5568; --link: #0a5568;
  --bad: #a3152f; --bad-soft: #fdecef; --warn: #7a5600; --warn-soft: #fbf3dd; --calm: #0b5c73; --calm-soft: #e6f1f5; --dull: #525c65; --dull-soft: #eceff1;
  --first: #0b63a8; --second: #b84a00; --region: #f1e9f6; --hatch: #8a5ea8; --event: #6d3f8c; --lit: #ffe14a; --lit-ink: #14191d; --lit-soft: #fff6c4; --forbid: #f1f3f5;
  font: 16px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif;
}
@media screen and (prefers-color-scheme: dark) {
  :root {
    --page: #0e1214; --panel: #161b1f; --sunk: #20272c;
    --text: #e8ecef; --muted: #a4afb8; --line: #303940; --field-line: #6d7d87;
    --accent: #6cc3d8; --link: #6cc3d8;
    --bad: #ff9aa9; --bad-soft: #3a171e; --warn: #edc25a; --warn-soft: #332a14; --calm: #7fcde2; --calm-soft: #17323b; --dull: #a4afb8; --dull-soft: #20272c;
    --first: #6ab7f5; --second: #ff9c5b; --region: #2c2436; --hatch: #a883c6; --event: #cfaee8; --lit: #ffe14a; --lit-ink: #14191d; --lit-soft: #3a3511; --forbid: #1b2126;
  }
}
*, ::before, ::after { box-sizing: border-box; }
body { margin: 0; background: var(--page); color: var(--text); overflow-wrap: break-word; }
header, main, footer { padding: .9rem max(1rem, calc(50vw - 31rem)) 0; }
main, .audit { display: grid; gap: 1.25rem; grid-template-columns: minmax(0, 1fr); }
.audit, .all { background: var(--panel); border: 1px solid var(--line); border-radius: 10px; padding: clamp(.9rem, 2vw, 1.5rem); }
h1, h2, h3, p, ul, pre, table { margin: 0; padding: 0; }
h1 { font-size: 1.35rem; }
h2 { font-size: 1.2rem; }
h3 { font-size: 1rem; margin-bottom: .3rem; }
a { color: var(--link); }
:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; }
footer { padding-bottom: 2rem; color: var(--muted); font-size: .85rem; }
p + p { margin-top: .35rem; }
p + table, p + details { margin-top: .8rem; }
ul { padding-left: 1.2rem; }
.small { color: var(--muted); font-size: .9rem; }
.word { color: var(--tone); font-weight: 700; }
[data-verdict] { --tone: var(--dull); --tone-soft: var(--dull-soft); }
[data-verdict="violation"] { --tone: var(--bad); --tone-soft: var(--bad-soft); }
[data-verdict="no-violation-found"] { --tone: var(--calm); --tone-soft: var(--calm-soft); }
[data-verdict="inconclusive"] { --tone: var(--warn); --tone-soft: var(--warn-soft); }
.verdict { padding: 1rem clamp(.8rem, 2vw, 1.25rem); border-radius: 8px; border-left: 6px solid var(--tone); background: var(--tone-soft); }
.headline { font-size: clamp(1.1rem, 1rem + .8vw, 1.4rem); line-height: 1.35; font-weight: 600; }
.warning { border-left: 3px solid var(--warn); padding-left: .7rem; }
table { border-collapse: collapse; font-size: .93rem; width: 100%; }
th, td { text-align: left; vertical-align: top; padding: .3rem .9rem .3rem 0; border-bottom: 1px solid var(--line); font-variant-numeric: tabular-nums; font-weight: 400; }
thead th { color: var(--muted); font-size: .85rem; }
tbody tr:last-child > * { border-bottom: 0; }
.facts th { width: 9.5rem; color: var(--muted); }
.facts td, pre, code, li { overflow-wrap: anywhere; }
.chosen > th, .chosen > .bound { font-weight: 600; }
.bound, .claimed, .value, .largest { white-space: nowrap; }
.assumption, .note { min-width: 12rem; }
.tag { display: inline-block; border: 1px solid; border-radius: 99px; padding: 0 .5rem; font-size: .8rem; font-weight: 600; white-space: nowrap; }
.bad { color: var(--bad); }
summary { cursor: pointer; font-weight: 600; font-size: .95rem; width: fit-content; }
details[open] > summary { margin-bottom: .5rem; }
pre, code { font-family: ui-monospace, "SF Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace; font-size: .88rem; }
pre { padding: .6rem .8rem; background: var(--sunk); border-radius: 6px; white-space: pre-wrap; margin-bottom: .4rem; }
.picture { forced-color-adjust: none; background: var(--panel); color: var(--text); margin-block: .6rem; }
.picture svg { display: block; width: 100%; max-width: 54rem; height: auto; font-variant-numeric: tabular-nums; }
.narrow { display: none; }
.target:hover { fill: var(--text); fill-opacity: .06; }
.scroll { overflow: auto; max-height: 26rem; }
.scroll table { width: auto; }
.scroll :is(th, td) { white-space: nowrap; }
.scroll tbody th { white-space: normal; min-width: 9rem; }
@media screen and (max-width: 45rem) {
  header, main, footer { padding-inline: 0; }
  header, footer { padding-inline: 1rem; }
  .audit, .all { border-inline: 0; border-radius: 0; padding: 1rem; }
  .wide { display: none; }
  .narrow { display: block; }
  .facts th { width: 6.5rem; padding-right: .6rem; }
  .cards thead { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
  .cards, .cards tbody, .cards tr, .cards th, .cards td { display: block; }
  .cards tr { display: grid; grid-template-columns: 1fr 1fr; gap: .1rem .8rem; padding: .5rem 0; border-bottom: 1px solid var(--line); }
  .cards tr > * { grid-column: 1 / -1; border: 0; padding: 0; overflow-wrap: anywhere; }
  .cards tr > :is(.bound, .claimed, .value, .largest) { grid-column: auto; white-space: normal; }
  .cards tbody th { font-weight: 600; }
  .cards td:empty { display: none; }
  .cards td::before { content: attr(data-head) ": "; color: var(--muted); font-size: .85rem; font-weight: 400; }
  .cards td:is(.bound, .claimed, .value, .largest)::before { content: attr(data-head); display: block; }
}
@media print {
  :root { color-scheme: light; --page: #ffffff; font-size: 11pt; }
  header, main, footer { padding-inline: 0; }
  .audit, .all { border: 0; padding: 0; }
  .audit + .audit { break-before: page; }
  .verdict, .picture, tr, h3 { break-inside: avoid; }
  h2, h3 { break-after: avoid; }
  .raw, .numbers { display: none; }
  .also::details-content { content-visibility: visible; block-size: auto; }
}
`

var htmlTemplate = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("page").Parse(`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8"/>
<meta name="viewport" content="width=device-width, initial-scale=1"/>
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"/>
<meta name="color-scheme" content="light dark"/>
<title>{{if .Page}}{{.Page.Title}}{{else}}dpscope: {{.Title}}{{end}}</title>
{{- with .Page}}
<meta name="description" content="{{.Description}}"/>
<link rel="canonical" href="{{.Address}}"/>
<meta property="og:type" content="article"/>
<meta property="og:site_name" content="dpscope"/>
<meta property="og:title" content="{{.Title}}"/>
<meta property="og:description" content="{{.Description}}"/>
<meta property="og:url" content="{{.Address}}"/>
{{- end}}
<style>` + Style + `</style>
</head>
<body>
<header><h1>dpscope</h1><p class="small">{{if .Several}}Audits of differential privacy.{{else}}An audit of differential privacy.{{end}}</p>
{{- with .Page}}
<p><a href="{{.Open}}">Open in the instrument</a>, which can verify it.{{range .Forms}} <a class="small" href="{{.Address}}">{{.Name}}</a>{{end}}</p>
<p class="small">{{.Note}}</p>
{{- end}}</header>
<main>
{{- if .Several}}
<section class="all">
<h2>All audits</h2>
<p>{{.Summary}}</p>
<table class="cards"><thead><tr><th scope="col">audit</th><th scope="col">claim</th><th scope="col">verdict</th></tr></thead>
<tbody>
{{- range .Audits}}
<tr><th scope="row"><a href="#{{.ID}}">{{.Name}}</a></th><td data-head="claim">{{.StatedClaim}}</td><td data-head="verdict" data-verdict="{{.Verdict}}">{{template "said" .}}</td></tr>
{{- end}}
</tbody></table>
</section>
{{- end}}
{{- range .Audits}}
<section class="audit" id="{{.ID}}">
<h2>{{.Name}}</h2>
<div class="verdict" data-verdict="{{.Verdict}}"><p class="headline">{{template "said" .}}</p>{{with .Rest}}<p>{{.}}</p>{{end}}</div>
{{- range .Warnings}}
<p class="warning"><strong>Note:</strong> {{.}}</p>
{{- end}}
<div><h3>Facts</h3>
<table class="facts"><tbody>
{{- with .Place}}
<tr><th scope="row">Location</th><td>{{.}}</td></tr>
{{- end}}
{{- range .Facts}}
<tr><th scope="row">{{.Name}}</th><td>{{.Value}}</td></tr>
{{- end}}
</tbody></table></div>
{{- range .Shown}}
{{- if eq .Name "published"}}
<details class="also"><summary>{{.Title}}</summary>
{{template "table" .}}</details>
{{- else}}
<div><h3>{{.Title}}</h3>
{{template "table" .}}</div>
{{- end}}
{{- end}}
{{- range .Pictures}}
<div><h3>{{.Title}}</h3>
<p>{{.Words}}</p>
<div class="picture wide">{{.Wide}}</div>
<div class="picture narrow">{{.Narrow}}</div>
<details class="numbers"><summary>{{.Table.Title}} as a table</summary>
<div class="scroll" tabindex="0" role="region" aria-label="{{.Table.Title}} as a table"><table><thead><tr>{{range .Table.Head}}<th scope="col">{{.}}</th>{{end}}</tr></thead>
<tbody>
{{- range .Table.Rows}}
<tr>{{range $i, $cell := .}}{{if $i}}<td>{{$cell}}</td>{{else}}<th scope="row">{{$cell}}</th>{{end}}{{end}}</tr>
{{- end}}
</tbody></table></div></details></div>
{{- end}}
{{- with .Reproduce}}
<div><h3>Run it again</h3>
{{- with .CLI}}
<pre>{{.}}</pre>
{{- end}}
{{- with .URL}}
<p class="small">In the page, behind its address: <code>{{.}}</code></p>
{{- end}}
{{- with .Note}}
<p>{{.}}</p>
{{- end}}
</div>
{{- end}}
{{- with .Limitations}}
<details class="also"><summary>What this does not show</summary><ul>{{range .}}<li>{{.}}</li>{{end}}</ul></details>
{{- end}}
{{- with .References}}
<details class="also"><summary>References</summary><ul>{{range .}}<li>{{.}}</li>{{end}}</ul></details>
{{- end}}
{{- template "json" .JSON}}
</section>
{{- end}}
{{- with .JSON}}
<section class="all">
{{- template "json" .}}
</section>
{{- end}}
</main>
<footer><p>Written by {{.Generator.Name}} {{.Generator.Version}} ({{.Generator.Go}}, {{.Generator.GoOS}}/{{.Generator.GoArch}}).</p></footer>
</body>
</html>
{{- define "said"}}{{with .Word}}<span class="word">{{.}}:</span> {{end}}{{.Said}}{{end}}
{{- define "json"}}{{with .}}
<details class="raw"><summary>As JSON, from which dpscope verifies it</summary>
<p class="small">Save it as report.json; then: <code>dpscope verify report.json</code></p>
<pre>{{.}}</pre></details>
{{- end}}{{end}}
{{- define "table"}}{{$columns := .Columns}}<table class="cards"><thead><tr>
{{- range .Columns}}<th scope="col" class="{{.Key}}">{{.Title}}</th>{{end}}</tr></thead>
<tbody>
{{- range .Lines}}
<tr{{if .Chosen}} class="chosen"{{end}}>
{{- $line := .}}
{{- range $i, $cell := .Cells}}{{with index $columns $i}}
{{- if $i}}<td class="{{.Key}}" data-head="{{.Title}}">{{$cell}}</td>
{{- else}}<th scope="row">{{$cell}}{{if $line.Chosen}} <span class="tag">* decides</span>{{end}}{{if $line.Exceeds}} <span class="tag bad">above the claim</span>{{end}}</th>{{end}}
{{- end}}{{end}}</tr>
{{- end}}
</tbody></table>{{end}}`))
})
