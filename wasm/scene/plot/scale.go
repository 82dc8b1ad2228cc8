package plot

import (
	"math"
	"strconv"
	"strings"
)

func hypot(x, y float64) float64 { return math.Sqrt(x*x + y*y) }

// Scale places values between two pixels.
type Scale struct {
	Lo, Hi   float64 // values; of a logarithmic scale above 0
	From, To float64 // px
	Log      bool
}

// At is the pixel of a value; on a logarithmic scale of all below it the lower end.
func (s Scale) At(v float64) float64 {
	if s.Log {
		if !(v > s.Lo) {
			return s.From
		}
		return s.From + (s.To-s.From)*math.Log(v/s.Lo)/math.Log(s.Hi/s.Lo)
	}
	return s.From + (s.To-s.From)*(v-s.Lo)/(s.Hi-s.Lo)
}

// Value is the value at a pixel.
func (s Scale) Value(px float64) float64 {
	f := (px - s.From) / (s.To - s.From)
	if s.Log {
		return s.Lo * math.Exp(f*math.Log(s.Hi/s.Lo))
	}
	return s.Lo + f*(s.Hi-s.Lo)
}

func (s Scale) zoomed(w Window) Scale {
	s.Lo, s.Hi = s.Value(s.From+w.Lo*(s.To-s.From)), s.Value(s.From+w.Hi*(s.To-s.From))
	return s
}

func (s Scale) marks(n int) []float64 {
	if s.Log && s.Hi/s.Lo > 20 {
		return decades(s.Lo, s.Hi, n)
	}
	return ticks(s.Lo, s.Hi, n)
}

// ticks are about n round values between two.
func ticks(lo, hi float64, n int) []float64 {
	raw := (hi - lo) / float64(max(1, n))
	if !(raw > 0) || math.IsInf(raw, 0) {
		return nil
	}
	power := math.Pow(10, math.Floor(math.Log10(raw)))
	step := 10 * power
	for _, m := range []float64{5, 2, 1} {
		if m*power >= raw*0.999 {
			step = m * power
		}
	}
	var out []float64
	for k := math.Ceil(lo/step - 1e-9); k*step <= hi+step*1e-9 && len(out) < 50; k++ {
		out = append(out, Round(k*step, 12)+0) // no −0
	}
	return out
}

// decades are powers of ten, with twice and five times them where there is room.
func decades(lo, hi float64, n int) []float64 {
	from, to := int(math.Floor(math.Log10(lo)+1e-9)), int(math.Floor(math.Log10(hi)+1e-9))
	skip := max(1, (to-from+n-1)/max(1, n))
	steps := If(3*(to-from) <= n, []float64{1, 2, 5}, []float64{1})
	var out []float64
	for k := from; k <= to; k++ {
		for _, m := range steps {
			if v := m * math.Pow(10, float64(k)); (to-k)%skip == 0 && v >= lo*0.999 && v <= hi*1.001 {
				out = append(out, v)
			}
		}
	}
	return out
}

// Short is a number to about four figures, with a true minus sign.
func Short(x float64) string {
	switch {
	case x == 0:
		return "0"
	case math.IsInf(x, 1):
		return "∞"
	case math.IsInf(x, -1):
		return "−∞"
	}
	s := strconv.FormatFloat(Round(x, 4), 'f', -1, 64)
	if a := math.Abs(x); a >= 1e6 || a < 1e-4 {
		head, tail, _ := strings.Cut(strconv.FormatFloat(x, 'e', 2, 64), "e")
		k, _ := strconv.Atoi(tail)
		s = head + "e" + strconv.Itoa(k)
	}
	return strings.ReplaceAll(s, "-", "−")
}

// ShortDown is a lower bound to four figures, rounded down.
func ShortDown(x float64) string { return Short(ToSide(x, 3, math.Floor)) }

// Grouped is a count, its thousands apart by narrow spaces.
func Grouped(n int) string {
	s := strconv.Itoa(n)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "\u202f" + s[i:]
	}
	return s
}

// Percent is a share, to three figures.
func Percent(v float64) string {
	if v == 0 || v == 1 {
		return strconv.Itoa(int(100*v)) + "\u00a0%"
	}
	return Short(Round(100*v, 3)) + "\u00a0%"
}

// PercentTo is a bound on a share, to four figures.
func PercentTo(v float64, whole func(float64) float64) string {
	if v == 0 || v == 1 {
		return Percent(v)
	}
	return Short(ToSide(100*v, 3, whole)) + "\u00a0%"
}

// Round is a number of so many figures.
func Round(x float64, figures int) float64 {
	v, _ := strconv.ParseFloat(strconv.FormatFloat(x, 'g', figures, 64), 64)
	return v
}

// Power is a number, as a power of ten if it is one far from 1.
func Power(v float64) string {
	if !(v > 0) {
		return Short(v)
	}
	k := math.Round(math.Log10(v))
	if math.Abs(k) < 3 || math.Abs(v/math.Pow(10, k)-1) > 1e-9 {
		return Short(v)
	}
	raised := func(c rune) rune {
		return []rune("⁻⁰¹²³⁴⁵⁶⁷⁸⁹")[strings.IndexRune("-0123456789", c)]
	}
	return "10" + strings.Map(raised, strconv.Itoa(int(k)))
}

// Window is the part of an axis that is shown, in shares.
type Window struct{ Lo, Hi float64 }

// Narrowest is the least of it.
const Narrowest = 1.0 / 500

// pan moves the window by a share of itself, within the whole.
func (w Window) pan(by float64) Window {
	span := w.Hi - w.Lo
	return window(w.Lo+by*span, span)
}

func window(lo, span float64) Window {
	lo = min(1-span, max(0, lo))
	return Window{lo, lo + span}
}

// zoom changes the window's span about the place at a share of it, which stays unless the whole ends.
func (w Window) zoom(factor, at float64) Window {
	span := w.Hi - w.Lo
	next := min(1, max(Narrowest, span*factor))
	if next > 0.9999 {
		return Window{0, 1}
	}
	return window(w.Lo+at*(span-next), next)
}

// show moves the window so that it shows the place.
func (w Window) show(at float64) Window {
	if at >= w.Lo && at <= w.Hi {
		return w
	}
	span := w.Hi - w.Lo
	return window(at-span/2, span)
}

// Camera is what is shown.
type Camera struct{ X, Y Window }

// Everything shows the whole picture.
var Everything = Camera{Window{0, 1}, Window{0, 1}}

// Frame is what a picture is laid out for.
type Frame struct {
	Width   float64
	Measure Measure
	Camera  Camera
}

// ToSide rounds by whole, so many figures after the first.
func ToSide(x, figures float64, whole func(float64) float64) float64 {
	if x == 0 || math.IsInf(x, 0) || math.IsNaN(x) {
		return x
	}
	unit := math.Pow(10, math.Floor(math.Log10(math.Abs(x)))-figures)
	return whole(Round(x/unit, 12)) * unit
}

// Choice is a way to look at a view.
type Choice struct {
	ID    string `json:"id"`
	Words string `json:"words"`
}

// LinearOrLog are the choices of an axis.
var LinearOrLog = []Choice{{"linear", "linear"}, {"log", "logarithmic"}}

// Floor rounds down to so many decimals.
func Floor(x float64, decimals int) float64 {
	p := math.Pow(10, float64(decimals))
	return math.Floor(x*p) / p
}
