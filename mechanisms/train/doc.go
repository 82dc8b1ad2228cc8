// Package train trains small models by DP-SGD with canaries among the examples,
// and scores them.
//
// The models are a linear softmax classifier and a perceptron with two hidden
// layers, under cross-entropy. DP-SGD (Abadi et al. 2016) takes T steps: every
// example takes part in a step with probability q on its own, its gradient is
// scaled to a norm of at most C, Gaussian noise of deviation sigma C is added to
// the sum, and the weights move against it by the learning rate over q N. Sigma
// comes from a claim by Rényi accounting (Mironov, Talwar and Zhang 2019,
// theorems 4 and 5).
//
// Gradient and tail canaries are those of LiDP (Pillutla et al. 2023), appendices
// D.2 and D.1; at the median norm of the examples a tail canary may leave their
// domain. A poisoning canary is a random corner of the domain with a random label.
//
// The auditor sees the last weights alone, or all noisy sums and also all other
// examples and which of them took part: the bound of the accounting holds for every
// outcome of the others' sampling.
//
// What decides a score has the same bits on every platform. Accounting has not:
// [Config.Resolve] rounds sigma up to four digits.
package train
