package main

import (
	"fmt"
	"io"
)

// check holds a figure against what is to be reached.
type check struct {
	What    string   `json:"what"`
	Got     float64  `json:"got"`
	Least   *float64 `json:"least,omitempty"`
	Most    *float64 `json:"most,omitempty"`
	Reached bool     `json:"reached"`
}

func atLeast(what string, got, want float64) check { return check{what, got, &want, nil, got >= want} }
func atMost(what string, got, want float64) check  { return check{what, got, nil, &want, got <= want} }

// missed are what was not reached.
func missed(checks []check) (what []string) {
	for _, c := range checks {
		if !c.Reached {
			what = append(what, c.What)
		}
	}
	return what
}

func printChecks(w io.Writer, checks []check) {
	for _, c := range checks {
		verdict, want := "reached", ""
		if !c.Reached {
			verdict = "SHORT"
		}
		if c.Least != nil {
			want = fmt.Sprintf("at least %.4g", *c.Least)
		} else {
			want = fmt.Sprintf("at most %.4g", *c.Most)
		}
		fmt.Fprintf(w, "%s  %s: %.4g, to be %s\n", verdict, c.What, c.Got, want)
	}
}
