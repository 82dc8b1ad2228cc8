// Package module runs mechanisms that the user brings as WebAssembly modules.
// docs/abi.md is the contract. [Check], which the page shares, looks at a module;
// [Open], which is not there in the browser, runs it.
package module

import "time"

// Limits of a module.
const (
	MostBytes = 16 << 20
	mostPages = 4096 // of memory, of 64 KiB: 256 MiB
)

// Patience is how long one call may take unless an option says otherwise.
const Patience = 10 * time.Second
