// Package stream holds the project's randomness: streams with purposes, and samplers of blocks.
//
// A stream is a ChaCha8 generator seeded by SHA-256 of a Key: seed, purpose, trial, side, shard.
// Nothing draws from a shared source and no key mentions a worker, so a result does not depend on
// how work was spread.
//
// Everything here gives the same bits on every platform. Each product that is added to something
// stands in a float64 conversion, which keeps compilers from fusing the two, and the elementary
// functions are the package's own. Code that turns samples into counts does the same. Only Sqrt,
// Floor, RoundToEven and Abs come from package math, which are exact everywhere.
package stream
