package pages

import (
	"fmt"
	"html"
	"net/url"
	"strings"
)

// Setting is one setting of an audit by the name that the command line, the
// page's address and the element's attributes share; p.x is parameter x.
type Setting struct{ Name, Value string }

// Audit is the settings of an audit, in the order of its command line.
type Audit []Setting

// ParseCommand reads a line "dpscope audit -mechanism svt4 -epsilon 1 ...":
// flags with a value each, and switches. No value has a space; one with double quotes in
// it, such as a pair of datasets, stands between single ones.
func ParseCommand(line string) (Audit, error) {
	words := strings.Fields(line)
	if len(words) < 2 || words[0] != "dpscope" || words[1] != "audit" {
		return nil, fmt.Errorf("an audit begins with %q, must begin with dpscope audit", line)
	}
	var a Audit
	for words = words[2:]; len(words) > 0; words = words[1:] {
		name, ok := strings.CutPrefix(words[0], "-")
		if !ok || strings.ContainsAny(words[0], `'"\`) {
			return nil, fmt.Errorf("audit %q: found %q, must be a flag; values have no spaces and no quotes", line, words[0])
		}
		if name == "until-refuted" || name == "fixed" {
			a = append(a, Setting{name, "true"})
			continue
		}
		if len(words) < 2 {
			return nil, fmt.Errorf("audit %q: flag -%s has no value", line, name)
		}
		words = words[1:]
		value := words[0]
		if inner, ok := strings.CutPrefix(value, "'"); ok {
			if value, ok = strings.CutSuffix(inner, "'"); !ok || strings.ContainsAny(value, `'\`) {
				return nil, fmt.Errorf("audit %q: found %q, must end with the quote that it begins with", line, words[0])
			}
		}
		if name == "param" {
			if name, value, ok = strings.Cut(value, "="); !ok {
				return nil, fmt.Errorf("audit %q: parameter %q, must be name=value", line, words[0])
			}
			name = "p." + name
		}
		a = append(a, Setting{name, value})
	}
	if a.Get("mechanism") == "" {
		return nil, fmt.Errorf("audit %q names no mechanism", line)
	}
	return a, nil
}

// Get returns the value of a setting, empty where it is not set.
func (a Audit) Get(name string) string {
	for _, s := range a {
		if s.Name == name {
			return s.Value
		}
	}
	return ""
}

// Fragment is the page's address at these settings, from its # on.
func (a Audit) Fragment() string {
	var b strings.Builder
	b.WriteString("#v=1")
	for _, s := range a {
		b.WriteString("&" + url.QueryEscape(s.Name) + "=" + url.QueryEscape(s.Value))
	}
	return b.String()
}

// html is the element, with further attributes, with what it shows before it runs, and a link
// for where it does not.
func (a Audit) html(home, further, still string) string {
	var b strings.Builder
	b.WriteString("<dp-audit")
	for _, s := range a {
		fmt.Fprintf(&b, ` %s="%s"`, s.Name, html.EscapeString(s.Value))
	}
	fmt.Fprintf(&b, `%s>%s<p class="open-audit"><a href="%s">Run this audit in the browser</a></p></dp-audit>`+"\n", further, still, html.EscapeString(home+a.Fragment()))
	return b.String()
}
