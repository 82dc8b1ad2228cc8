package main

import (
	"flag"
	"fmt"
	"io"
	"strings"

	"github.com/dpscope/dpscope/core"
)

// list is dpscope list.
func list(args []string, stdout, stderr io.Writer) int {
	set := flag.NewFlagSet("dpscope list", flag.ContinueOnError)
	set.SetOutput(stderr)
	format := set.String("format", "text", "text or json")
	if code, ok := parse(set, args, stderr, 0); !ok {
		return code
	}
	if err := checkFormat(*format, "text", "json"); err != nil {
		return fail(stderr, err)
	}
	listing := catalogue.Listing()
	if *format == "json" {
		data, err := core.Canonical(listing)
		if err != nil {
			return fail(stderr, err)
		}
		stdout.Write(data)
		return exitOK
	}
	fmt.Fprintln(stdout, "Mechanisms (claims at default parameters)")
	for _, m := range listing.Mechanisms {
		fmt.Fprintf(stdout, "\n  %s\n      %s\n      claims %s; truth: %s\n", m.Name, m.Title, m.ClaimWords, m.Truth)
		if m.Fault != "" {
			fmt.Fprintf(stdout, "      broken: %s\n", m.Fault)
		}
		fmt.Fprintf(stdout, "      neighbours: %s\n", strings.Join(m.Relations, ", "))
		for _, p := range m.Params {
			fmt.Fprintf(stdout, "      -param %s   %s\n", p.Usage(), p.Doc)
		}
		fmt.Fprintf(stdout, "      source: %s\n", m.Source)
	}
	for _, section := range []struct {
		name string
		all  []core.NamedListing
	}{{"Learners", listing.Learners}, {"Finders", listing.Finders}} {
		fmt.Fprintf(stdout, "\n%s\n", section.name)
		for _, x := range section.all {
			fmt.Fprintf(stdout, "\n  %s\n      %s\n      source: %s\n", x.Name, x.Title, x.Source)
		}
	}
	return exitOK
}
