package main

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/audit/phrase"
	"github.com/dpscope/dpscope/core/canary/source"
	"github.com/dpscope/dpscope/core/report"
	"github.com/dpscope/dpscope/internal/cli"
)

// list is dpscope list. Flags may stand before and behind the name.
func list(args []string, stdout, stderr io.Writer) int {
	set := cli.NewFlags("dpscope list", stderr)
	var format string
	set.TextOrJSON(&format)
	names, code, ok := set.ParseNames(args)
	if !ok {
		return code
	}
	lines, known := listLines(catalogue.Listing())
	if len(names) == 0 {
		all := map[string][]any{}
		for _, l := range lines {
			key := strings.ReplaceAll(strings.ToLower(l.section[:1])+l.section[1:], " ", "")
			all[key] = append(all[key], l.value)
		}
		return show(stdout, stderr, format, func() string { return listText(lines) }, all)
	}
	var chosen []any
	details := ""
	for _, name := range names {
		if !slices.Contains(known, name) {
			return fail(stderr, audit.UnknownName("list", name, known))
		}
		for _, l := range lines {
			if l.name == name {
				chosen = append(chosen, l.value)
				details += l.details
			}
		}
	}
	return show(stdout, stderr, format, func() string { return details }, chosen)
}

// listLine is one thing that has a name.
type listLine struct {
	section, name, short, details string
	value                         any
}

func listLines(l audit.Listing) (lines []listLine, names []string) {
	for _, m := range l.Mechanisms {
		var b strings.Builder
		fmt.Fprintf(&b, "%s\n    %s\n    claims %s; truth: %s\n", m.Name, m.Title, m.ClaimWords, m.Truth)
		short := "claims " + m.ClaimWords
		if m.Fault != "" {
			fmt.Fprintf(&b, "    broken: %s\n", m.Fault)
			short += ", broken"
		}
		fmt.Fprintf(&b, "    neighbours: %s\n", strings.Join(m.Relations, ", "))
		for _, p := range m.Params {
			fmt.Fprintf(&b, "    -param %s   %s\n", p.Usage(), p.Doc)
		}
		fmt.Fprintf(&b, "    source: %s\n    dpscope audit -mechanism %s\n", m.Source, m.Name)
		lines = append(lines, listLine{"Mechanisms", m.Name, short, b.String(), m})
	}
	for _, s := range []struct {
		name, flag string
		all        []audit.NamedListing
	}{{"Learners", "learner", l.Learners}, {"Finders", "finder", l.Finders}} {
		for _, x := range s.all {
			var b strings.Builder
			fmt.Fprintf(&b, "%s\n    %s\n", x.Name, x.Title)
			for _, p := range x.Settings {
				fmt.Fprintf(&b, "    -%s %s:%s   %s\n", s.flag, x.Name, p.Usage(), p.Doc)
			}
			fmt.Fprintf(&b, "    source: %s\n    dpscope audit -mechanism NAME -%s %s\n", x.Source, s.flag, x.Name)
			lines = append(lines, listLine{s.name, x.Name, x.Title, b.String(), x})
		}
	}
	for _, s := range source.Sources() {
		var b strings.Builder
		fmt.Fprintf(&b, "%s\n    %s\n    score: %s\n    neighbours: %s\n    designs: %s\n", s.Name, s.Title, s.Score, strings.Join(report.Texts(s.Relations), ", "), strings.Join(report.Texts(s.Designs), ", "))
		for _, p := range s.Params {
			fmt.Fprintf(&b, "    -param %s   %s\n", p.Usage(), p.Doc)
		}
		fmt.Fprintf(&b, "    dpscope canaries -source %s -epsilon 2\n", s.Name)
		lines = append(lines, listLine{"Canary Sources", s.Name, s.Title, b.String(), map[string]any{"name": s.Name, "title": s.Title, "score": s.Score, "relations": s.Relations, "designs": s.Designs, "params": s.Params}})
	}
	for _, x := range source.Designs() {
		lines = append(lines, listLine{"Canary Designs", x.Name, x.Title, fmt.Sprintf("%s\n    %s\n    source: %s\n    dpscope canaries -source NAME -design %s -epsilon 2\n", x.Name, x.Title, cmp.Or(x.Source, "dpscope"), x.Name), x})
	}
	for _, line := range lines {
		names = append(names, line.name)
	}
	return lines, names
}

// listText has a line each, mechanisms of one family together.
func listText(lines []listLine) string {
	family := func(l listLine) string {
		if l.section != "Mechanisms" {
			return ""
		}
		return strings.TrimRight(strings.SplitN(l.name, "-", 2)[0], "0123456789")
	}
	var b strings.Builder
	for section := range slices.Values([]string{"Mechanisms", "Learners", "Finders", "Canary Sources", "Canary Designs"}) {
		var own []listLine
		first := map[string]int{}
		for _, l := range lines {
			if l.section == section {
				if _, ok := first[family(l)]; !ok {
					first[family(l)] = len(own)
				}
				own = append(own, l)
			}
		}
		slices.SortStableFunc(own, func(a, b listLine) int { return cmp.Compare(first[family(a)], first[family(b)]) })
		table := [][]string{}
		for _, l := range own {
			table = append(table, []string{l.name, l.short})
		}
		b.WriteString(section + "\n\n")
		phrase.Table(&b, table)
		b.WriteString("\n")
	}
	b.WriteString("dpscope list NAME tells all of one: what it is, its parameters, its source.\n")
	return b.String()
}
