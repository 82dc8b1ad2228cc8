package recorded

import (
	"encoding/binary"
	"math"
	"math/bits"
)

// number reads the decimal number that b begins with, rounded to the nearest float64 as
// strconv rounds it, and returns how many bytes it took. It takes the common forms alone,
// without an allocation: n is 0 where b begins with another, or with no number.
func number(b []byte, point byte) (v float64, n int) {
	negative := len(b) > 0 && b[0] == '-'
	if negative {
		n = 1
	}
	from, m := n, uint64(0)
	for n < len(b) && b[n]-'0' <= 9 {
		m = 10*m + uint64(b[n]-'0')
		n++
	}
	switch all := n - from; {
	case all == 0:
		return 0, 0
	case all > 15 || n < len(b) && (b[n] == point || b[n]|' ' == 'e'):
		if v, n = notWhole(b, from, n, m, point); n == 0 {
			return 0, 0
		}
	default:
		v = float64(int64(m)) // exact
	}
	if negative {
		v = -v
	}
	return v, n
}

// notWhole goes on with the number that begins at from, whose digits up to n are m.
func notWhole(b []byte, from, n int, m uint64, point byte) (float64, int) {
	exponent, all := 0, n-from
	if n < len(b) && b[n] == point {
		before := n + 1
		if m, n = digits(b, before, m); n == before {
			return 0, 0
		}
		exponent = before - n
		all -= exponent
	}
	if all > mostDigits {
		for _, c := range b[from:n] {
			if c == '0' {
				all--
			} else if c != point {
				break
			}
		}
		if all > mostDigits {
			return 0, 0
		}
	}
	if n < len(b) && b[n]|' ' == 'e' {
		n++
		minus := n < len(b) && b[n] == '-'
		if minus || n < len(b) && b[n] == '+' {
			n++
		}
		before := n
		e, end := digits(b, n, 0)
		if n = end; n == before || n > before+4 {
			return 0, 0
		}
		if minus {
			exponent -= int(e)
		} else {
			exponent += int(e)
		}
	}
	switch {
	case m < 1<<53 && -len(tens) < exponent && exponent < 0: // both are exact: one rounding
		return float64(int64(m)) / tens[-exponent], n
	case exponent == 0 || m == 0:
		return float64(m), n
	case -mostDigits <= exponent && exponent < 0:
		return quotient(m, uint64(tens[-exponent])), n
	case m < 1<<53 && 0 < exponent && exponent < len(tens):
		return float64(m) * tens[exponent], n
	}
	return 0, 0
}

// mostDigits is how many decimal digits uint64 holds, of any number.
const mostDigits = 19

// tens are the powers of ten that float64 holds exactly.
var tens = [...]float64{1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22}

// quotient is m/d, neither of them 0, rounded to the nearest float64. The quotient of whole
// numbers has at least 62 bits; its last one is set where a remainder is left, which is all
// that rounding to 53 bits asks for.
func quotient(m, d uint64) float64 {
	up, by := bits.LeadingZeros64(m), bits.LeadingZeros64(d)
	m <<= up
	q, rest := bits.Div64(m>>1, m<<63, d<<by)
	if rest != 0 {
		q |= 1
	}
	return float64(q) * math.Float64frombits(uint64(1023-63+by-up)<<52) // 2^(by-up-63)
}

// digits appends the digits of b from i on to m, and returns where they end. What does
// not fit is lost from the top.
func digits(b []byte, i int, m uint64) (uint64, int) {
	for i+8 <= len(b) { // eight at once
		w := binary.LittleEndian.Uint64(b[i:])
		if w&0xf0f0f0f0f0f0f0f0|(w+0x0606060606060606)&0xf0f0f0f0f0f0f0f0>>4 != 0x3333333333333333 {
			break
		}
		w -= 0x3030303030303030
		w = w*10 + w>>8 // pairs, then fours, then all
		w = (w&0x000000ff000000ff*(100+1000000<<32) + w>>16&0x000000ff000000ff*(1+10000<<32)) >> 32
		m = m*1e8 + w&0xffffffff
		i += 8
	}
	for i < len(b) && b[i]-'0' <= 9 {
		m = 10*m + uint64(b[i]-'0')
		i++
	}
	return m, i
}
