package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/dpscope/dpscope/audit"
)

// papersPage is what the bench papers writes, from the root of the repository.
const papersPage = "docs/papers.md"

// paper is one of the papers that dpscope implements.
type paper struct {
	Name  string // as the docs call it
	Title string
	Parts []paperPart
}

// paperPart is a table, a figure or a component of a paper.
type paperPart struct {
	Name    string // as the paper has it: "Table 1", "Algorithm 2"
	Command string // that a reader runs for it, at any size
	Quick   bool   // it takes seconds, and every test runs it
	Rows    func(*papersRun) []paperRow
}

// paperRow is a published figure with ours beside it.
type paperRow struct {
	What      string // which row, column or point of the part; empty where there is one
	Published string // the figure as printed; what the text says where it prints none
	Ours      string
	Why       string // why they differ; empty where they agree within the paper's own error
}

// papersRun is what the parts are computed with. Every part has fixed seeds, so that its
// figures are the same on every machine.
type papersRun struct {
	lab
	full bool // at the sizes of the papers
}

// of is the size of a study: the small one, or the paper's.
func (r *papersRun) of(small, paper int) int {
	if r.full {
		return paper
	}
	return small
}

// papers are all five, as ../docs/findings/index.md lists them.
var papers = []*paper{&renyiTesterPaper, &slidesPaper, &mlAuditPaper, &auditoriumPaper, &lidpPaper}

func benchPapers(c *call) {
	only := c.String("only", "", "one paper by its `name`, or one part of it, as LiDP/Figure 1; printed and not written")
	full := c.Bool("full", false, "the sizes of the papers: hours; printed and not written")
	c.parse()
	name, part, _ := strings.Cut(*only, "/")
	var names []string
	page := bytes.NewBufferString(papersHead)
	for _, p := range papers {
		names = append(names, p.Name)
		if name != "" && name != p.Name {
			continue
		}
		p.write(page, part, &papersRun{c.lab, *full})
	}
	if name != "" && !slices.Contains(names, name) {
		check(audit.UnknownName("-only", name, names))
	}
	if name != "" || *full {
		get(page.WriteTo(c.stdout))
		return
	}
	check(os.WriteFile(papersPage, page.Bytes(), 0o644))
}

const papersHead = `# The five papers, figure by figure

For readers of the papers who want to compare. Every table and figure of the five papers stands here with our figure beside it, and a sentence where they differ. ` + "`go run ./bench papers`" + ` writes this page, at sizes that take less than 30 minutes on two cores; ` + "`-full`" + ` uses the papers' sizes. At the papers' sizes, of several runs: [DP-Auditorium](results/tables-auditorium.txt), [RényiTester](results/tables-renyitester.txt). [Findings](findings/index.md) quotes what turned out to be wrong.
`

// write is the paper's table, of the parts whose name contains only.
func (p *paper) write(w io.Writer, only string, r *papersRun) {
	fmt.Fprintf(w, "\n## %s\n\n%s\n\n| Part | Command | | Published | Ours | Why they differ |\n|---|---|---|---|---|---|\n", p.Name, p.Title)
	for _, part := range p.Parts {
		if !strings.Contains(part.Name, only) {
			continue
		}
		r.say("%s, %s", p.Name, part.Name)
		var rows []paperRow
		in(p.Name+", "+part.Name, func() { rows = part.Rows(r) })
		for i, row := range rows {
			fmt.Fprintln(w, part.line(i, row))
		}
	}
}

// line is a row of the table; name and command of the part stand in its first one.
func (p paperPart) line(i int, row paperRow) string {
	cells := []string{p.Name, "`" + p.Command + "`", row.What, row.Published, row.Ours, row.Why}
	if i > 0 {
		cells[0], cells[1] = "", ""
	}
	for i, c := range cells {
		cells[i] = strings.ReplaceAll(c, "|", `\|`)
	}
	return "| " + strings.Join(cells, " | ") + " |"
}
