package pages

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/audit/phrase"
	"github.com/dpscope/dpscope/bounds"
	"github.com/dpscope/dpscope/bounds/accounting"
	"github.com/dpscope/dpscope/bounds/published"
	"github.com/dpscope/dpscope/internal/must"
	"github.com/dpscope/dpscope/internal/testsize"
)

// findings is a page of findings or of the museum, whose figures are computed
// here.
type findings struct {
	t    *testing.T
	name string
	text string
}

func open(t *testing.T, name string) findings {
	t.Helper()
	data := must.Get(os.ReadFile(filepath.Join(docsFolder, filepath.FromSlash(name))))(t)
	return findings{t, name, string(data)}
}

// says checks that the page has the words with the figures put in.
func (f findings) says(format string, figures ...any) {
	f.t.Helper()
	if want := fmt.Sprintf(format, figures...); !strings.Contains(f.text, want) {
		f.t.Errorf("%s does not say %q", f.name, want)
	}
}

// binomial is the probability of k of n.
func binomial(n, k int, p float64) float64 {
	a, _ := math.Lgamma(float64(n + 1))
	b, _ := math.Lgamma(float64(k + 1))
	c, _ := math.Lgamma(float64(n - k + 1))
	return math.Exp(a - b - c + float64(k)*math.Log(p) + float64(n-k)*math.Log1p(-p))
}

func twoPointRenyi(p, q, alpha float64) float64 {
	return math.Log(math.Pow(p, alpha)*math.Pow(q, 1-alpha)+math.Pow(1-p, alpha)*math.Pow(1-q, 1-alpha)) / (alpha - 1)
}

// Exact enumeration over all counts but those of probability below 1e-9: no
// false alarms.
func TestRenyiTheorem(t *testing.T) {
	f := open(t, "findings/renyi-theorem.md")
	const p, q, alpha, n, beta = 0.008884, 3.193e-6, 1.762, 27057, 0.05
	a, b := math.Log(p/q), math.Log((1-p)/(1-q))
	c := (a - b) / 2
	h := []float64{c, -c}
	truth := twoPointRenyi(p, q, alpha)
	failed, corrected := 0.0, 0.0
	for y := range 6 {
		for x := 140; x <= 350; x++ {
			sample := bounds.NewTable(2)
			sample.N = []int{0, x, y, n - x - y}
			weight := binomial(n, x, p) * binomial(n, y, q)
			if published.Renyi(sample, h, alpha, beta) > truth {
				failed += weight
			}
			if published.CorrectedRenyi(sample, h, alpha, beta) > truth {
				corrected += weight
			}
		}
	}
	f.says("C = %.2f", c)
	f.says("eta = %.3f", published.RenyiEta(alpha, c, n, beta))
	f.says("D = %.4f", truth)
	f.says("with probability %.3f", failed)
	f.says("corrected theorem with probability %.3f", corrected)
	f.says("takes %s samples", phrase.Grouped(int(math.Ceil(2*math.Exp(alpha*(a-b))*math.Log(2/beta)/1e5)*1e5)))
	f.says("y = 0 has probability %.3f", math.Pow(1-q, n))
	sample := bounds.NewTable(2)
	x := int(math.Round(n * p))
	sample.N = []int{0, x, 0, n - x}
	f.says("x = %d and y = 0 it promises %.4f", x, published.Renyi(sample, h, alpha, beta))

	// The first printing: Q constant, P on C and -C; the second mean is exact.
	const alpha1, c1, p1 = 1.1, 30.0, 0.3
	k, high, low := alpha1/(alpha1-1), math.Exp((alpha1-1)*c1), math.Exp(-(alpha1-1)*c1)
	mean, worst := p1*high+(1-p1)*low, 0.0
	for _, gamma := range []float64{0.3, 0.4, 0.5, 0.6, 0.7} {
		n := int(math.Ceil(3 * high / mean * math.Log(2/beta) / (gamma * gamma)))
		failed := 0.0
		for x := range n + 1 {
			estimate := (float64(x)*high + float64(n-x)*low) / float64(n)
			if k*math.Log(estimate/mean) > math.Log((1+gamma)/(1-gamma)) {
				failed += binomial(n, x, p1)
			}
		}
		worst = math.Max(worst, failed)
	}
	f.says("fails with probability up to %.2f", worst)
}

