// Package module runs mechanisms that are WebAssembly modules; docs/abi.md is the contract.
// [Open] runs a module in processes of its own, each of which is [Host]: wazero ends a call
// at the turn of a loop only, and limits memory but not tables nor what its compiler takes.
// In the page the browser runs it, and [Check] and [Imports] say what is wrong with it.
package module

import "time"

// Limits of a module.
const (
	MostBytes = 16 << 20
	mostPages = 4096 // of memory, of 64 KiB: 256 MiB
)

// How long a module may take unless an option says otherwise.
const (
	Patience        = 10 * time.Second // for one call
	CompilePatience = 30 * time.Second // to be compiled
)
