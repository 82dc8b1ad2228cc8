package estimators

import (
	"encoding/json"
	"fmt"

	"github.com/dpscope/dpscope/audit"
)

// outcome is one listed outcome: a cell of each column's partition.
type outcome struct {
	Cells []int   `json:"cells"`
	Score float64 `json:"score"`
}

// tableModel scores an output by its outcome, and outcomes that are not listed
// alike.
type tableModel struct {
	Partitions []partition `json:"partitions"` // one a column
	Outcomes   []outcome   `json:"outcomes"`
	Rest       float64     `json:"rest"`

	columns []audit.Column
	keys    *outcomeKeys
	scores  []float64 // of the outcomes; first, the rest
	index   []uint16  // dense keys: position in scores; last, the rest
	table   *keyTable // hashed keys
}

// prepare builds what scoring needs from the fields that are written down. It
// reports whether the listed outcomes have distinct keys.
func (m *tableModel) prepare(columns []audit.Column) (distinct bool) {
	m.columns = columns
	m.keys = newOutcomeKeys(m.Partitions, columns)
	m.scores = append(make([]float64, 0, len(m.Outcomes)+1), m.Rest)
	keys := make([]uint64, len(m.Outcomes))
	known := make(map[uint64]bool, len(keys))
	for i, o := range m.Outcomes {
		keys[i] = m.keys.of(o.Cells)
		known[keys[i]] = true
		m.scores = append(m.scores, o.Score)
	}
	if m.keys.dense > 0 {
		m.index = make([]uint16, m.keys.dense+1)
		for i, k := range keys {
			m.index[k] = uint16(i + 1)
		}
	} else {
		m.table = newKeyTable(keys)
	}
	return len(known) == len(keys)
}

// Score writes the score of each row into out.
func (m *tableModel) Score(rows, out []float64) {
	var key [block]uint64
	var at codes
	width, rest := m.keys.width, uint64(m.keys.dense)
	for len(out) > 0 {
		n := min(block, len(out))
		m.keys.code(rows, n, &key)
		if m.table != nil {
			m.table.find(key[:n], at[:n])
			for i, k := range at[:n] {
				out[i] = m.scores[k]
			}
		} else {
			for i, k := range key[:n] {
				out[i] = m.scores[m.index[min(k, rest)]]
			}
		}
		rows, out = rows[n*width:], out[n:]
	}
}

func decodeTable(data json.RawMessage, columns []audit.Column) (audit.Model, error) {
	m := new(tableModel)
	if err := decodeModel(data, m); err != nil {
		return nil, err
	}
	if len(m.Partitions) != len(columns) {
		return nil, wrongCount("model.partitions", len(m.Partitions), len(columns))
	}
	for i, p := range m.Partitions {
		if err := p.validate(fmt.Sprintf("model.partitions[%d]", i), columns[i].Kind); err != nil {
			return nil, err
		}
	}
	if len(m.Outcomes) > outcomesMost {
		return nil, &audit.InputError{Field: "model.outcomes", Found: fmt.Sprintf("a list of %d", len(m.Outcomes)), Want: fmt.Sprintf("at most %d", outcomesMost)}
	}
	for i, o := range m.Outcomes {
		field := fmt.Sprintf("model.outcomes[%d].cells", i)
		if len(o.Cells) != len(columns) {
			return nil, wrongCount(field, len(o.Cells), len(columns))
		}
		for c, v := range o.Cells {
			if cells := m.Partitions[c].cells(columns[c].Kind); v < 0 || v >= cells {
				return nil, &audit.InputError{Field: fmt.Sprintf("%s[%d]", field, c), Found: fmt.Sprint(v), Want: fmt.Sprintf("in [0, %d]", cells-1)}
			}
		}
	}
	if !m.prepare(columns) {
		return nil, &audit.InputError{Field: "model.outcomes", Found: "a list with an outcome twice", Want: "distinct outcomes"}
	}
	return m, nil
}