func TestRenyiTesterSamples(t *testing.T) {
	f := open(t, "findings/renyitester-samples.md")
	for _, k := range []struct {
		eps, alpha, eta float64
		printed         string
	}{{0.01, 1.5, 0.00348, "520K"}, {0.1, 1.5, 0.0086, "360K"}, {0.01, 2, 0.00348, "610K"}, {0.1, 2, 0.0086, "1.8M"}} {
		one := published.RenyiSamples(k.alpha, 16*k.eps, k.eta, 1.0/3)
		both := published.CorrectedRenyiSamples(k.alpha, 16*k.eps, k.eta, 1.0/3)
		f.says("| %v | %v | %s | %.0fK | %.0fK |", k.eps, k.alpha, k.printed, one/1000, both/1000)
	}
	f.says("%.0f times", published.CorrectedRenyiSamples(2, 1.6, 0.0086, 1.0/3)/published.RenyiSamples(2, 1.6, 0.0086, 1.0/3))
}

func TestMMDPages(t *testing.T) {
	f := open(t, "findings/mmd-never-rejects.md")
	f.says("e - 1 = %.3f", published.MMDThreshold(1, 0))
	f.says("sqrt 2 = %.3f", math.Sqrt2)
	f.says("epsilon = %.3f", math.Log(1+math.Sqrt2))
	for _, eps := range []float64{0.01, 0.1, 0.5, 0.8, 1} {
		f.says("| %v | %.4f | %.4f |", eps, published.MMDThreshold(eps, 0), published.TightMMDThreshold(eps, 0, false))
	}
	certain := published.MMDSummary{N: 1_000_000_000, Mean: 2}
	f.says("a billion samples the published form reports a delta of %v, the tight one %.3f", math.Max(0, published.MMDDelta(certain, 1, 0.05)), published.TightMMDDelta(certain, 1, 0.05))

	f = open(t, "findings/mmd-square.md")
	// The same draws as in bounds: 20 runs of 200 000 values of h.
	r := rand.New(rand.NewPCG(61, 62))
	least, corrected, tight := 1.0, 0.0, 0.0
	const eps = 0.01
	for range 20 {
		const n = 200_000
		sum, squares := 0.0, 0.0
		coin := func(p float64) float64 {
			if r.Float64() < p {
				return 1
			}
			return -1
		}
		for range n {
			x, x2, y, y2 := coin(0.6), coin(0.6), coin(0.4), coin(0.4)
			h := x*x2 - 2*x*y + y*y2
			sum += h
			squares += h * h
		}
		s := published.MMDSummary{N: n, Mean: sum / n, Variance: (squares - sum*sum/n) / (n - 1), Signed: true}
		least = math.Min(least, published.MMDDelta(s, eps, 1.0/3))
		corrected += published.CorrectedMMDDelta(s, eps, 1.0/3) / 20
		tight += published.TightMMDDelta(s, eps, 1.0/3) / 20
	}
	f.says("at least %.3f in each of 20 runs", least)
	f.says("the corrected form reports %.3f on average, and the tight one %.3f", corrected, tight)
	truth := 0.6 - math.Exp(eps)*0.4
	f.says("= %.4f", truth)
	if least <= truth || corrected >= truth || tight >= truth {
		t.Errorf("the truth is %v; printed at least %v, corrected %v, tight %v", truth, least, corrected, tight)
	}
	// With exact figures: MMD² = .16 and no limit around it.
	a, b := math.Exp(eps)-math.Exp(-eps), 1+math.Exp(-eps)
	rest := 0.16 - math.Pow(math.Expm1(eps), 2)
	// With kernels in [0, 1] the printed right side is no smaller than 2T².
	for eps := 0.0; eps < 5; eps += 0.01 {
		for delta := 0.0; delta <= 1; delta += 0.01 {
			printed := math.Pow(math.Expm1(eps), 2) + 2*(math.Exp(eps)-math.Exp(-eps))*delta + (1+math.Exp(-eps))*delta*delta
			if tight := published.TightMMDThreshold(eps, delta, false); printed < tight*tight-1e-12 {
				t.Fatalf("epsilon %v, delta %v: printed %v, below %v", eps, delta, printed, tight*tight)
			}
		}
	}
	f.says("the printed quadratic gives delta = %.4f, and the right one %.4f", (math.Sqrt(a*a+b*rest)-a)/b, (math.Sqrt(a*a+b*b*rest)-a)/(b*b))
}

