package train

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	"github.com/dpscope/dpscope/audit"
)

// Config is all of a training and of its canaries. Zero values mean defaults,
// which [Config.Resolve] writes out.
type Config struct {
	Data Synthetic `json:"data,omitzero"` // the built-in data; empty where a Dataset stands beside

	Model      string `json:"model,omitempty"`      // "mlp" (default) or "linear"
	Hidden     [2]int `json:"hidden,omitzero"`      // units of the hidden layers, 1 to 1024; default 32 and 32; none in a linear model
	Activation string `json:"activation,omitempty"` // "tanh" (default) or "relu"; none in a linear model

	Steps        int     `json:"steps,omitempty"`        // T, at most 100,000; default 100
	Rate         float64 `json:"rate,omitempty"`         // q, the probability that an example takes part in a step, (0, 1]; default 0.1
	Clip         float64 `json:"clip,omitempty"`         // C, the largest norm of an example's gradient; default 1
	LearningRate float64 `json:"learningRate,omitempty"` // default 0.5

	Relation string  `json:"relation,omitempty"` // of neighbours: "add-remove" (default) or "replace"
	Epsilon  float64 `json:"epsilon,omitempty"`  // the claim; default 2
	Delta    float64 `json:"delta,omitempty"`    // default 1e-5
	// Sigma is the deviation of the noise over C. 0: the least that keeps the
	// claim by Rényi accounting, rounded up to four digits.
	Sigma float64 `json:"sigma,omitempty"`

	NoClipping  bool    `json:"noClipping,omitempty"`  // fault: gradients are summed as they are
	NoiseFactor float64 `json:"noiseFactor,omitempty"` // fault below 1: the share of the noise that is added, (0, 1]; default 1

	Canary   string  `json:"canary,omitempty"`   // "gradient" (default), "poison" or "tail"
	Access   string  `json:"access,omitempty"`   // what the auditor sees: "steps" (default) or "final"
	Strength float64 `json:"strength,omitempty"` // norm of a gradient canary over C, before clipping, [1, 1e6]; default 10; none in another canary
	Tail     int     `json:"tail,omitempty"`     // how many components tail canaries are drawn from, the last ones; default half of them
	Scale    string  `json:"scale,omitempty"`    // norm of a tail canary: "unit" (default), or "median", that of the examples
}

// The names that a Config uses.
const (
	Linear, Perceptron = "linear", "mlp"
	Tanh, ReLU         = "tanh", "relu"
	AddRemove, Replace = "add-remove", "replace"
	Gradient, Poison   = "gradient", "poison"
	Tail               = "tail"
	Unit, Median       = "unit", "median"
	Steps, Final       = "steps", "final"
)

