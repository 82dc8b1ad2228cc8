// Package stream holds the project's randomness: streams named by what they are
// for, and samplers that fill blocks.
//
// A stream is a ChaCha8 generator seeded by SHA-256 of a Key: seed, purpose,
// trial, side, shard. Nothing draws from a shared source and no key mentions a
// worker, so a result does not depend on how work was spread.
//
// Everything here gives the same bits on every platform. Each product that is
// added to something stands in a float64 conversion, which the language promises
// keeps compilers from fusing the two, and the elementary functions are the
// package's own: those of package math differ between platforms in the last
// bits. Code that turns samples into counts uses the functions here, in the same
// style. Only Sqrt, Floor, RoundToEven and Abs come from package math, which are
// exact everywhere.
//
// # Cost
//
// Nanoseconds a sample, fills of 4096, best of four, on a shared two-core AMD
// EPYC, Go 1.26, Node 20:
//
//	                   amd64    wasm
//	words alone          6.0     7.8   (math/rand/v2's ChaCha8: 5.2, 15.9)
//	Uniform              6.9    10.3
//	Bernoulli            6.5     9.5
//	Laplace             12.9    16.4
//	Exponential         12.9    16.4
//	Geometric           13.5    17.7
//	Gaussian            16.2    18.6
//	Laplace, one by one 21.6    57
//	Log                  6.5    16.7
//	Exp                  7.4    15.5
//	SinCos2Pi            7.5    19
//
// A new stream costs 1 us, 3 us in wasm, and 1 KB. Fill blocks: samples drawn one
// by one cost two to three times as much.
//
// Measured with
//
//	go test ./audit/stream -run '^$' -bench . -count 4
//	GOOS=js GOARCH=wasm go test ./audit/stream -run '^$' -bench . -count 4 \
//		-exec "$(go env GOROOT)/lib/wasm/go_js_wasm_exec"
package stream
