// Package command audits a mechanism that a program of the user's runs, in any
// language. The program is started once a worker and kept; it reads requests from
// its standard input and writes answers to its standard output, a line of JSON
// each:
//
//	{"dataset": [[0, 1], [5, 2]], "n": 1000, "seed": 6755399441055744}
//	{"outputs": [3.2, 1.9, ...]}
//
// A request asks for n independent outputs on a dataset, which is a list of rows
// of numbers and may be empty; the seed is a whole number below 2^53, another one
// in each request. An answer is the outputs, or a bare array of them; an output is
// a number, a string, true, false or null, or an array of these, one a column.
// NaN, Infinity and -Infinity are understood. A program that refuses a request
// answers {"error": "why"}. At the end of its standard input it ends; if it does
// not, it is killed, with all processes of its process group.
//
// [Open] asks a few requests before anything is audited: they show how many
// columns an output has and of what kind they are, whether the seed fixes the
// outputs, and outputs that cannot be independent are refused.
package command