// Resolve fills in defaults, sigma among them, and checks: errors are of type
// [audit.InputError]. Nil data means the built-in. Resolving again changes
// nothing.
func (c Config) Resolve(data *Dataset) (Config, error) {
	var err error
	if data != nil {
		if c.Data != (Synthetic{}) {
			return c, &audit.InputError{Field: "data", Found: "both a file and the built-in set", Want: "one of them", Remedy: "leave the parameters of the built-in set out"}
		}
		if data.Len() == 0 || len(data.Classes) < 2 || len(data.X) != data.Len()*len(data.Features) {
			panic("train: not a dataset of ReadCSV or NewSynthetic")
		}
	} else if c.Data, err = c.Data.resolve(); err != nil {
		return c, err
	}
	c.Model = cmp.Or(c.Model, Perceptron)
	if err := checkWord("model", c.Model, Perceptron, Linear); err != nil {
		return c, err
	}
	if c.Model == Perceptron {
		c.Activation = cmp.Or(c.Activation, Tanh)
		if err := checkWord("activation", c.Activation, Tanh, ReLU); err != nil {
			return c, err
		}
		c.Hidden = cmp.Or(c.Hidden, [2]int{32, 32})
		if err := cmp.Or(checkInt("hidden", c.Hidden[0], 1, unitsMost), checkInt("hidden", c.Hidden[1], 1, unitsMost)); err != nil {
			return c, err
		}
	} else if c.Hidden != [2]int{} || c.Activation != "" {
		return c, &audit.InputError{Field: "model", Found: `"linear" with hidden layers`, Want: `"mlp" to have them`, Remedy: "leave hidden and activation out"}
	}
	c.Steps = cmp.Or(c.Steps, 100)
	c.Rate = cmp.Or(c.Rate, 0.1)
	c.Clip = cmp.Or(c.Clip, 1)
	c.LearningRate = cmp.Or(c.LearningRate, 0.5)
	c.Epsilon = cmp.Or(c.Epsilon, 2)
	c.Delta = cmp.Or(c.Delta, 1e-5)
	c.NoiseFactor = cmp.Or(c.NoiseFactor, 1)
	c.Relation = cmp.Or(c.Relation, AddRemove)
	c.Canary = cmp.Or(c.Canary, Gradient)
	c.Access = cmp.Or(c.Access, Steps)
	if c.Canary == Gradient {
		c.Strength = cmp.Or(c.Strength, 10)
		if !(c.Strength >= 1 && c.Strength <= 1e6) {
			return c, &audit.InputError{Field: "strength", Found: format(c.Strength), Want: "a number in [1, 1e6]", Remedy: "a gradient shorter than the clipping norm shows less"}
		}
	} else if c.Strength != 0 {
		return c, &audit.InputError{Field: "strength", Found: format(c.Strength), Want: "absent with poisoning canaries", Remedy: "their gradients follow from the model"}
	}
	features := c.Data.Features
	if data != nil {
		features = len(data.Features)
	}
	if c.Canary == Tail {
		c.Tail, c.Scale = cmp.Or(c.Tail, (features+1)/2), cmp.Or(c.Scale, Unit)
		if err := cmp.Or(checkInt("tail", c.Tail, 1, features), checkWord("scale", c.Scale, Unit, Median)); err != nil {
			return c, err
		}
	} else if c.Tail != 0 || c.Scale != "" {
		return c, &audit.InputError{Field: "tail", Found: fmt.Sprint(c.Tail), Want: "absent except with tail canaries"}
	}
	if err := cmp.Or(
		checkInt("steps", c.Steps, 1, stepsMost),
		checkNumber("rate", c.Rate, rateLeast, 1),
		checkNumber("clip", c.Clip, 0, 1e6),
		checkNumber("learning rate", c.LearningRate, 0, 1e6),
		checkNumber("epsilon", c.Epsilon, 0, 1000),
		checkNumber("delta", c.Delta, 0, 0.5),
		checkNumber("noise factor", c.NoiseFactor, 0, 1),
		checkWord("relation", c.Relation, AddRemove, Replace),
		checkWord("canary", c.Canary, Gradient, Poison, Tail),
		checkWord("access", c.Access, Steps, Final),
	); err != nil {
		return c, err
	}
	if c.Sigma == 0 {
		c.Sigma, err = c.calibrate()
		return c, err
	}
	if !(c.Sigma >= leastSigma && c.Sigma <= largestSigma) {
		return c, &audit.InputError{Field: "sigma", Found: format(c.Sigma), Want: "a number in [0.05, 1e6]", Remedy: "leave it out to derive it from epsilon and delta"}
	}
	return c, nil
}

func (c Config) sizes(data *Dataset) []int {
	if c.Model == Linear {
		return []int{len(data.Features), len(data.Classes)}
	}
	return []int{len(data.Features), c.Hidden[0], c.Hidden[1], len(data.Classes)}
}

// Params describes a training's settings as parameters of a source, with the
// defaults of [Config]. The claim, the relation and the data's seed are not among
// them.
func Params() []audit.ParamSpec {
	whole := func(name, doc string, value, least, most float64) audit.ParamSpec {
		return audit.ParamSpec{Name: name, Doc: doc, Default: value, Min: least, Max: most, Integer: true}
	}
	number := func(name, doc string, value, above, most float64) audit.ParamSpec {
		return audit.ParamSpec{Name: name, Doc: doc, Default: value, Min: above, Max: most, Open: true}
	}
	word := func(name, doc string, choices ...string) audit.ParamSpec {
		return audit.ParamSpec{Name: name, Doc: doc, Choices: choices}
	}
	c, err := Config{Sigma: 1}.Resolve(nil)
	if err != nil {
		panic("train: the defaults are refused: " + err.Error())
	}
	return []audit.ParamSpec{
		word("canary", "gradient: its gradient is a random direction of the weights; poison: it is a random corner of the domain with a random label; tail: it is one of the last principal components of the examples, with the label that fits it least", Gradient, Poison, Tail),
		word("access", "what the auditor sees: every step, or the final model only", Steps, Final),
		word("fault", "no-clipping: gradients are summed without clipping; quarter-noise: only a quarter of the noise is added", NoFault, FaultNoClipping, FaultQuarterNoise),
		word("model", "a perceptron with two hidden layers, or a linear model", Perceptron, Linear),
		whole("hidden", "units in each hidden layer", float64(c.Hidden[0]), 1, unitsMost),
		word("activation", "of the hidden units", Tanh, ReLU),
		whole("steps", "steps of a training", float64(c.Steps), 1, stepsMost),
		number("rate", "probability that an example takes part in a step", c.Rate, 0, 1),
		number("clip", "largest norm of an example's gradient", c.Clip, 0, 1e6),
		number("learning-rate", "factor on the mean gradient", c.LearningRate, 0, 1e6),
		{Name: "sigma", Doc: "standard deviation of the noise, divided by the clipping norm; 0: the least that keeps the claim", Max: largestSigma},
		{Name: "strength", Doc: "norm of a gradient canary before clipping, divided by the clipping norm", Default: c.Strength, Min: 1, Max: 1e6},
		whole("examples", "examples in the built-in data", float64(c.Data.Examples), 2, examplesMost),
		whole("features", "features of the built-in data", float64(c.Data.Features), 1, FeaturesMost),
		whole("classes", "classes of the built-in data", float64(c.Data.Classes), 2, classesMost),
		number("separation", "distance of a class's mean from the origin, in standard deviations", c.Data.Separation, 0, 100),
	}
}

