package pages

import (
	"fmt"
	"math"
	"os"
	"strings"
	"testing"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/audit/stream"
	"github.com/dpscope/dpscope/core/catalogue"
	"github.com/dpscope/dpscope/internal/must"
)

// The exact arguments of the pages on svt3 and svt6, by quadrature at epsilon =
// 1, and that on floating-point noise, on outputs.
func TestMuseumProofs(t *testing.T) {
	integral := func(from, to float64, f func(z float64) float64) float64 {
		const steps = 100_000
		sum := 0.0
		for i := range steps {
			sum += f(from + (to-from)*(float64(i)+0.5)/steps)
		}
		return sum * (to - from) / steps
	}
	density := func(x, scale float64) float64 { return math.Exp(-math.Abs(x)/scale) / (2 * scale) }
	for _, k := range []int{5, 9} {
		for _, v := range []float64{0, -1.5} {
			at := func(a, q float64) float64 {
				return density(v-q, 2) * integral(-80, v-0.5, func(z float64) float64 {
					return density(z, 2) * math.Pow(1-laplaceAbove(0.5+z-a, 2), float64(k))
				})
			}
			if got, want := math.Log(at(0, 1)/at(1, 0)), float64(k-1)/2; math.Abs(got-want) > 1e-6 {
				t.Errorf("svt3, k = %d, v = %v: a loss of %v, the page has %v", k, v, got, want)
			}
		}
		at := func(early, late float64) float64 {
			return integral(-80, 80, func(z float64) float64 {
				return density(z, 2) * math.Pow((1-laplaceAbove(0.5+z-early, 2))*laplaceAbove(0.5+z-late, 2), float64(k))
			})
		}
		if got := math.Log(at(0, 1) / at(1, 0)); got < float64(k)/2 {
			t.Errorf("svt6, k = %d: a loss of %v, the page has at least %v", k, got, float64(k)/2)
		}
	}

	spec := must.Get(catalogue.All().Mechanism("laplace-float"))(t)
	m := must.Get(spec.New(audit.Params{"epsilon": audit.ParamValue{Number: 1}}))(t)
	odd := [2]int{} // outputs in (-1/2, 1/2) that are no multiples of 2^-53, by value
	for value := range odd {
		out := make([]float64, 20_000)
		must.Do(t, m.Sample(audit.Records(float64(value)), stream.New(stream.Key{Seed: 7, Purpose: "museum", Side: value}), out))
		for _, y := range out {
			if scaled := y * 0x1p53; math.Abs(y) < 1 && scaled != math.Trunc(scaled) && (value == 1 || math.Abs(y) < 0.5) {
				odd[value]++
			}
		}
	}
	if odd[1] != 0 || odd[0] < 4000 {
		t.Errorf("laplace-float: %d and %d outputs that are no multiples of 2^-53", odd[0], odd[1])
	}
}

func TestMuseumFigures(t *testing.T) {
	// What the registry holds for true stands on the pages.
	museum := must.Get(Museum(os.DirFS(docsFolder)))(t)
	listed := map[string]audit.MechanismListing{}
	for _, m := range catalogue.All().Listing().Mechanisms {
		listed[m.Name] = m
	}
	for name, truth := range map[string]string{
		"svt4": "1.75", "laplace-mean-clamped-scale": "26.7", "noisy-max-value-laplace": "2.5", "dp-sgd-microbatch": "0.5625", "dp-sgd-clip-late": "1", "dp-sgd-scaled-noise": "1",
		"noisy-histogram-wrong-scale": "2", "truncated-geometric": "0.1177830357",
	} {
		if !strings.Contains(listed[name].Truth, truth) {
			t.Errorf("%s: the registry has %q for true, want %s", name, listed[name].Truth, truth)
		}
		open(t, strings.TrimSuffix(strings.TrimPrefix(museum[name].Page, "docs/"), ".html")+".md").says("%s", strings.TrimSuffix(truth, "77830357"))
	}
	// The densities of mean-raw-denominator at 1/2, in closed form: with
	// L ~ Lap(2), E max(0, 2+L) and E max(0, 1+L) e^(-max(0, 1+L)/4); 10^-12
	// does not matter at these digits.
	one := 2 + math.Exp(-1)
	lower := math.Exp(-0.5) / 4 * (16 - 12*math.Exp(0.25))
	upper := math.Exp(0.5) / 4 * math.Exp(-0.75) * (1/0.75 + 1/(0.75*0.75))
	f := open(t, "museum/mean-raw-denominator.md")
	f.says("= %.4f", one)
	f.says("= %.4f", lower+upper)
	f.says("ratio is %.3f, whose logarithm is %.3f", one/(lower+upper), math.Log(one/(lower+upper)))
	// By quadrature.
	sum, steps := 0.0, 400_000
	for i := range steps {
		x := 80 * (float64(i) + 0.5) / float64(steps)
		sum += x * math.Exp(-x/4) * math.Exp(-math.Abs(x-1)/2) / 4 * 80 / float64(steps)
	}
	if math.Abs(sum-lower-upper) > 1e-6 {
		t.Errorf("E[..] = %v in closed form, %v by quadrature", lower+upper, sum)
	}
	vanishing := fmt.Sprintf("= %.4f", math.Exp(-0.5)/2)
	f = open(t, "museum/mean-clamped-scale.md")
	f.says("%s", vanishing)
	f.says("= %.2f at ε = 1", math.Log(1e12/(2+math.Exp(-1))))
	f.says("= %.3f on {0, 1}", math.Exp(-0.5)/4*(2+math.Exp(-1)))
	f = open(t, "findings/vanishing-noise.md")
	f.says("%s", vanishing)
	// The chance on {0, 1} of an output within 1e-9 of 0 is the density at 0 times the width.
	window := 2e-9 * math.Exp(-0.5) / 4 * (2 + math.Exp(-1))
	f.says("%.1e in all", window)
	f.says("an epsilon of %.1f;", math.Floor(10*(math.Log(math.Exp(-0.5)/2/window)))/10)
	f = open(t, "findings/gaussian-doubles.md")
	normal := func(lower, upper, sigma float64) float64 {
		return (math.Erf(upper/sigma/math.Sqrt2) - math.Erf(lower/sigma/math.Sqrt2)) / 2
	}
	f.says("sigma is %.4f", 3.732421875) // TestLastBitsOfGaussianNoise has them
	f.says("= %.4f.", normal(-0.5, 0.5, 3.732421875)/2)
	f.says("with probability %.4f on", normal(-8, -7, 36.3125)/2)
	open(t, "museum/svt5.md").says("%.4f at ε = 1", -math.Expm1(-0.25))
	f = open(t, "museum/truncated-geometric.md")
	f.says("ln(1 + 1/8) = %.4f", math.Log1p(1.0/8))
	f.says("ln(1 + 1/32) = %.4f", math.Log1p(1.0/32))
}
