// Package pages makes the pages of the site from the Markdown files of docs, with relative links only, and the file
// that the search reads.
//
// A fenced code block of kind audit is a command line and what came of it. It becomes that text under a dp-audit
// element, which in the museum runs by itself once it is seen.
//
// A view and a name after audit put that view of pictures/NAME.json into the element until it runs. A block of kind
// picture has no text, and no element where its command is no audit; lines below the command are its caption.
//
//	```picture outputs svt1
//	dpscope audit -mechanism svt1 -epsilon 1 -samples 20000 -seed 42
//	The same two datasets, with noise for both answers.
//	```
//
// A block of kind formula is typeset, as formulas in the text are: e^(alpha h), D_alpha, x <= 1.
package pages

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"html/template"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/dpscope/dpscope/core/report/format"
	"github.com/dpscope/dpscope/internal/try"
)

// File is one file of the site.
type File struct {
	Name string // with slashes, from the root of the site
	Data []byte
}

// Draw draws a view of a kept report.
type Draw func(kept []byte, view string) (format.Picture, error)

const (
	folder  = "docs"     // of all pages
	kept    = "pictures" // folder of docs with the reports that pictures are drawn of
	element = "dp-audit.js"
	home    = "index.html"
	comment = "<!-- mechanisms:" // at the top of a page: those that it is about
)

//go:embed page.html
var layout string

var tmpl = template.Must(template.New("page").Parse(layout))

type layoutData struct {
	Title, Site   string // Site: the way to the root of the site, with a slash
	Script        string // the way to the element's script, "" where the page needs none
	Sections      []stop
	Body          template.HTML
	Before, After *stop // in the order of the folder's index
}

// stop is a link to a page. Here, of a section: the page belongs to it.
type stop struct {
	Title, Link string
	Here        bool
}

// sections of docs, by their first pages; one of an index is its whole folder.
var sections = []stop{
	{Title: "Tutorial", Link: "tutorial.md"}, {Title: "Docs", Link: "index.md"},
	{Title: "Museum", Link: "museum/index.md"}, {Title: "Findings", Link: "findings/index.md"},
	{Title: "Bounds", Link: "bounds/index.md"},
}

// Build makes all pages of docs, and the files of it that they link to. withElement: the site has dp-audit's script.
// It refuses a link that leads nowhere or out of docs, and a page without a title.
func Build(docs fs.FS, withElement bool, draw Draw) (files []File, err error) {
	defer try.To(&err)
	var all []passage
	linked := map[string]bool{}
	for _, source := range try.Get(markdown(docs)) {
		p, err := render(docs, source, draw)
		try.Of("docs/"+source.Name, err)
		all = append(all, p.found...)
		for _, f := range p.files {
			linked[f] = true
		}
		data, err := p.layOut(docs, withElement)
		try.Of("docs/"+source.Name, err)
		files = append(files, File{path.Join(folder, htmlName(source.Name)), data})
	}
	for name := range linked {
		files = append(files, File{path.Join(folder, name), try.Get(fs.ReadFile(docs, name))})
	}
	found, err := json.Marshal(all)
	files = append(files, File{path.Join(folder, searchIndex), found})
	slices.SortFunc(files, func(a, b File) int { return strings.Compare(a.Name, b.Name) })
	return files, err
}

func markdown(docs fs.FS) (all []File, err error) {
	err = fs.WalkDir(docs, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || path.Ext(name) != ".md" {
			return err
		}
		source, err := fs.ReadFile(docs, name)
		all = append(all, File{name, source})
		return err
	})
	return all, err
}

func htmlName(name string) string { return strings.TrimSuffix(name, ".md") + ".html" }

func up(name string) string { return strings.Repeat("../", strings.Count(name, "/")) }

func (p *page) layOut(docs fs.FS, withElement bool) (_ []byte, err error) {
	defer try.To(&err)
	d := layoutData{Title: p.title, Site: "../" + up(p.name), Body: template.HTML(p.body)}
	if withElement && p.audits > 0 {
		d.Script = d.Site + element
	}
	alone := slices.ContainsFunc(sections, func(s stop) bool { return s.Link == p.name })
	for _, s := range sections {
		if _, err := fs.Stat(docs, s.Link); err != nil {
			continue
		}
		here := s.Link == p.name || !alone && path.Base(s.Link) == "index.md" && path.Dir(s.Link) == path.Dir(p.name)
		d.Sections = append(d.Sections, stop{s.Title, up(p.name) + htmlName(s.Link), here})
	}
	dir, base := path.Split(p.name)
	walk := try.Get(stops(docs, dir))
	at := slices.IndexFunc(walk, func(s stop) bool { return s.Link == htmlName(base) })
	if at > 0 {
		d.Before = &walk[at-1]
	}
	if at >= 0 && at+1 < len(walk) {
		d.After = &walk[at+1]
	}
	var out bytes.Buffer
	err = tmpl.Execute(&out, d)
	return out.Bytes(), err
}

var pageLink = regexp.MustCompile(`(?m)^[|-] \[[^\]]+\]\(([\w-]+\.md)`)

// stops are the pages of a folder, in the order of its index.
func stops(docs fs.FS, dir string) (out []stop, err error) {
	defer try.To(&err)
	source, err := fs.ReadFile(docs, dir+"index.md")
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	for _, m := range pageLink.FindAllStringSubmatch(string(source), -1) {
		link := htmlName(m[1])
		if slices.ContainsFunc(out, func(s stop) bool { return s.Link == link }) {
			continue
		}
		page := try.Get(fs.ReadFile(docs, dir+m[1]))
		_, rest, _ := strings.Cut("\n"+string(page), "\n# ")
		title, _, _ := strings.Cut(rest, "\n")
		out = append(out, stop{Title: title, Link: link})
	}
	return out, err
}

// Exhibit is what the museum has of a mechanism.
type Exhibit struct {
	Page           string // a link from the root of the site
	Broken, Mended string // lines of a function with its fault, and those in their place
}

// Museum returns what the museum has, by the mechanism's name.
func Museum(docs fs.FS) (map[string]Exhibit, error) {
	sources, err := markdown(docs)
	pages := map[string]Exhibit{}
	for _, source := range sources {
		for _, m := range mechanismsOf(source.Data) {
			if other, taken := pages[m]; taken {
				return nil, fmt.Errorf("docs/%s: %s has a page already, %s", source.Name, m, other.Page)
			}
			e := Exhibit{Page: path.Join(folder, htmlName(source.Name))}
			for _, line := range marked.FindAllSubmatch(source.Data, -1) {
				e.Broken += string(line[1]) + "\n"
			}
			_, rest, _ := strings.Cut(string(source.Data), "\n```js "+mended+"\n")
			e.Mended, _, _ = strings.Cut(rest, "```")
			pages[m] = e
		}
	}
	return pages, err
}

var marked = regexp.MustCompile(`(?m)^(.+) // mend$`)

func mechanismsOf(source []byte) []string {
	line, _, _ := strings.Cut(string(source), "\n")
	names, ok := strings.CutPrefix(line, comment)
	if !ok {
		return nil
	}
	return strings.Fields(strings.TrimSuffix(strings.TrimSpace(names), "-->"))
}
