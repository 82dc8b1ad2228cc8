// Package house holds tests of the tree as a whole: which package may import which.
package house
