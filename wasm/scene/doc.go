// Package scene lays out the view's pictures: what is drawn where, what can be
// read where, and the same facts as a table. It is pure: pictures are lists of
// shapes and labels in CSS pixels, which wasm/view paints.
//
// Everything that a picture says of a report beyond the report's own numbers is
// an observed share or a plug-in estimate, and is called so: no certificate.
package scene
