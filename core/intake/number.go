package intake

import (
	"bytes"
	"errors"
	"math"
	"strconv"
)

// cellClass says what a cell's text is.
type cellClass uint8

const (
	textCell cellClass = iota
	numberCell
	nonFiniteCell // NaN, an infinity, or a number beyond float64
)

// parseNumber reads a decimal number, rounded to the nearest float64; spaces
// around it are allowed.
func parseNumber(b []byte) (float64, cellClass) {
	if len(b) > 0 && (b[0] <= ' ' || b[len(b)-1] <= ' ') {
		b = bytes.TrimSpace(b)
	}
	if len(b) == 0 {
		return 0, textCell
	}
	if len(b) <= 15 && digits(b, 0) == len(b) { // exact, below 2^53
		n := 0
		for _, c := range b {
			n = 10*n + int(c-'0')
		}
		return float64(n), numberCell
	}
	switch c := b[0]; {
	case c >= '0' && c <= '9', c == '.':
	case c == '-' || c == '+':
		if len(b) == 4 && (string(b[1:]) == "nan" || string(b[1:]) == "NaN") { // as C prints
			return math.NaN(), nonFiniteCell
		}
	case c == 'n' || c == 'N' || c == 'i' || c == 'I':
	default:
		return 0, textCell
	}
	if len(b) > 1 && (b[1] == 'x' || b[1] == 'X') || bytes.IndexByte(b, '_') >= 0 {
		return 0, textCell // Go's own forms, which no other tool means
	}
	v, err := strconv.ParseFloat(string(b), 64)
	switch {
	case err == nil && v-v == 0:
		return v, numberCell
	case err == nil || errors.Is(err, strconv.ErrRange):
		return v, nonFiniteCell
	}
	return 0, textCell
}

// nonFiniteWord names a value that is not finite.
func nonFiniteWord(v float64) string {
	switch {
	case math.IsNaN(v):
		return "NaN"
	case v > 0:
		return "+Inf"
	}
	return "-Inf"
}
