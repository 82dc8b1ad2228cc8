package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// beginning is a text, or what a file begins with.
type beginning struct {
	Text string `json:"text"`
}

const (
	isReport = "report"
	isCode   = "code" // a function
	isData   = "data" // outputs, scores or a table: inspect says which
	isEmpty  = "empty"
)

// recognized is what came: of a function the code, with a mechanism that calls it, and words.
type recognized struct {
	Is       string `json:"is"`
	Language string `json:"language,omitempty"`
	Code     string `json:"code,omitempty"`
	Said     string `json:"said,omitempty"`
}

func (c *coordinator) recognize(_ context.Context, r request[beginning]) (recognized, error) {
	text := strings.TrimSpace(strings.TrimPrefix(r.asked.Text, "\ufeff"))
	if text == "" {
		return recognized{Is: isEmpty}, nil
	}
	text = cmp.Or(cells(text), text)
	if text[0] == '{' {
		// An object of arrays, or one a line, is data; another is a report, or meant to be one.
		d := json.NewDecoder(strings.NewReader(text))
		var tokens [3]json.Token // the brace, a key and a value
		for i := range tokens {
			tokens[i], _ = d.Token()
		}
		line, rest, _ := strings.Cut(text, "\n")
		rows := tokens[2] == json.Delim('[') || json.Valid([]byte(line)) && strings.HasPrefix(strings.TrimSpace(rest), "{")
		if !rows || strings.Contains(text, `"$schema"`) || strings.Contains(text, `"schemaVersion"`) {
			return recognized{Is: isReport}, nil
		}
		return recognized{Is: isData}, nil
	}
	for _, language := range []string{"python", "javascript"} {
		if f := functionIn(text, language); f != nil {
			return f.recognized(text), nil
		}
	}
	if !strings.ContainsAny(text, "\n[\x00\ufffd") {
		return recognized{Is: isReport}, nil // which says what is wrong with it
	}
	return recognized{Is: isData}, nil
}

// cells is the code of a notebook of Jupyter, "" for none.
func cells(text string) (code string) {
	var notebook struct {
		Cells []struct {
			Kind   string `json:"cell_type"`
			Source any    `json:"source"` // a text, or its lines
		} `json:"cells"`
	}
	if text[0] != '{' || json.Unmarshal([]byte(text), &notebook) != nil {
		return ""
	}
	for _, cell := range notebook.Cells {
		if cell.Kind != "code" {
			continue
		}
		lines, _ := cell.Source.([]any)
		if text, one := cell.Source.(string); one {
			lines = []any{text}
		}
		code += fmt.Sprint(lines...) + "\n\n"
	}
	return strings.TrimSpace(code)
}

type function struct {
	language, name string
	needs          []string // parameters without a default, and the first
}

// beginnings are of lines that define a function.
var beginnings = map[string][]string{"python": {"def "}, "javascript": {"function ", "export function ", "export default function "}}

// functionIn finds the function to be audited: mechanism, or else the last at the beginning of a line, as
// what it calls stands above. Nil for none.
func functionIn(text, language string) (found *function) {
	for at := 0; at < len(text); at += strings.IndexByte(text[at:]+"\n", '\n') + 1 {
		for _, begin := range beginnings[language] {
			if rest, is := strings.CutPrefix(text[at:], begin); is && (found == nil || found.name != "mechanism") {
				if name, after, is := strings.Cut(rest, "("); is && !strings.ContainsAny(name, " \n,;") {
					found = &function{language, name, parameters(after)}
				}
			}
		}
	}
	return found
}

// parameters are those without a default, and the first, in a text that begins with them.
func parameters(text string) (needs []string) {
	list, _, _ := strings.Cut(text, ")")
	for i, p := range strings.Split(list, ",") {
		name, _, has := strings.Cut(p, "=")
		name, _, _ = strings.Cut(name, ":")
		if name = strings.TrimSpace(name); name != "" && (!has || i == 0) && !strings.ContainsAny(name, "*/.[]") {
			needs = append(needs, name)
		}
	}
	return needs
}

// arguments are what a mechanism gives for parameters.
var arguments = map[string]string{"rows": "rows", "records": "rows", "table": "rows", "dataset": "rows", "n": "n", "random": "random", "rng": "random", "generator": "random", "epsilon": "1", "eps": "1"}

func usesNumpy(text string) bool {
	at := strings.Index(text, "np.")
	return strings.Contains(text, " as np\n") || strings.Contains(text, "size=n") || at > 0 && strings.IndexByte(" \t\n([{=+-*/,", text[at-1]) >= 0
}

// recognized is the function, with a mechanism(rows, random) that calls it if it is none.
func (f function) recognized(text string) recognized {
	text = "\n" + text + "\n"
	for _, begin := range beginnings["javascript"][1:] {
		text = strings.ReplaceAll(text, "\n"+begin, "\nfunction ")
	}
	numpy := f.language == "python" && usesNumpy(text)
	said, first, form := "A JavaScript function ", "rows.map((row) => row[0])", "\nfunction mechanism(%s) {\n  return %s(%s);\n}\n"
	if f.language == "python" {
		said, first, form = "A Python function ", "[row[0] for row in rows]", "\n\ndef mechanism(%s):\n    return %s(%s)\n"
		for _, command := range []string{"\n%", "\n!"} { // of a notebook
			text = strings.ReplaceAll(text, command, "\n# "+command[1:])
		}
	}
	text, said = text[1:], said+f.name+"."
	if numpy && !strings.Contains(text, " as np") {
		text, said = "import numpy as np\n"+text, said+" The first line imports numpy, which it uses."
	}
	whole := "rows"
	if numpy {
		first, whole = "np.array("+first+")", "np.array(rows)"
	}
	called, takes := f.name == "mechanism", "rows, random"
	if slices.Contains(f.needs, "n") {
		takes = "rows, n, random"
	}
	var gives []string
	for i, name := range f.needs {
		argument := arguments[name]
		switch {
		case i == 0 && called && (argument == "rows" || !numpy):
			argument = "rows"
		case i == 0 && (called || argument == "rows"):
			argument = whole
		case i == 0:
			argument = first
		case numpy && (name == "rng" || name == "generator"):
			argument = "np.random.default_rng()"
		case argument == "":
			argument, said = name, said+" Give "+name+" a value in the last lines."
		}
		gives = append(gives, argument)
	}
	with := strings.Join(gives, ", ")
	switch {
	case called && (f.language == "javascript" || len(gives) > 1 && strings.HasPrefix(takes, with)):
		return recognized{isCode, f.language, text, said}
	case called:
		text, f.name = text+"\noriginal = mechanism\n", "original"
	}
	return recognized{isCode, f.language, text + fmt.Sprintf(form, takes, f.name, with), said + " The last lines call it: see that they give it what it expects."}
}
