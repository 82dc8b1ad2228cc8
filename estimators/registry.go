package estimators

import (
	"slices"

	"github.com/dpscope/dpscope/audit"
)

// All are the learners that a portfolio trains. What comes first is easier to read, and wins where
// another does hardly better.
var All = []audit.LearnerSpec{
	histogram,
	outcomeTable,
	logistic,
	logisticVector, // fewer weights: better where summaries over-fit the tails
	logisticSums,   // fewer still: better where columns tell alike
}

// Named are the learners that are used only when a plan names them. Networks take several times as long as
// all of All and do better only where columns depend on each other; kernels, polynomials and equal bins
// hardly ever do. float-bits refutes all noise added in floating point, and would hide other faults.
func Named() []audit.LearnerSpec {
	return []audit.LearnerSpec{
		perceptron(audit.LearnerSpec{Name: "mlp"}, mlpOptions{hidden: [2]int{32, 32}, batch: 128}),
		floatBits,
		renyiTester(),
		hockeyStickTester(),
		histogramTester,
		dpSniper(),
		chebyshev,
		mmdTester(),
		kernelRenyi(),
	}
}

// Registry is all of them, for a catalogue.
func Registry() []audit.LearnerSpec { return slices.Concat(All, Named()) }

// What the published testers train. Bound, threshold and what is certified are the engine's.

var papersLayers = [2]int{100, 100}

// renyiTester is the witness of RényiTester: two layers of 100 units, an output bounded by 16 epsilon
// through a scaled tanh, trained for R^h at the claimed alpha by stochastic gradients (RényiTester,
// experiments and appendix B; DP-Auditorium, algorithm 2). What differs: Adam on batches of 512 a
// side, as the papers name no optimiser; C tanh(x/C) for C tanh(x), the same family of functions;
// early stopping; C is cut to 700/alpha, where e^(alpha C) would overflow.
func renyiTester() audit.LearnerSpec {
	return perceptron(audit.LearnerSpec{Name: "renyi-tester", Tester: audit.RenyiTester, Title: "Witness of RényiTester",
		Source: "RényiTester (Kong, Muñoz Medina and Ribero 2023) and DP-Auditorium (Kong et al. 2023), algorithm 2"},
		mlpOptions{hidden: papersLayers, loss: renyiLoss, batch: 512, perEpsilon: 16})
}

// hockeyStickTester is the classifier of HockeyStickTester: logistic loss with the second side
// e^epsilon times as heavy (DP-Auditorium, lemma 4.9 and algorithm 5). What differs: the sides are
// weighted instead of drawn in that proportion, up to epsilon = 10; the network of its other tester,
// as the paper leaves the class open; early stopping.
func hockeyStickTester() audit.LearnerSpec {
	return perceptron(audit.LearnerSpec{Name: "hockeystick-tester", Tester: audit.HockeyStickTester, Title: "Classifier of HockeyStickTester",
		Source: "DP-Auditorium (Kong et al. 2023), section 4.2.2, algorithms 5 and 6"},
		mlpOptions{hidden: papersLayers, loss: hockeyStickLoss, batch: 128})
}

// mmdTester is the witness function behind MMDTester's statistic, on 256 landmarks a side
// (DP-Auditorium, algorithms 7 and 8; Gretton et al. 2012, section 2.3). What differs: the tester
// averages kernels over pairs and forms no witness; a Gaussian kernel at the median distance, which
// the paper leaves open.
func mmdTester() audit.LearnerSpec {
	return settable([]audit.ParamSpec{
		{Name: "landmarks", Doc: "training outputs a side in the witness", Default: 256, Min: 1, Max: landmarksMost, Integer: true},
		{Name: "bandwidth", Doc: "of the kernel, in median distances", Default: 1, Max: 100, Open: true},
	}, func(p audit.Params) audit.LearnerSpec {
		spec := published("mmd-tester", "Witness of MMDTester",
			"DP-Auditorium (Kong et al. 2023), section 4.2.3; Gretton et al. 2012, section 2.3",
			kernelMean(p.Int("landmarks"), p.Num("bandwidth")))
		spec.Tester = audit.MMDTester
		return spec
	})
}

// dpSniper is DP-Sniper's logistic classifier (Bichsel et al. 2021, section 5). What differs: a
// penalty chosen on held-out outputs, L-BFGS to convergence instead of stochastic gradients, inputs
// standardised and cut at outer quantiles.
func dpSniper() audit.LearnerSpec {
	return published("dp-sniper", "Classifier of DP-Sniper",
		"DP-Sniper (Bichsel et al. 2021), section 5, with logistic regression",
		logisticVector)
}

// settable is the learner of these settings' defaults, and of others by name.
func settable(settings []audit.ParamSpec, with func(audit.Params) audit.LearnerSpec) audit.LearnerSpec {
	defaults, err := audit.ResolveParams(settings, nil, audit.Claim{})
	if err != nil {
		panic("estimators: a default is out of its range")
	}
	spec := with(defaults)
	spec.Settings, spec.With = settings, with
	return spec
}

// published is spec under the name of a tester.
func published(name, title, source string, spec audit.LearnerSpec) audit.LearnerSpec {
	spec.Name, spec.Title, spec.Source, spec.ByName = name, title, source, true
	return spec
}
