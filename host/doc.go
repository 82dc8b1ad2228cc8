// Package host is a host for reports: it takes a report, or code with its settings, gives it a short address, and
// shows it there in words.
//
// An address is made of the content's SHA-256: whoever has both can tell whether the host gave out what it took.
// The handlers know no file, no clock and no network.
package host

import (
	"crypto/sha256"
	"fmt"
	"math/big"
	"strings"
)

// MostBytes is the size of the largest report that a host takes.
const MostBytes = 1 << 20

const (
	base58     = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
	shortest   = 10 // characters of an id where no other one begins so
	longest    = 44
	tokenBytes = 16 // that are random
)

// sumOf is the SHA-256 of content in base58, of always the same length.
func sumOf(content []byte) string {
	sum := sha256.Sum256(content)
	n, digit, by := new(big.Int).SetBytes(sum[:]), new(big.Int), big.NewInt(58)
	out := make([]byte, longest)
	for i := longest - 1; i >= 0; i-- {
		n.DivMod(n, by, digit)
		out[i] = base58[digit.Int64()]
	}
	return string(out)
}

// IsID reports whether a text can be the id of something that a host keeps.
func IsID(s string) bool {
	return len(s) >= shortest && len(s) <= longest && strings.Trim(s, base58) == ""
}

// Is reports whether an id is made of this content.
func Is(id string, content []byte) bool {
	return IsID(id) && strings.HasPrefix(sumOf(content), id)
}

func hashOf(token string) string {
	return fmt.Sprintf("%x", sha256.Sum256([]byte(token)))
}
