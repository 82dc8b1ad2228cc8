package main

// renyiTesterPaper is RényiTester: its tables, figures and components.
var renyiTesterPaper = paper{
	Name:  "RényiTester",
	Title: "Kong, Muñoz Medina and Ribero, *RényiTester: A Variational Approach to Testing Differential Privacy* (2023)",
	Parts: []paperPart{},
}
