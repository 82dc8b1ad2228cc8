// Package recorded reads what other programs made: outputs of a mechanism on two
// datasets ([Samples]) and membership scores of a trained model ([Scores]), from
// CSV, TSV, JSON lines, NPY and NPZ, told apart by their bytes.
//
// [Read] reads a file into a [File] of one or more [Table], in memory. All faults of a file
// are a *audit.InputError that names the file, the line or the byte, what was found, what was
// expected and how to mend it.
//
// The package opens nothing: it takes readers.
package recorded
