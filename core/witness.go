package core

import (
	"encoding/json"
	"fmt"
)

// Model is what a learner learnt: a score for each output, higher where the
// output is likelier on the pair's first dataset. A model is a JSON value, and
// its scores have the same bits on every platform (products rounded by
// float64() before they are added, no transcendental functions of package
// math), since counts depend on them.
type Model interface {
	// Score writes the score of each row of rows (flat, of the mechanism's
	// width) into out, whose length is the number of rows. Scores are finite.
	Score(rows, out []float64)
	// Describe says in words which outputs score above the threshold (or
	// below it, if above is false).
	Describe(threshold float64, above bool) string
}

// Witness is a score that tells two datasets apart. Events and bounded
// functions are made of its bins, see [Evidence].
type Witness struct {
	Learner string          `json:"learner"` // names the learner, which decodes Model
	Model   json.RawMessage `json:"model"`
}

// decode builds the score of w for outputs with these columns.
func (w Witness) decode(cat Catalogue, columns []Column) (Model, error) {
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
func scores(m Model, s Samples) []float64 {
	out := make([]float64, s.Len())
	for lo := 0; lo < len(out); lo += BlockRows {
		hi := min(lo+BlockRows, len(out))
		m.Score(s.Slice(lo, hi).Rows, out[lo:hi])
	}
	return out
}
