package types

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/dpscope/dpscope/audit/stream"
	"github.com/dpscope/dpscope/internal/must"
)

// sfc32 is the generator of docs/own-mechanism.md.
type sfc32 struct{ a, b, c, count uint32 }

func newSFC32(seed uint64) *sfc32 {
	s := &sfc32{uint32(seed), uint32(seed >> 32), 0x9e3779b9, 1}
	for range 16 {
		s.next()
	}
	return s
}

func (s *sfc32) next() uint32 {
	t := s.a + s.b + s.count
	s.count++
	s.a = s.b ^ s.b>>9
	s.b = s.c + s.c<<3
	s.c = (s.c<<21 | s.c>>11) + t
	return t
}

func (s *sfc32) uniform() float64 {
	hi := uint64(s.next() >> 5)
	return float64(hi<<26|uint64(s.next()>>6)) * 0x1p-53
}

func (s *sfc32) laplace(scale float64) float64 {
	x := -stream.Log(1 - s.uniform())
	if s.next()&1 == 1 {
		return scale * x
	}
	return -(scale * x)
}

func (s *sfc32) gaussian(sigma float64) float64 {
	for {
		x, y := 2*s.uniform()-1, 2*s.uniform()-1
		if r := float64(x*x) + float64(y*y); r > 0 && r < 1 {
			return sigma * x * math.Sqrt(-2*stream.Log(r)/r)
		}
	}
}

// TestRandom: the source of randomness that a user's function gets is the documented one, bit
// by bit, and its numbers have their distributions: four Kolmogorov-Smirnov distances of
// 20,000 numbers each, which exceed their limit with probability 1e-6 each.
func TestRandom(t *testing.T) {
	node := must.Have(t, "node")
	const n, seed = 20_000, uint64(1)<<52 + 12345
	cmd := exec.Command(node, "--input-type=module")
	cmd.Stdin = strings.NewReader(fmt.Sprintf(`
		const { inside } = await import("data:text/javascript;base64," + process.env.SANDBOXED);
		globalThis.onmessage = null;
		inside();
		const port = { postMessage: ({ bytes }) => console.log(JSON.stringify([...new Float64Array(bytes.buffer)])) };
		const code = "function mechanism(d, n, r) { return Array.from({ length: n }, () => [r.uniform(), r.laplace(2), r.gaussian(3), r.integer(1e15)]) }";
		globalThis.onmessage({ data: { port, code } });
		port.onmessage({ data: { id: 1, values: new Uint8Array(0), columns: 1, n: %d, seed: %d } });
	`, n, seed))
	source := must.Get(os.ReadFile("../worker/sandboxed.js"))(t)
	cmd.Env = append(os.Environ(), "SANDBOXED="+base64.StdEncoding.EncodeToString(source))
	text := must.Get(cmd.Output())(t)
	var got []float64
	if err := json.Unmarshal(text, &got); err != nil || len(got) != 4*n {
		t.Fatalf("%v: %.200s", err, text)
	}
	twin := newSFC32(seed)
	var columns [4][]float64
	for i := range n {
		want := [4]float64{twin.uniform(), twin.laplace(2), twin.gaussian(3), math.Floor(float64(twin.uniform() * 1e15))}
		for k, w := range want {
			if got[4*i+k] != w {
				t.Fatalf("number %d of output %d is %v, want %v", k+1, i+1, got[4*i+k], w)
			}
			columns[k] = append(columns[k], w)
		}
	}
	for k, cdf := range []func(float64) float64{
		func(x float64) float64 { return x },
		func(x float64) float64 {
			if x < 0 {
				return math.Exp(x/2) / 2
			}
			return 1 - math.Exp(-x/2)/2
		},
		func(x float64) float64 { return math.Erfc(-x/3/math.Sqrt2) / 2 },
		func(x float64) float64 { return x / 1e15 },
	} {
		slices.Sort(columns[k])
		most := 0.0
		for i, x := range columns[k] {
			p := cdf(x)
			most = max(most, p-float64(i)/n, float64(i+1)/n-p)
		}
		if limit := math.Sqrt(math.Log(2/1e-6)/2) / math.Sqrt(n); most > limit {
			t.Errorf("column %d: distance %v, above %v", k+1, most, limit)
		}
	}
}
