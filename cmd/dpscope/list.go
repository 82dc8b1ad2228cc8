package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/audit/phrase"
	"github.com/dpscope/dpscope/core/report"
	"github.com/dpscope/dpscope/internal/cli"
	"github.com/dpscope/dpscope/mechanisms/source"
)

func list(s streams, args []string) error {
	set := cli.NewFlags("dpscope list", s.stderr)
	var format string
	set.TextOrJSON(&format)
	names, code, ok := set.ParseNames(args)
	if !ok {
		return exit(code)
	}
	lines, known := listLines(catalogue.Listing())
	if len(names) == 0 {
		all := map[string][]any{}
		for _, l := range lines {
			key := strings.ReplaceAll(strings.ToLower(l.section[:1])+l.section[1:], " ", "")
			all[key] = append(all[key], l.value)
		}
		return cli.Print(s.stdout, format, func() string { return listText(lines) }, all)
	}
	var chosen []any
	details := ""
	for _, name := range names {
		if !slices.Contains(known, name) {
			return audit.UnknownName("list", name, known)
		}
		for _, l := range lines {
			if l.name == name {
				chosen = append(chosen, l.value)
				details += l.details
			}
		}
	}
	return cli.Print(s.stdout, format, func() string { return details }, chosen)
}

type listLine struct {
	section, name, short, details string
	value                         any
}

func listLines(l audit.Listing) (lines []listLine, names []string) {
	add := func(section, name, short string, value any, details ...string) {
		lines = append(lines, listLine{section, name, short, name + "\n    " + strings.Join(slices.DeleteFunc(details, func(d string) bool { return d == "" }), "\n    ") + "\n", value})
		names = append(names, name)
	}
	params := func(flag string, all []audit.ParamSpec) string {
		return strings.Join(audit.Each(all, func(p audit.ParamSpec) string { return fmt.Sprintf("%s%s   %s", flag, p.Usage(), p.Doc) }), "\n    ")
	}
	for _, m := range l.Mechanisms {
		short, fault := "claims "+m.ClaimWords, ""
		if m.Fault != "" {
			short, fault = short+", broken", "broken: "+m.Fault
		}
		add("Mechanisms", m.Name, short, m, m.Title, fmt.Sprintf("claims %s; truth: %s", m.ClaimWords, m.Truth), fault, "neighbours: "+strings.Join(m.Relations, ", "),
			params("-param ", m.Params), "source: "+m.Source, "dpscope audit -mechanism "+m.Name)
	}
	for _, x := range l.Learners {
		add("Learners", x.Name, x.Title, x, x.Title, params("-learner "+x.Name+":", x.Settings), "source: "+x.Source, "dpscope audit -mechanism NAME -learner "+x.Name)
	}
	for _, x := range l.Finders {
		add("Finders", x.Name, x.Title, x, x.Title, params("-finder "+x.Name+":", x.Settings), "source: "+x.Source, "dpscope audit -mechanism NAME -finder "+x.Name)
	}
	for _, s := range source.Sources() {
		add("Canary Sources", s.Name, s.Title, map[string]any{"name": s.Name, "title": s.Title, "score": s.Score, "relations": s.Relations, "designs": s.Designs, "params": s.Params},
			s.Title, "score: "+s.Score, "neighbours: "+strings.Join(report.Texts(s.Relations), ", "), "designs: "+strings.Join(report.Texts(s.Designs), ", "),
			params("-param ", s.Params), "dpscope canaries -source "+s.Name+" -epsilon 2")
	}
	for _, x := range source.Designs() {
		add("Canary Designs", x.Name, x.Title, x, x.Title, "source: "+cmp.Or(x.Source, "dpscope"), "dpscope canaries -source NAME -design "+x.Name+" -epsilon 2")
	}
	return lines, names
}

// listText has mechanisms of one family together.
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
		b.WriteString(section + "\n")
		phrase.Table(&b, audit.Each(own, func(l listLine) []string { return []string{l.name, l.short} }))
		b.WriteString("\n")
	}
	b.WriteString("dpscope list NAME describes one: what it is, its parameters and its source.\n")
	return b.String()
}
