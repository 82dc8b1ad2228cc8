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
	}
}
