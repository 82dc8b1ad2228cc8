package format_test

import (
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/audit/phrase"
	"github.com/dpscope/dpscope/core/pair"
	"github.com/dpscope/dpscope/core/report"
	"github.com/dpscope/dpscope/core/report/format"
	"github.com/dpscope/dpscope/internal/must"
)

// hostile is what would be markup, an address, a script or a template, were it not
// escaped, and what nobody would see.
const hostile = `</script></style></title></pre></svg><script>alert(1)</script><img src=x onerror=alert(1)>"' onload='x' javascript:alert(1) {{.}} ]]> <!-- &lt;` + "\x7f\x1b\u202e\U000e0001"

// evil is a report of which every word is hostile.
type evil struct{ report.Report }

func (evil) Chance() (beta float64, seed uint64) { return 0.05, 7 }

func (evil) Facts() []audit.FactRow { return []audit.FactRow{{Name: hostile, Value: hostile}} }

// spoil fills a value with hostile words.
func spoil(v reflect.Value) {
	switch v.Kind() {
	case reflect.String:
		v.SetString(hostile)
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Float64:
		v.SetFloat(2)
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		spoil(v.Elem())
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		for i := range 2 {
			spoil(v.Index(i))
		}
	case reflect.Struct:
		for i := range v.NumField() {
			spoil(v.Field(i))
		}
	}
}

// Elements and attributes of the page, those of pictures aside. None loads anything,
// runs anything or leads anywhere.
var (
	htmlElements   = strings.Fields("html head meta title style body header main footer section div h1 h2 h3 p strong span code pre a table thead tbody tr th td ul li details summary svg rect")
	htmlAttributes = strings.Fields("lang charset name content http-equiv class id href scope tabindex role aria-label data-head data-verdict fill")
)

// page is the page of a run, whose elements and attributes were looked at.
func page(t *testing.T, run format.Run) *node {
	t.Helper()
	text := write(t, format.HTML, run)
	root := readXML(t, strings.NewReader(text))
	var look func(n *node)
	look = func(n *node) {
		if !slices.Contains(htmlElements, n.name) {
			t.Errorf("an element %s", n.name)
		}
		for name, value := range n.attr {
			if !slices.Contains(htmlAttributes, name) || name == "href" && !strings.HasPrefix(value, "#audit-") || name == "http-equiv" && value != "Content-Security-Policy" {
				t.Errorf("an attribute %s=%q of %s", name, value, n.name)
			}
		}
		for _, k := range n.kids {
			look(k)
		}
	}
	look(root)
	if style := root.kid("head").kid("style").text; strings.Contains(style, "url") || strings.Contains(style, "@import") {
		t.Error("the style asks for something")
	}
	return root
}

// find lists the elements of that name and class below n.
func find(n *node, name, class string) (out []*node) {
	for _, k := range n.kids {
		if k.name == name && (class == "" || k.attr["class"] == class) {
			out = append(out, k)
		}
		out = append(out, find(k, name, class)...)
	}
	return out
}

// Every word of a report may be hostile, in a page of one audit and of several.
func TestHTMLEscapes(t *testing.T) {
	var r evil
	spoil(reflect.ValueOf(&r.Report).Elem())
	r.Tables[1].Name = report.Published
	drawn := []format.Picture{{Title: hostile, Words: hostile, Wide: `<svg><rect fill="var(--first)"/></svg>`, Narrow: `<svg><rect/></svg>`,
		Table: format.PictureTable{Title: hostile, Head: []string{hostile, hostile}, Rows: [][]string{{hostile, hostile}}}}}
	run := format.Run{Audits: []format.Audit{{Name: hostile, Report: r, Location: &format.Location{File: hostile, Line: 3}}},
		Pictures: func(report.View) ([]format.Picture, error) { return drawn, nil }}
	seen := phrase.Visible(hostile)
	for several := range 2 {
		if several == 1 {
			run.Summary, run.Audits = hostile, append(run.Audits, run.Audits[0])
		}
		root := page(t, run)
		words := 0
		for _, name := range strings.Fields("title h2 h3 p td th li pre summary code a span") {
			for _, n := range find(root, name, "") {
				words += strings.Count(n.text, seen)
			}
		}
		if words < 30 {
			t.Errorf("%d hostile words are shown", words)
		}
		for _, raw := range find(root, "details", "raw") {
			want := must.Get(audit.Canonical(r))(t)
			var back evil
			must.Do(t, audit.DecodeStrict([]byte(raw.kid("pre").text), "report", &back.Report))
			if got, err := audit.Canonical(back); err != nil || string(got) != string(want) {
				t.Errorf("the report's JSON is another: %v", err)
			}
		}
	}
}

