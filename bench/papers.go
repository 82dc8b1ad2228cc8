package main

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/bounds/published"
	"github.com/dpscope/dpscope/internal/cli"
	"github.com/dpscope/dpscope/internal/try"
)

// papersPage is the page that the bench papers fills in, from the root of the repository.
const papersPage = "docs/papers.md"

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

// paperRow is a published figure with ours beside it, and what they are of. What is empty is as the
// page has it: texts, and why figures differ, are written there by hand.
type paperRow struct{ what, published, ours string }

// papersRun is what the parts are computed with; their seeds are fixed, so figures repeat.
type papersRun struct {
	lab
	full    bool     // at the sizes of the papers
	page    string   // as it was
	command []string // that computes the part, as the page has it
}

// tables are those of the bench that the part's command runs, with more flags.
func (r *papersRun) tables(more ...string) []*table {
	try.Do(audit.Require(len(r.command) > 3, papersPage, fmt.Sprintf("with the command %q", r.command), "go run ./bench and a study"))
	s := try.Get(audit.Find("bench", r.command[3], benches, study.called))
	args := append(r.command[4:], more...)
	if r.full {
		small := []string{"-quick", "-runs", "1", "-audits", "100"}
		args = slices.DeleteFunc(args, func(word string) bool { return slices.Contains(small, word) })
	}
	var told bytes.Buffer
	c := &call{Flags: cli.NewFlags("bench "+s.name, &told), lab: r.lab, args: args, stdout: io.Discard}
	if err := caught(func() { s.run(c) }); err != nil {
		try.Do(errors.Join(err, errors.New(strings.TrimSpace(told.String()))))
	}
	return c.tables
}

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
	page := try.Get(os.ReadFile(papersPage)) // in the root of the repository
	r := &papersRun{lab: c.lab, full: *full, page: string(page)}
	text, sections, _ := strings.Cut(r.page, "\n## ")
	known(1+strings.Count(sections, "\n## "), len(papers), "", "sections")
	for _, p := range some {
		title, rows, _ := p.section(r.page)
		known(len(strings.Split(strings.TrimSpace(rows), "\n")), p.rows(r.page), p.name, "lines below the head of its table")
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
	try.Do(cli.WriteWhole(papersPage, []byte(text)))
}

// known refuses a page on which more or less stands than the parts compute: the rest would be lost.
func known(found, want int, name, what string) {
	try.Do(audit.Require(found == want, cmp.Or(name, papersPage), fmt.Sprintf("%d %s", found, what), "%d, those that are computed: the rest would be lost", want))
}

func (p *paper) rows(page string) (n int) {
	for _, x := range p.parts {
		n += len(p.written(x.name, page))
	}
	return n
}

// papersRule ends the head of a paper's table.
const papersRule = "|---|---|---|---|---|---|\n"

// section is what the page has of the paper: all before the table's rows, and these.
func (p *paper) section(page string) (title, rows string, found bool) {
	_, text, _ := strings.Cut(page, "\n## "+p.name+"\n")
	text, _, _ = strings.Cut(text, "\n## ")
	return strings.Cut(text, papersRule)
}

// written are a part's rows on the page: name and command, what they are of, published, ours, why.
func (p *paper) written(part, page string) (rows [][]string) {
	_, text, _ := p.section(page)
	for line := range strings.Lines(text) {
		cells := strings.Split(strings.TrimSuffix(strings.TrimPrefix(strings.TrimSpace(line), "| "), " |"), " | ")
		try.Do(audit.Require(len(cells) == 6, papersPage+", "+p.name, fmt.Sprintf("%q", line), "a row of six cells"))
		if cells[0] == part || cells[0] == "" && len(rows) > 0 {
			rows = append(rows, cells)
		} else if len(rows) > 0 {
			break
		}
	}
	return rows
}

