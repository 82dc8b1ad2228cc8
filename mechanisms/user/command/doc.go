// Package command audits a mechanism that a program of the user's runs, in any
// language. The program is started once a worker and kept; it reads requests from
// its standard input and writes answers to its standard output, a line of JSON
// each:
//
//	{"dataset": [[0, 1], [5, 2]], "n": 1000, "seed": 6755399441055744}
//	{"outputs": [3.2, 1.9, ...]}
//
// docs/command.md is the contract. A program that does not end at the end of its
// standard input is killed, with all processes of its process group. [Open] asks a
// few requests before anything is audited: they show the columns of an output and
// whether the seed fixes it, and outputs that cannot be independent are refused.
package command
