package main

import (
	"context"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/mechanisms/learners"
	"github.com/dpscope/dpscope/mechanisms/train"
)

// tableRequest says how a table is read. Its text comes beside it.
type tableRequest struct {
	Name    string                `json:"name"`
	Reading audit.LabelledReading `json:"reading"`
	Was     *audit.Labelled       `json:"was,omitempty"` // of a report that is replayed
}

// addTable has the learners over a table, which fail where it cannot be read.
func addTable(cat audit.Catalogue, request string, text []byte) audit.Catalogue {
	var r tableRequest
	err := audit.DecodeStrict([]byte(request), "your table", &r)
	if err == nil {
		var with audit.Catalogue
		if with, _, err = learners.In(cat, r.Name, text, r.Reading, r.Was); err == nil {
			return with
		}
	}
	return learners.Refusing(cat, err)
}

// lookRequest is the beginning of a table, whole lines.
type lookRequest struct {
	Text  string `json:"text"`
	Label string `json:"label,omitempty"` // as in audit.LabelledReading
}

// headOfTable is how many examples a preview reads.
const headOfTable = 200

func (c *coordinator) look(_ context.Context, r request[lookRequest]) (train.Preview, error) {
	p, err := train.Look([]byte(r.asked.Text), r.asked.Label, headOfTable)
	if err != nil {
		return p, err
	}
	p.Labels = append([]string{}, p.Labels...)
	p.Head = append([][]string{}, p.Head[:min(headRows, len(p.Head))]...)
	return p, nil
}
