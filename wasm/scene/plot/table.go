package plot

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Numbers are what a plot draws, a row each, which the first cell heads.
type Numbers struct {
	Title string
	Head  []string
	// Rows hold words, counts, values, Share, Down and Up, yes or no, and first cells Range.
	Rows [][]any
}

type (
	Share float64                // is read in percent
	Down  float64                // a lower bound
	Up    float64                // an upper bound
	Range struct{ A, B float64 } // from A to below B, either may be infinite
)

func (r Range) String() string {
	switch {
	case math.IsInf(r.A, -1):
		return "below " + Short(r.B)
	case math.IsInf(r.B, 1):
		return Short(r.A) + " and above"
	}
	return Short(r.A) + " to " + Short(r.B)
}

// Table are the numbers as words.
type Table struct {
	Title string     `json:"title"`
	Head  []string   `json:"head"`
	Rows  [][]string `json:"rows"`
}

// Figures says how numbers are written.
type Figures int

const (
	Rounded Figures = iota // to six figures, for a table
	Exact                  // with all digits, for files, where a range is two columns
	brief                  // as one reads them
)

// Table writes all rows.
func (n Numbers) Table(f Figures) Table {
	t := Table{Title: n.Title, Head: n.Head}
	ranges := f == Exact && slices.ContainsFunc(n.Rows, func(row []any) bool {
		_, is := row[0].(Range)
		return is
	})
	if ranges {
		t.Head = append([]string{"from", "below"}, n.Head[1:]...)
	}
	for _, row := range n.Rows {
		var cells []string
		if r, is := row[0].(Range); is && ranges {
			cells, row = []string{f.cell(r.A), f.cell(r.B)}, row[1:]
		} else if ranges {
			cells, row = []string{f.cell(row[0]), ""}, row[1:]
		}
		for _, v := range row {
			cells = append(cells, f.cell(v))
		}
		t.Rows = append(t.Rows, cells)
	}
	return t
}

// Say is [fmt.Sprintf] of numbers as one reads them.
func Say(format string, args ...any) string {
	words := make([]any, len(args))
	for i, v := range args {
		words[i] = brief.cell(v)
	}
	return fmt.Sprintf(format, words...)
}

func (n Numbers) name(i int) string {
	cell := brief.cell(n.Rows[i][0])
	switch n.Rows[i][0].(type) {
	case string, Range:
		return cell
	}
	return n.Head[0] + " " + cell
}

func (n Numbers) row(i int) string {
	var words []string
	for k, v := range n.Rows[i][1:] {
		if cell := brief.cell(v); cell != "" {
			words = append(words, n.Head[k+1]+" "+cell)
		}
	}
	return n.name(i) + ": " + strings.Join(words, ", ")
}

func (f Figures) cell(v any) string {
	switch v := v.(type) {
	case int:
		return If(f == brief, Grouped(v), strconv.Itoa(v))
	case bool:
		return If(v, "yes", "no")
	case float64:
		return f.number(v)
	case Share:
		return If(f == brief, Percent(float64(v)), f.number(float64(v)))
	case Down:
		return f.bound(float64(v), math.Floor)
	case Up:
		return f.bound(float64(v), math.Ceil)
	}
	return fmt.Sprint(v)
}

func (f Figures) number(x float64) string {
	switch {
	case math.IsNaN(x):
		return "none"
	case f == brief:
		return Short(x)
	case math.IsInf(x, 0):
		return If(x > 0, "infinite", "-infinite")
	case f == Exact:
		return strconv.FormatFloat(x, 'g', -1, 64)
	}
	return fmt.Sprintf("%.6g", x)
}

// bound is rounded to the side on which it stays true.
func (f Figures) bound(x float64, whole func(float64) float64) string {
	if f != Exact {
		x = ToSide(x, If(f == brief, 3.0, 5), whole)
	}
	return f.number(x)
}
