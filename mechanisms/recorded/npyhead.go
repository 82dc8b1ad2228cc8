package recorded

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// npyHead is the header of an NPY file, a Python dictionary as text:
//
//	{'descr': '<f8', 'fortran_order': False, 'shape': (20000, 2), }
type npyHead struct {
	descr   string // a type, or the text of a list of fields
	fortran bool
	shape   []int
}

// headScanner reads the few forms of Python literals that NumPy writes.
type headScanner struct {
	text string
	at   int
}

func parseHead(b []byte) (npyHead, error) {
	s := &headScanner{text: string(b)}
	var h npyHead
	seen := map[string]bool{}
	if !s.take('{') {
		return h, errors.New("it does not begin with {")
	}
	for !s.take('}') {
		key, err := s.word()
		if err != nil {
			return h, err
		}
		if seen[key] {
			return h, fmt.Errorf("%q twice", key)
		}
		seen[key] = true
		if !s.take(':') {
			return h, fmt.Errorf("no colon after %q", key)
		}
		switch key {
		case "descr":
			h.descr, err = s.descr()
		case "fortran_order":
			h.fortran, err = s.truth()
		case "shape":
			h.shape, err = s.tuple()
		default:
			err = fmt.Errorf("an unknown key %s", quoted(key))
		}
		if err != nil {
			return h, err
		}
		if !s.take(',') {
			if !s.take('}') {
				return h, errors.New("no comma between its entries")
			}
			break
		}
	}
	if s.space(); s.at < len(s.text) {
		return h, errors.New("text after its end")
	}
	if len(seen) < 3 {
		return h, errors.New("descr, fortran_order or shape is missing")
	}
	return h, nil
}

func (s *headScanner) space() {
	for s.at < len(s.text) && strings.IndexByte(" \t\r\n", s.text[s.at]) >= 0 {
		s.at++
	}
}

func (s *headScanner) take(c byte) bool {
	s.space()
	if s.at < len(s.text) && s.text[s.at] == c {
		s.at++
		return true
	}
	return false
}

// word is a string in quotes.
func (s *headScanner) word() (string, error) {
	s.space()
	if s.at < len(s.text) && (s.text[s.at] == '\'' || s.text[s.at] == '"') {
		rest := s.text[s.at+1:]
		if n := strings.IndexByte(rest, s.text[s.at]); n >= 0 && strings.IndexByte(rest[:n], '\\') < 0 {
			s.at += n + 2
			return rest[:n], nil
		}
	}
	return "", fmt.Errorf("no string at its byte %d", s.at)
}

// descr is a type, or a list of fields, which is returned as it stands.
func (s *headScanner) descr() (string, error) {
	s.space()
	if s.at == len(s.text) || s.text[s.at] != '[' {
		return s.word()
	}
	depth := 0
	for i := s.at; i < len(s.text); i++ {
		switch s.text[i] {
		case '[':
			depth++
		case ']':
			if depth--; depth == 0 {
				list := s.text[s.at : i+1]
				s.at = i + 1
				return list, nil
			}
		}
	}
	return "", errors.New("a list of fields that does not end")
}

func (s *headScanner) truth() (bool, error) {
	s.space()
	for _, w := range []string{"False", "True"} {
		if strings.HasPrefix(s.text[s.at:], w) {
			s.at += len(w)
			return w == "True", nil
		}
	}
	return false, errors.New("fortran_order is neither True nor False")
}

// tuple is a shape. Python 2 wrote lengths with an L.
func (s *headScanner) tuple() ([]int, error) {
	if !s.take('(') {
		return nil, errors.New("shape is no tuple")
	}
	shape := []int{}
	for !s.take(')') {
		s.space()
		from := s.at
		for s.at < len(s.text) && s.text[s.at] >= '0' && s.text[s.at] <= '9' {
			s.at++
		}
		n, err := strconv.ParseInt(s.text[from:s.at], 10, 64)
		if err != nil || n > math.MaxInt {
			return nil, fmt.Errorf("a length in shape that is no whole number: %s", quoted(s.text[from:]))
		}
		if shape = append(shape, int(n)); len(shape) > 64 {
			return nil, errors.New("a shape of more than 64 dimensions")
		}
		if s.at < len(s.text) && s.text[s.at] == 'L' {
			s.at++
		}
		if !s.take(',') {
			if !s.take(')') {
				return nil, errors.New("shape is no tuple")
			}
			break
		}
	}
	return shape, nil
}
