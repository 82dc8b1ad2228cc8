package pair

import (
	"errors"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/audit/stream"
)

// Named is the catalogue with a mechanism of the user's that is only named: bounds follow
// from what others drew of it, and nothing draws.
func Named(cat audit.Catalogue, b audit.UserMechanism) (audit.Catalogue, error) {
	if err := b.Datasets.Validate(); err != nil {
		return cat, err
	}
	return cat.With(b.Spec(told(b.Columns))), nil
}

// told is a mechanism of which only its columns are known, by a report.
type told []audit.Column

// Columns implements [audit.Mechanism].
func (t told) Columns() []audit.Column { return t }

// Sample implements [audit.Mechanism].
func (told) Sample(audit.Dataset, *stream.Stream, []float64) error {
	return errors.New("a mechanism that is only named in a report draws nothing")
}
