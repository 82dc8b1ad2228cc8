package pages

import (
	"strings"

	"github.com/yuin/goldmark/ast"
	east "github.com/yuin/goldmark/extension/ast"
)

const searchIndex = "search.json"

// passage is what stands below a heading: what the search finds.
type passage struct {
	Page    string `json:"page"`    // the page's title
	Heading string `json:"heading"` // empty above the first one below the title
	Link    string `json:"link"`    // from the root of docs
	Text    string `json:"text"`
}

// passages are those of a page, without code and formulas.
func (p *page) passages(doc ast.Node, source []byte) []passage {
	var out []passage
	for block := doc.FirstChild(); block != nil; block = block.NextSibling() {
		if h, ok := block.(*ast.Heading); ok || out == nil {
			next := passage{Page: p.title, Link: htmlName(p.name)}
			if ok && h.Level > 1 {
				next.Heading = inLine(h, source)
				if id, has := h.AttributeString("id"); has {
					next.Link += "#" + string(id.([]byte))
				}
			}
			out = append(out, next)
			if ok {
				continue
			}
		}
		last := &out[len(out)-1]
		last.Text = strings.TrimSpace(last.Text + " " + inLine(block, source))
	}
	return out
}

func inLine(block ast.Node, source []byte) string {
	var b strings.Builder
	ast.Walk(block, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		switch n := n.(type) {
		case *ast.Text:
			if entering {
				b.Write(n.Segment.Value(source))
				if n.SoftLineBreak() {
					b.WriteByte(' ')
				}
			}
		case *ast.Paragraph, *ast.TextBlock, *east.TableCell:
			b.WriteByte(' ')
		}
		return ast.WalkContinue, nil
	})
	return strings.Join(strings.Fields(b.String()), " ")
}
