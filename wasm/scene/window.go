package scene

import (
	"fmt"
	"math"
	"strconv"
)

// Window is the part of an axis that is shown, as shares of the whole.
type Window struct{ Lo, Hi float64 }

// Whole is the window that shows everything.
var Whole = Window{0, 1}

const narrowest = 1.0 / 500

// Pan moves the window by a share of itself; it stays within the whole.
func (w Window) Pan(by float64) Window {
	span := w.Hi - w.Lo
	lo := min(1-span, max(0, w.Lo+by*span))
	return Window{lo, lo + span}
}

// Zoom changes the window's span by a factor about the place at a share of it:
// that place stays where it is, unless the whole ends first.
func (w Window) Zoom(factor, at float64) Window {
	span := w.Hi - w.Lo
	next := min(1, max(narrowest, span*factor))
	if next > 0.9999 {
		return Whole
	}
	lo := min(1-next, max(0, w.Lo+at*(span-next)))
	return Window{lo, lo + next}
}

// Show is the window moved so that it shows the place, a share of the whole.
func (w Window) Show(at float64) Window {
	span := w.Hi - w.Lo
	if at >= w.Lo && at <= w.Hi {
		return w
	}
	lo := min(1-span, max(0, at-span/2))
	return Window{lo, lo + span}
}

// Camera is what part of a picture is shown.
type Camera struct{ X, Y Window }

// Everything shows the whole picture.
var Everything = Camera{Whole, Whole}

// Frame is what a picture is laid out for.
type Frame struct {
	Width   float64
	Measure Measure
	Camera  Camera
}

func (f Frame) scene(height float64) *Scene {
	if f.Measure == nil {
		f.Measure = Roughly
	}
	return &Scene{Width: f.Width, Height: height, measure: f.Measure}
}

// Figures says how the numbers of a table are written.
type Figures int

const (
	Rounded Figures = iota // to six figures, for reading
	Exact                  // with all digits, for files
)

// of is a number, as a spreadsheet reads it.
func (f Figures) of(x float64) string {
	switch {
	case math.IsInf(x, 1):
		return "infinite"
	case math.IsInf(x, -1):
		return "-infinite"
	case f == Exact:
		return strconv.FormatFloat(x, 'g', -1, 64)
	}
	return fmt.Sprintf("%.6g", x)
}

// down and up are bounds, rounded to the side on which they stay true.
func (f Figures) down(x float64) string { return f.bound(x, math.Floor) }
func (f Figures) up(x float64) string   { return f.bound(x, math.Ceil) }

func (f Figures) bound(x float64, whole func(float64) float64) string {
	if f == Exact || x == 0 || math.IsInf(x, 0) || math.IsNaN(x) {
		return f.of(x)
	}
	unit := math.Pow(10, math.Floor(math.Log10(math.Abs(x)))-5)
	return f.of(whole(round(x/unit, 12)) * unit)
}

func yesNo(yes bool) string { return map[bool]string{true: "yes", false: "no"}[yes] }

// Table is a view's facts. The first column heads its rows.
type Table struct {
	Title string     `json:"title"`
	Head  []string   `json:"head"`
	Rows  [][]string `json:"rows"`
}

// Choice is one of several ways to look at a view.
type Choice struct {
	ID    string `json:"id"`
	Words string `json:"words"`
}

// View is one of the pictures of a report.
type View interface {
	// ID is its name, Title its words.
	ID() string
	Title() string
	// Words say what is to be seen, and what it is not.
	Words() string
	// Choices are ways to look at it; Choose takes one. The first is the default.
	Choices() (label string, choices []Choice)
	Choose(id string)
	// Zooms says which axes pan and zoom.
	Zooms() (x, y bool)
	// Layout is the picture.
	Layout(Frame) *Scene
	// Name tells an item from the others of a view. Reading puts it into words, and
	// Place says where it lies, as shares of
	// the whole.
	Name(item int) string
	Reading(item int) string
	Place(item int) (x, y float64)
	// Facts are the same numbers as a table.
	Facts(fig Figures) Table
}

// still is the part of a view that has no choices, does not zoom, and whose items
// are told apart by their numbers.
type still struct{}

func (still) Choices() (string, []Choice) { return "", nil }
func (still) Choose(string)               {}
func (still) Zooms() (x, y bool)          { return false, false }
func (still) Name(i int) string           { return strconv.Itoa(i) }
func (still) Place(int) (x, y float64)    { return 0.5, 0.5 }
