package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/bounds/published"
	"github.com/dpscope/dpscope/internal/try"
)

// papersPage is what the bench papers writes, from the root of the repository.
const papersPage = "docs/papers.md"

// paper is one of the papers that dpscope implements.
type paper struct {
	Name  string // as the docs call it
	Title string
	Parts []paperPart
}

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

// papersRun is what the parts are computed with; their seeds are fixed, so figures repeat.
type papersRun struct {
	lab
	full bool // at the sizes of the papers
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
	page, some := bytes.NewBufferString(papersHead), papers
	if name != "" {
		some = []*paper{try.Get(audit.Find("-only", name, papers, func(p *paper) string { return p.Name }))}
	}
	for _, p := range some {
		p.write(page, part, &papersRun{c.lab, *full})
	}
	if name != "" || *full {
		try.Get(page.WriteTo(c.stdout))
		return
	}
	try.Do(os.WriteFile(papersPage, page.Bytes(), 0o644))
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

var renyiTesterPaper = paper{
	Name:  "RényiTester",
	Title: "Kong, Muñoz Medina and Ribero, *RényiTester: A Variational Approach to Testing Differential Privacy* (2023)",
	Parts: []paperPart{
		{"Lemma 2.5", "go test ./bounds/published -run PureThreshold -v", true, func(*papersRun) []paperRow {
			return []paperRow{{"threshold for pure privacy, epsilon = .01, alpha = 2", fmt.Sprintf("%.6f", published.PureThreshold(0.01, 2)), fmt.Sprintf("%.6f", audit.RandomisedResponseRenyi(0.01, 2)), "valid and loose; ours is exact, so that violations in between are seen"}}
		}},
		{"Theorem 4.3 and algorithm 1", "dpscope audit -mechanism laplace-mean-raw-count -epsilon 0.1 -learner renyi-tester", true, func(*papersRun) []paperRow {
			return []paperRow{{"outputs, epsilon = .1, alpha = 2, C = 16 epsilon, eta = .0086, beta = 1/3", thousands(published.RenyiSamples(2, 1.6, 0.0086, 1.0/3)), thousands(published.CorrectedRenyiSamples(2, 1.6, 0.0086, 1.0/3)),
				"the second of the theorem's two terms is the larger one, and its exponent is 2 alpha C; the published figure is the first"}}
		}},
		{"Algorithm 2", "dpscope audit -mechanism laplace-mean-raw-count -epsilon 0.1 -learner histogram-tester", true, func(*papersRun) []paperRow {
			eta := published.ADPTesterEta(100, 0.01, 8_100_000)
			return []paperRow{{"aDPTester: eta of 8.1M outputs, m = 100, epsilon = .01", ".01 (fitted: table 1)", fmt.Sprintf("%.4f", eta), ""}}
		}},
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
	},
}

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
