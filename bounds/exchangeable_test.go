package bounds

import (
	"encoding/json"
	"math"
	"math/bits"
	"os"
	"strconv"
	"testing"

	"gonum.org/v1/gonum/stat/combin"

	"github.com/dpscope/dpscope/audit/stream"
	"github.com/dpscope/dpscope/internal/must"
)

// The recurrence against the definition: sums over all sets of indices.
func TestMomentsAreSumsOverIndexSets(t *testing.T) {
	st := stream.New(stream.Key{Seed: 1, Purpose: "moments"})
	for _, k := range []int{1, 2, 4, 7} {
		e := NewExchangeable(k)
		sums := make([]float64, k+1)
		const runs = 25
		for range runs {
			ones := 0 // a vector as bits
			for i := range k {
				ones |= st.Intn(2) << i
			}
			e.Runs[bits.OnesCount(uint(ones))]++
			for set := 1; set < 1<<k; set++ {
				if size := bits.OnesCount(uint(set)); set&ones == set {
					sums[size]++
				}
			}
		}
		for l := 1; l <= k; l++ {
			if got, want := e.Moment(l), sums[l]/float64(combin.Binomial(k, l))/runs; math.Abs(got-want) > 1e-14 {
				t.Errorf("K %d: moment %d is %v, the sum over index sets %v", k, l, got, want)
			}
		}
		for l := 1; 2*l <= k; l++ {
			if got, want := e.Correlation(l), e.Moment(2*l)-e.Moment(l)*e.Moment(l); got != want {
				t.Errorf("K %d: correlation %d is %v, want %v", k, l, got, want)
			}
		}
		// Var m_1 and Var m_2 by the equations of the intervals, from the histogram.
		if k >= 4 {
			n, kk := float64(e.N()), float64(k)
			first := spread{1 / kk, 1, (kk - 1) / kk * e.Moment(2)}.at(e.Mean())
			if want := e.variance() * (n - 1) / n; math.Abs(first-want) > 1e-14 {
				t.Errorf("K %d: equation 17 gives %v, the variance is %v", k, first, want)
			}
			pairs := kk * (kk - 1)
			m2 := e.Moment(2)
			second := spread{2 / pairs, 1, 4*(kk-2)/pairs*e.Moment(3) + (kk-2)*(kk-3)/pairs*e.Moment(4)}.at(m2)
			want := 0.0
			for c, r := range e.Runs {
				d := float64(c*(c-1))/pairs - m2
				want += float64(r) / n * d * d
			}
			if math.Abs(second-want) > 1e-14 {
				t.Errorf("K %d: equation 18 gives %v, the variance is %v", k, second, want)
			}
		}
	}
}

type canaryVectors struct {
	GDP []struct {
		M, R, V      int
		Delta, B, LB float64
	} `json:"fdp_lb_gdp"`
	XBern struct {
		K        int
		Counts   map[string]int
		Beta     float64
		Wilson   map[string][2]float64
		Bern     map[string][2]float64
		EB, KL   [2]float64
		BetConst [2]float64 `json:"bet_const_lam2"`
	}
}

func loadCanaryVectors(t *testing.T) canaryVectors {
	t.Helper()
	raw := must.Get(os.ReadFile("testdata/canary-vectors.json"))(t)
	var v canaryVectors
	must.Do(t, json.Unmarshal(raw, &v))
	if len(v.GDP) != 1 || len(v.XBern.Counts) != 8 || len(v.XBern.Wilson) != 4 {
		t.Fatal("vectors are missing")
	}
	return v
}

func TestGoldenExchangeable(t *testing.T) {
	v := loadCanaryVectors(t).XBern
	e := NewExchangeable(v.K)
	for c, n := range v.Counts {
		i := must.Get(strconv.Atoi(c))(t)
		e.Runs[i] = n
	}
	bet := []float64{2}
	moments := func(order int, wilson bool) [2]float64 {
		lo, hi := e.momentLimits(order, wilson, v.Beta)
		return [2]float64{lo, hi}
	}
	pair := func(lo, hi float64) [2]float64 { return [2]float64{lo, hi} }
	for name, k := range map[string]struct{ got, want [2]float64 }{
		"wilson 1":              {moments(1, true), v.Wilson["1"]},
		"wilson 2":              {moments(2, true), v.Wilson["2"]},
		"wilson 4":              {moments(4, true), v.Wilson["4fix"]},
		"bernstein 1":           {moments(1, false), v.Bern["1"]},
		"bernstein 2":           {moments(2, false), v.Bern["2"]},
		"Maurer-Pontil":         {pair(e.empiricalBernstein(v.Beta)), v.EB},
		"Kullback-Leibler":      {pair(e.chernoff(v.Beta)), v.KL},
		"betting with 2 a side": {pair(e.bettingLower(v.Beta, bet), 1-e.mirror().bettingLower(v.Beta, bet)), v.BetConst},
	} {
		for i := range 2 {
			// The goal of betting has a margin of 1e-9 and is searched to 1e-13.
			if math.Abs(k.got[i]-k.want[i]) > 1e-10 {
				t.Errorf("%s: limits %v, want %v", name, k.got, k.want)
			}
		}
	}
}

