package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"gonum.org/v1/gonum/stat"
)

// tableColumn is a column of the text.
type tableColumn struct {
	head string
	of   func(r *tableRow) string
}

// columns of a table: those that say something about its rows.
func (t paperTable) columns() []tableColumn {
	has := func(test func(*tableRow) bool) bool { return slices.ContainsFunc(t.Rows, test) }
	kind := func(k tableKind) func(*tableRow) bool { return func(r *tableRow) bool { return r.Kind == k } }
	columns := []tableColumn{
		{"paper's name", func(r *tableRow) string { return r.Name }},
		{"mechanism", func(r *tableRow) string { return r.mechanismText() }},
		{"claim", func(r *tableRow) string { return r.Claim }},
	}
	add := func(head string, of func(*tableRow) string) {
		columns = append(columns, tableColumn{head, of})
	}
	if has(func(r *tableRow) bool { return r.Setting != "" }) {
		add("setting", func(r *tableRow) string { return r.Setting })
	}
	if has(func(r *tableRow) bool { return r.Finder != "" }) {
		add("finder", func(r *tableRow) string { return r.Finder })
	}
	if has(func(r *tableRow) bool { return r.Learner != "" }) {
		add("learner", func(r *tableRow) string { return r.Learner })
		add("its tester", func(r *tableRow) string { return fmt.Sprintf("%d/%d", r.Own, len(r.Runs)) })
	}
	add("refuted", func(r *tableRow) string { return fmt.Sprintf("%d/%d", r.Refuted, len(r.Runs)) })
	for _, name := range testerLearners {
		if has(func(r *tableRow) bool { return r.tester(name) != nil }) {
			add(name, func(r *tableRow) string { return r.testerText(name) })
		}
	}
	if has(func(r *tableRow) bool { return r.Runs[0].Witness != 0 }) {
		add("estimate", func(r *tableRow) string {
			var all []float64
			for _, run := range r.Runs {
				all = append(all, run.Witness)
			}
			return fmt.Sprintf("%.3f (%s)", stat.Mean(all, nil), span(all))
		})
	}
	if has(kind(tableAudit)) {
		add("bound", func(r *tableRow) string { return fmt.Sprintf("%.4f", *r.Median) })
		if has(func(r *tableRow) bool { return len(r.Runs) > 1 }) {
			add("min..max", func(r *tableRow) string { return span(r.bounds()) })
		}
		add("truth", func(r *tableRow) string { return r.Truth })
	}
	if has(kind(tableSearch)) {
		add("trials", func(r *tableRow) string { return fmt.Sprintf("%.1f", *r.Mean) })
		add("each", func(r *tableRow) string { return r.eachText() })
	}
	if has(kind(tableLadder)) {
		add("outputs needed", func(r *tableRow) string {
			if r.Needed == nil {
				return fmt.Sprintf("> %d", 2*r.Samples)
			}
			return fmt.Sprintf("%.0f", *r.Needed)
		})
	}
	var testers []string
	for _, r := range t.Rows {
		for _, f := range r.Figures {
			if !slices.Contains(testers, f.Of) {
				testers = append(testers, f.Of)
			}
		}
	}
	for _, of := range testers {
		add(of, func(r *tableRow) string {
			for _, f := range r.Figures {
				if f.Of == of {
					return f.Value
				}
			}
			return ""
		})
	}
	add("outputs", func(r *tableRow) string { return fmt.Sprintf("%.3g", r.Outputs) })
	add("seconds", func(r *tableRow) string { return fmt.Sprintf("%.1f", r.seconds) })
	return columns
}

func (r *tableRow) mechanismText() string {
	if len(r.Parameters) == 0 {
		return r.Mechanism
	}
	return fmt.Sprintf("%s (%s)", r.Mechanism, strings.Join(r.Parameters.Assignments(), ", "))
}

// testerLearners are the learners of the papers' testers, as they stand in tables.
var testerLearners = []string{"histogram-tester", "hockeystick-tester", "renyi-tester", "mmd-tester"}

// tester is the row by that learner; nil where there is none.
func (r *tableRow) tester(learner string) *tableRow {
	if i := slices.IndexFunc(r.Testers, func(x *tableRow) bool { return strings.HasPrefix(x.Learner, learner) }); i >= 0 {
		return r.Testers[i]
	}
	return nil
}

// testerText is in how many runs our bound of that learner refutes the claim, and in how
// many its own tester would have.
func (r *tableRow) testerText(learner string) string {
	x := r.tester(learner)
	if x == nil {
		return "-"
	}
	return fmt.Sprintf("%d/%d, its own %d", x.Refuted, len(x.Runs), x.Own)
}

func (r *tableRow) bounds() []float64 {
	var all []float64
	for _, run := range r.Runs {
		all = append(all, run.Bound)
	}
	return all
}

// eachText lists the trials of each run; > where it refuted nothing.
func (r *tableRow) eachText() string {
	var all []string
	for _, run := range r.Runs {
		text := fmt.Sprint(run.Trials)
		if !run.Refuted {
			text = ">" + text
		}
		all = append(all, text)
	}
	return strings.Join(all, " ")
}

func (t tablesResult) print(w io.Writer) {
	p := t.Plan
	fmt.Fprintf(w, "Tables of %s, ours beside the published figures; beta = %g, seeds from %d", p.Paper, p.Beta, p.Seed)
	if p.Quick {
		fmt.Fprint(w, "; -quick")
	}
	fmt.Fprint(w, "\noutputs: drawn in a run, both sides, exploration among them; seconds: of all runs of the row, added up over workers; bound: median of the runs; its tester, its own: runs in which the published tester of the learner says that the claim is false, at this beta, which certifies nothing\n")
	for _, table := range t.Tables {
		fmt.Fprintf(w, "\n%s  %s\nPublished: %s\n", table.ID, table.Title, table.Published)
		for _, note := range table.Notes {
			fmt.Fprintf(w, "Note: %s\n", note)
		}
		fmt.Fprintln(w)
		columns := table.columns()
		out := tabwriter.NewWriter(w, 0, 4, 2, ' ', 0)
		line := func(cell func(tableColumn) string) {
			for i, c := range columns {
				if i > 0 {
					fmt.Fprint(out, "\t")
				}
				fmt.Fprint(out, cell(c))
			}
			fmt.Fprintln(out)
		}
		line(func(c tableColumn) string { return c.head })
		for _, r := range table.Rows {
			line(func(c tableColumn) string { return c.of(r) })
		}
		out.Flush()
	}
}