func TestPureThreshold(t *testing.T) {
	f := open(t, "findings/pure-threshold.md")
	for _, eps := range []float64{0.01, 0.1, 0.5, 1} {
		a, b := published.PureThreshold(eps, 1.5), audit.RandomisedResponseRenyi(eps, 1.5)
		f.says("| %v | %.3g | %.3g | %.2f |", eps, a, b, a/b)
	}
	f.says("D = %.3f", audit.RandomisedResponseRenyi(1.3, 1.5))
	f.says("above %.3f", audit.RandomisedResponseRenyi(1, 1.5))
}

// The divergences of svt4 at its default pair, by quadrature: the probability of
// each outcome is an integral over the threshold's noise.
func TestLowOrder(t *testing.T) {
	f := open(t, "findings/low-order.md")
	first := []float64{1, 1, 1, 1, 1, 0, 0, 0, 0, 0}
	second := []float64{0, 0, 0, 0, 0, 1, 1, 1, 1, 1}
	p, q := svt4Outcomes(first, 1), svt4Outcomes(second, 1)
	for _, alpha := range []float64{1.5, 2, 4, 8, 16} {
		sum, back := 0.0, 0.0
		for i := range p {
			sum += math.Pow(p[i], alpha) * math.Pow(q[i], 1-alpha)
			back += math.Pow(q[i], alpha) * math.Pow(p[i], 1-alpha)
		}
		d := math.Log(math.Max(sum, back)) / (alpha - 1)
		exceeds := "no"
		if d > audit.RandomisedResponseRenyi(1, alpha) {
			exceeds = "yes"
		}
		f.says("| %v | %.3f | %.3f | %s |", alpha, d, audit.RandomisedResponseRenyi(1, alpha), exceeds)
	}
	loss := 0.0
	for i := range p {
		loss = math.Max(loss, math.Abs(math.Log(p[i]/q[i])))
	}
	f.says("epsilon of %.3f", loss)
}

// laplaceAbove is P(Lap(scale) >= x).
func laplaceAbove(x, scale float64) float64 {
	if x < 0 {
		return 1 - math.Exp(x/scale)/2
	}
	return math.Exp(-x/scale) / 2
}

// svt4Outcomes are the probabilities of a first ⊤ at each query, and of none, at
// c = 1, T = 1/2; the midpoint rule on 200 000 points.
func svt4Outcomes(q []float64, eps float64) []float64 {
	const steps = 200_000
	rho, nu := 4/eps, 4/(3*eps)
	reach := 40 * rho
	out := make([]float64, len(q)+1)
	for i := range steps {
		z := -reach + 2*reach*(float64(i)+0.5)/steps
		left := math.Exp(-math.Abs(z)/rho) / (2 * rho) * 2 * reach / steps
		for j, a := range q {
			hit := laplaceAbove(0.5+z-a, nu)
			out[j] += left * hit
			left *= 1 - hit
		}
		out[len(q)] += left
	}
	return out
}

