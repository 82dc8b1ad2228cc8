package stream

import (
	"encoding/binary"
)

// domain separates these seeds from every other use of SHA-256 in the project.
// Changing the encoding below means changing the version in it.
const domain = "dpscope/stream/v1"

// Key names a stream. Two keys that differ in any field name streams that are
// independent for every practical purpose; equal keys name the same stream, on
// every platform and whatever the number of workers.
type Key struct {
	Seed    uint64 // the run's seed, chosen by the user
	Purpose string // a short word: what the numbers are for, such as "explore" or "certify"
	Trial   int    // number of the trial
	Side    int    // which dataset of the neighbouring pair
	Shard   int    // part of the budget, numbered without regard to workers
}

// Sum returns the stream's 32-byte seed: SHA-256 over
//
//	"dpscope/stream/v1"   17 bytes
//	0x00                   1 byte
//	Seed                   8 bytes
//	len(Purpose)           8 bytes
//	Purpose                len(Purpose) bytes
//	Trial, Side, Shard     8 bytes each, two's complement
//
// with integers big-endian. Every field but Purpose has a fixed width and
// Purpose is preceded by its length, so different keys have different
// encodings.
func (k Key) Sum() [32]byte {
	b := make([]byte, 0, len(domain)+1+5*8+len(k.Purpose))
	b = append(b, domain...)
	b = append(b, 0)
	b = binary.BigEndian.AppendUint64(b, k.Seed)
	b = binary.BigEndian.AppendUint64(b, uint64(len(k.Purpose)))
	b = append(b, k.Purpose...)
	for _, v := range [...]int{k.Trial, k.Side, k.Shard} {
		b = binary.BigEndian.AppendUint64(b, uint64(int64(v)))
	}
	return SHA256(b)
}

// New returns the stream that k names, at its beginning.
func New(k Key) *Stream {
	return FromSeed(k.Sum())
}
