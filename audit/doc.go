// Package audit holds the values that all of dpscope speaks of: claims, datasets, parameters,
// mechanisms, learners and finders, errors of input, strict JSON, and what every report has.
//
// It imports only streams of random numbers.
package audit
