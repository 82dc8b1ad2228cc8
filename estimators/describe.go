package estimators

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/dpscope/dpscope/audit"
)

const (
	outcomesShown = 8
	featuresShown = 4
	anyNumber     = "any number" // the interval that is all of them
)

func inEvent(score, threshold float64, above bool) bool { return (score > threshold) == above }

func side(above bool) string { return audit.Pick(above, ">", "<=") }

func figure(v float64) string { return fmt.Sprintf("%.4g", v) }

func columnName(columns []audit.Column, i int) string {
	switch {
	case columns[i].Name != "":
		return columns[i].Name
	case len(columns) == 1:
		return "output"
	}
	return fmt.Sprintf("column %d", i+1)
}

func (p partition) interval(from, to int) string {
	e := p.Edges
	if from < to && p.outcome(from) != "" { // each by its own name
		return p.outcome(from) + " or " + p.interval(from+1, to)
	}
	switch {
	case from == to && p.outcome(from) != "":
		return p.outcome(from)
	case p.lowest(from) && to == len(e):
		return anyNumber
	case p.lowest(from):
		return fmt.Sprintf("(-inf, %s]", figure(e[to]))
	case to == len(e):
		return fmt.Sprintf("(%s, inf)", figure(e[from-1]))
	case from == to && isAtom(e[from-1], e[to]):
		return "{" + figure(e[to]) + "}"
	}
	return fmt.Sprintf("(%s, %s]", figure(e[from-1]), figure(e[to]))
}

// lowest reports whether a bin has no lower end: what is below is no number.
func (p partition) lowest(bin int) bool {
	return bin == 0 || audit.Outcome(p.Edges[bin-1]).String() != "" && p.Edges[bin-1] < 0
}

// outcome is what came instead of a number in this bin; empty where numbers are.
func (p partition) outcome(bin int) string {
	if bin < len(p.Edges) {
		return audit.Outcome(p.Edges[bin]).String()
	}
	if bin > 0 && p.Edges[bin-1] >= math.Nextafter(float64(audit.AboveOutcome), 0) {
		return audit.AboveOutcome.String()
	}
	return ""
}

func (p partition) word(column audit.Column, cell int) string {
	for i, numbers := range p.numbered(column.Kind) {
		width := audit.Pick(numbers, p.bins(), 1)
		switch {
		case cell >= width:
			cell -= width
		case column.Kind == audit.Real:
			return p.interval(cell, cell)
		case numbers:
			return carrying(column.Word(p.Symbols[i]), p.interval(cell, cell))
		default:
			return column.Word(p.Symbols[i])
		}
	}
	return "other"
}

func carrying(symbol string, intervals ...string) string {
	if len(intervals) == 1 && intervals[0] == anyNumber {
		return symbol
	}
	return symbol + " in " + strings.Join(intervals, " or ")
}

// words says an outcome: single characters run together.
func (m *tableModel) words(cells []int) string {
	parts := make([]string, len(cells))
	short := true
	for c, v := range cells {
		parts[c] = m.Partitions[c].word(m.columns[c], v)
		short = short && utf8.RuneCountInString(parts[c]) == 1
	}
	if short || len(parts) == 1 {
		return strings.Join(parts, "")
	}
	return "(" + strings.Join(parts, ", ") + ")"
}

func (m *tableModel) Describe(threshold float64, above bool) string {
	in := slices.DeleteFunc(slices.Clone(m.Outcomes), func(o outcome) bool { return !inEvent(o.Score, threshold, above) })
	slices.SortStableFunc(in, func(a, b outcome) int {
		return audit.Pick(above, cmp.Compare(b.Score, a.Score), cmp.Compare(a.Score, b.Score))
	})
	rest := inEvent(m.Rest, threshold, above)
	list := audit.Listed(min(outcomesShown, len(in)), func(i int) string { return m.words(in[i].Cells) })
	if more := len(in) - len(list); more > 0 {
		list = append(list, fmt.Sprintf("and %d more", more))
	}
	text := strings.Join(list, ", ")
	switch {
	case len(in) == 0 && rest:
		return fmt.Sprintf("any outcome but the %d that the table lists", len(m.Outcomes))
	case len(in) == 0:
		return "no outcome"
	case len(in) == len(m.Outcomes) && rest:
		return "any outcome"
	case rest && len(in) > len(m.Outcomes)/2:
		return "any outcome but " + m.Describe(threshold, !above)
	case rest:
		text += ", or one that the table does not list"
	}
	return audit.Pick(len(in) == 1, "outcome "+text, fmt.Sprintf("one of %d outcomes: %s", len(in), text))
}

