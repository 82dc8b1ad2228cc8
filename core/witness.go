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

// WitnessKind says what a witness yields for an output.
type WitnessKind string

// EventWitness decides whether an output lies in an event. Scores in [0, 1]
// and bounded functions are further kinds.
const EventWitness WitnessKind = "event"

// Witness is a test that tells two datasets apart. Kind event: the outputs
// whose score lies above the threshold (or at or below it, if Above is false).
type Witness struct {
	Kind      WitnessKind     `json:"kind"`
	Learner   string          `json:"learner"` // names the learner, which decodes Model
	Model     json.RawMessage `json:"model"`
	Threshold float64         `json:"threshold"`
	Above     bool            `json:"above"`
}

// event is a decoded witness.
type event struct {
	model     Model
	threshold float64
	above     bool
	scores    []float64
}

// decode builds the event of w for outputs with these columns.
func (w Witness) decode(cat Catalogue, columns []Column) (*event, error) {
	if w.Kind != EventWitness {
		return nil, &InputError{Field: "witness.kind", Found: fmt.Sprintf("%q", w.Kind), Want: `"event"`}
	}
	spec, err := cat.Learner(w.Learner)
	if err != nil {
		return nil, fmt.Errorf("witness: %w", err)
	}
	m, err := spec.Decode(w.Model, columns)
	if err != nil {
		return nil, fmt.Errorf("witness of learner %s: %w", w.Learner, err)
	}
	if w.Threshold-w.Threshold != 0 {
		return nil, &InputError{Field: "witness.threshold", Found: number(w.Threshold), Want: "a finite number"}
	}
	return &event{model: m, threshold: w.Threshold, above: w.Above}, nil
}

// mark sets in[i] for the rows in the event and returns how many there are.
func (e *event) mark(rows []float64, in []bool) int {
	n := len(in)
	if cap(e.scores) < n {
		e.scores = make([]float64, n)
	}
	scores := e.scores[:n]
	e.model.Score(rows, scores)
	count := 0
	for i, s := range scores {
		hit := (s > e.threshold) == e.above
		in[i] = hit
		if hit {
			count++
		}
	}
	return count
}
