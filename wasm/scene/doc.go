// Package scene holds the pictures of reports and of runs, each a view of package plot.
//
// Everything that a picture says of a report beyond the report's own numbers is
// an observed share or a plug-in estimate, and is called so: no certificate.
package scene
