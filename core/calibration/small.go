package calibration

import "github.com/dpscope/dpscope/audit"

// Small is a plan of a minute: what is chosen where nothing is, on mechanisms
// whose claims are met on a pair in reach.
func Small() Plan {
	return Plan{Runs: 40, Samples: 1000, Explore: 1000, Trials: 3, Beta: 0.05, Seed: 1, Learners: []string{audit.Auto},
		Mechanisms: []string{"randomised-response", "laplace-mean", "noisy-max-exponential", "noisy-histogram", "rappor-once"}}
}
