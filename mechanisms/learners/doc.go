// Package learners holds private learners to audit: mechanisms whose dataset is a
// table of labelled examples and whose output is a summary of the trained model.
//
// A dataset's columns are the features, in bounds that are declared, and last the
// label, 0 or 1 (1 from 1/2 on, so that searches over the domain may propose anything).
// Features are clamped to the bounds row by row, which costs no privacy. One row is
// one privacy unit. Outputs have the same bits on every platform.
//
// What is written is the summary tau of table 1 of Lu et al., A General Framework for
// Auditing Differentially Private Machine Learning (2022). Some look at the point x* in
// which a pair of datasets differs.
package learners
