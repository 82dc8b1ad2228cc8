package calibration

import (
	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/stream"
)

// setting is how a mechanism is audited so that its claim is met: the closer
// the truth is to the claim, the more often chance refutes it.
type setting struct {
	parameters audit.Params // but defaults
	// exact is what holds on the first pair, up to rounding, where the
	// mechanism's own claim is met on no pair; 0: the own claim. It holds on
	// that pair only, so that there is nothing to find.
	exact float64
	at    int    // number, from 1, of the pair that meets the claim; 0: none is known
	why   string // how that pair meets it, or what is known
	// floats: adds its noise in floating point, which float-bits rightly
	// refutes.
	floats bool
}

func params(nameValue ...any) audit.Params {
	p := audit.Params{}
	for i := 0; i < len(nameValue); i += 2 {
		p[nameValue[i].(string)] = audit.ParamValue{Number: nameValue[i+1].(float64)}
	}
	return p
}

// met are the settings of the mechanisms that keep their claim, by name. Derivations are for
// the parameters that are named and, of the others, the defaults.
var met = map[string]setting{
	"randomised-response": {parameters: params("epsilon", 1.0), at: 1, why: "the answer yes"},
	"laplace-count":       {parameters: params("epsilon", 1.0), at: 1, floats: true, why: "a count beyond both true ones"},
	"laplace-mean": {parameters: params("epsilon", 1.0), at: 3, floats: true,
		why: "a negative mean with the count at its lower end: the count's noise and the sum's cost epsilon/2 each; on the first pair only the count moves, epsilon/2"},
	"gaussian-mean": {floats: true, why: "not known to be met; on the first pair only the count moves, epsilon/2"},
	"svt1":          {parameters: params("epsilon", 1.0, "m", 1.0), exact: lone(4, 2), at: 1, why: "a single query that crosses the threshold: exact"},
	"svt2":          {parameters: params("epsilon", 1.0, "m", 1.0), exact: lone(4, 2), at: 1, why: "a single query that crosses the threshold: exact"},
	"numeric-svt": {parameters: params("epsilon", 1.0, "m", 1.0), exact: lone(6, 3) + 1.0/3, at: 1, floats: true,
		why: "a single query that crosses the threshold, and a value beyond both answers: exact"},
	// Lap(2) less Lap(2) is at least 2 with probability (1+2/4) e^-1 / 2.
	"noisy-max-laplace": {parameters: params("epsilon", 1.0, "m", 2.0), exact: 1 - stream.Log(1.5), at: 1, why: "the query that falls wins against the one that rises: exact"},
	"noisy-max-exponential": {parameters: params("epsilon", 1.0, "m", 2.0), at: 1,
		why: "the query that falls wins against the one that rises"},
	"noisy-histogram":    {parameters: params("epsilon", 1.0), at: 1, floats: true, why: "a count beyond both true ones"},
	"exponential-median": {parameters: params("epsilon", 1.0), exact: medianLoss(), at: 1, why: "the last point but one: exact"},
	"rappor-once":        {parameters: params("epsilon", 0.8, "hashes", 1.0), at: 1, why: "the two bits that differ, one each way"},
	"rappor":             {parameters: params("epsilon", 0.4, "hashes", 1.0), at: 1, why: "the two bits that differ, one each way"},
	"prefix-sum":         {parameters: params("epsilon", 1.0), at: 1, floats: true, why: "a first sum beyond both true ones"},
	"laplace-parallel":   {parameters: params("epsilon", 1.0, "copies", 2.0), at: 1, floats: true, why: "both copies beyond both values"},
	"gaussian-mean-renyi": {floats: true,
		why: "not known to be met; on the first pair only the count moves, half of the claim"},
	"dp-sgd":           {parameters: params("sigma", 2.0, "clip", 1.0, "alpha", 2.0), at: 1, floats: true, why: "Gaussians 1/sigma apart, at every order"},
	"laplace-snapping": {parameters: params("epsilon", 1.0), at: 1, why: "an output beyond both values"},
}

// lone is the loss of a sparse vector technique on one query that is half a
// sensitivity above the threshold or below it, with noise of scales nu and rho,
// not equal: by symmetry that of randomised response. The sum of two Laplace
// variables is beyond t > 0 with probability
// (nu² e^(-t/nu) - rho² e^(-t/rho)) / (2 (nu² - rho²)).
func lone(nu, rho float64) float64 {
	const t = 0.5
	p := (float64(nu*nu*stream.Exp(-t/nu)) - float64(rho*rho*stream.Exp(-t/rho))) / (2 * (float64(nu*nu) - float64(rho*rho)))
	return stream.Log((1 - p) / p)
}

// medianLoss is the loss of the exponential mechanism with 21 points at
// epsilon 1 on its first pair: the point before the last is alone in the middle
// of the first dataset's records, and behind both of the second's.
func medianLoss() float64 {
	near, far := stream.Exp(-0.25), stream.Exp(-0.5)
	first := 1 / (1 + float64(20*far))
	second := far / (18 + near + float64(2*far))
	return stream.Log(first / second)
}

// marginal is added to exact losses, so that rounding leaves no claim below the
// truth.
const marginal = 1e-9