// What a page of several audits says, and where.
func TestHTML(t *testing.T) {
	run := each(t)
	root := page(t, run)
	sections := find(root, "section", "audit")
	links := find(root, "a", "")
	if len(sections) != len(run.Audits) || len(links) != len(run.Audits) {
		t.Fatalf("%d sections and %d links", len(sections), len(links))
	}
	for i, a := range run.Audits {
		s, h := sections[i], a.Report.Head()
		if links[i].attr["href"] != "#"+s.attr["id"] || links[i].text != a.Name || s.kid("h2").text != a.Name {
			t.Errorf("audit %d: link %v", i, links[i].attr)
		}
		headline := find(s, "p", "headline")[0]
		if got := headline.kid("span").text + headline.text; got != h.Headline {
			t.Errorf("audit %d: headline %q, want %q", i, got, h.Headline)
		}
		if got := find(find(s, "div", "verdict")[0], "p", ""); h.Summary != h.Headline && strings.TrimSpace(got[1].text) != strings.TrimSpace(strings.TrimPrefix(h.Summary, h.Headline)) {
			t.Errorf("audit %d: the rest of %q is %q", i, h.Summary, got[1].text)
		}
		facts := find(find(s, "table", "facts")[0], "td", "")
		if want := a.Report.Facts(); facts[len(facts)-1].text != want[len(want)-1].Value {
			t.Errorf("audit %d: facts %v", i, want)
		}
		if got := len(find(s, "table", "cards")); got != len(h.Tables) {
			t.Errorf("audit %d: %d tables of %d", i, got, len(h.Tables))
		}
		if raw := find(s, "details", "raw"); len(raw) != 1 {
			t.Errorf("audit %d: %d forms as JSON", i, len(raw))
		} else if back, err := pair.ParseReport([]byte(raw[0].kid("pre").text)); err != nil || !audit.EqualJSON(back, a.Report) {
			t.Errorf("audit %d: its JSON is another report: %v", i, err)
		}
	}
	run.Value = run.Audits[0].Report
	if raw := find(page(t, run), "details", "raw"); len(raw) != 1 {
		t.Errorf("with a value of all, %d forms as JSON", len(raw))
	}
}

var (
	declared = regexp.MustCompile(`--([a-z-]+): (#[0-9a-f]{6});`)
	both     = regexp.MustCompile(`--([a-z-]+): (?:light-dark\((#[0-9a-f]{6}), (#[0-9a-f]{6})\)|(#[0-9a-f]{6}));`)
	used     = regexp.MustCompile(`var\(--([a-z-]+)\)`)
)

// The page has the colours of the site's pages, each of them in both themes.
func TestHTMLColours(t *testing.T) {
	css := must.Get(os.ReadFile("../../../site/page/page.css"))(t)
	style := find(page(t, each(t)), "style", "")[0].text
	themes := func(text string) (out [2]map[string]string) { // light, dark
		blocks := strings.SplitAfter(text, "}")
		for theme, block := range blocks[:2] {
			out[theme] = map[string]string{}
			for _, m := range declared.FindAllStringSubmatch(block, -1) {
				out[theme][m[1]] = m[2]
			}
		}
		return out
	}
	ours, pages := themes(style), [2]map[string]string{{}, {}}
	root, _, _ := strings.Cut(string(css), "}")
	for _, m := range both.FindAllStringSubmatch(root, -1) {
		pages[0][m[1]], pages[1][m[1]] = m[2]+m[4], m[3]+m[4]
	}
	for theme, colours := range ours {
		for name, colour := range colours {
			if pages[theme][name] != colour {
				t.Errorf("theme %d: %s is %s, in page.css %s", theme, name, colour, pages[theme][name])
			}
		}
		for _, m := range used.FindAllStringSubmatch(style, -1) {
			if name := m[1]; colours[name] == "" && !strings.HasPrefix(name, "tone") {
				t.Errorf("theme %d has no %s", theme, name)
			}
		}
	}
}
