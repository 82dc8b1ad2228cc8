package audit

import "fmt"

// Labelled says where a learner's table of labelled examples comes from that the user
// brought.
type Labelled struct {
	File     RecordedFile    `json:"file"`
	Rows     int             `json:"rows"`
	Features []string        `json:"features"`
	Classes  []string        `json:"classes"` // the labels 0 and 1
	Clipped  int             `json:"clipped"` // values beyond the declared bounds, moved to the nearest
	Reading  LabelledReading `json:"reading"`

	// Notes are warnings about the table, in words.
	Notes []string `json:"-"`
}

// LabelledReading is how a file of labelled examples is read.
type LabelledReading struct {
	Label string `json:"label,omitempty"` // name or number (from 1) of the label's column; the last
	// Bounds are declared ranges of features, as age=0:120,height=1:2.2; one without a
	// name is of all others.
	Bounds  string   `json:"bounds,omitempty"`
	Classes []string `json:"classes,omitempty"` // the two labels; those that occur
}

// Words are the facts of a table.
func (l *Labelled) Words() string {
	return fmt.Sprintf("%s (SHA-256 %.12s...), %d rows of %d features", l.File.Name, l.File.SHA256, l.Rows, len(l.Features))
}
