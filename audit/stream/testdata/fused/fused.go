// Package fused holds a product that is added without a conversion between, which compilers may
// fuse: the test of the test that looks for such.
package fused

func Sum(a, b, c float64) float64 { return a*b + c }
