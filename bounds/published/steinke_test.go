package published

import (
	"encoding/json"
	"math"
	"os"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/dpscope/dpscope/audit/stream"
	"github.com/dpscope/dpscope/bounds"
	"github.com/dpscope/dpscope/internal/must"
)

const nominal = 0.05

func TestGoldenSteinke(t *testing.T) {
	raw := must.Get(os.ReadFile("../testdata/canary-vectors.json"))(t)
	var v struct {
		Steinke []struct {
			M, R, V       int
			Eps, Delta, P float64
		}
		SteinkeLB []struct {
			M, R, V      int
			Delta, B, LB float64
		} `json:"steinke_lb"`
	}
	if err := json.Unmarshal(raw, &v); err != nil || len(v.Steinke) != 3 || len(v.SteinkeLB) != 1 {
		t.Fatalf("%+v, %v", v, err)
	}
	for _, k := range v.Steinke {
		if got := SteinkePValue(k.M, k.R, k.V, k.Eps, k.Delta); math.Abs(got-k.P) > 3e-9*k.P {
			t.Errorf("p-value of %+v is %v", k, got)
		}
	}
	for _, k := range v.SteinkeLB {
		if got := SteinkeEpsilon(k.M, k.R, k.V, k.Delta, k.B); got > k.LB || got < k.LB-1.1e-6 {
			t.Errorf("bound of %+v is %v", k, got)
		}
	}
}

// slowOneRun is the formula of SteinkePValue in the open, with sums of slow masses.
func slowOneRun(m, r, v int, eps, delta float64) float64 {
	law := distuv.Binomial{N: float64(r), P: 1 / (1 + math.Exp(-eps))}
	at := func(k int) (sum float64) {
		for i := r; i >= max(0, k); i-- {
			sum += law.Prob(float64(i))
		}
		return sum
	}
	p, most := at(v), 0.0
	for i := 1; i <= v; i++ {
		most = math.Max(most, (at(v-i)-p)/float64(i))
	}
	return math.Min(1, p+2*float64(m)*delta*most)
}

func TestSteinkePValueIsItsFormula(t *testing.T) {
	st := stream.New(stream.Key{Seed: 1, Purpose: "one run"})
	for range 300 {
		m := 1 + st.Intn(300)
		r := 1 + st.Intn(m)
		v := st.Intn(r + 1)
		eps, delta := 4*st.Float64(), math.Pow(10, -6*st.Float64())*0.1
		want := slowOneRun(m, r, v, eps, delta)
		if got := SteinkePValue(m, r, v, eps, delta); math.Abs(got-want) > 1e-8*want {
			t.Errorf("m %d, r %d, v %d, eps %v, delta %v: %v, want %v", m, r, v, eps, delta, got, want)
		}
	}
}

// Ours is the tighter form, of this and of the recursion.
func TestSteinkePValueIsAboveOurs(t *testing.T) {
	st := stream.New(stream.Key{Seed: 6, Purpose: "one run"})
	for range 3000 {
		r := 1 + st.Intn(400)
		m, v := r+st.Intn(1000), st.Intn(r+1)
		eps, delta := 6*st.Float64(), math.Pow(10, -7*st.Float64())*0.1
		if got, want := bounds.OneRunPValue(m, r, v, eps, delta), SteinkePValue(m, r, v, eps, delta); want < 0.5 && got > want*(1+1e-8) {
			t.Errorf("m %d, r %d, v %d, eps %v, delta %v: %v, published %v", m, r, v, eps, delta, got, want)
		}
	}
	for range 300 {
		r := 1 + st.Intn(400)
		m := r + st.Intn(1000)
		v, delta := r-st.Intn(1+r/4), math.Pow(10, -7*st.Float64())*0.1
		if got, want := bounds.OneRunEpsilon(m, r, v, delta, nominal), MahloujifarEpsilon(m, r, v, delta, nominal); got < want-2e-6 {
			t.Errorf("m %d, r %d, v %d, delta %v: %v, the recursion %v", m, r, v, delta, got, want)
		}
	}
	// By a program of its own.
	for _, k := range []struct {
		m, r, v int
		delta   float64
		want    float64
	}{{1000, 90, 86, 1e-3, 2.117970}, {10_000, 209, 205, 1e-5, 3.078073}, {100_000, 969, 955, 1e-5, 3.752194}, {1000, 90, 89, 1e-5, 2.899032}} {
		if got := MahloujifarEpsilon(k.m, k.r, k.v, k.delta, nominal); math.Abs(got-k.want) > 2e-6 {
			t.Errorf("%+v: the recursion gives %v", k, got)
		}
	}
	// 10^3 right guesses of 10^3 among 10^4 canaries, and issue 14's case of delta = 1e-3.
	for _, k := range []struct {
		m, r, v    int
		delta      float64
		old, fresh float64
	}{{10_000, 1000, 1000, 1e-5, 5.529, 5.808}, {1000, 90, 86, 1e-3, 0.459, 2.136}, {10_000, 209, 205, 1e-5, 3.011, 3.094}} {
		old, fresh := SteinkeEpsilon(k.m, k.r, k.v, k.delta, nominal), bounds.OneRunEpsilon(k.m, k.r, k.v, k.delta, nominal)
		if math.Abs(old-k.old) > 1e-3 || math.Abs(fresh-k.fresh) > 1e-3 {
			t.Errorf("%+v: %v and %v", k, old, fresh)
		}
	}
}

// Near 1, where no audit looks, the published form is not a p-value: of three coins a
// mechanism tells w with probability .0375, .4125, .4125, .1375 for w = 0 to 3, which ones
// at random. A coin that is turned over changes the law of what it tells by .1 in total
// variation, so that it keeps (0, .1). It has one right or more with probability .9625.
func TestSteinkePValueNearOne(t *testing.T) {
	law := []float64{.0375, .4125 / 3, .4125 / 3, .1375} // of one string with w right
	right := func(coins, told int) (w int) {
		for j := range 3 {
			w += 1 - (coins^told)>>j&1
		}
		return w
	}
	some := 0.0
	for told := range 8 {
		if right(0, told) > 0 {
			some += law[right(0, told)]
		}
	}
	for coins := range 8 {
		for j := range 3 {
			over := 0.0
			for told := range 8 {
				over += math.Max(0, law[right(coins, told)]-law[right(coins^1<<j, told)])
			}
			if math.Abs(over-.1) > 1e-12 {
				t.Fatalf("coin %d of %b: delta %v", j, coins, over)
			}
		}
	}
	if p, ours := SteinkePValue(3, 3, 1, 0, .1), bounds.OneRunPValue(3, 3, 1, 0, .1); math.Abs(some-.9625) > 1e-12 || math.Abs(p-.95) > 1e-8 || math.Abs(ours-some) > 1e-8 {
		t.Errorf("some right with probability %v; published %v, ours %v", some, p, ours)
	}
}