// Faults by name.
const (
	NoFault           = "none"
	FaultNoClipping   = "no-clipping"
	FaultQuarterNoise = "quarter-noise"
)

// FromParams is the configuration that resolved parameters of [Params] mean; the
// built-in data's sizes are left out where builtIn is false. Relation, Epsilon,
// Delta and Data.Seed remain to be set.
func FromParams(p audit.Params, builtIn bool) Config {
	c := Config{
		Canary: p.Word("canary"), Access: p.Word("access"), Model: p.Word("model"),
		Steps: p.Int("steps"), Rate: p.Num("rate"), Clip: p.Num("clip"), LearningRate: p.Num("learning-rate"), Sigma: p.Num("sigma"),
	}
	if c.Model == Perceptron {
		c.Hidden = [2]int{p.Int("hidden"), p.Int("hidden")}
		c.Activation = p.Word("activation")
	}
	if c.Canary == Gradient {
		c.Strength = p.Num("strength")
	}
	switch p.Word("fault") {
	case FaultNoClipping:
		c.NoClipping = true
	case FaultQuarterNoise:
		c.NoiseFactor = 0.25
	}
	if builtIn {
		c.Data = Synthetic{Examples: p.Int("examples"), Features: p.Int("features"), Classes: p.Int("classes"), Separation: p.Num("separation")}
	}
	return c
}

// Idle are the parameters of [Params] that [FromParams] leaves out.
func Idle(p audit.Params, builtIn bool) (names []string) {
	if p.Word("model") != Perceptron {
		names = append(names, "hidden", "activation")
	}
	if p.Word("canary") != Gradient {
		names = append(names, "strength")
	}
	if !builtIn {
		names = append(names, "examples", "features", "classes", "separation")
	}
	return names
}

// Limits of what is accepted: what fits into a browser's memory.
const (
	examplesMost = 100_000
	// FeaturesMost is the largest number of features of an example.
	FeaturesMost = 1000
	classesMost  = 100
	cellsMost    = 1 << 24 // features of all examples
	unitsMost    = 1024
	stepsMost    = 100_000
	rateLeast    = 1e-9 // below, a step divides by next to nothing
	// CanariesMost is the largest number of canaries in one training.
	CanariesMost  = 8192
	canaryNumbers = 1 << 25 // weights times canaries: 256 MiB
)

func checkInt(field string, v, least, most int) error {
	if v < least || v > most {
		return &audit.InputError{Field: field, Found: strconv.Itoa(v), Want: fmt.Sprintf("a whole number in [%d, %d]", least, most)}
	}
	return nil
}

// checkNumber wants v in (above, most].
func checkNumber(field string, v, above, most float64) error {
	if !(v > above && v <= most) {
		return &audit.InputError{Field: field, Found: format(v), Want: fmt.Sprintf("a number in (%g, %g]", above, most)}
	}
	return nil
}

func checkWord(field, v string, known ...string) error {
	if slices.Contains(known, v) {
		return nil
	}
	return audit.UnknownName(field, v, known)
}

// numbered makes names: prefix1, prefix2, ...
func numbered(prefix string, n int) []string {
	return audit.Listed(n, func(i int) string { return prefix + strconv.Itoa(i+1) })
}