func (m *histogramModel) Describe(threshold float64, above bool) string {
	column := m.columns[m.Column]
	var list []string
	intervals := func(scores []float64) (parts []string) {
		for i := 0; i < len(scores); i++ {
			from := i
			for i < len(scores) && inEvent(scores[i], threshold, above) {
				i++
			}
			if i > from {
				parts = append(parts, m.Partition.interval(from, i-1))
			}
		}
		return parts
	}
	cell := 0
	for i, numbers := range m.Partition.numbered(column.Kind) {
		scores := m.Scores[cell : cell+audit.Pick(numbers, m.Partition.bins(), 1)]
		cell += len(scores)
		switch parts := intervals(scores); {
		case len(parts) == 0:
		case column.Kind == audit.Real:
			list = parts
		case numbers:
			list = append(list, carrying(column.Word(m.Partition.Symbols[i]), parts...))
		default:
			list = append(list, column.Word(m.Partition.Symbols[i]))
		}
	}
	if column.Kind != audit.Real && inEvent(m.Scores[len(m.Scores)-1], threshold, above) {
		list = append(list, "a symbol not seen before")
	}
	name := columnName(m.columns, m.Column)
	if len(list) == 0 {
		return "no output"
	}
	return name + audit.Pick(column.Kind == audit.Real, " in ", " is ") + strings.Join(list, " or ")
}

func (m *logisticModel) Describe(threshold float64, above bool) string {
	if len(m.Features) == 0 {
		return fmt.Sprintf("constant score 0 %s %s", side(above), figure(threshold))
	}
	loud := slices.Clone(m.Features)
	slices.SortStableFunc(loud, func(a, b feature) int { return cmp.Compare(math.Abs(b.Weight), math.Abs(a.Weight)) })
	terms := audit.Listed(min(featuresShown, len(loud)), func(i int) string {
		return fmt.Sprintf("%+.3g·[%s]", loud[i].Weight, phrase(m.columns, loud[i]))
	})
	text := fmt.Sprintf("logistic score of %d features %s %s: ", len(m.Features), side(above), figure(threshold))
	if len(loud) > featuresShown {
		text += "mostly "
	}
	return text + strings.Join(terms, " ")
}

func phrase(columns []audit.Column, f feature) string {
	ramp := fmt.Sprintf(", as a share of the way from %s to %s", figure(f.Low), figure(f.High))
	switch f.Kind {
	case isFeature:
		return columnName(columns, f.Column) + " is " + columns[f.Column].Word(f.Symbol)
	case countFeature:
		text := "number of " + anyWord(columns, f.Symbol)
		if f.From > 0 || f.To < len(columns) {
			text += fmt.Sprintf(" in columns %d to %d", f.From+1, f.To)
		}
		return text
	case firstFeature:
		return "columns before the first " + anyWord(columns, f.Symbol)
	case valueFeature:
		return columnName(columns, f.Column) + ramp
	case squareFeature:
		return "squared distance of " + columnName(columns, f.Column) + " from the middle of " + figure(f.Low) + " to " + figure(f.High)
	case sumFeature:
		return "sum of the released values" + ramp
	case minFeature:
		return "smallest released value" + ramp
	case totalFeature:
		return "sum over the columns of their numbers" + ramp + " each"
	case stepFeature:
		return "sum over the columns of their distances from the one before" + ramp + " each"
	}
	return "largest released value" + ramp
}

func anyWord(columns []audit.Column, symbol float64) string {
	for _, c := range columns {
		for _, l := range c.Labels {
			if l.Value == symbol {
				return l.Text
			}
		}
	}
	return figure(symbol)
}
