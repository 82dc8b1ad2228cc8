package pages

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"html"
	"html/template"
	"io/fs"
	"net/url"
	"path"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	east "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/renderer"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/core/report/format"
	"github.com/dpscope/dpscope/internal/packed"
	"github.com/dpscope/dpscope/internal/try"
)

type page struct {
	docs   fs.FS
	draw   Draw
	name   string // from the root of docs
	title  string
	body   string // HTML
	found  []passage
	audits int
	files  []string // of docs that it links to and that are no pages, from the root of docs
}

// render refuses raw HTML, but comments, which go.
func render(docs fs.FS, f File, draw Draw) (p *page, err error) {
	defer try.To(&err)
	p = &page{docs: docs, draw: draw, name: f.Name}
	source := f.Data
	md := goldmark.New(
		goldmark.WithExtensions(extension.NewTable(extension.WithTableCellAlignMethod(extension.TableCellAlignAttribute))), // no style attributes
		goldmark.WithParserOptions(parser.WithAutoHeadingID()),
		goldmark.WithRendererOptions(renderer.WithNodeRenderers(util.Prioritized(blocks{p}, 100))),
	)
	doc := md.Parser().Parse(text.NewReader(source))
	try.Do(ast.Walk(doc, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.RawHTML:
			return ast.WalkStop, fmt.Errorf("raw HTML %s; write &lt; for a <", n.Segments.Value(source))
		case *ast.HTMLBlock:
			if n.HTMLBlockType != ast.HTMLBlockType2 {
				return ast.WalkStop, errors.New("a block of raw HTML; only comments may stand here")
			}
		case *ast.Heading:
			if n.Level == 1 && p.title == "" {
				p.title = inLine(n, source)
			}
		case *ast.Link:
			return ast.WalkContinue, p.resolve(&n.Destination)
		case *ast.Image:
			return ast.WalkContinue, p.resolve(&n.Destination)
		}
		return ast.WalkContinue, nil
	}))
	if p.title == "" {
		return nil, errors.New("it has no title: a first heading with one #")
	}
	p.found = p.passages(doc, source)
	var out bytes.Buffer
	try.Do(md.Renderer().Render(&out, source, doc))
	p.body = typesetText(out.String())
	return p, nil
}

func (p *page) resolve(to *[]byte) error {
	u, err := url.Parse(string(*to))
	switch {
	case err != nil:
		return err
	case u.Scheme == "https", len(*to) == 0, (*to)[0] == '#':
		return nil
	case u.Scheme != "" || u.Host != "" || strings.HasPrefix(u.Path, "/"):
		return fmt.Errorf("link to %s: must be relative, or an https address", *to)
	}
	target := path.Join(path.Dir(p.name), u.Path)
	if target == "../"+home {
		return nil
	}
	if info, err := fs.Stat(p.docs, target); err != nil || info.IsDir() {
		return fmt.Errorf("link to %s: docs has no file %s", *to, target)
	}
	if path.Ext(target) != ".md" {
		p.files = append(p.files, target)
		return nil
	}
	u.Path = htmlName(u.Path)
	*to = []byte(u.String())
	return nil
}

// blocks renders code and tables that scroll by keyboard too, formulas and audits.
type blocks struct{ *page }

func (b blocks) RegisterFuncs(r renderer.NodeRendererFuncRegisterer) {
	r.Register(ast.KindFencedCodeBlock, b.code)
	r.Register(ast.KindCodeBlock, b.code)
	r.Register(east.KindTable, b.table)
	r.Register(ast.KindHTMLBlock, b.nothing)
}

func (b blocks) nothing(util.BufWriter, []byte, ast.Node, bool) (ast.WalkStatus, error) {
	return ast.WalkSkipChildren, nil
}

func (b blocks) table(w util.BufWriter, _ []byte, _ ast.Node, entering bool) (ast.WalkStatus, error) {
	if entering {
		w.WriteString(`<div class="scroll" tabindex="0" role="group" aria-label="Table"><table>` + "\n")
	} else {
		w.WriteString("</table></div>\n")
	}
	return ast.WalkContinue, nil
}

