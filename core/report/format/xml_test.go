package format_test

import (
	"encoding/xml"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// node is one XML element.
type node struct {
	name string
	attr map[string]string
	text string
	kids []*node
}

func (n *node) kid(name string) *node {
	for _, k := range n.kids {
		if k.name == name {
			return k
		}
	}
	return nil
}

// readXML reads one document strictly.
func readXML(t *testing.T, in io.Reader) *node {
	t.Helper()
	dec := xml.NewDecoder(in)
	root := &node{}
	stack := []*node{root}
	for {
		tok, err := dec.Token()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		top := stack[len(stack)-1]
		switch tok := tok.(type) {
		case xml.StartElement:
			n := &node{name: tok.Name.Local, attr: map[string]string{}}
			for _, a := range tok.Attr {
				n.attr[a.Name.Local] = a.Value
			}
			top.kids = append(top.kids, n)
			stack = append(stack, n)
		case xml.EndElement:
			stack = stack[:len(stack)-1]
		case xml.CharData:
			top.text += string(tok)
		}
	}
	if len(root.kids) != 1 {
		t.Fatalf("%d elements at the top, want 1", len(root.kids))
	}
	return root.kids[0]
}

// junitShapes are the elements of JUnit XML, as far as reports have them: the attributes that
// one needs and may have, the elements in it in any order, and whether it holds text. They are
// those of junit-10.xsd of Jenkins' xunit plugin (jenkinsci/xunit-plugin,
// src/main/resources/org/jenkinsci/plugins/xunit/types/model/xsd).
var junitShapes = map[string]struct {
	needs, may, kids string
	text             bool
}{
	"testsuites": {"", "name time tests failures errors", "testsuite", false},
	"testsuite":  {"name tests failures errors", "group time skipped timestamp hostname id package file log url", "testsuite properties testcase system-out system-err", false},
	"properties": {"", "", "property", false},
	"property":   {"name value", "", "", false},
	"testcase":   {"name", "time classname group", "skipped error failure system-out system-err", false},
	"skipped":    {"", "type message", "", true},
	"error":      {"", "type message", "", true},
	"failure":    {"", "type message", "", true},
	"system-out": {"", "", "", true},
	"system-err": {"", "", "", true},
}

var junitTime = regexp.MustCompile(`^(([0-9]{0,3},)*[0-9]{3}|[0-9]{0,3})*(\.[0-9]*)?$`)

// junitFault says what is wrong with an element, "" where it is JUnit XML.
func junitFault(n *node) string {
	shape, known := junitShapes[n.name]
	if !known || !shape.text && strings.TrimSpace(n.text) != "" {
		return fmt.Sprintf("<%s> is unknown, or holds the text %q", n.name, n.text)
	}
	for _, name := range strings.Fields(shape.needs) {
		if _, ok := n.attr[name]; !ok {
			return fmt.Sprintf("<%s> lacks %s", n.name, name)
		}
	}
	for name, value := range n.attr {
		if !slices.Contains(strings.Fields(shape.needs+" "+shape.may), name) || name == "time" && n.name != "testcase" && !junitTime.MatchString(value) {
			return fmt.Sprintf("<%s> has %s=%q", n.name, name, value)
		}
	}
	for _, k := range n.kids {
		if !slices.Contains(strings.Fields(shape.kids), k.name) {
			return fmt.Sprintf("<%s> is in <%s>", k.name, n.name)
		}
		if why := junitFault(k); why != "" {
			return why
		}
	}
	return ""
}