// The samples that the score test of a known event needs for power .9 at level
// .05, by the normal approximation that the page states: of the event that
// reaches H, of the best of all events, and those that any test needs.
func TestCeiling(t *testing.T) {
	f := open(t, "findings/ceiling.md")
	first := []float64{1, 1, 1, 1, 1, 0, 0, 0, 0, 0}
	second := []float64{0, 0, 0, 0, 0, 1, 1, 1, 1, 1}
	digits := func(n float64, keep int) string {
		unit := math.Pow(10, math.Floor(math.Log10(n))-float64(keep-1))
		return phrase.Grouped(int(math.Round(n/unit) * unit))
	}
	for _, eps := range []float64{0.01, 1} {
		q, p := svt4Outcomes(first, eps), svt4Outcomes(second, eps) // the louder direction
		c := math.Exp(eps)
		samples := func(in func(i int) bool) (h, n float64) {
			a, b := 0.0, 0.0
			for i := range p {
				if in(i) {
					a, b = a+p[i], b+q[i]
				}
			}
			h = a - c*b
			return h, math.Pow((1.645+1.282)/h, 2) * (a*(1-a) + c*c*b*(1-b))
		}
		h, atH := samples(func(i int) bool { return p[i] > c*q[i] })
		best := math.Inf(1)
		for event := 1; event < 1<<len(p); event++ {
			if h, n := samples(func(i int) bool { return event>>i&1 == 1 }); h > 1e-12 {
				best = math.Min(best, n)
			}
		}
		p0, q0 := projection(p, q, c)
		kl, at0, v0, v1 := 0.0, 0.0, 0.0, 0.0
		for _, side := range [][2][]float64{{p, p0}, {q, q0}} {
			m0, m1, s0, s1 := 0.0, 0.0, 0.0, 0.0
			for i, x := range side[0] {
				x0 := side[1][i]
				log := math.Log(x / x0)
				m1, s1 = m1+x*log, s1+x*log*log
				m0, s0 = m0+x0*log, s0+x0*log*log
			}
			kl, at0, v1, v0 = kl+m1, at0+m0, v1+s1-m1*m1, v0+s0-m0*m0
		}
		// The pair keeps the claim, both ways.
		for i := range p {
			if p0[i] > c*q0[i]*(1+1e-9) || q0[i] > c*p0[i]*(1+1e-9) {
				t.Errorf("epsilon %v: outcome %d is %v and %v, projected from %v and %v", eps, i, p0[i], q0[i], p[i], q[i])
			}
		}
		most := (0.9*math.Log(0.9/0.05) + 0.1*math.Log(0.1/0.95)) / kl
		f.says("| epsilon = %v | %.5f | %s | %s | %s |", eps, h, digits(atH, 2), digits(best, 2), digits(most, 2))
		if most > best || best > atH {
			t.Errorf("epsilon %v: %v, %v and %v samples", eps, most, best, atH)
		}
		if eps == 0.01 {
			n := math.Pow((1.645*math.Sqrt(v0)+1.282*math.Sqrt(v1))/(kl-at0), 2)
			f.says("against its projection needs %s.", digits(n, 3))
		}
	}
}

