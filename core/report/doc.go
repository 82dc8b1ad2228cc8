// Package report holds what reports of every kind have in common: rows of bounds by
// method, the verdict that follows from them, and their words.
package report