// lines are the rows of the part. At the sizes of the papers a sentence on another figure is left out.
func (x paperPart) lines(p *paper, r *papersRun) (lines []string) {
	before := p.written(x.name, r.page)
	try.Do(audit.Require(len(before) > 0, papersPage, "without "+x.name, "a row with the command of the part"))
	r.command = try.Get(audit.ShellWords("command", strings.Trim(before[0][1], "`")))
	rows := x.rows(r)
	if !r.full || rows[0].what == "" {
		known(len(before), len(rows), p.name+", "+x.name, "rows")
	}
	for i, row := range rows {
		cells := []string{"", "", row.what, row.published, row.ours, ""}
		for i, c := range cells {
			cells[i] = strings.ReplaceAll(c, "|", `\|`)
		}
		at := i
		if row.what != "" && (i >= len(before) || before[i][2] != cells[2]) {
			at = slices.IndexFunc(before, func(b []string) bool { return b[2] == cells[2] })
			try.Do(audit.Require(r.full || at >= 0, papersPage+", "+p.name+", "+x.name, "without "+cells[2], "a row of that, with what is published"))
		}
		if at >= 0 {
			b := before[at]
			cells[2], cells[3] = b[2], cmp.Or(cells[3], b[3])
			why := b[5]
			for k := at; r.full && why == "as above" && k > 0; k-- {
				why = before[k-1][5]
			}
			cells[5] = audit.Pick(r.full && cells[4] != b[4], "", why)
		} else if same := func(b []string) bool { return b[3] == before[0][3] }; audit.Count(before, same) == len(before) {
			cells[3] = cmp.Or(cells[3], before[0][3]) // what is published of all
		}
		if i == 0 {
			copy(cells, before[0][:2])
		}
		lines = append(lines, "| "+strings.Join(cells, " | ")+" |\n")
	}
	return lines
}

// beside are rows of figures, published, where they are computed, and ours.
func beside(figures ...[2]string) []paperRow {
	return audit.Each(figures, func(f [2]string) paperRow { return paperRow{"", f[0], f[1]} })
}

// pairs are published figures and ours.
type pairs = [][2]string

// two are a published figure and ours in one format.
func two(format string, published, ours float64) [2]string {
	return [2]string{fmt.Sprintf(format, published), fmt.Sprintf(format, ours)}
}

// fixed is a part of figures that hang on no size.
func fixed(name string, figures func() pairs) paperPart {
	return paperPart{name, true, func(*papersRun) []paperRow { return beside(figures()...) }}
}

var renyiTesterPaper = paper{"RényiTester", []paperPart{
	fixed("Lemma 2.5", func() pairs {
		return pairs{two("%.6f", published.PureThreshold(0.01, 2), audit.RandomisedResponseRenyi(0.01, 2))}
	}),
	fixed("Theorem 4.3 and algorithm 1", func() pairs {
		return pairs{{thousands(published.RenyiSamples(2, 1.6, 0.0086, 1.0/3)), thousands(published.CorrectedRenyiSamples(2, 1.6, 0.0086, 1.0/3))}}
	}),
	fixed("Algorithm 2", func() pairs {
		return pairs{{"", fmt.Sprintf("%.4f", published.ADPTesterEta(100, 0.01, 8_100_000))}}
	}),
	{"Table 1", false, tableRows}, {"Table 2", false, tableRows}, {"Table 3", false, tableRows},
	{"Table 4", false, tableRows}, {"Tables 5 and 6", false, tableRows}, {"Table 7", false, tableRows},
	{"Figure 1", false, tableRows}, {"Figure 2", false, tableRows}, {"Figure 3", false, tableRows},
}}

// tableRows are those of a table of bench tables, of one run each at the small size.
func tableRows(r *papersRun) []paperRow {
	return audit.Each(r.tables("-quick", "-runs", "1")[0].rows, func(x line) paperRow {
		return paperRow{x.name, x.cells[1].(string), x.cells[0].(string)}
	})
}
