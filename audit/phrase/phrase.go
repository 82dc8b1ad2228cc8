// Package phrase prints numbers and tables for reports: bounds rounded down, p-values up.
package phrase

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Round rounds to that many decimals.
func Round(x float64, decimals int) float64 {
	scale := math.Pow10(decimals)
	return math.Round(x*scale) / scale
}

// Figures rounds to so many significant figures, alike on every platform.
func Figures(x float64, figures int) float64 {
	v, err := strconv.ParseFloat(strconv.FormatFloat(x, 'g', figures, 64), 64)
	if err != nil {
		return x
	}
	return v
}

// Floor rounds down to that many decimals.
func Floor(x float64, decimals int) float64 {
	if !(math.Abs(x) < 1e15) { // whole, infinite or not a number
		return x
	}
	scale := math.Pow10(decimals)
	y := math.Floor(x*scale) / scale
	for y > x { // the division may round up
		y = math.Nextafter(y, math.Inf(-1))
	}
	return y
}

// Bound prints a lower bound on what is never negative as [Side] does. One below 0 says nothing.
func Bound(x, claim float64) string {
	if x < 0 {
		return "none above 0"
	}
	return Side(x, claim, 3)
}

// Side prints a number rounded down, with so many decimals or, up to six, with as many as it takes
// to stay on its side of the claim, and of 0.
func Side(x, claim float64, decimals int) string {
	y := Floor(x, decimals)
	for ; decimals < 6 && ((y > claim) != (x > claim) || (y > 0) != (x > 0)); y = Floor(x, decimals) {
		decimals++
	}
	return strconv.FormatFloat(y, 'f', decimals, 64)
}

// Percent prints a share, rounded down so that what is missing to the whole keeps three digits.
func Percent(p float64) string {
	decimals := 1
	for rest := 100 * (1 - p); rest < 10 && decimals < 9 && rest > 0; rest *= 10 {
		decimals++
	}
	return strconv.FormatFloat(Floor(float64(p*100)+1e-10, decimals), 'f', -1, 64) + " %"
}

// Visible writes out what a terminal would obey or hide, as \x1b. Line breaks and tabs stay.
func Visible(s string) string {
	return escaped(s, func(r rune) bool { return r == '\n' || r == '\t' || strconv.IsGraphic(r) })
}

// Block is Visible with all lines but the first indented: none looks like a verdict of ours.
func Block(s string) string {
	lines := strings.Split(Visible(s), "\n")
	for i := 1; i < len(lines); i++ {
		if lines[i] != "" && lines[i][0] != ' ' {
			lines[i] = "    " + lines[i]
		}
	}
	return strings.Join(lines, "\n")
}

// Line is Visible for what has to stay on one line.
func Line(s string) string { return escaped(s, strconv.IsGraphic) }

// Short cuts words that are longer than anybody reads, at 200 characters.
func Short(s string) string {
	const most = 200
	var b strings.Builder
	in := 0 // characters of the word so far
	for _, r := range s {
		if in++; r == ' ' || r == '\n' || r == '\t' {
			in = 0
		}
		if in < most {
			b.WriteRune(r)
		} else if in == most {
			b.WriteString("...")
		}
	}
	return b.String()
}

func escaped(s string, keep func(rune) bool) string {
	var b strings.Builder
	for i, r := range s {
		_, size := utf8.DecodeRuneInString(s[i:])
		if keep(r) && !(r == utf8.RuneError && size == 1) {
			b.WriteRune(r)
			continue
		}
		quoted := strconv.Quote(s[i : i+size])
		b.WriteString(quoted[1 : len(quoted)-1])
	}
	return b.String()
}

// Grouped prints a count with spaces between thousands.
func Grouped(n int) string {
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + " " + s[i:]
	}
	return s
}

// Count prints a count of things with a plural in s.
func Count(n int, thing string) string {
	if n != 1 {
		thing += "s"
	}
	return Grouped(n) + " " + thing
}

// PValue prints a p-value, rounded up.
func PValue(p float64) string {
	if p < 1e-4 {
		e := math.Floor(math.Log10(max(p, 1e-300)))
		m := math.Ceil(float64(p / math.Pow10(int(e)) * (1 - 1e-12)))
		if m >= 10 {
			m, e = 1, e+1
		}
		return fmt.Sprintf("%.0fe%.0f", m, e)
	}
	return fmt.Sprintf("%.4f", min(1, math.Ceil(float64(p*1e4)-1e-9)/1e4))
}

// Table prints lines of as many cells each, in columns.
func Table(b *strings.Builder, lines [][]string) {
	wide := make([]int, len(lines[0]))
	for _, line := range lines {
		for i, c := range line {
			wide[i] = max(wide[i], len([]rune(c)))
		}
	}
	for _, line := range lines {
		var text strings.Builder
		for i, c := range line {
			text.WriteString("  " + c + strings.Repeat(" ", wide[i]-len([]rune(c))))
		}
		b.WriteString(strings.TrimRight(text.String(), " ") + "\n")
	}
}

// Number prints x with six significant digits at most.
func Number(x float64) string { return strconv.FormatFloat(x, 'g', 6, 64) }
