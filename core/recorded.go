package core

import (
	"fmt"
	"strings"
)

// Given is the relation of recorded outputs: the datasets are not known here,
// and that they are neighbours is the word of whoever recorded the outputs.
const Given Relation = "given"

// Recorded is a mechanism whose outputs exist already and cannot be drawn anew.
// The engine takes them one after the other in a random order that the seed
// fixes: exploration takes the first Plan.Explore of each dataset, certification
// those after them. So no output is taken twice, and which ones certify does not
// depend on their values.
type Recorded interface {
	Mechanism
	// Recorded fills out with the outputs number at, at+1, ... on one dataset
	// (side 0 or 1), in a uniformly random order that depends on seed, side and
	// the number of outputs alone. An error if there are not so many.
	Recorded(seed uint64, side, at int, out []float64) error
}

// Recording says where recorded outputs come from.
type Recording struct {
	Files    []RecordedFile `json:"files"`    // one, or one for each dataset
	Datasets [2]string      `json:"datasets"` // in words
	Rows     [2]int         `json:"rows"`     // on each dataset
	Columns  []Column       `json:"columns"`  // of one output
	Reading  Reading        `json:"reading"`
	// Split is absent where the plan was not resolved.
	Split *RecordedSplit `json:"split,omitempty"`

	// Notes are warnings about the files, in words.
	Notes []string `json:"-"`
}

// RecordedFile is one file of outputs.
type RecordedFile struct {
	Name   string `json:"name"` // without its folder
	Format string `json:"format"`
	Bytes  int64  `json:"bytes"`
	SHA256 string `json:"sha256"`
}

// Reading is how files of outputs are read where that is not told by content.
type Reading struct {
	Header    string                `json:"header,omitempty"`    // yes or no
	Dataset   string                `json:"dataset,omitempty"`   // column that tells the dataset
	Outputs   []string              `json:"outputs,omitempty"`   // columns that are outputs
	Kinds     map[string]ColumnKind `json:"kinds,omitempty"`     // of columns
	NonFinite string                `json:"nonFinite,omitempty"` // refuse or symbol
	Decimal   string                `json:"decimal,omitempty"`   // what stands before decimals: . or ,
}

// RecordedSplit is how the outputs on each dataset were used.
type RecordedSplit struct {
	Explored  int    `json:"explored"`
	Certified int    `json:"certified"` // at most: an anytime run may end earlier
	Unused    [2]int `json:"unused"`
}

// splitRecorded fills in and checks the budget of an audit of recorded outputs.
func (a *Audit) splitRecorded() error {
	p, r := &a.Plan, a.Spec.Recording
	n := min(r.Rows[0], r.Rows[1])
	if n < 2*MinSamples {
		return &InputError{Field: "rows of a dataset", Found: fmt.Sprint(n), Want: fmt.Sprintf("at least %d: %d to explore and %d to certify", 2*MinSamples, MinSamples, MinSamples)}
	}
	if p.Finder != Auto || p.Pair != nil {
		return &InputError{Field: "finder or pair", Found: "given", Want: "absent for recorded outputs, which are of one pair of datasets"}
	}
	if p.Trials == 0 {
		p.Trials = 1
	}
	if p.Trials != 1 {
		return &InputError{Field: "trials", Found: fmt.Sprint(p.Trials), Want: "1 for recorded outputs, which are of one pair of datasets"}
	}
	most := min(n-MinSamples, usualExploreCells/(2*Width(a.Columns)))
	switch {
	case p.Samples == 0 && p.Explore == 0:
		p.Explore = min(n/2, most)
		p.Samples = n - p.Explore
	case p.Samples == 0:
		p.Samples = max(n-p.Explore, 0)
	case p.Explore == 0:
		p.Explore = min(max(n-p.Samples, 0), most)
	}
	if p.Explore < MinSamples || p.Samples < MinSamples || p.Explore > n-p.Samples {
		return &InputError{Field: "explore and samples", Found: fmt.Sprintf("%d and %d", p.Explore, p.Samples),
			Want: fmt.Sprintf("at least %d each and together at most the %d rows of the smaller dataset", MinSamples, n)}
	}
	a.Notes = append(a.Notes, r.Notes...)
	return nil
}

// splitsByDefault reports whether the budget is what recorded outputs get where
// the plan asks for none.
func (a *Audit) splitsByDefault() bool {
	b := *a
	b.Plan.Explore, b.Plan.Samples = 0, 0
	return b.splitRecorded() == nil && b.Plan.Explore == a.Plan.Explore && b.Plan.Samples == a.Plan.Samples
}

// recording is what the report says of recorded outputs; nil for a mechanism
// that draws its own.
func (a *Audit) recording() *Recording {
	if a.Spec.Recording == nil {
		return nil
	}
	r := *a.Spec.Recording
	used := a.Plan.Explore + a.Plan.Samples
	r.Split = &RecordedSplit{Explored: a.Plan.Explore, Certified: a.Plan.Samples, Unused: [2]int{r.Rows[0] - used, r.Rows[1] - used}}
	return &r
}

const recordedSplitWords = "the outputs on each dataset in a random order that the seed fixes: the first explore (half of them train, half validate), those after them certify, none is used twice; " +
	"learner, bins, events, witnesses and stakes are chosen on what explored"

// recordedLimitations stand in reports of recorded outputs, too.
var recordedLimitations = []string{
	"That the rows are independent runs of one mechanism, and that its two datasets are neighbours, is the word of whoever recorded them; no bound holds without it.",
}

// arguments are the flags that read the files again.
func (r *Recording) arguments() []argument {
	args := []argument{{"samples-file", r.Files[0].Name}}
	if len(r.Files) > 1 {
		args = append(args, argument{"samples-file2", r.Files[1].Name})
	}
	add := func(name, value string) {
		if value != "" {
			args = append(args, argument{name, value})
		}
	}
	add("header", r.Reading.Header)
	add("dataset", r.Reading.Dataset)
	add("outputs", strings.Join(r.Reading.Outputs, ","))
	args = append(args, kindArguments(r.Reading.Kinds)...)
	add("nonfinite", r.Reading.NonFinite)
	add("decimal", r.Reading.Decimal)
	return args
}

// words are the facts of recorded outputs.
func (r *Recording) words() string {
	var parts []string
	for _, f := range r.Files {
		parts = append(parts, fmt.Sprintf("%s (%s, SHA-256 %.12s...)", f.Name, f.Format, f.SHA256))
	}
	return strings.Join(parts, " and ")
}
