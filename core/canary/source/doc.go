// Package source holds what audits with canaries run: sums with Gaussian noise, which
// are the example of LiDP, and models trained by DP-SGD.
package source
