package audit

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// shortRun is from how many columns on those that are alike are named together, so
// that a command does not grow with them.
const shortRun = 4

// mostKinds bounds the columns that one range names.
const mostKinds = 1 << 16

// ParseKind adds to kinds what the flag -kind says: name=kind, or c3..c9=kind for
// columns that have no names of their own. Whether there are such columns and such a
// kind is not checked.
func ParseKind(flag string, kinds map[string]ColumnKind) error {
	i := strings.LastIndexByte(flag, '=')
	if i <= 0 {
		return &InputError{Field: "kind", Found: fmt.Sprintf("%q", flag), Want: "name=kind", Remedy: "for example -kind answer=symbol, or -kind c1..c8=real"}
	}
	name, kind := flag[:i], ColumnKind(flag[i+1:])
	from, to, _ := strings.Cut(name, "..")
	a, b := columnNumber(from), columnNumber(to)
	if a == 0 || b == 0 {
		kinds[name] = kind
		return nil
	}
	if b < a || b-a >= mostKinds {
		return &InputError{Field: "kind", Found: fmt.Sprintf("%q", flag), Want: fmt.Sprintf("the first column and then the last, at most c%d", mostKinds)}
	}
	for n := a; n <= b; n++ {
		kinds["c"+strconv.Itoa(n)] = kind
	}
	return nil
}

// columnNumber is the number of a column that is called c1, c2, ..., 0 for one that
// has a name of its own.
func columnNumber(name string) int {
	digits, ok := strings.CutPrefix(name, "c")
	n, err := strconv.Atoi(digits)
	if !ok || err != nil || n < 1 || strconv.Itoa(n) != digits {
		return 0
	}
	return n
}

// KindTexts are what [ParseKind] reads again.
func KindTexts(kinds map[string]ColumnKind) []string {
	names := slices.SortedStableFunc(maps.Keys(kinds), func(a, b string) int {
		m, n := columnNumber(a), columnNumber(b)
		return cmp.Or(cmp.Compare(m, n), strings.Compare(a, b)) // of those with names of their own, 0
	})
	var texts []string
	for i := 0; i < len(names); {
		end := i + 1
		for end < len(names) && columnNumber(names[i]) > 0 && columnNumber(names[end]) == columnNumber(names[i])+end-i && kinds[names[end]] == kinds[names[i]] {
			end++
		}
		if end-i >= shortRun {
			texts, i = append(texts, fmt.Sprintf("%s..%s=%s", names[i], names[end-1], kinds[names[i]])), end
			continue
		}
		for ; i < end; i++ {
			texts = append(texts, names[i]+"="+string(kinds[names[i]]))
		}
	}
	return texts
}
