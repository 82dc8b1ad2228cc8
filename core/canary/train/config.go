package train

import "github.com/dpscope/dpscope/audit"

// Config is all of a training and of its canaries. Zero values mean defaults,
// which [Config.Resolve] writes out.
type Config struct {
	Data Synthetic `json:"data,omitzero"` // the built-in data; empty where a Dataset stands beside

	Model      string `json:"model,omitempty"`      // "mlp" (default) or "linear"
	Hidden     [2]int `json:"hidden,omitzero"`      // units of the hidden layers, 1 to 1024; default 32 and 32; none in a linear model
	Activation string `json:"activation,omitempty"` // "tanh" (default) or "relu"; none in a linear model

	Steps        int     `json:"steps,omitempty"`        // T, at most 100,000; default 100
	Rate         float64 `json:"rate,omitempty"`         // q, the probability with which an example takes part in a step, (0, 1]; default 0.1
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

	Canary   string  `json:"canary,omitempty"`   // "gradient" (default) or "poison"
	Access   string  `json:"access,omitempty"`   // what the auditor sees: "steps" (default) or "final"
	Strength float64 `json:"strength,omitempty"` // norm of a gradient canary over C, before clipping, [1, 1e6]; default 10; none in a poisoning canary
}

// The names that a Config uses.
const (
	Linear, Perceptron = "linear", "mlp"
	Tanh, ReLU         = "tanh", "relu"
	AddRemove, Replace = "add-remove", "replace"
	Gradient, Poison   = "gradient", "poison"
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
	text := func(p *string, value string) {
		if *p == "" {
			*p = value
		}
	}
	number := func(p *float64, value float64) {
		if *p == 0 {
			*p = value
		}
	}
	text(&c.Model, Perceptron)
	if err := checkWord("model", c.Model, Perceptron, Linear); err != nil {
		return c, err
	}
	if c.Model == Perceptron {
		text(&c.Activation, Tanh)
		if err := checkWord("activation", c.Activation, Tanh, ReLU); err != nil {
			return c, err
		}
		if c.Hidden == [2]int{} {
			c.Hidden = [2]int{32, 32}
		}
		for _, h := range c.Hidden {
			if err := checkInt("hidden", h, 1, unitsMost); err != nil {
				return c, err
			}
		}
	} else if c.Hidden != [2]int{} || c.Activation != "" {
		return c, &audit.InputError{Field: "model", Found: `"linear" with hidden layers`, Want: `"mlp" to have them`, Remedy: "leave hidden and activation out"}
	}
	if c.Steps == 0 {
		c.Steps = 100
	}
	number(&c.Rate, 0.1)
	number(&c.Clip, 1)
	number(&c.LearningRate, 0.5)
	number(&c.Epsilon, 2)
	number(&c.Delta, 1e-5)
	number(&c.NoiseFactor, 1)
	text(&c.Relation, AddRemove)
	text(&c.Canary, Gradient)
	text(&c.Access, Steps)
	if c.Canary == Gradient {
		number(&c.Strength, 10)
		if !(c.Strength >= 1 && c.Strength <= 1e6) {
			return c, &audit.InputError{Field: "strength", Found: format(c.Strength), Want: "a number in [1, 1e6]", Remedy: "a gradient shorter than the clipping norm tells less"}
		}
	} else if c.Strength != 0 {
		return c, &audit.InputError{Field: "strength", Found: format(c.Strength), Want: "absent with poisoning canaries", Remedy: "their gradients are the model's"}
	}
	for _, e := range []error{
		checkInt("steps", c.Steps, 1, stepsMost),
		checkNumber("rate", c.Rate, rateLeast, 1),
		checkNumber("clip", c.Clip, 0, 1e6),
		checkNumber("learning rate", c.LearningRate, 0, 1e6),
		checkNumber("epsilon", c.Epsilon, 0, 1000),
		checkNumber("delta", c.Delta, 0, 0.5),
		checkNumber("noise factor", c.NoiseFactor, 0, 1),
		checkWord("relation", c.Relation, AddRemove, Replace),
		checkWord("canary", c.Canary, Gradient, Poison),
		checkWord("access", c.Access, Steps, Final),
	} {
		if e != nil {
			return c, e
		}
	}
	if c.Sigma == 0 {
		c.Sigma, err = c.calibrate()
		return c, err
	}
	if !(c.Sigma >= leastSigma && c.Sigma <= largestSigma) {
		return c, &audit.InputError{Field: "sigma", Found: format(c.Sigma), Want: "a number in [0.05, 1e6]", Remedy: "leave it out to have it from epsilon and delta"}
	}
	return c, nil
}

// sizes are the widths of the network's layers, inputs first.
func (c Config) sizes(data *Dataset) []int {
	if c.Model == Linear {
		return []int{len(data.Features), len(data.Classes)}
	}
	return []int{len(data.Features), c.Hidden[0], c.Hidden[1], len(data.Classes)}
}
