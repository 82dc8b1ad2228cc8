package main

// slidesPaper is of the slides: its tables, figures and components.
var slidesPaper = paper{
	Name:  "slides",
	Title: "Cohen and Pot, *Rényi Differential Privacy*, slides",
	Parts: []paperPart{},
}
