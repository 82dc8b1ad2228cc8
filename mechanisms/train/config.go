package train

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	"github.com/dpscope/dpscope/audit"
)

// Config is all of a training and of its canaries. Zero values mean defaults, which
// [Config.Resolve] writes out. What [Params] have is explained there.
type Config struct {
	Data Synthetic // the built-in data; empty where a Dataset stands beside

	Model      string
	Hidden     int // in each of two layers; none in a linear model
	Activation string

	Steps        int     // T
	Rate         float64 // q
	Clip         float64 // C
	LearningRate float64

	Relation string  // of neighbours
	Epsilon  float64 // the claim
	Delta    float64
	Sigma    float64 // deviation of the noise over C; 0: the least that keeps the claim, of four digits

	NoClipping  bool    // fault: gradients are summed as they are
	NoiseFactor float64 // fault below 1: the share of the noise that is added

	Canary   string
	Access   string
	Strength float64 // none but in gradient canaries
	Tail     int     // how many components tail canaries are drawn from; default half of them
	Scale    string  // norm of a tail canary: [Unit] (default), or [Median], that of the examples
}

const (
	Linear, Perceptron = "linear", "mlp"
	Tanh, ReLU         = "tanh", "relu"
	AddRemove, Replace = "add-remove", "replace"
	Gradient, Poison   = "gradient", "poison"
	Tail               = "tail"
	Unit, Median       = "unit", "median"
	Steps, Final       = "steps", "final"
)

// settings are the parameters of a source: the sizes of the built-in data come last.
var settings = []audit.ParamSpec{
	{Name: "canary", Doc: "gradient: its gradient is a random direction of the weights; poison: it is a random corner of the domain with a random label; tail: it is one of the last principal components of the examples, with the label that fits it least", Choices: []string{Gradient, Poison, Tail}},
	{Name: "access", Doc: "what the auditor sees: every step, or the final model only", Choices: []string{Steps, Final}},
	{Name: "fault", Doc: "no-clipping: gradients are summed without clipping; quarter-noise: only a quarter of the noise is added", Choices: []string{"none", "no-clipping", "quarter-noise"}},
	{Name: "model", Doc: "a perceptron with two hidden layers, or a linear model", Choices: []string{Perceptron, Linear}},
	{Name: "hidden", Doc: "units in each hidden layer", Default: 32, Min: 1, Max: unitsMost, Integer: true},
	{Name: "activation", Doc: "of the hidden units", Choices: []string{Tanh, ReLU}},
	{Name: "steps", Doc: "steps of a training", Default: 100, Min: 1, Max: stepsMost, Integer: true},
	{Name: "rate", Doc: "probability that an example takes part in a step", Default: 0.1, Max: 1, Open: true},
	{Name: "clip", Doc: "largest norm of an example's gradient", Default: 1, Max: 1e6, Open: true},
	{Name: "learning-rate", Doc: "factor on the mean gradient", Default: 0.5, Max: 1e6, Open: true},
	{Name: "sigma", Doc: "standard deviation of the noise, divided by the clipping norm; 0: the least that keeps the claim", Max: largestSigma},
	{Name: "strength", Doc: "norm of a gradient canary before clipping, divided by the clipping norm", Default: 10, Min: 1, Max: 1e6},
	{Name: "examples", Doc: "examples in the built-in data", Default: 500, Min: 2, Max: examplesMost, Integer: true},
	{Name: "features", Doc: "features of the built-in data", Default: 20, Min: 1, Max: FeaturesMost, Integer: true},
	{Name: "classes", Doc: "classes of the built-in data", Default: 4, Min: 2, Max: classesMost, Integer: true},
	{Name: "separation", Doc: "distance of a class's mean from the origin, in standard deviations", Default: 3, Max: 100, Open: true},
}

// others are no parameters of a source.
var others = []audit.ParamSpec{
	{Name: "relation", Choices: []string{AddRemove, Replace}},
	{Name: "epsilon", Default: 2, Max: 1000, Open: true},
	{Name: "delta", Default: 1e-5, Max: 0.5, Open: true},
	{Name: "noise-factor", Default: 1, Max: 1, Open: true},
}

// fields are what the parameters set: an *int, *float64 or *string each. Of fault see [FromParams].
func (c *Config) fields() map[string]any {
	return map[string]any{
		"canary": &c.Canary, "access": &c.Access, "model": &c.Model, "hidden": &c.Hidden, "activation": &c.Activation,
		"steps": &c.Steps, "rate": &c.Rate, "clip": &c.Clip, "learning-rate": &c.LearningRate,
		"sigma": &c.Sigma, "strength": &c.Strength,
		"examples": &c.Data.Examples, "features": &c.Data.Features,
		"classes": &c.Data.Classes, "separation": &c.Data.Separation,
		"relation": &c.Relation, "epsilon": &c.Epsilon, "delta": &c.Delta, "noise-factor": &c.NoiseFactor,
	}
}

