package train

import (
	"errors"
	"slices"
	"strings"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/mechanisms/recorded/csv"
)

// Preview is what the beginning of a file of examples looks like. Nothing in it is a bound.
type Preview struct {
	Names  []string   `json:"names"`  // of columns: those of the first line, or column 1, column 2 ...
	Header bool       `json:"header"` // the first line names the columns
	Label  int        `json:"label"`  // the label's column, from 0
	Labels []string   `json:"labels"` // labels in the lines that were read, at most 20
	Head   [][]string `json:"head"`   // first examples, as texts
}

var errEnough = errors.New("enough was read")

// Look reads so many examples at the beginning of a file, as [ReadCSV] would. label is as in [CSV].
func Look(text []byte, label string, rows int) (Preview, error) {
	p := csvReader{options: CSV{Label: label}, class: map[string]int32{}}
	var out Preview
	err := csv.Each("data", text, ',', true, func(line int, cells []string) error {
		row := audit.Each(cells, strings.TrimSpace)
		if p.columns == 0 {
			if err := p.head(line, cells); err != nil {
				return err
			}
			if out.Names = row; p.header {
				return nil
			}
			out.Names = numbered("column ", len(row))
		}
		out.Head = append(out.Head, row)
		if p.label < len(row) && len(out.Labels) < classesShown && !slices.Contains(out.Labels, row[p.label]) {
			out.Labels = append(out.Labels, row[p.label])
		}
		if len(out.Head) >= rows {
			return errEnough
		}
		return nil
	})
	if err == nil && p.columns == 0 {
		err = errEmpty()
	}
	if err != nil && !errors.Is(err, errEnough) {
		return Preview{}, err
	}
	out.Header, out.Label = p.header, p.label
	return out, nil
}

const classesShown = 20
