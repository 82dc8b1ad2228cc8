package format_test

import (
	"encoding/xml"
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/dpscope/dpscope/internal/must"
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

// xsd checks documents against an XML schema that uses global and local
// elements, sequences and choices with occurrences, attributes, mixed content,
// xs:string and patterns: all that junit-10.xsd does. It fails on anything else
// that the schema may hold.
type xsd struct {
	elements, complexTypes, simpleTypes map[string]*node
}

func readXSD(t *testing.T, path string) xsd {
	t.Helper()
	f := must.Get(os.Open(path))(t)
	defer f.Close()
	s := xsd{map[string]*node{}, map[string]*node{}, map[string]*node{}}
	for _, k := range readXML(t, f).kids {
		into, ok := map[string]map[string]*node{"element": s.elements, "complexType": s.complexTypes, "simpleType": s.simpleTypes}[k.name]
		if !ok {
			t.Fatalf("%s: xs:%s is not understood here", path, k.name)
		}
		into[k.attr["name"]] = k
	}
	return s
}

func (s xsd) validate(doc *node) error {
	decl, ok := s.elements[doc.name]
	if !ok {
		return fmt.Errorf("no global element %s", doc.name)
	}
	return s.element(doc, decl, doc.name)
}

func (s xsd) element(n, decl *node, at string) error {
	typ := decl.kid("complexType")
	switch name := decl.attr["type"]; {
	case name == "xs:string":
		if len(n.kids) > 0 || len(n.attr) > 0 {
			return fmt.Errorf("%s: must hold only text", at)
		}
		return nil
	case name != "":
		if typ = s.complexTypes[name]; typ == nil {
			return fmt.Errorf("%s: type %s is not understood here", at, name)
		}
	}
	if typ == nil {
		return fmt.Errorf("%s: a declaration without a type is not understood here", at)
	}
	if typ.attr["mixed"] != "true" && strings.TrimSpace(n.text) != "" {
		return fmt.Errorf("%s: text %q where only elements may stand", at, n.text)
	}
	allowed := map[string]*node{}
	var content *node
	for _, k := range typ.kids {
		switch k.name {
		case "attribute":
			allowed[k.attr["name"]] = k
		case "sequence", "choice":
			content = k
		default:
			return fmt.Errorf("%s: xs:%s is not understood here", at, k.name)
		}
	}
	for name, value := range n.attr {
		a, ok := allowed[name]
		if !ok {
			return fmt.Errorf("%s: attribute %s is not allowed", at, name)
		}
		if err := s.simple(a.attr["type"], value); err != nil {
			return fmt.Errorf("%s: attribute %s: %w", at, name, err)
		}
	}
	for name, a := range allowed {
		if _, ok := n.attr[name]; !ok && a.attr["use"] == "required" {
			return fmt.Errorf("%s: attribute %s is missing", at, name)
		}
	}
	if content == nil {
		if len(n.kids) > 0 {
			return fmt.Errorf("%s: element %s is not allowed", at, n.kids[0].name)
		}
		return nil
	}
	if ends := s.match(content, n.kids, 0); !slices.Contains(ends, len(n.kids)) {
		return fmt.Errorf("%s: its elements do not fit the content model", at)
	}
	for i, k := range n.kids {
		if err := s.element(k, s.declared(content, k.name), fmt.Sprintf("%s/%s[%d]", at, k.name, i)); err != nil {
			return err
		}
	}
	return nil
}

func (s xsd) simple(typ, value string) error {
	if typ == "xs:string" {
		return nil
	}
	st := s.simpleTypes[typ]
	if st == nil {
		return fmt.Errorf("type %s is not understood here", typ)
	}
	pattern := st.kid("restriction").kid("pattern").attr["value"]
	if !regexp.MustCompile("^(?:" + pattern + ")$").MatchString(value) {
		return fmt.Errorf("%q does not fit the pattern of %s", value, typ)
	}
	return nil
}

// declared is the declaration of an element named in the content model.
func (s xsd) declared(p *node, name string) *node {
	for _, k := range p.kids {
		switch {
		case k.name == "element" && k.attr["ref"] == name:
			return s.elements[name]
		case k.name == "element" && k.attr["name"] == name:
			return k
		case k.name == "sequence" || k.name == "choice":
			if d := s.declared(k, name); d != nil {
				return d
			}
		}
	}
	return nil
}

// match returns where the particle may end, when it begins at kids[from].
func (s xsd) match(p *node, kids []*node, from int) []int {
	once := func(at int) []int {
		switch p.name {
		case "element":
			name := p.attr["ref"] + p.attr["name"]
			if at < len(kids) && kids[at].name == name {
				return []int{at + 1}
			}
			return nil
		case "choice":
			var ends []int
			for _, k := range p.kids {
				ends = append(ends, s.match(k, kids, at)...)
			}
			return ends
		case "sequence":
			ends := []int{at}
			for _, k := range p.kids {
				var next []int
				for _, e := range ends {
					next = append(next, s.match(k, kids, e)...)
				}
				ends = next
			}
			return ends
		}
		return nil
	}
	least, most := 1, 1
	if v, ok := p.attr["minOccurs"]; ok {
		fmt.Sscan(v, &least)
	}
	if v, ok := p.attr["maxOccurs"]; ok {
		if most = len(kids) + 1; v != "unbounded" {
			fmt.Sscan(v, &most)
		}
	}
	seen := map[int]bool{}
	var ends []int
	reach := []int{from}
	for i := 0; i <= most && len(reach) > 0; i++ {
		if i >= least {
			for _, e := range reach {
				if !seen[e] {
					seen[e], ends = true, append(ends, e)
				}
			}
		}
		tried := map[int]bool{}
		var next []int
		for _, at := range reach {
			for _, e := range once(at) {
				if !tried[e] && !(i >= least && seen[e]) {
					tried[e], next = true, append(next, e)
				}
			}
		}
		reach = next
	}
	return ends
}

// The checker itself refuses what the schema forbids.
func TestXSDChecker(t *testing.T) {
	s := readXSD(t, "testdata/junit-10.xsd")
	good := `<testsuites name="n" time="1.5"><testsuite name="a" tests="1" failures="0" errors="0"><testcase name="c"><skipped message="m"/><system-out>x</system-out></testcase></testsuite></testsuites>`
	if err := s.validate(readXML(t, strings.NewReader(good))); err != nil {
		t.Errorf("a good document: %v", err)
	}
	for what, change := range map[string][2]string{
		"a missing attribute":      {` tests="1"`, ""},
		"an unknown attribute":     {`<testcase `, `<testcase verdict="x" `},
		"an unknown element":       {`<skipped message="m"/>`, `<passed/>`},
		"a bad time":               {`time="1.5"`, `time="1.5 s"`},
		"text between elements":    {`<testcase`, `text<testcase`},
		"an element inside text":   {`>x<`, `><b/><`},
		"a suite inside a case":    {`<skipped message="m"/>`, `<testsuite name="a" tests="1" failures="0" errors="0"/>`},
		"another root":             {`testsuites`, `suites`},
		"a nested element in skip": {`<skipped message="m"/>`, `<skipped><error/></skipped>`},
	} {
		if err := s.validate(readXML(t, strings.NewReader(strings.ReplaceAll(good, change[0], change[1])))); err == nil {
			t.Errorf("%s passes", what)
		}
	}
}