// The closed forms against the inequality that they solve, on a grid: inside the
// limits it holds, outside it does not. No false alarms but rounding.
func TestLimitsSolveTheirInequality(t *testing.T) {
	st := stream.New(stream.Key{Seed: 1, Purpose: "limits"})
	for range 2000 {
		k := float64(2 + st.Intn(30))
		mean := st.Float64()
		if st.Intn(5) == 0 {
			mean = 0
		}
		// mu_2 lies between mean^2 and mean, up to what K allows.
		second := mean * (mean + (1-mean)*st.Float64())
		v := spread{1 / k, 1, (k - 1) / k * second}
		if v.at(mean) < 0 {
			continue
		}
		scale := math.Pow(10, -4*st.Float64())
		shift := scale / 3
		if st.Intn(2) == 0 {
			shift = 0
		}
		lo, hi := v.limits(mean, shift, scale)
		for i := range 401 {
			x := float64(i) / 400
			inside := v.at(x) >= 0 && math.Abs(x-mean) <= shift+math.Sqrt(scale*v.at(x))
			if inside && (x < lo-1e-9 || x > hi+1e-9) {
				t.Fatalf("K %v, mean %v, mu_2 %v, shift %v, scale %v: %v is possible, the limits are %v and %v", k, mean, second, shift, scale, x, lo, hi)
			}
			if !inside && x > lo+1e-9 && x < hi-1e-9 {
				t.Fatalf("K %v, mean %v, mu_2 %v, shift %v, scale %v: %v is impossible, the limits are %v and %v", k, mean, second, shift, scale, x, lo, hi)
			}
		}
	}
}

// TestSidesShareTheError: each of the two limits errs with half of the error.
func TestSidesShareTheError(t *testing.T) {
	table := NewCanaryTable(4, 5)
	for i := range 400 {
		table.Add(4-i%7/3, i%5/4, 1)
	}
	x, y := table.In(), table.Out()
	for _, kind := range CanaryIntervals()[1:] {
		var lo, hi float64
		switch kind {
		case CanaryBetting:
			lo, hi = x.bettingLower(0.05, sideStakes), 1-y.mirror().bettingLower(0.05, sideStakes)
		case CanaryMaurerPontil:
			lo, _ = x.empiricalBernstein(0.05)
			_, hi = y.empiricalBernstein(0.05)
		case CanaryKL:
			lo, _ = x.chernoff(0.05)
			_, hi = y.chernoff(0.05)
		default:
			lo, _ = x.momentLimits(kind.Order(), !kind.Valid(), 0.05)
			_, hi = y.momentLimits(kind.Order(), !kind.Valid(), 0.05)
		}
		if in, out := CanaryLimits(kind, table, 0.1, CanaryStakes{}); in != lo || out != hi {
			t.Errorf("%s: %v and %v, of half of the error %v and %v", kind, in, out, lo, hi)
		}
	}
}

// At K = 1 the first-order Wilson interval is the textbook's.
func TestWilsonOfOneEntry(t *testing.T) {
	e := Exchangeable{K: 1, Runs: []int{80, 20}}
	lo, hi := e.momentLimits(1, true, 0.025)
	const z, n, p = 1.959963984540054, 100.0, 0.2
	centre, half := (p+z*z/(2*n))/(1+z*z/n), z/(1+z*z/n)*math.Sqrt(p*(1-p)/n+z*z/(4*n*n))
	if math.Abs(lo-(centre-half)) > 1e-12 || math.Abs(hi-(centre+half)) > 1e-12 {
		t.Errorf("limits %v and %v, want %v and %v", lo, hi, centre-half, centre+half)
	}
}