func valueOf(field any) audit.ParamValue {
	switch p := field.(type) {
	case *int:
		return audit.ParamValue{Number: float64(*p)}
	case *string:
		return audit.ParamValue{Text: *p}
	default:
		return audit.ParamValue{Number: *p.(*float64)}
	}
}

func set(field any, v audit.ParamValue) {
	switch p := field.(type) {
	case *int:
		*p = int(v.Number)
	case *string:
		*p = v.Text
	default:
		*p.(*float64) = v.Number
	}
}

// Resolve fills in defaults, sigma among them, and checks: errors are of type
// [audit.InputError]. Nil data means the built-in. Resolving again changes nothing.
func (c Config) Resolve(data *Dataset) (Config, error) {
	if data != nil && c.Data != (Synthetic{}) {
		return c, &audit.InputError{Field: "data", Found: "both a file and the built-in set", Want: "one of them", Remedy: "leave the parameters of the built-in set out"}
	}
	fields := c.fields()
	for _, s := range slices.Concat(settings, others) {
		field, ok := fields[s.Name]
		if !ok {
			continue
		}
		v, none := valueOf(field), audit.ParamValue{}
		if slices.Contains(idle(c.Model, c.Canary, data == nil), s.Name) {
			if v != none {
				return c, &audit.InputError{Field: s.Name, Found: v.String(), Want: fmt.Sprintf("absent with the model %q and %s canaries", c.Model, c.Canary)}
			}
			continue
		}
		if v == none {
			v = s.Usual()
		}
		if err := s.Check(s.Name, v); err != nil {
			return c, err
		}
		set(field, v)
	}
	features := c.Data.Features
	if data != nil {
		features = len(data.Features)
	}
	tail := c.Canary == Tail
	if tail {
		c.Tail, c.Scale = cmp.Or(c.Tail, (features+1)/2), cmp.Or(c.Scale, Unit)
	}
	err := audit.First(
		audit.Require(c.Rate > rateLeast, "rate", audit.Exactly(c.Rate), "a number in (%g, 1]", rateLeast),
		audit.Require(tail || c.Tail == 0 && c.Scale == "", "tail", c.Tail, "absent except with tail canaries"),
		audit.Require(!tail || c.Tail >= 1 && c.Tail <= features, "tail", c.Tail, "a whole number in [1, %d]", features))
	if known := []string{Unit, Median}; err == nil && tail && !slices.Contains(known, c.Scale) {
		err = audit.UnknownName("scale", c.Scale, known)
	}
	if err == nil && c.Sigma == 0 {
		c.Sigma, err = c.calibrate()
	} else if err == nil {
		err = audit.Remedy("leave it out to derive it from epsilon and delta",
			audit.Require(c.Sigma >= leastSigma, "sigma", audit.Exactly(c.Sigma), "a number in [0.05, 1e6]"))
	}
	return c, err
}

func (c Config) sizes(data *Dataset) []int {
	if c.Model == Linear {
		return []int{len(data.Features), len(data.Classes)}
	}
	return []int{len(data.Features), c.Hidden, c.Hidden, len(data.Classes)}
}

// Params describes a training's settings as parameters of a source.
func Params() []audit.ParamSpec { return slices.Clone(settings) }

// FromParams is the configuration that resolved parameters of [Params] mean. Relation,
// Epsilon, Delta and Data.Seed remain to be set.
func FromParams(p audit.Params, builtIn bool) (c Config) {
	unused, fields := Idle(p, builtIn), c.fields()
	for _, s := range settings {
		if field, ok := fields[s.Name]; ok && !slices.Contains(unused, s.Name) {
			set(field, p[s.Name])
		}
	}
	c.NoClipping = p.Word("fault") == "no-clipping"
	c.NoiseFactor = audit.Pick(p.Word("fault") == "quarter-noise", 0.25, 0)
	return c
}

// Idle are the parameters of [Params] that mean nothing beside the others.
func Idle(p audit.Params, builtIn bool) []string {
	return idle(p.Word("model"), p.Word("canary"), builtIn)
}

func idle(model, canary string, builtIn bool) (names []string) {
	if model != Perceptron {
		names = append(names, "hidden", "activation")
	}
	if canary != Gradient {
		names = append(names, "strength")
	}
	if !builtIn {
		names = append(names, "examples", "features", "classes", "separation")
	}
	return names
}

// Limits of what is accepted: what fits into a browser's memory.
const (
	examplesMost  = 100_000
	FeaturesMost  = 1000
	classesMost   = 100
	cellsMost     = 1 << 24 // features of all examples
	unitsMost     = 1024
	stepsMost     = 100_000
	rateLeast     = 1e-9    // below, a step divides by next to nothing
	CanariesMost  = 8192    // in one training
	canaryNumbers = 1 << 25 // weights times canaries: 256 MiB
)

func numbered(prefix string, n int) []string {
	return audit.Listed(n, func(i int) string { return prefix + strconv.Itoa(i+1) })
}
