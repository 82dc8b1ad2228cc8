package main

// lidpPaper is LiDP: its tables, figures and components.
var lidpPaper = paper{
	Name:  "LiDP",
	Title: "Pillutla, Andrew, Kairouz, McMahan, Oprea and Oh, *Unleashing the Power of Randomization in Auditing Differentially Private ML* (2023)",
	Parts: []paperPart{},
}