func (b blocks) code(w util.BufWriter, source []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	if !entering {
		return ast.WalkContinue, nil
	}
	var code strings.Builder
	for i := range n.Lines().Len() {
		line := n.Lines().At(i)
		code.Write(line.Value(source))
	}
	kind := ""
	var info []string // what stands after the kind
	if f, ok := n.(*ast.FencedCodeBlock); ok && f.Info != nil {
		words, rest, _ := strings.Cut(strings.TrimSpace(string(f.Info.Value(source))), " ")
		kind, info = words, strings.Fields(rest)
	}
	text := string(util.EscapeHTML([]byte(code.String())))
	shown := `<pre tabindex="0"><code>` + text + "</code></pre>\n"
	var err error
	switch {
	case kind == "formula":
		shown = `<p class="formula">` + typesetFormula(strings.TrimSuffix(text, "\n")) + "</p>\n"
	case kind == "js" && len(info) > 0:
		return ast.WalkSkipChildren, b.own(w, info, code.String(), text)
	case kind == "audit" || kind == "picture":
		command, rest, _ := strings.Cut(code.String(), "\n")
		drawn, caption := "", audit.Pick(kind == "picture", strings.Join(strings.Fields(rest), " "), "")
		if kind == "picture" || len(info) > 0 {
			if drawn, err = b.picture(info, command, caption); err != nil {
				return ast.WalkStop, err
			}
		}
		a, none := ParseCommand(command)
		if none == nil {
			b.audits++
			once := audit.Pick(path.Dir(b.name) == "museum", ` autorun=""`, "") // it is seen
			drawn = a.html("../"+up(b.name)+home, once, drawn)
		} else if kind == "audit" {
			return ast.WalkStop, none
		}
		shown = drawn + audit.Pick(kind == "picture", "", `<pre class="shown" tabindex="0"><code>`+text+"</code></pre>\n")
	}
	_, err = w.WriteString(shown)
	return ast.WalkSkipChildren, err
}

// own is a function with a link that opens it with the settings there; or, of the kind mended, the lines in place of
// those with the mark. text is the code in HTML.
func (b blocks) own(w util.BufWriter, info []string, code, text string) error {
	if info[0] == mended {
		fmt.Fprintf(w, "<details><summary>Mended</summary>\n<pre tabindex=\"0\"><code><ins>%s</ins></code></pre>\n</details>\n", text)
		return nil
	}
	pre := `<pre tabindex="0"><code>` + marked.ReplaceAllString(text, "<mark>$0</mark>") + "</code></pre>\n"
	linked := packed.Code{Code: code, Language: "javascript", Settings: map[string]string{}}
	said := make([]string, len(info))
	for i, setting := range info {
		key, value, _ := strings.Cut(setting, "=")
		said[i] = html.EscapeString(strings.TrimSpace(key + " " + value))
		linked.Settings[key] = cmp.Or(value, "true") // a switch
	}
	link, err := packed.Pack(linked)
	if err != nil {
		return err
	}
	fmt.Fprintf(w, `%s<p class="open-code"><a href="%s#door=code&amp;code=%s">Mend it yourself</a> <span class="hint">With %s.</span></p>`+"\n", pre, "../"+up(b.name)+home, link, strings.Join(said, ", "))
	return nil
}

const mended = "mended"

// figureData: Command is shown where nothing else on the page does.
type figureData struct {
	format.Picture
	Caption, Command string
}

var figure = template.Must(template.New("figure").Parse(`<figure class="drawn" slot="still">
<div class="at-wide">{{.Wide}}</div>
<div class="at-narrow">{{.Narrow}}</div>
<figcaption>
{{- with .Caption}}<p>{{.}}</p>{{end}}
<p class="hint">{{if .Command}}{{.Headline}} {{end}}{{.Words}}</p>
</figcaption>
<details><summary>{{.Table.Title}} as a table{{if .Command}}, and its command{{end}}</summary>
{{- with .Command}}
<pre class="shown" tabindex="0"><code>{{.}}</code></pre>
{{- end}}
<div class="scroll" tabindex="0" role="group" aria-label="{{.Table.Title}} as a table"><table><thead><tr>{{range .Table.Head}}<th scope="col">{{.}}</th>{{end}}</tr></thead>
<tbody>
{{- range .Table.Rows}}
<tr>{{range $i, $cell := .}}{{if $i}}<td>{{$cell}}</td>{{else}}<th scope="row">{{$cell}}</th>{{end}}{{end}}</tr>
{{- end}}
</tbody></table></div></details>
</figure>
`))

func (b blocks) picture(what []string, command, caption string) (string, error) {
	if len(what) != 2 {
		return "", fmt.Errorf("the picture of %q has %d words after its kind, must have a view and a name", command, len(what))
	}
	file := path.Join(kept, what[1]+".json")
	report, err := fs.ReadFile(b.docs, file)
	if err != nil {
		return "", fmt.Errorf("%w; go test ./site/pages -run Pictures -update makes it", err)
	}
	d := figureData{Caption: caption}
	if caption != "" {
		d.Command = command
	}
	d.Picture, err = b.draw(report, what[0])
	var out strings.Builder
	if err == nil {
		err = figure.Execute(&out, d)
	}
	return out.String(), audit.Of(file, err)
}
