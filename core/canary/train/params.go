package train

import "github.com/dpscope/dpscope/audit"

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
		word("canary", "gradient: a random direction of the weights is its gradient; poison: a random corner of the domain with a random label", Gradient, Poison),
		word("access", "what the auditor sees: every step, or the final model only", Steps, Final),
		word("fault", "no-clipping: gradients are summed as they are; quarter-noise: a quarter of the noise is added", NoFault, FaultNoClipping, FaultQuarterNoise),
		word("model", "a perceptron with two hidden layers, or a linear model", Perceptron, Linear),
		whole("hidden", "units in each hidden layer", float64(c.Hidden[0]), 1, unitsMost),
		word("activation", "of the hidden units", Tanh, ReLU),
		whole("steps", "steps of a training", float64(c.Steps), 1, stepsMost),
		number("rate", "probability with which an example takes part in a step", c.Rate, 0, 1),
		number("clip", "largest norm of an example's gradient", c.Clip, 0, 1e6),
		number("learning-rate", "what the mean gradient is multiplied by", c.LearningRate, 0, 1e6),
		{Name: "sigma", Doc: "deviation of the noise over the clipping norm; 0: the least that keeps the claim", Max: largestSigma},
		{Name: "strength", Doc: "norm of a gradient canary over the clipping norm, before clipping", Default: c.Strength, Min: 1, Max: 1e6},
		whole("examples", "examples in the built-in data", float64(c.Data.Examples), 2, examplesMost),
		whole("features", "features of the built-in data", float64(c.Data.Features), 1, featuresMost),
		whole("classes", "classes of the built-in data", float64(c.Data.Classes), 2, classesMost),
		number("separation", "distance of a class's mean from the origin, in deviations", c.Data.Separation, 0, 100),
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