// The page has the figures of the bench, and the ceilings among them are ones: above
// them, though not a hundredth below, no test has power 1/2.
func TestOneRunCeilingPage(t *testing.T) {
	f := open(t, "findings/one-run-ceiling.md")
	data := must.Get(os.ReadFile(filepath.Join(docsFolder, "results", "one-run.txt")))(t)
	const beta, delta = 0.05, 1e-5
	rows := 0
	for line := range strings.Lines(string(data)) {
		var eps, steinke, recursion, before, now, ceiling, share, three, gaussian float64
		var m, audits, byM, byClaim int
		if n, _ := fmt.Sscan(line, &eps, &m, &audits, &byM, &steinke, &recursion, &before, &byClaim, &now, &ceiling, &share, &three, &gaussian); n != 13 {
			continue
		}
		rows++
		mu := bounds.GaussianMuFromDelta(delta, eps)
		low, high := 0.0, eps
		for range 40 {
			if e := (low + high) / 2; bounds.GaussianDelta(mu, e) > delta/(2*beta) {
				low = e
			} else {
				high = e
			}
		}
		f.says("| %v | %s | %.3f | %.3f | %.3f | %.2f |", eps, phrase.Grouped(m), now, ceiling, three, math.Ceil(high*100)/100)
		if share > 1 || share < 0.845 {
			t.Errorf("epsilon %v, m %d: ours is %v of the ceiling", eps, m, share)
		}
		if m == 10_000 || testsize.Of(0, 1) == 1 {
			for runs, e := range map[int]float64{1: ceiling, 3: three} {
				above, below := bounds.OneRunMostPower(m, runs, mu, e+0.0006, delta, beta), bounds.OneRunMostPower(m, runs, mu, e-0.01, delta, beta)
				if above >= 0.5 || below < 0.5 {
					t.Errorf("epsilon %v, m %d, %d runs: power %v at %v, %v below", eps, m, runs, above, e, below)
				}
			}
		}
		if eps == 4 && m == 10_000 {
			f.says("has %.2f at epsilon = 4", gaussian)
			f.says("no valid bound is above %.2f.", ceiling)
			f.says("ours certifies %.2f in the median", now)
		}
	}
	if rows != 12 {
		t.Errorf("%d rows", rows)
	}
}

// projection is the pair nearest to (p, q), by the sum of the divergences of p and
// of q from it, with p0 <= c q0 everywhere: outcomes above c are tied at p0 = c q0,
// p is scaled by 1/a elsewhere and q by 1/b, with a in (0, 1), b = 2 - a; a is the
// one at which both add up to 1.
func projection(p, q []float64, c float64) (p0, q0 []float64) {
	at := func(a float64) (sum float64) {
		p0, q0 = make([]float64, len(p)), make([]float64, len(p))
		b := 2 - a
		tied := a + b/c
		for i := range p {
			share := p[i] / (p[i] + q[i])
			p0[i] = p[i] / math.Max(a, tied*share)
			q0[i] = q[i] / math.Min(b, c*tied*(1-share))
			sum += p0[i]
		}
		return sum
	}
	low, high := 0.5, 1-1e-9
	for range 100 {
		if middle := (low + high) / 2; at(middle) > 1 {
			low = middle
		} else {
			high = middle
		}
	}
	at(low)
	return p0, q0
}

// Fixed seeds, so the figures are fixed too.
func TestHistogramPage(t *testing.T) {
	f := open(t, "findings/histogram.md")
	const eps, beta, eta = 0.01, 1.0 / 3, 0.05
	r := rand.New(rand.NewPCG(71, 72))
	counts := func(m, n int) []int {
		c := make([]int, m)
		for range n {
			c[r.IntN(m)]++
		}
		return c
	}
	for _, k := range []struct{ m, runs int }{{1000, 100}, {100, 400}} {
		n, flagged, atDelta := int(published.HistogramSamples(k.m, eps, eta, beta)), 0, 0
		for range k.runs {
			over := published.HistogramDivergence(counts(k.m, n), counts(k.m, n), eps) - eta
			if over > 0 {
				flagged++
			}
			if over > 0.01 {
				atDelta++
			}
		}
		f.says("| %d | %d | %d of %d | %d of %d |", k.m, n, flagged, k.runs, atDelta, k.runs)
	}
}

func TestManyPairs(t *testing.T) {
	f := open(t, "findings/many-pairs.md")
	for _, beta := range []float64{1.0 / 3, 0.05} {
		for _, pairs := range []int{1, 10, 50} {
			f.says("| %.3g | %d | %.3f |", beta, pairs, 1-math.Pow(1-beta, float64(2*pairs)))
		}
	}
}

