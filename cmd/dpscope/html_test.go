package main

import (
	"bytes"
	"cmp"
	"encoding/xml"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/core"
	"github.com/dpscope/dpscope/core/report/format"
	"github.com/dpscope/dpscope/core/suite"
	"github.com/dpscope/dpscope/internal/must"
	"github.com/dpscope/dpscope/wasm/stills"
)

// readPage reads a page strictly: its text, and that of its last element pre. It holds
// nothing that loads something, runs or leads elsewhere.
func readPage(t *testing.T, page []byte) (words, last string) {
	t.Helper()
	dec := xml.NewDecoder(bytes.NewReader(page))
	var text, pre strings.Builder
	in := ""
	for {
		tok, err := dec.Token()
		if err == io.EOF {
			return text.String(), pre.String()
		}
		if err != nil {
			t.Fatal(err)
		}
		switch tok := tok.(type) {
		case xml.StartElement:
			if in = tok.Name.Local; in == "pre" {
				pre.Reset()
			}
			if slices.Contains([]string{"script", "img", "image", "link", "iframe", "object", "use", "foreignObject", "form", "base"}, in) {
				t.Errorf("an element %s", in)
			}
			for _, a := range tok.Attr {
				if name := a.Name.Local; name == "src" || name == "style" || strings.HasPrefix(name, "on") || name == "href" && !strings.HasPrefix(a.Value, "#audit-") || strings.Contains(a.Value, "url(") {
					t.Errorf("an attribute %s=%q", name, a.Value)
				}
			}
		case xml.CharData:
			if text.Write(tok); in == "pre" {
				pre.Write(tok)
			}
		}
	}
}

// pageOf is the page of a run as the command writes it.
func pageOf(t *testing.T, run format.Run) []byte {
	t.Helper()
	var out bytes.Buffer
	must.Get((&formatFlags{format: format.HTML}).write(&out, run))(t)
	return out.Bytes()
}

var variable = regexp.MustCompile(`var\((--[a-z-]+)\)`)

// TestPages: every report that was kept is shown whole, with its pictures, whose
// colours are those of the page; and can be taken from the page again.
func TestPages(t *testing.T) {
	files, err := filepath.Glob(kept + "/*.json")
	if err != nil || len(files) < 30 {
		t.Fatal(files, err)
	}
	several := must.Get(filepath.Glob(kept + "/pair/*.json"))(t)
	drawn := map[string]int{} // pictures by the kind of report
	for _, file := range append(files, several...) {
		data := must.Get(os.ReadFile(file))(t)
		audits, whole, err := suite.AuditsIn(data)
		if err != nil {
			t.Fatal(file, err)
		}
		var run format.Run
		for _, a := range audits {
			run.Audits = append(run.Audits, format.Audit{Name: cmp.Or(a.Name, file), Report: a.Report})
		}
		if whole != nil {
			run.Summary, run.Value = whole.Summary, *whole
		}
		page := pageOf(t, run)
		words, last := readPage(t, page)
		for _, a := range run.Audits {
			h := a.Report.Head()
			said := append(slices.Concat(h.Warnings, h.Limitations, h.References), h.Headline, h.Reproduce.CLI)
			for _, f := range a.Report.Facts() {
				said = append(said, f.Value)
			}
			for _, table := range h.Words() {
				said = append(said, table.Title)
			}
			shown := must.Get(stills.Of(a.Report))(t)
			drawn[h.Kind] += len(shown)
			for _, p := range shown {
				said = append(said, p.Title, p.Words, p.Table.Title)
				said = append(append(said, p.Table.Head...), slices.Concat(p.Table.Rows...)...)
			}
			must.Say(t, words, said...)
		}
		style, rest, _ := bytes.Cut(page, []byte("</style>"))
		names := map[string]bool{}
		for _, m := range variable.FindAllSubmatch(rest, -1) {
			names[string(m[1])] = true
		}
		for name := range names {
			if bytes.Count(style, []byte(name+": #")) != 2 {
				t.Errorf("%s: %s has no colour in one of the themes", file, name)
			}
		}
		var back, want any = nil, audits[0].Report
		if whole != nil {
			want = *whole
		}
		if all, again, err := suite.AuditsIn([]byte(last)); err != nil {
			t.Errorf("%s: the page holds no report: %v", file, err)
		} else if back = all[0].Report; again != nil {
			back = *again
		}
		if !audit.EqualJSON(back, want) {
			t.Errorf("%s: the page holds another report", file)
		}
	}
	for _, kind := range core.Kinds() {
		if drawn[kind.Name] == 0 {
			t.Errorf("no picture of a report of kind %s: %v", kind.Name, drawn)
		}
	}
}
