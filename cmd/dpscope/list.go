package main

import (
	"cmp"
	"flag"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/audit/phrase"
)

// list is dpscope list. Flags may stand before and behind the name.
func list(args []string, stdout, stderr io.Writer) int {
	set := flag.NewFlagSet("dpscope list", flag.ContinueOnError)
	set.SetOutput(stderr)
	format := set.String("format", "text", "text or json")
	names, code, ok := parseNames(set, args, stderr)
	if !ok {
		return code
	}
	if err := checkFormat(*format, "text", "json"); err != nil {
		return fail(stderr, err)
	}
	listing := catalogue.Listing()
	lines, known := listLines(listing)
	var chosen []any
	for _, name := range names {
		i := slices.IndexFunc(lines, func(l listLine) bool { return l.name == name })
		if i < 0 {
			return fail(stderr, audit.UnknownName("list", name, known))
		}
		chosen = append(chosen, lines[i].value)
		if *format == "text" {
			fmt.Fprint(stdout, lines[i].details)
		}
	}
	switch {
	case *format == "json":
		var value any = listing
		if len(names) > 0 {
			value = chosen
		}
		data, err := audit.Canonical(value)
		if err != nil {
			return fail(stderr, err)
		}
		stdout.Write(data)
	case len(names) == 0:
		printList(stdout, lines)
	}
	return exitOK
}

// parseNames reads flags and names in any order.
func parseNames(set *flag.FlagSet, args []string, stderr io.Writer) (names []string, code int, ok bool) {
	for {
		if code, ok = parse(set, args, stderr, -1); !ok {
			return nil, code, false
		}
		if args = set.Args(); len(args) == 0 {
			return names, exitOK, true
		}
		names, args = append(names, args[0]), args[1:]
	}
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
			lines = append(lines, listLine{s.name, x.Name, x.Title,
				fmt.Sprintf("%s\n    %s\n    source: %s\n    dpscope audit -mechanism NAME -%s %s\n", x.Name, x.Title, x.Source, s.flag, x.Name), x})
		}
	}
	for _, line := range lines {
		names = append(names, line.name)
	}
	return lines, names
}

// printList prints a line each, mechanisms of one family together.
func printList(w io.Writer, lines []listLine) {
	family := func(l listLine) string {
		if l.section != "Mechanisms" {
			return ""
		}
		return strings.TrimRight(strings.SplitN(l.name, "-", 2)[0], "0123456789")
	}
	var b strings.Builder
	for section := range slices.Values([]string{"Mechanisms", "Learners", "Finders"}) {
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
	io.WriteString(w, b.String())
}
