package audit

import (
	"errors"
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

// With is the catalogue with one mechanism more, which is no other's business.
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
			return l, &InputError{Field: "learner", Found: strconv.Quote(name), Want: "a name and each setting once, as in mlp:epochs=5:units=64",
				Remedy: "dpscope list " + base + " shows the settings"}
		}
		given[setting] = value
	}
	all, err := ResolveParams(l.Settings, given, Claim{})
	if err != nil {
		var in *InputError
		errors.As(err, &in)
		in.Field, in.Path = "learner "+base+", "+in.Field, "learner"
		return l, in
	}
	settings, with := l.Settings, l.With
	l = with(all)
	l.Name, l.Settings, l.With = name, settings, with
	return l, nil
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

// Auto leaves the choice of learner or finder to dpscope.
const Auto = "auto"

// MaxSeed is the largest seed of a plan: it keeps seeds exact in JSON numbers that are
// read as float64.
const MaxSeed = 1<<53 - 1

// DefaultSeed is the seed where none is named.
const DefaultSeed = "42"
