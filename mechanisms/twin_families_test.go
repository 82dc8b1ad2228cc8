package mechanisms

import (
	"maps"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/dpscope/dpscope/audit"
)

// bothTwins have a share of epsilon each: one of parts.
func bothTwins(a, b twin, parts float64) twin {
	return func(p audit.Params, d audit.Dataset, r *rand.Rand) []float64 {
		p = maps.Clone(p)
		p["epsilon"] = number(p.Num("epsilon") / parts)
		return append(a(p, d, r), b(p, d, r)...)
	}
}

func presentTwin(p audit.Params, d audit.Dataset, r *rand.Rand) []float64 {
	var out []float64
	for bin := range p.Int("bins") {
		n := 0
		for _, v := range d.Values {
			if v == float64(bin) {
				n++
			}
		}
		if n == 0 {
			out = append(out, 0, 0)
		} else {
			out = append(out, 1, float64(n)+lap(r, 1/p.Num("epsilon")))
		}
	}
	return out
}

// medianProbabilities are those of the grid's points, by rank in the sorted
// records: the median of n records has rank n/2, a record that lies on the point
// counts for a half.
func medianProbabilities(p audit.Params, records []float64) (grid, prob []float64) {
	sorted := slices.Sorted(slices.Values(records))
	m := p.Int("points")
	var sum float64
	for i := range m {
		g := p.Num("lo") + (p.Num("hi")-p.Num("lo"))*float64(i)/float64(m-1)
		rank := 0.0
		for _, v := range sorted {
			if v < g {
				rank++
			}
			if v == g {
				rank += 0.5
			}
		}
		grid = append(grid, g)
		prob = append(prob, math.Exp(-p.Num("epsilon")*math.Abs(rank-float64(len(sorted))/2)/2))
		sum += prob[i]
	}
	for i := range prob {
		prob[i] /= sum
	}
	return grid, prob
}

func medianTwin(p audit.Params, d audit.Dataset, r *rand.Rand) []float64 {
	grid, prob := medianProbabilities(p, d.Values)
	u := r.Float64()
	for i, q := range prob {
		if u -= q; u < 0 {
			return []float64{grid[i]}
		}
	}
	return []float64{grid[len(grid)-1]}
}

// geoSampleTwin is the algorithm with its whole numbers as Balcer and Vadhan
// write it: the least z with F(z) >= u, u uniform on 1, ..., d.
func geoSampleTwin(log func(float64) float64) twin {
	return func(p audit.Params, d audit.Dataset, r *rand.Rand) []float64 {
		c, n := 0, p.Int("n")
		for _, v := range d.Values {
			c += int(v)
		}
		f := geoSampleF(c, n, int(math.Ceil(log(2/p.Num("epsilon")))))
		u := float64(1 + r.Int64N(int64(f[n])))
		for z := range f {
			if f[z] >= u {
				return []float64{float64(z)}
			}
		}
		panic("no such z")
	}
}

// geoSampleF are F(0), ..., F(n) = d, exact below 2^53.
func geoSampleF(c, n, k int) []float64 {
	if k < 0 {
		panic("F is not of whole numbers")
	}
	two, more := math.Exp2(float64(k)), math.Exp2(float64(k))+1
	d := (math.Exp2(float64(k+1)) + 1) * math.Pow(more, float64(n-1))
	f := make([]float64, n+1)
	for z := range f {
		switch {
		case z == n:
			f[z] = d
		case z < c:
			f[z] = math.Pow(two, float64(c-z)) * math.Pow(more, float64(n-(c-z)))
		default:
			f[z] = d - math.Pow(two, float64(z-c+1))*math.Pow(more, float64(n-1-(z-c)))
		}
	}
	return f
}

// rapporTwin makes both responses, one after the other.
func rapporTwin(p audit.Params, d audit.Dataset, r *rand.Rand) []float64 {
	h, zero, one := p.Num("hashes"), 0.0, 1.0
	if has(p, "p") {
		zero, one = p.Num("p"), p.Num("q")
	}
	f := p.Num("f")
	if f == 0 {
		// With e = exp(epsilon/h), a quadratic in general; here p + q = 1, so
		// that q* = sqrt(e)/(1+sqrt(e)).
		e := math.Exp(p.Num("epsilon") / h / 2)
		f = max(0, 1-(e/(1+e)-0.5)/(one-0.5))
	}
	out := make([]float64, p.Int("bits"))
	filter := bloom(int(d.Values[0]), p.Int("bits"), int(h))
	for i := range out {
		bit := filter>>i&1 == 1
		switch u := r.Float64(); {
		case u < f/2:
			bit = true
		case u < f:
			bit = false
		}
		q := zero
		if bit {
			q = one
		}
		if r.Float64() < q {
			out[i] = 1
		}
	}
	return out
}

