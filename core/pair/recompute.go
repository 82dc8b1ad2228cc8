package pair

import (
	"context"
	"errors"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/audit/stream"
	"github.com/dpscope/dpscope/core/engine"
)

// Recompute checks that all that a report says follows from the counts in it, and draws
// nothing: what a host can afford for a stranger's report. It needs no file, program or
// function that the audit was of: of those it takes what the report says of them. That
// the counts are those of the plan is shown by [Verify] alone.
func Recompute(cat audit.Catalogue, r Report) (engine.Verification, error) {
	if r.Inputs.Labelled != nil {
		return engine.Verification{}, &audit.InputError{Field: "report: inputs.labelled", Path: "/inputs/labelled", Found: "a table of the user's", Want: "absent",
			Remedy: "what such a report says can be checked only with the table: keep the report beside it"}
	}
	if rec := r.Inputs.Samples; rec != nil {
		rows := *rec
		cat = cat.With(rows.Spec(told(rec.Columns)))
	}
	if b := r.Inputs.Brought; b != nil {
		var err error
		if cat, err = Named(cat, *b); err != nil {
			return engine.Verification{}, err
		}
	}
	return verify(context.Background(), cat, nil, r, false, true)
}

// Named is the catalogue with a mechanism of the user's that is only named: bounds follow
// from what others drew of it, and nothing draws.
func Named(cat audit.Catalogue, b audit.Brought) (audit.Catalogue, error) {
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
