// Package published has forms of bounds that others published, and what mends them, to be compared
// with package bounds, never to certify: most are loose, and some do not keep the error that they
// state. What is wrong stands in docs/findings, with proofs.
package published
