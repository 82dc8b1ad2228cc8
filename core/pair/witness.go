package pair

import (
	"encoding/json"
	"fmt"

	"github.com/dpscope/dpscope/audit"
)

// Witness is a score that tells two datasets apart. Events and bounded
// functions are made of its bins, see [Evidence].
type Witness struct {
	Learner string          `json:"learner"` // names the learner, which decodes Model
	Model   json.RawMessage `json:"model"`
}

// decode builds the score of w for outputs with these columns.
func (w Witness) decode(cat audit.Catalogue, columns []audit.Column) (audit.Model, error) {
	spec, err := cat.Learner(w.Learner)
	if err != nil {
		return nil, fmt.Errorf("witness: %w", err)
	}
	m, err := spec.Decode(w.Model, columns)
	if err != nil {
		return nil, fmt.Errorf("witness of learner %s: %w", w.Learner, err)
	}
	return m, nil
}

// scores returns the score of every row.
func scores(m audit.Model, s audit.Samples) []float64 {
	out := make([]float64, s.Len())
	for lo := 0; lo < len(out); lo += BlockRows {
		hi := min(lo+BlockRows, len(out))
		m.Score(s.Slice(lo, hi).Rows, out[lo:hi])
	}
	return out
}
