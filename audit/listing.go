package audit

import (
	"fmt"
)

// Version of dpscope.
const Version = "0.4.0"

// Listing is a catalogue as a JSON value.
type Listing struct {
	Mechanisms []MechanismListing `json:"mechanisms"`
	Learners   []NamedListing     `json:"learners"`
	Finders    []NamedListing     `json:"finders"`
}

// MechanismListing is a mechanism at its default parameters.
type MechanismListing struct {
	Name       string      `json:"name"`
	Title      string      `json:"title"`
	Source     string      `json:"source"`
	Fault      string      `json:"fault,omitempty"`
	Mended     string      `json:"mended,omitempty"` // name of the mechanism that is this one without its fault
	Params     []ParamSpec `json:"params"`
	Relations  []string    `json:"relations"`
	Claim      Claim       `json:"claim"`
	ClaimWords string      `json:"claimWords"`
	Truth      string      `json:"truth"`
	Learns     Learning    `json:"learns,omitempty"` // what a learner trains
}

// NamedListing is a learner or a finder.
type NamedListing struct {
	Name   string `json:"name"`
	Title  string `json:"title"`
	Source string `json:"source"`
	// ByName: a learner that no portfolio trains.
	ByName bool `json:"byName,omitempty"`
	// Settings are those of a learner, which stand behind its name.
	Settings []ParamSpec `json:"settings,omitempty"`
	// Attacks are the learners that a finder is for; absent: it is for any mechanism.
	Attacks []Learning `json:"attacks,omitempty"`
}

// Listing describes all that is registered.
func (c Catalogue) Listing() Listing {
	l := Listing{Mechanisms: []MechanismListing{}, Learners: []NamedListing{}, Finders: []NamedListing{}}
	for _, m := range c.Mechanisms {
		params, err := ResolveParams(m.Params, nil, Claim{})
		if err != nil {
			panic("core: default parameters of " + m.Name + " are out of their own range")
		}
		x := MechanismListing{Name: m.Name, Title: m.Title, Source: m.Source, Fault: m.Fault, Mended: m.Mended, Params: m.Params, Claim: m.Claim(params)}
		x.ClaimWords, x.Truth = x.Claim.String(), m.Truth(params)
		if m.Table != nil {
			x.Learns = m.Table(params).Learning
		}
		for _, r := range m.Relations(params) {
			x.Relations = append(x.Relations, string(r))
		}
		l.Mechanisms = append(l.Mechanisms, x)
	}
	for _, x := range c.Learners {
		l.Learners = append(l.Learners, NamedListing{Name: x.Name, Title: x.Title, Source: x.Source, ByName: x.ByName, Settings: x.Settings})
	}
	for _, x := range c.Finders {
		l.Finders = append(l.Finders, NamedListing{Name: x.Name, Title: x.Title, Source: x.Source, Attacks: x.Attacks})
	}
	return l
}

// Usage is name=default and the range, for a list of parameters.
func (s ParamSpec) Usage() string {
	if len(s.Choices) > 0 {
		return fmt.Sprintf("%s=%s   one of %v", s.Name, s.Choices[0], s.Choices)
	}
	return fmt.Sprintf("%s=%s   %s", s.Name, Number(s.Default), s.rangeText())
}
