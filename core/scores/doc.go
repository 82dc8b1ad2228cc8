// Package scores audits membership scores that another program made, of one training,
// of one training a score or of a matrix of runs, and sets what every method makes of
// them side by side.
package scores
