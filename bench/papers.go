package main

import (
	"cmp"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/bounds/published"
	"github.com/dpscope/dpscope/internal/try"
)

// papersPage is the page that the bench papers fills in, from the root of the repository.
const papersPage = "docs/papers.md"

// paper is one of the papers that dpscope implements, as the page calls it.
type paper struct {
	name  string
	parts []paperPart
}

// paperPart is a table, figure or component. The page says how a reader computes it at any size.
type paperPart struct {
	name  string // as the paper and the page have it
	quick bool   // it takes seconds, and every test computes it
	rows  func(*papersRun) []paperRow
}

// paperRow is a published figure with ours beside it.
type paperRow struct {
	what      string // which row, column or point of the part
	published string // the figure as printed; what the text says where it prints none
	ours      string
	why       string // why they differ; empty where they agree within the paper's own error
	written   bool   // what is empty of what, published and why is written on the page by hand
}

// papersRun is what the parts are computed with; their seeds are fixed, so figures repeat.
type papersRun struct {
	lab
	full bool   // at the sizes of the papers
	page string // as it was
}

// of is the size of a study: the small one, or the paper's.
func (r *papersRun) of(small, paper int) int { return audit.Pick(r.full, paper, small) }

// papers are all five, as ../docs/findings/index.md lists them.
var papers = []*paper{&renyiTesterPaper, &slidesPaper, &mlAuditPaper, &auditoriumPaper, &lidpPaper}

func benchPapers(c *call) {
	only := c.String("only", "", "one paper by its `name`, or one part of it, as LiDP/Figure 1; printed and not written")
	full := c.Bool("full", false, "the sizes of the papers: hours; printed and not written")
	c.parse()
	name, part, _ := strings.Cut(*only, "/")
	some := papers
	if name != "" {
		some = []*paper{try.Get(audit.Find("-only", name, papers, func(p *paper) string { return p.name }))}
	}
	r := &papersRun{c.lab, *full, string(try.Get(os.ReadFile(papersPage)))}
	text, _, _ := strings.Cut(r.page, "\n## ")
	for _, p := range some {
		title, _, _ := p.section(r.page)
		text += "\n## " + p.name + "\n" + title + papersRule
		for _, x := range p.parts {
			if strings.Contains(x.name, part) {
				r.say("%s, %s", p.name, x.name)
				in(p.name+", "+x.name, func() { text += strings.Join(x.lines(p, r), "") })
			}
		}
	}
	if name != "" || *full {
		fmt.Fprint(c.stdout, text)
		return
	}
	try.Do(os.WriteFile(papersPage, []byte(text), 0o644))
}

// papersRule ends the head of a paper's table.
const papersRule = "|---|---|---|---|---|---|\n"

// section is what the page has of the paper: all before the table's rows, and these.
func (p *paper) section(page string) (title, rows string, found bool) {
	_, text, _ := strings.Cut(page, "\n## "+p.name+"\n")
	text, _, _ = strings.Cut(text, "\n## ")
	return strings.Cut(text, papersRule)
}

// written are the cells of a part's rows on the page: name and command of the part stand in the
// first one, then what it is of, published, ours, and why they differ.
func (p *paper) written(part, page string) (rows [][]string) {
	_, text, _ := p.section(page)
	for line := range strings.Lines(text) {
		cells := strings.Split(strings.TrimSuffix(line[2:], " |\n"), " | ")
		if cells[0] == part || cells[0] == "" && len(rows) > 0 {
			rows = append(rows, cells)
		} else if len(rows) > 0 {
			break
		}
	}
	return rows
}

// command are the flags of the command that computes a part, as the page has it.
func (p *paper) command(part, page string) []string {
	return try.Get(audit.ShellWords("command", strings.Trim(p.written(part, page)[0][1], "`")))
}

// lines are the rows of the part as the page has them.
func (x paperPart) lines(p *paper, r *papersRun) (lines []string) {
	before := p.written(x.name, r.page)
	for i, row := range x.rows(r) {
		cells := []string{"", "", row.what, row.published, row.ours, row.why}
		for i, c := range cells {
			cells[i] = strings.ReplaceAll(c, "|", `\|`)
		}
		for _, k := range []int{2, 3, 5} {
			if row.written {
				cells[k] = cmp.Or(cells[k], before[min(i, len(before)-1)][k])
			}
		}
		if i == 0 {
			copy(cells, before[0][:2])
		}
		lines = append(lines, "| "+strings.Join(cells, " | ")+" |\n")
	}
	return lines
}

// beside are rows of figures, each a published one, where it is computed, and ours.
func beside(figures ...[2]string) []paperRow {
	return audit.Each(figures, func(f [2]string) paperRow { return paperRow{published: f[0], ours: f[1], written: true} })
}

// fixed is a part of figures that hang on no size.
func fixed(name string, figures func() [][2]string) paperPart {
	return paperPart{name, true, func(*papersRun) []paperRow { return beside(figures()...) }}
}

var renyiTesterPaper = paper{"RényiTester", []paperPart{
	fixed("Lemma 2.5", func() [][2]string {
		return [][2]string{{fmt.Sprintf("%.6f", published.PureThreshold(0.01, 2)), fmt.Sprintf("%.6f", audit.RandomisedResponseRenyi(0.01, 2))}}
	}),
	fixed("Theorem 4.3 and algorithm 1", func() [][2]string {
		return [][2]string{{thousands(published.RenyiSamples(2, 1.6, 0.0086, 1.0/3)), thousands(published.CorrectedRenyiSamples(2, 1.6, 0.0086, 1.0/3))}}
	}),
	fixed("Algorithm 2", func() [][2]string {
		return [][2]string{{"", fmt.Sprintf("%.4f", published.ADPTesterEta(100, 0.01, 8_100_000))}}
	}),
	tablePart("Table 1", "renyitester", "table-1", func(*auditRow) string {
		return "printed is what theorems ask for of any mechanism, ours is what an audit of this one took"
	}),
	tablePart("Table 2", "renyitester", "table-2", verdictWhy),
	tablePart("Table 3", "renyitester", "table-3", verdictWhy),
	tablePart("Table 4", "renyitester", "table-4", verdictWhy),
	tablePart("Tables 5 and 6", "renyitester", "table-5", trialsWhy),
	tablePart("Table 7", "renyitester", "table-7", trialsWhy),
	tablePart("Figure 1", "renyitester", "figure-1", caughtWhy),
	tablePart("Figure 2", "renyitester", "figure-2", func(r *auditRow) string {
		return fmt.Sprintf("the divergence is %g; lambda moves the estimate as printed, the number of outputs hardly: our kernel has half the median distance, the paper names none", r.plan.Claim.Alpha/2)
	}),
	tablePart("Figure 3", "renyitester", "figure-3", func(*auditRow) string {
		return "ours is a lower bound at 95 % confidence, the paper's an estimate without one"
	}),
}}

// verdictWhy explains a row of verdicts, of which the paper's tester is the first.
func verdictWhy(r *auditRow) string {
	refuted := r.mostly()
	switch said := r.figures[0].value; {
	case refuted && said == "passed":
		return "a violation: ours tests an event exactly, where RényiTester bounds a divergence"
	case !refuted && slices.ContainsFunc(r.figures, func(f printed) bool { return f.value == "false" || f.value == "failed" }):
		return fmt.Sprintf("not seen at this size, %d certification outputs a side", r.plan.Samples)
	}
	return ""
}
