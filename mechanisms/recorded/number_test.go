package recorded_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"testing"

	"github.com/dpscope/dpscope/mechanisms/recorded"
)

// checkNumber compares with strconv, and with the text that follows the number cut off.
func checkNumber(t *testing.T, text string) (taken bool) {
	t.Helper()
	v, n := recorded.Number([]byte(text), '.')
	if n == 0 {
		return false
	}
	want, err := strconv.ParseFloat(text[:n], 64)
	if err != nil || math.Float64bits(v) != math.Float64bits(want) {
		t.Fatalf("%q: %v of %q, want %v, %v", text, v, text[:n], want, err)
	}
	return true
}

func TestNumber(t *testing.T) {
	for text, n := range map[string]int{"0": 1, "-0": 2, "12,5": 2, "1.5\n": 3, "1e5": 3, "-1.25E-05,": 9, "00012345678901234567890": 0, "000000001234567890123456789": 27,
		"0.00000000001234567890123456789": 0, "0.0000000123456789012345": 24, "18446744073709551615": 0, "9999999999999999999": 19, "0e99": 4,
		"": 0, "-": 0, ".5": 0, "5.": 0, "+1": 0, "1e": 0, "1e+": 0, "1e00000": 0, "NaN": 0, "0x10": 1, "1_0": 1, "12345678": 8, "1234567:": 7, "1234567/": 7} {
		if _, took := recorded.Number([]byte(text), '.'); took != n {
			t.Errorf("%q: %d bytes, want %d", text, took, n)
		}
		checkNumber(t, text)
	}
	if v, n := recorded.Number([]byte("1,5;"), ','); v != 1.5 || n != 3 {
		t.Errorf("%v, %d", v, n)
	}
	r := rand.New(rand.NewPCG(1, 2))
	n, taken := 300_000, 0
	if testing.Short() {
		n = 30_000
	}
	for i := range n {
		x := r.NormFloat64() * math.Pow(10, float64(r.IntN(12)-6))
		text := strconv.FormatFloat(x, "gef"[i%3], []int{-1, 17, r.IntN(19)}[i/3%3], 64)
		if checkNumber(t, text) {
			taken++
		}
		// Near the middle between two float64, where rounding is hardest.
		m := r.Uint64N(1<<53) | 1<<52
		half := strconv.FormatUint(m<<1|1, 10)
		checkNumber(t, half[:1]+"."+half[1:])
		checkNumber(t, fmt.Sprintf("%d.%0*d", r.Uint64N(1000), 1+r.IntN(16), r.Uint64N(10)))
		k := r.IntN(11) // m + 1/2 units of 2^-k are a decimal number of k+1 places
		exact := strconv.FormatFloat(float64(m>>(k+10))+0.5, 'f', -1, 64)
		checkNumber(t, exact)
	}
	if taken < n*7/10 {
		t.Errorf("of %d numbers only %d were taken", n, taken)
	}
}

func FuzzNumber(f *testing.F) {
	for _, s := range []string{"0.08037262369521063,", "-1.5e-7", "9007199254740993.0", "1234567890123456789", "00.10e+22"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) { checkNumber(t, text) })
}

func BenchmarkNumber(b *testing.B) {
	for name, text := range map[string]string{"17 digits": "0.08037262369521063,0\n1", "15 digits": "0.080372623695210,0\n1", "6 digits": "0.0803,0\n1.0,3.0\n", "one digit": "1\n0.08037262369521063,0\n1"} {
		b.Run(name, func(b *testing.B) {
			data := []byte(text)
			for b.Loop() {
				recorded.Number(data, '.')
			}
		})
	}
}
