// Package module runs mechanisms that the user brings as WebAssembly modules.
// docs/abi.md is the contract. [Check], which the page shares, looks at a module
// and limits it; [Open], which is not there in the browser, runs it in processes
// of its own, each of which is [Host].
package module

import "time"

// Limits of a module. Those of parameters, locals and code are the ones that
// browsers have (WebAssembly JavaScript Interface, section "Implementation-defined
// Limits"), so that a module that runs on the command line runs in the page.
const (
	MostBytes    = 16 << 20
	mostPages    = 4096    // of memory, of 64 KiB: 256 MiB
	mostEntries  = 100_000 // of one kind: types, functions, exports, ...
	mostTables   = 8       // in a module
	mostElements = 1 << 18 // of a table
	mostParams   = 1000    // of a function, and as many results
	mostLocals   = 50_000  // of a function
	mostCode     = 7_654_321
)

// How long a module may take unless an option says otherwise.
const (
	Patience        = 10 * time.Second // for one call
	CompilePatience = 30 * time.Second // to be compiled
)
