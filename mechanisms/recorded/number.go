package recorded

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"math/bits"
	"strconv"

	"github.com/dpscope/dpscope/mechanisms/recorded/jsonscan"
)

// cellClass says what a cell's text is.
type cellClass uint8

const (
	textCell cellClass = iota
	numberCell
	nonFiniteCell // NaN, an infinity, or a number with an exponent beyond float64
	longCell      // a whole number that takes more than two float64
)

// parse reads a number; spaces around it are allowed. One with a fraction or an
// exponent is rounded to the nearest float64; a whole one is v + low exactly
// ([Whole]).
func (o *Options) parse(b []byte) (v, low float64, class cellClass) {
	if len(b) > 0 && (b[0] <= ' ' || b[len(b)-1] <= ' ') {
		b = bytes.TrimSpace(b)
	}
	if o.Decimal == DecimalComma {
		if bytes.IndexByte(b, '.') >= 0 {
			return 0, 0, textCell
		}
		b = bytes.Replace(b, []byte{','}, []byte{'.'}, 1)
	}
	v, class = parseNumber(b)
	if class == textCell || math.Abs(v) < 1<<53 {
		return v, 0, class
	}
	high, low, ok := Whole(b, v)
	if !ok {
		return v, 0, longCell
	}
	return high, low, class
}

// parseNumber reads a decimal number, rounded to the nearest float64.
func parseNumber(b []byte) (float64, cellClass) {
	if len(b) == 0 {
		return 0, textCell
	}
	if len(b) <= 15 && jsonscan.Digits(b, 0) == len(b) { // exact, below 2^53
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

// Whole parts a decimal number, v as float64, into two float64 whose sum it is
// exactly: the first 53 bits of a whole number, which are all of most, and the rest,
// of the same sign. ok is false where that does not do: for a whole number from 2^106
// on, or one with a fraction from 2^53 on. A number with an exponent is a rounded one,
// as programs print a float64: it is v, and so is one that is infinite or no number.
func Whole(text []byte, v float64) (high, low float64, ok bool) {
	if math.Abs(v) < 1<<53 || math.IsNaN(v) || bytes.ContainsAny(text, "eEiI") {
		return v, 0, true
	}
	whole, fraction, _ := bytes.Cut(bytes.TrimLeft(text, "+-0"), []byte{'.'})
	if len(bytes.TrimLeft(fraction, "0")) > 0 {
		return v, 0, false
	}
	const surely = 38 // digits below 2^128
	if len(whole) > surely {
		return v, 0, string(whole) == strconv.FormatFloat(math.Abs(v), 'f', 0, 64)
	}
	var n uint128
	for _, c := range whole {
		n = n.append(uint64(c - '0'))
	}
	if high, low, ok = n.split(); v < 0 {
		high, low = -high, -low
	}
	return high, low, ok
}

// uint128 is a whole number below 2^128.
type uint128 struct{ hi, lo uint64 }

// append is the number with one more decimal digit.
func (n uint128) append(digit uint64) uint128 {
	hi, lo := bits.Mul64(n.lo, 10)
	lo, carry := bits.Add64(lo, digit, 0)
	return uint128{n.hi*10 + hi + carry, lo}
}

// split is the number's first 53 bits and the rest. ok is false where the rest
// takes more bits than that.
func (n uint128) split() (high, low float64, ok bool) {
	length := bits.Len64(n.lo)
	if n.hi > 0 {
		length = 64 + bits.Len64(n.hi)
	}
	shift := length - 53
	if shift <= 0 {
		return float64(n.lo), 0, true
	}
	var first uint64
	var rest uint128
	if shift < 64 {
		first, rest.lo = n.hi<<(64-shift)|n.lo>>shift, n.lo&(1<<shift-1)
	} else {
		first, rest = n.hi>>(shift-64), uint128{n.hi & (1<<(shift-64) - 1), n.lo}
	}
	return math.Ldexp(float64(first), shift), float64(rest.lo), shift <= 53 || rest == uint128{}
}

// wholeText prints high + low as of [Whole] in all digits, where they are of a
// number from 2^53 on.
func wholeText(high, low float64) string {
	if low == 0 {
		return strconv.FormatFloat(high, 'f', 0, 64)
	}
	first, exponent := math.Frexp(math.Abs(high))
	n := uint64(first * (1 << 53))
	shift := exponent - 53
	sum, carry := bits.Add64(n<<shift, uint64(math.Abs(low)), 0)
	q, r := bits.Div64(n>>(64-shift)+carry, sum, 1e19)
	text := strconv.FormatUint(r, 10)
	if q > 0 {
		text = fmt.Sprintf("%d%019d", q, r)
	}
	if high < 0 {
		text = "-" + text
	}
	return text
}

// decimalComma reports whether a cell is a number with a decimal comma.
func decimalComma(b []byte) bool {
	before, after, ok := bytes.Cut(bytes.TrimSpace(b), []byte{','})
	if !ok || jsonscan.Digits(after, 0) == 0 || bytes.IndexByte(before, '.') >= 0 {
		return false
	}
	_, class := parseNumber(append(append(bytes.Clone(before), '.'), after...))
	return class == numberCell
}
