package stream

import (
	"bytes"
	"crypto/sha256"
	"testing"
)

// Whole, and in pieces of any size with sums between them.
func TestSHA256AgainstTheLibrary(t *testing.T) {
	for n := range 300 {
		m := bytes.Repeat([]byte{byte(n), 0xff, byte(3 * n)}, n)[:n]
		want := sha256.Sum256(m)
		if SHA256(m) != want {
			t.Fatalf("%d bytes hash differently", n)
		}
		d := NewDigest()
		for at, size := 0, 1; at < n; at, size = at+size, size*7%97+1 {
			d.Write(m[at:min(at+size, n)])
			d.Sum(nil)
		}
		if got := d.Sum([]byte{1}); !bytes.Equal(got, append([]byte{1}, want[:]...)) {
			t.Fatalf("%d bytes in pieces hash differently", n)
		}
	}
}
