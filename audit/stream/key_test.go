package stream

import (
	"encoding/hex"
	"math"
	"math/rand/v2"
	"testing"
)

// The sums were computed with Python's hashlib from the encoding as documented:
//
//	sha256(b"dpscope/stream/v1\0" + pack(">QQ", seed, len(p)) + p + pack(">qqq", trial, side, shard))
func TestSumAgainstPython(t *testing.T) {
	for _, c := range []struct {
		key  Key
		want string
	}{
		{Key{}, "0e05fddeb278c077435f8eb8b9c40cd2f21c080eaa1fc4473903c9e3f5176474"},
		{Key{Seed: 42, Purpose: "certify", Trial: 1, Side: 1, Shard: 7}, "261e8913f31e06a0023280590d3cc22cc5592ebea14bff2745f9a0c78d4b9b2e"},
		{Key{Seed: math.MaxUint64, Purpose: "é", Trial: -1, Side: 2, Shard: 1 << 30}, "3d4872f76657f8d8d4c2ab0fcc5a7e2e554d0d021155c35915ef60fd8fcb915b"},
	} {
		sum := c.key.Sum()
		if got := hex.EncodeToString(sum[:]); got != c.want {
			t.Errorf("%+v: %s, want %s", c.key, got, c.want)
		}
	}
}

func TestKeysAreDistinct(t *testing.T) {
	seen := map[[32]byte]Key{}
	for _, seed := range []uint64{0, 1, 256, math.MaxUint64} {
		for _, purpose := range []string{"", "a", "a1", "a\x00", "\x00", "explore", "certify", "\x00\x00\x00\x00\x00\x00\x00\x01"} {
			for _, trial := range []int{-1, 0, 1, 11, 256} {
				for _, side := range []int{0, 1} {
					for _, shard := range []int{0, 1, 11, 256} {
						k := Key{seed, purpose, trial, side, shard}
						sum := k.Sum()
						if other, ok := seen[sum]; ok {
							t.Fatalf("%+v and %+v share a seed", k, other)
						}
						seen[sum] = k
					}
				}
			}
		}
	}
}

// The generator is the standard library's, word for word.
func TestWordsAreChaCha8(t *testing.T) {
	for i := range 20 {
		seed := Key{Seed: uint64(i)}.Sum()
		want, got := rand.NewChaCha8(seed), FromSeed(seed)
		for j := range 5000 {
			if w, g := want.Uint64(), got.Uint64(); w != g {
				t.Fatalf("seed %d word %d: %x, want %x", i, j, g, w)
			}
		}
	}
}
