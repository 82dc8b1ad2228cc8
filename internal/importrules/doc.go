// Package importrules holds tests of the tree as a whole: which package may import which.
package importrules
