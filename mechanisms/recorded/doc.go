// Package recorded reads what other programs made: outputs of a mechanism on two
// datasets ([Samples]) and membership scores of a trained model ([Scores]), from
// CSV, TSV, JSON lines, JSON, NPY and NPZ, also in gzip, told apart by their bytes.
package recorded
