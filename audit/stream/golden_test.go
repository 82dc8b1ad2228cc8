package stream

import (
	"bytes"
	"flag"
	"fmt"
	"math"
	"os"
	"testing"

	"github.com/dpscope/dpscope/internal/must"
)

var update = flag.Bool("update", false, "write testdata/golden.txt anew; that changes every saved report")

// goldenKeys are the keys of the golden sequences.
var goldenKeys = []Key{
	{},
	{Seed: 42, Purpose: "certify", Trial: 1, Side: 1, Shard: 7},
}

// golden renders the sequences that must be the same on every platform, for
// ever: seeds, words, every sampler at an odd length, and the integers.
func golden() []byte {
	var b bytes.Buffer
	for _, k := range goldenKeys {
		fmt.Fprintf(&b, "key seed=%d purpose=%q trial=%d side=%d shard=%d\n", k.Seed, k.Purpose, k.Trial, k.Side, k.Shard)
		fmt.Fprintf(&b, "sum %x\n", k.Sum())
		s := New(k)
		b.WriteString("uint64")
		for range 8 {
			fmt.Fprintf(&b, " %016x", s.Uint64())
		}
		b.WriteByte('\n')
		for _, c := range samplers() {
			dst := make([]float64, 25)
			c.fill(New(k), dst)
			b.WriteString(c.name)
			for _, x := range dst {
				fmt.Fprintf(&b, " %016x", math.Float64bits(x))
			}
			// Far on, a sum of bits stands for the rest.
			var sum uint64
			for range 40 {
				dst := make([]float64, 251)
				c.fill(s, dst)
				for _, x := range dst {
					sum = sum*0x9e3779b97f4a7c15 + math.Float64bits(x)
				}
			}
			fmt.Fprintf(&b, " then %016x\n", sum)
		}
		s = New(k)
		fmt.Fprintf(&b, "perm %v\n", s.Perm(20))
		b.WriteString("intn")
		for _, n := range []int{1, 2, 3, 10, 1000, 1<<31 - 1} {
			fmt.Fprintf(&b, " %d", s.Intn(n))
		}
		fmt.Fprintf(&b, "\nfloat64 %016x\n", math.Float64bits(s.Float64()))
	}
	b.WriteString("elementary")
	s := New(Key{Purpose: "elementary"})
	var sum uint64
	for range 20000 {
		x := (s.Float64() - 0.5) * 40
		for _, y := range []float64{Log(math.Abs(x)), Log1p(math.Abs(x) - 1), Exp(x), Expm1(x / 8), Logistic(x), sinOf(x / 26), cosOf(x / 26)} {
			sum = sum*0x9e3779b97f4a7c15 + math.Float64bits(y)
		}
	}
	fmt.Fprintf(&b, " %016x\n", sum)
	return b.Bytes()
}

func TestSameBitsOfStreams(t *testing.T) {
	const file = "testdata/golden.txt"
	got := golden()
	if *update {
		must.Do(t, os.WriteFile(file, got, 0o644))
	}
	want := must.Get(os.ReadFile(file))(t)
	gotLines, wantLines := bytes.Split(got, []byte("\n")), bytes.Split(want, []byte("\n"))
	if len(gotLines) != len(wantLines) {
		t.Fatalf("%d lines, golden file has %d", len(gotLines), len(wantLines))
	}
	for i := range gotLines {
		if !bytes.Equal(gotLines[i], wantLines[i]) {
			t.Errorf("line %d:\n got %s\nwant %s", i+1, gotLines[i], wantLines[i])
		}
	}
}
