package audit

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"unicode/utf8"
)

// Canonical writes v as canonical JSON: keys sorted, two spaces of indent, no
// NaN or infinity (json.Marshal refuses them), a newline at the end. Arrays
// of numbers are on one line.
func Canonical(v any) ([]byte, error) {
	data, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	w := canonical{in: data, out: make([]byte, 0, 2*len(data))}
	w.value(0)
	return append(w.out, '\n'), nil
}

// canonical writes compact JSON anew. It reads what [json.Marshal] wrote, so that it
// has no errors to find; and it makes no tree of it, which took most of the time that
// a report of a megabyte needed.
type canonical struct {
	in  []byte // what is left to be read
	out []byte
}

// value writes the next value, at a depth.
func (w *canonical) value(depth int) {
	switch w.in[0] {
	case '{':
		w.object(depth)
	case '[':
		w.array(depth)
	case '"':
		w.out = append(w.out, plain(w.text())...)
	default: // a number, true, false or null
		w.out = append(w.out, w.take(bytes.IndexAny(w.in, ",]}"))...)
	}
}

// take is the next n bytes, all where n is negative.
func (w *canonical) take(n int) []byte {
	if n < 0 {
		n = len(w.in)
	}
	taken := w.in[:n]
	w.in = w.in[n:]
	return taken
}

// text is the next text, with its quotes.
func (w *canonical) text() []byte {
	for i := 1; ; i++ {
		switch w.in[i] {
		case '\\':
			i++
		case '"':
			return w.take(i + 1)
		}
	}
}

// plain is a text without the escapes that it can do without: those of <, > and &.
func plain(text []byte) []byte {
	if asItIs(text) {
		return text
	}
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(unquoted(text)); err != nil {
		panic("audit: the text is not JSON: " + err.Error())
	}
	return bytes.TrimSuffix(out.Bytes(), []byte("\n"))
}

// asItIs reports whether a text stands for itself. Raw JSON that a value holds may be
// no UTF-8.
func asItIs(text []byte) bool { return bytes.IndexByte(text, '\\') < 0 && utf8.Valid(text) }

func unquoted(text []byte) string {
	if asItIs(text) {
		return string(text[1 : len(text)-1])
	}
	var s string
	if err := json.Unmarshal(text, &s); err != nil {
		panic("audit: the text is not JSON: " + err.Error())
	}
	return s
}

func (w *canonical) line(depth int) {
	w.out = append(w.out, '\n')
	for range depth {
		w.out = append(w.out, "  "...)
	}
}

func (w *canonical) array(depth int) {
	if end := numbersOnly(w.in); end > 0 {
		for i, number := range bytes.Split(w.take(end)[1:end-1], []byte(",")) {
			if i == 0 {
				w.out = append(w.out, '[')
			} else {
				w.out = append(w.out, ", "...)
			}
			w.out = append(w.out, number...)
		}
		w.out = append(w.out, ']')
		return
	}
	w.take(1)
	w.out = append(w.out, '[')
	for first := true; ; first = false {
		if !first {
			w.out = append(w.out, ',')
		}
		w.line(depth + 1)
		w.value(depth + 1)
		if w.take(1)[0] == ']' {
			break
		}
	}
	w.line(depth)
	w.out = append(w.out, ']')
}

// numbersOnly is the length of an array that holds nothing but numbers, or nothing;
// 0 of another.
func numbersOnly(in []byte) int {
	for i, c := range in[1:] {
		switch {
		case c == ']':
			return i + 2
		case c != ',' && c != '+' && c != '-' && c != '.' && c != 'e' && c != 'E' && (c < '0' || c > '9'):
			return 0
		}
	}
	return 0
}

func (w *canonical) object(depth int) {
	if w.in[1] == '}' {
		w.take(2)
		w.out = append(w.out, "{}"...)
		return
	}
	type member struct {
		name  string
		quote []byte // the name as it is written
		value []byte
	}
	var members []*member
	begin := len(w.out)
	for {
		w.take(1) // { or a comma
		quote := w.text()
		w.take(1)
		w.value(depth + 1) // to be moved to its place
		members = append(members, &member{name: unquoted(quote), quote: plain(quote), value: slices.Clone(w.out[begin:])})
		w.out = w.out[:begin]
		if w.in[0] == '}' {
			w.take(1)
			break
		}
	}
	slices.SortStableFunc(members, func(a, b *member) int { return strings.Compare(a.name, b.name) })
	w.out = append(w.out, '{')
	for i, m := range members {
		if i+1 < len(members) && members[i+1].name == m.name {
			continue // the last of a name counts, as it does where JSON is read
		}
		if w.out[len(w.out)-1] != '{' {
			w.out = append(w.out, ',')
		}
		w.line(depth + 1)
		w.out = append(append(append(w.out, m.quote...), ": "...), m.value...)
	}
	w.line(depth)
	w.out = append(w.out, '}')
}
