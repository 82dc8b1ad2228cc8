package pages

import (
	"fmt"
	"html"
	"slices"
	"strings"

	"github.com/dpscope/dpscope/audit"
)

// Audit is the settings of an audit, in the order of its command line.
type Audit []audit.Argument

// ParseCommand reads a command as a shell does: flags with a value each, and switches.
func ParseCommand(line string) (Audit, error) {
	words, err := audit.ShellWords("audit", line)
	if err != nil {
		return nil, err
	}
	if len(words) < 2 || words[0] != "dpscope" || words[1] != "audit" {
		return nil, fmt.Errorf("an audit begins with %q, must begin with dpscope audit", line)
	}
	var a Audit
	for words = words[2:]; len(words) > 0; words = words[1:] {
		name, ok := strings.CutPrefix(words[0], "-")
		if !ok {
			return nil, fmt.Errorf("audit %q: found %q, must be a flag", line, words[0])
		}
		if name == "until-refuted" || name == "fixed" {
			a = append(a, audit.Argument{Name: name, Value: "true"})
			continue
		}
		if len(words) < 2 {
			return nil, fmt.Errorf("audit %q: flag -%s has no value", line, name)
		}
		words = words[1:]
		value := words[0]
		if name == "param" {
			if name, value, ok = strings.Cut(value, "="); !ok {
				return nil, fmt.Errorf("audit %q: parameter %q, must be name=value", line, words[0])
			}
			name = "p." + name
		}
		a = append(a, audit.Argument{Name: name, Value: value})
	}
	if !slices.ContainsFunc(a, func(s audit.Argument) bool { return s.Name == "mechanism" && s.Value != "" }) {
		return nil, fmt.Errorf("audit %q names no mechanism", line)
	}
	return a, nil
}

// html is the element, with what it shows before it runs, and a link.
func (a Audit) html(home, further, still string) string {
	var b strings.Builder
	b.WriteString("<dp-audit")
	for _, s := range a {
		fmt.Fprintf(&b, ` %s="%s"`, s.Name, html.EscapeString(s.Value))
	}
	fmt.Fprintf(&b, `%s>%s<p class="open-audit"><a href="%s">Run this audit in the browser</a></p></dp-audit>`+"\n", further, still, html.EscapeString(home+audit.FragmentOf(a)))
	return b.String()
}
