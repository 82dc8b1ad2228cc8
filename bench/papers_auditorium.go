package main

// auditoriumPaper is DP-Auditorium: its tables, figures and components.
var auditoriumPaper = paper{
	Name:  "DP-Auditorium",
	Title: "Kong, Muñoz Medina, Ribero and Syed, *DP-Auditorium: a Large Scale Library for Auditing Differential Privacy* (2023)",
	Parts: []paperPart{},
}
