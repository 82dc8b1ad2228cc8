package stream

import (
	"bytes"
	"crypto/sha256"
	"testing"
)

func TestSHA256AgainstTheLibrary(t *testing.T) {
	for n := range 300 {
		m := bytes.Repeat([]byte{byte(n), 0xff, byte(3 * n)}, n)[:n]
		if sha256Sum(m) != sha256.Sum256(m) {
			t.Fatalf("%d bytes hash differently", n)
		}
		h := NewHash()
		for i, rest := 1, m; len(rest) > 0; i, rest = i*3%131, rest[min(i, len(rest)):] {
			h.Write(rest[:min(i, len(rest))])
		}
		if h.Sum() != sha256.Sum256(m) {
			t.Fatalf("%d bytes in pieces hash differently", n)
		}
	}
}
