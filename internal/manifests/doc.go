// Package manifests holds the manifests of docs/examples/scale against the types of those
// whom they are for: Kubernetes, Cloud Run, GitHub Actions. It is a module of its own, so
// that their dependencies are not ours.
package manifests
