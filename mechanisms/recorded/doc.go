// Package recorded reads what other programs made: outputs of a mechanism on two
// datasets ([Samples]) and membership scores of a trained model ([Scores]), from
// CSV, TSV, JSON lines, JSON, NPY and NPZ, also in gzip, told apart by their bytes.
//
// A [Parser] is fed with chunks of a file, so that a page can read in slices; it
// returns a [File] of one or more [Table]. All faults of a file are a
// *audit.InputError that names the file, the line and column or the byte, what
// was found, what was expected and how to mend it.
//
// The package opens nothing: it takes bytes.
package recorded
