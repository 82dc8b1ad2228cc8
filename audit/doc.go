// Package audit holds the values that all of dpscope speaks of: claims, datasets, parameters,
// mechanisms, learners and finders, errors of input, strict JSON, and what every report has.
//
// It stands below everything else and imports only streams of random numbers, which mechanisms and
// learners draw from.
package audit
