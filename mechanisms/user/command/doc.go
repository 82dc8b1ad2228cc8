// Package command audits a mechanism that a user's program runs. It is started once
// a worker and kept; it reads requests from its standard input and answers on its
// standard output, a line of JSON each:
//
//	{"dataset": [[0, 1], [5, 2]], "n": 1000, "seed": 6755399441055744}
//	{"outputs": [3.2, 1.9, ...]}
//
// docs/command.md is the contract. A program that does not end at the end of its
// standard input is killed, with its process group.
package command
