package audit

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Catalogue is what an engine has to work with: the registries.
type Catalogue struct {
	Mechanisms []MechanismSpec
	Learners   []LearnerSpec
	Finders    []FinderSpec
}

// With is the catalogue with one mechanism more.
func (c Catalogue) With(m MechanismSpec) Catalogue {
	c.Mechanisms = append(slices.Clone(c.Mechanisms), m)
	return c
}

// Mechanism finds a mechanism by name.
func (c Catalogue) Mechanism(name string) (MechanismSpec, error) {
	return Find("mechanism", name, c.Mechanisms, func(m MechanismSpec) string { return m.Name })
}

// Learner finds a learner by name, behind which settings may stand: "mlp:epochs=5:units=64".
func (c Catalogue) Learner(name string) (LearnerSpec, error) {
	list := strings.Split(name, ":") // commas are between learners
	base := list[0]
	l, err := Find("learner", base, c.Learners, func(l LearnerSpec) string { return l.Name })
	if err != nil || len(list) == 1 {
		return l, err
	}
	given := Params{}
	for _, text := range list[1:] {
		setting, value, err := ParseParam(text)
		if _, twice := given[setting]; err != nil || twice {
			return l, Fault("learner", strconv.Quote(name), "a name and each setting once, as in mlp:epochs=5:units=64",
				"dpscope list "+base+" shows the settings")
		}
		given[setting] = value
	}
	all, err := ResolveParams(l.Settings, given, Claim{})
	if err != nil {
		return l, Amend(err, func(in *InputError) { in.Field, in.Path = "learner "+base+", "+in.Field, "learner" })
	}
	set := l.With(all)
	set.Name, set.Settings, set.With = name, l.Settings, l.With
	return set, nil
}

// Finder finds a finder by name.
func (c Catalogue) Finder(name string) (FinderSpec, error) {
	return Find("finder", name, c.Finders, func(f FinderSpec) string { return f.Name })
}

// Find finds something by its name; field says what it is, for the error.
func Find[T any](field, name string, all []T, nameOf func(T) string) (T, error) {
	names := make([]string, len(all))
	for i, t := range all {
		if names[i] = nameOf(t); names[i] == name {
			return t, nil
		}
	}
	if field == "learner" {
		names = append([]string{Auto}, names...)
	}
	var none T
	return none, UnknownName(field, name, names)
}

// Pick is a where yes holds, else b.
func Pick[T any](yes bool, a, b T) T {
	if yes {
		return a
	}
	return b
}

// Each is what of makes of each thing of a list.
func Each[T, U any](list []T, of func(T) U) []U {
	all := make([]U, len(list))
	for i, x := range list {
		all[i] = of(x)
	}
	return all
}

// Listed are of(0) to of(n-1).
func Listed[T any](n int, of func(int) T) []T {
	all := make([]T, n)
	for i := range all {
		all[i] = of(i)
	}
	return all
}

// Count is how many things of a list are so.
func Count[T any](list []T, so func(T) bool) (n int) {
	for _, x := range list {
		if so(x) {
			n++
		}
	}
	return n
}

// Total adds up counts.
func Total(counts []int) (sum int) {
	for _, n := range counts {
		sum += n
	}
	return sum
}

// Auto leaves the choice to dpscope.
const Auto = "auto"

// MaxSeed is the largest seed of a plan: exact in JSON read as float64.
const MaxSeed = 1<<53 - 1

// DefaultSeed is the seed where none is named.
const DefaultSeed = "42"

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
	Learns     Learning    `json:"learns,omitempty"`
}

// NamedListing is a learner or a finder.
type NamedListing struct {
	Name   string `json:"name"`
	Title  string `json:"title"`
	Source string `json:"source"`
	// ByName: a learner that no portfolio trains.
	ByName   bool        `json:"byName,omitempty"`
	Settings []ParamSpec `json:"settings,omitempty"`
	// Attacks are the learners that a finder is for; absent: any mechanism.
	Attacks []Learning `json:"attacks,omitempty"`
}

// Listing describes all that is registered.
func (c Catalogue) Listing() Listing {
	mechanism := func(m MechanismSpec) MechanismListing {
		params, err := ResolveParams(m.Params, nil, Claim{})
		if err != nil {
			panic("audit: defaults of " + m.Name + ": " + err.Error())
		}
		x := MechanismListing{Name: m.Name, Title: m.Title, Source: m.Source, Fault: m.Fault, Mended: m.Mended, Params: m.Params, Claim: m.Claim(params)}
		x.ClaimWords, x.Truth = x.Claim.String(), m.Truth(params)
		if m.Table != nil {
			x.Learns = m.Table(params).Learning
		}
		x.Relations = Each(m.Relations(params), func(r Relation) string { return string(r) })
		return x
	}
	return Listing{Each(c.Mechanisms, mechanism),
		Each(c.Learners, func(x LearnerSpec) NamedListing {
			return NamedListing{Name: x.Name, Title: x.Title, Source: x.Source, ByName: x.ByName, Settings: x.Settings}
		}),
		Each(c.Finders, func(x FinderSpec) NamedListing {
			return NamedListing{Name: x.Name, Title: x.Title, Source: x.Source, Attacks: x.Attacks}
		})}
}

// Usage is name=default and the range.
func (s ParamSpec) Usage() string {
	if len(s.Choices) > 0 {
		return fmt.Sprintf("%s=%s   one of %v", s.Name, s.Choices[0], s.Choices)
	}
	return fmt.Sprintf("%s=%s   %s", s.Name, Number(s.Default), s.rangeText())
}