// Randomised response at its claim: the counts of 1500 audits, fixed seed.
func TestOneThird(t *testing.T) {
	f := open(t, "findings/one-third.md")
	r := rand.New(rand.NewPCG(73, 74))
	const n, runs = 1000, 1500
	draw := func(p float64) (k int) {
		for range n {
			if r.Float64() < p {
				k++
			}
		}
		return k
	}
	third, twentieth := 0, 0
	for range runs {
		c := bounds.Counts{X: draw(math.E / (1 + math.E)), N1: n, Y: draw(1 / (1 + math.E)), N0: n}
		if bounds.Exact(c, 0, 1.0/3) > 1 {
			third++
		}
		if bounds.Exact(c, 0, 0.05) > 1 {
			twentieth++
		}
	}
	f.says("%d of %d audits at beta = 1/3", third, runs)
	f.says("in %d at beta = 0.05", twentieth)
}

// Exact enumeration.
func TestKatzPage(t *testing.T) {
	f := open(t, "findings/katz.md")
	const n, delta, beta = 10_000, 0.01, 0.05
	for _, k := range []struct{ p1, p0 float64 }{{0.0105, 0.0005}, {0.011, 0.001}, {0.0125, 0.0025}, {0.05, 0.04}} {
		truth, failed := math.Log((k.p1-delta)/k.p0), 0.0
		for x := range 900 {
			wx := binomial(n, x, k.p1)
			if wx < 1e-9 {
				continue
			}
			for y := range 700 {
				w := wx * binomial(n, y, k.p0)
				if w < 1e-12 {
					continue
				}
				if published.Katz(bounds.Counts{X: x, N1: n, Y: y, N0: n}, delta, beta) > truth {
					failed += w
				}
			}
		}
		f.says("| %v | %v | %.3f |", k.p1, k.p0, failed)
	}
	f.says("%.2f", math.Log(1e4)-1.959964*math.Sqrt(1-1e-4))
	all := bounds.Counts{X: n, N1: n, Y: 0, N0: n}
	f.says("%.3f for Clopper-Pearson limits at beta/2 each, %.3f for the exact bound", bounds.ClopperPearson(all, 0, beta, 0.5), bounds.Exact(all, 0, beta))
}

func TestAccountingSlides(t *testing.T) {
	f := open(t, "findings/renyi-slides.md")
	const k, eps, delta = 100, 0.1, 1e-5
	published := accounting.PublishedAdvancedEpsilon(eps, k, delta)
	f.says("| the slides' corollary | %.2f |", published)
	account := must.Get(accounting.Answer(accounting.Query{Mechanism: accounting.KindPure, Epsilon: new(eps), Steps: new(k), Event: []float64{0.001}}))(t)
	for _, g := range account.Epsilons {
		if g.Method == accounting.MethodAdvanced {
			f.says("| advanced composition, Dwork, Rothblum and Vadhan | %.2f |", g.Epsilon)
		}
	}
	f.says("%s against %s for 100 steps of epsilon .1 and Q = .001", fmt.Sprintf("%.3f", *account.Outcomes[0].Composed)[1:], fmt.Sprintf("%.4f", account.Outcomes[0].Upper)[1:])
	f.says("| zCDP, rho = k epsilon²/2 | %.2f |", accounting.BestEpsilon(accounting.Concentrated{Rho: k * eps * eps / 2}, delta, accounting.Classical).Epsilon)
	curve := accounting.Repeat{Curve: accounting.PureDP{Epsilon: eps}, K: k}
	f.says("| exact Rényi curve, tight conversion | %.2f |", accounting.BestEpsilon(curve, delta, accounting.Tight).Epsilon)
	f.says("| optimal composition | %.2f |", accounting.OptimalEpsilon(eps, 0, k, delta))
	_, hi := accounting.Preserve(0.5, 0, 2)
	f.says("the right exponent gives %.3f", hi)
	f.says("multiplies the odds by e³ with probability .%.0f", 100/(1+math.Exp(-3)))
	if printed := math.Exp(accounting.PureDP{Epsilon: 3}.At(1.5) - 2*3); printed > 0.2 {
		t.Errorf("the printed bound is %v", printed)
	}
}
