package main

import (
	"fmt"
	"io"
	"math"
	"strings"
)

// check holds a figure against what is to be reached.
type check struct {
	What    string   `json:"what"`
	Got     float64  `json:"got"`
	Least   *float64 `json:"least,omitempty"`
	Most    *float64 `json:"most,omitempty"`
	Reached bool     `json:"reached"`
}

// checked makes a check; NaN for an end that is open.
func checked(what string, got, least, most float64) check {
	c := check{What: what, Got: got, Reached: !(got < least) && !(got > most) && !math.IsNaN(got)}
	if !math.IsNaN(least) {
		c.Least = &least
	}
	if !math.IsNaN(most) {
		c.Most = &most
	}
	return c
}

func atLeast(what string, got, want float64) check { return checked(what, got, want, math.NaN()) }
func atMost(what string, got, want float64) check  { return checked(what, got, math.NaN(), want) }

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
		verdict, want := "reached", []string{}
		if !c.Reached {
			verdict = "SHORT"
		}
		if c.Least != nil {
			want = append(want, fmt.Sprintf("at least %.4g", *c.Least))
		}
		if c.Most != nil {
			want = append(want, fmt.Sprintf("at most %.4g", *c.Most))
		}
		fmt.Fprintf(w, "%s  %s: %.4g, to be %s\n", verdict, c.What, c.Got, strings.Join(want, " and "))
	}
}
