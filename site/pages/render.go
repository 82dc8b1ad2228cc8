package pages

import (
	"bytes"
	"errors"
	"fmt"
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
)

// page is one Markdown file on its way.
type page struct {
	name   string // from the root of docs
	title  string
	body   string // HTML
	audits int
	files  []string // of docs that it links to and that are no pages, from the root of docs
}

// render turns Markdown into HTML. It returns an error for raw HTML, of which a
// page may have comments only; they are left out.
func render(docs fs.FS, name string, source []byte) (*page, error) {
	p := &page{name: name}
	md := goldmark.New(
		goldmark.WithExtensions(extension.NewTable(extension.WithTableCellAlignMethod(extension.TableCellAlignAttribute))), // no style attributes
		goldmark.WithParserOptions(parser.WithAutoHeadingID()),
		goldmark.WithRendererOptions(renderer.WithNodeRenderers(util.Prioritized(blocks{p}, 100))),
	)
	doc := md.Parser().Parse(text.NewReader(source))
	if err := ast.Walk(doc, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
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
				p.title = plain(n, source)
			}
		case *ast.Link:
			to, err := p.resolve(docs, string(n.Destination))
			n.Destination = []byte(to)
			return ast.WalkContinue, err
		case *ast.Image:
			to, err := p.resolve(docs, string(n.Destination))
			n.Destination = []byte(to)
			return ast.WalkContinue, err
		}
		return ast.WalkContinue, nil
	}); err != nil {
		return nil, err
	}
	if p.title == "" {
		return nil, errors.New("it has no title: a first heading with one #")
	}
	var out bytes.Buffer
	if err := md.Renderer().Render(&out, source, doc); err != nil {
		return nil, err
	}
	p.body = typesetText(out.String())
	return p, nil
}

// plain is the text of a node.
func plain(n ast.Node, source []byte) string {
	var b strings.Builder
	ast.Walk(n, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if t, ok := n.(*ast.Text); ok && entering {
			b.Write(t.Segment.Value(source))
		}
		return ast.WalkContinue, nil
	})
	return b.String()
}

// resolve checks the target of a link and turns a Markdown file into its page.
func (p *page) resolve(docs fs.FS, to string) (string, error) {
	u, err := url.Parse(to)
	if err != nil {
		return "", err
	}
	if u.Scheme == "https" || to == "" || strings.HasPrefix(to, "#") {
		return to, nil
	}
	if u.Scheme != "" || u.Host != "" || strings.HasPrefix(u.Path, "/") {
		return "", fmt.Errorf("link to %s: must be relative, or an https address", to)
	}
	target := path.Join(path.Dir(p.name), u.Path)
	if target == "../"+home {
		return to, nil
	}
	if info, err := fs.Stat(docs, target); err != nil || info.IsDir() {
		return "", fmt.Errorf("link to %s: docs has no file %s", to, target)
	}
	if path.Ext(target) == ".md" {
		u.Path = htmlName(u.Path)
		return u.String(), nil
	}
	p.files = append(p.files, target)
	return to, nil
}

// blocks renders what the site wants otherwise than goldmark does: code and
// tables that scroll by keyboard too, formulas, and audits.
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
	if f, ok := n.(*ast.FencedCodeBlock); ok {
		kind = string(f.Language(source))
	}
	text := string(util.EscapeHTML([]byte(code.String())))
	pre := `<pre tabindex="0"><code>`
	switch kind {
	case "formula":
		w.WriteString(`<p class="formula">` + typesetFormula(strings.TrimSuffix(text, "\n")) + "</p>\n")
		return ast.WalkSkipChildren, nil
	case "audit":
		command, _, _ := strings.Cut(code.String(), "\n")
		a, err := ParseCommand(command)
		if err != nil {
			return ast.WalkStop, err
		}
		b.audits++
		w.WriteString(a.html("../" + up(b.name) + home))
		pre = `<pre class="shown" tabindex="0"><code>`
	}
	w.WriteString(pre + text)
	w.WriteString("</code></pre>\n")
	return ast.WalkSkipChildren, nil
}
