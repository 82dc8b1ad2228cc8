// Package plot is a grammar of pictures. A [View] is a [Plot] for every choice: axes, marks,
// what can be read, a caption, and the same numbers as a table; legend, layout, hit areas and
// positions follow from them. It is pure: pictures are lists of shapes and labels in CSS
// pixels. [Draw] paints them as SVG, for pages and files; wasm/view paints them with Ebiten,
// to be walked around in by a [Viewer].
package plot
