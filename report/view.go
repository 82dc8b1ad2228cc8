package report

import "github.com/dpscope/dpscope/audit"

// View is a report of any kind, as formats, commands and plans of several audits see
// it. The report itself is what JSON holds.
type View interface {
	Head() Head
	// Facts are the report's facts in words, the most important first.
	Facts() []audit.FactRow
	// Text is the report as plain text for a terminal.
	Text() string
}

// Head is what reports of every kind say first.
type Head struct {
	Subject   string // what was audited, by name: a mechanism, a source, files of scores
	Generator audit.Generator
	Claim     audit.Claim
	Promise   string // the claim in words, with all that it depends on
	Verdict   audit.Verdict
	Summary   string // the verdict in words
	// LowerBound is the certified bound on the Quantity that the claim limits; nil
	// where there is none.
	LowerBound *float64
	Quantity   string
	Counts     any // that the bound follows from, where they are few; else nil
	Confidence float64
	Beta       float64 // 1 - Confidence, exactly
	Seed       uint64
	Ended      audit.Termination
	Timing     audit.Timing
	Warnings   []string
	Reproduce  audit.Reproduce
}
