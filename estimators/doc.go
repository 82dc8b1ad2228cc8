// Package estimators holds the learners: each turns outputs of a mechanism on two neighbouring
// datasets into a score that ranks outputs by how much likelier they are on the first. By the
// Neyman-Pearson lemma the events that tell the datasets apart best are sets above a threshold of
// the likelihood ratio, so a good ranking is all that is asked. A bad one costs power, never
// validity: the event is certified on fresh outputs.
//
// Scores have the same bits on every platform, see [audit.Model]. What a learner fits may differ in the
// last bits where its documentation says so.
package estimators