func prefixSumTwin(p audit.Params, d audit.Dataset, r *rand.Rand) []float64 {
	var out []float64
	sum := 0.0
	for i := range p.Int("m") {
		answer := 0.0
		if p.Word("data") == "answers" {
			answer = d.Values[i]
		} else {
			for _, v := range d.Values {
				if v == float64(i) {
					answer++
				}
			}
		}
		sum += answer + lap(r, 1/p.Num("epsilon"))
		out = append(out, sum)
	}
	return out
}

func copiesTwin(shape func(audit.Params) (int, float64)) twin {
	return func(p audit.Params, d audit.Dataset, r *rand.Rand) []float64 {
		n, scale := shape(p)
		var out []float64
		for range n {
			out = append(out, d.Values[0]+lap(r, scale))
		}
		return out
	}
}

func snappingTwin(p audit.Params, d audit.Dataset, r *rand.Rand) []float64 {
	scale := 1 / p.Num("epsilon")
	grid := math.Exp2(math.Ceil(math.Log2(scale)))
	b := max(16, 64*grid)
	x := math.RoundToEven((d.Values[0]+lap(r, scale))/grid) * grid
	return []float64{math.Max(-b, math.Min(b, x))}
}

func sumTwin(most float64) twin {
	return func(p audit.Params, d audit.Dataset, r *rand.Rand) []float64 {
		sum := lap(r, 1/p.Num("epsilon"))
		for _, v := range d.Values {
			sum += math.Min(v, most)
		}
		return []float64{sum}
	}
}

// ratiosTwin returns the symbol of a number, or this where a row is 0/0.
func ratiosTwin(odd float64) twin {
	return func(p audit.Params, d audit.Dataset, r *rand.Rand) []float64 {
		sum := lap(r, 1/p.Num("epsilon"))
		for i := 0; i < len(d.Values); i += 2 {
			switch a, b := d.Values[i], d.Values[i+1]; {
			case a == 0 && b == 0 && odd == 0:
				return []float64{0, 0}
			case a == 0 && b == 0:
			case a >= b:
				sum++
			default:
				sum += a / b
			}
		}
		return []float64{1, sum}
	}
}

func descentTwin(name string) twin {
	return func(p audit.Params, d audit.Dataset, r *rand.Rand) []float64 {
		g := p.Num("clip")
		clip := func(x float64) float64 { return math.Max(-g, math.Min(g, x)) }
		z := p.Num("sigma") * g * r.NormFloat64()
		total, average := 0.0, 0.0
		for _, x := range d.Values {
			total += clip(x)
			average += x
		}
		switch name {
		case "dp-sgd-scaled-noise":
			return []float64{-total - p.Num("s")*z}
		case "dp-sgd-clip-late":
			return []float64{-clip(average/p.Num("batch")) - z/p.Num("batch")}
		case "dp-sgd-microbatch":
			of := make([]int, d.Len())
			for i := range of {
				of[i] = r.IntN(p.Int("microbatches"))
			}
			w := -z
			for b := range p.Int("microbatches") {
				n, sum := 0.0, 0.0
				for i, x := range d.Values {
					if of[i] == b {
						n++
						sum += x
					}
				}
				if n > 0 {
					w -= clip(sum / n)
				}
			}
			return []float64{w}
		case "dp-sgd-reused-key":
			of := make([]int, d.Len())
			for i := range of {
				of[i] = r.IntN(p.Int("steps"))
			}
			w := 0.0
			var out []float64
			for step := range p.Int("steps") {
				for i, x := range d.Values {
					if of[i] == step {
						w -= clip(x)
					}
				}
				w -= z
				out = append(out, w)
			}
			return out
		}
		return []float64{-total - z}
	}
}
