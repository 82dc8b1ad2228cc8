package main

// mlAuditPaper is ML-Audit: its tables, figures and components.
var mlAuditPaper = paper{
	Name:  "ML-Audit",
	Title: "Lu, Munoz, Fuchs and others, *A General Framework for Auditing Differentially Private Machine Learning* (2022)",
	Parts: []paperPart{},
}
