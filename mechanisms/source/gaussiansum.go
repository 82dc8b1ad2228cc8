package source

import (
	"fmt"
	"math"
	"slices"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/audit/stream"
	"github.com/dpscope/dpscope/audit/stream/linalg"
	"github.com/dpscope/dpscope/audit/stream/matmul"
	"github.com/dpscope/dpscope/bounds/accounting"
)

const (
	mostDimensions = 1_000_000
	mostCanaries   = 4096
)

// Ways to calibrate the noise.
const (
	ByRenyi    = "renyi"    // the Rényi curve, converted: LiDP appendix E.1
	ByAnalytic = "analytic" // exactly: Balle and Wang 2018
)

// GaussianSum is the sum of vectors in the unit ball with Gaussian noise, on the
// canaries alone (LiDP section 4 and appendix E.1).
//
// Sphere, random-gradients and orthogonal canaries are rotation invariant: inner
// products are drawn without forming vectors, in O(K + M), see [gaussianSum].
func GaussianSum() Spec {
	return Spec{
		Name: "gaussian-sum", Title: "sum of vectors in the unit ball with Gaussian noise", Score: "inner product of the canary and the noisy sum",
		Params: []audit.ParamSpec{
			{Name: "d", Doc: "dimension; of vectors from a file, that of the file", Default: 1000, Min: 1, Max: mostDimensions, Integer: true},
			{Name: "calibration", Doc: "how the noise follows from epsilon and delta: by the Rényi bound of the paper, or exactly", Choices: []string{ByRenyi, ByAnalytic}},
			{Name: "epsilon", Doc: "epsilon of the calibration; default: the claim's", Default: 1, Min: 0.001, Max: 100},
			{Name: "delta", Doc: "delta of the calibration; default: the claim's", Default: 1e-5, Min: 1e-100, Max: 0.5},
			{Name: "noise", Doc: "factor on the calibrated noise; below 1 the mechanism breaks its claim", Default: 1, Min: 0.001, Max: 1000},
		},
		Relations: []audit.Relation{audit.AddRemove, audit.Replace}, Designs: []Design{Sphere, Orthogonal, RandomGradients, Vectors},
		ShardRuns: 256, Runs: 1024, Cheap: true,
		Check: checkSum, New: newSum, OneRunDesigns: []Design{Orthogonal, Sphere}, CheckOneRun: checkSumOneRun,
		Facts: func(s Setup) []audit.FactRow {
			return []audit.FactRow{
				{Name: "Noise", Value: fmt.Sprintf("standard deviation %.6g in each of %d dimensions, %s calibration, L2 sensitivity %.0f", sumSigma(s), s.Params.Int("d"), s.Params.Word("calibration"), sensitivity(s.Relation))},
			}
		},
	}
}

func sensitivity(r audit.Relation) float64 { return audit.Pick(r == audit.Replace, 2.0, 1) }

func sumSigma(s Setup) float64 {
	sigma := Sigma(s.Params.Word("calibration"), s.Params.Num("epsilon"), s.Params.Num("delta"))
	return float64(float64(sigma*sensitivity(s.Relation)) * s.Params.Num("noise"))
}

// Sigma is the standard deviation of Gaussian noise that makes a value of L2
// sensitivity 1 (eps, delta) differentially private. It is rounded up to seven
// digits, so that it is the same on every platform: for (2, 1e-5) 2.149 by Rényi
// and 1.994 exactly.
func Sigma(calibration string, eps, delta float64) float64 {
	if calibration == ByAnalytic {
		return sevenDigits(accounting.GaussianSigma(eps, delta, 1))
	}
	hi := accounting.GaussianSigma(eps, delta, 1)
	lo := hi
	holds := func(sigma float64) bool {
		return accounting.BestEpsilon(accounting.Gaussian{Sigma: sigma, Sensitivity: 1}, delta, accounting.Tight).Epsilon <= eps
	}
	for !holds(hi) {
		lo, hi = hi, float64(hi*1.5)
	}
	for range 60 {
		if mid := float64(lo/2) + float64(hi/2); holds(mid) {
			hi = mid
		} else {
			lo = mid
		}
	}
	return sevenDigits(hi)
}

func sevenDigits(x float64) float64 {
	step := 1.0
	for float64(x*step) < 1e6 {
		step *= 10
	}
	for float64(x*step) >= 1e7 {
		step /= 10
	}
	return float64(math.Ceil(float64(float64(x*step)*(1-1e-13))) / step)
}

func checkSum(s *Setup) error {
	if s.K > mostCanaries || s.M > mostCanaries {
		return audit.Fault("k", fmt.Sprintf("%d with m = %d", s.K, s.M), fmt.Sprintf("at most %d each", mostCanaries))
	}
	// Under add-remove the last canary need not be orthogonal to fresh ones: they are tested
	// on the dataset without it.
	need, d := max(s.K, s.K-1+s.M), s.Params.Int("d")
	if s.Relation == audit.Replace {
		need = s.K + s.M
	}
	if s.Design == Orthogonal && need > d {
		return audit.Fault("k", fmt.Sprintf("%d with m = %d", s.K, s.M),
			fmt.Sprintf("so few that %d orthogonal canaries fit into d = %d dimensions", need, d),
			fmt.Sprintf("lower k or m, raise d, or use the design %q", Sphere))
	}
	if s.Design != Vectors {
		return nil
	}
	if s.Pool.Tail != 0 {
		return audit.Fault("tail", fmt.Sprint(s.Pool.Tail), fmt.Sprintf("absent except for the design %q", TailSingular))
	}
	if known := []string{string(UnitNorm), string(MedianNorm)}; !slices.Contains(known, string(s.Pool.Scale)) {
		return audit.UnknownName("scale", string(s.Pool.Scale), known)
	}
	var err error
	if s.vectors, err = canaryVectors(s.Data, s.Pool.Scale); err != nil {
		return audit.At("/data", err)
	}
	s.Params["d"] = audit.ParamValue{Number: float64(len(s.vectors[0]))}
	return nil
}

func newSum(s Setup) (Source, error) {
	g := &gaussianSum{D: s.Params.Int("d"), Sigma: sumSigma(s), Relation: s.Relation}
	g.ball, g.orthogonal = s.Design == RandomGradients, s.Design == Orthogonal
	if s.Design == Vectors {
		return &vectorSum{gaussianSum: g, vectors: s.vectors}, nil
	}
	return g, nil
}

// gaussianSum draws canaries uniform on the sphere or in the ball, or orthonormal ones, which see
// themselves and noise alone.
//
// The sums S(1), ..., S(K) of the canaries inside are a random walk, and the output Y is
// one step more. Forwards the lengths are drawn, each by the angle of a canary with the sum
// before it; they give the canary's parts along and across its own sum. Given S(i), Y is
// independent of what came before, and given the lengths too the part across has a uniformly
// random direction in the d-1 dimensions across S(i). So backwards the inner products with Y
// are drawn, each by the angle of that part with Y's.
type gaussianSum struct {
	D        int
	Sigma    float64
	Relation audit.Relation

	ball, orthogonal bool

	walk []sumStep
}

// sumStep is the length of a sum, and its last canary's parts along and across it, all across 0.
type sumStep struct{ length, along, across float64 }

func (g *gaussianSum) Run(st *stream.Stream, in, out []float64) (bool, error) {
	if g.orthogonal {
		st.Gaussian(in, g.Sigma)
		for i := range in {
			in[i]++
		}
		st.Gaussian(out, g.Sigma)
		return false, nil
	}
	g.walk = g.walk[:0]
	for i := range in {
		if i == len(in)-1 && g.Relation == audit.AddRemove { // model 0 has the first K-1
			_, square := g.noisy(st)
			g.fresh(st, out, math.Sqrt(square))
		}
		g.step(st)
	}
	length := g.release(st, in)
	if g.Relation == audit.Replace {
		g.fresh(st, out, length)
	}
	return false, nil
}

func (g *gaussianSum) reached(n int) float64 {
	if n == 0 {
		return 0
	}
	return g.walk[n-1].length
}

func (g *gaussianSum) step(st *stream.Stream) {
	before := g.reached(len(g.walk))
	cosine, sine := direction(st, g.D)
	radius := g.radius(st)
	x, y := before+float64(radius*cosine), float64(radius*sine)
	s := sumStep{length: math.Sqrt(float64(x*x) + float64(y*y)), across: radius}
	if s.length > 0 {
		s.along = float64(radius * (float64(before*cosine) + radius) / s.length)
		s.across = float64(before * y / s.length)
	}
	g.walk = append(g.walk, s)
}

// noisy draws the sum so far with noise: its part along the sum, and its squared length.
func (g *gaussianSum) noisy(st *stream.Stream) (along, square float64) {
	var z [1]float64
	st.Gaussian(z[:], g.Sigma)
	along = g.reached(len(g.walk)) + z[0]
	return along, float64(along*along) + float64(float64(g.Sigma*g.Sigma)*chiSquare(st, g.D-1))
}

// release scores the canaries and returns the length of the output.
func (g *gaussianSum) release(st *stream.Stream, scores []float64) float64 {
	along, square := g.noisy(st) // of the output, along the sum
	for i := len(scores) - 1; i >= 0; i-- {
		s, before := g.walk[i], g.reached(i)
		dimensions, across := g.D-1, math.Sqrt(max(0, square-float64(along*along)))
		if s.length == 0 {
			dimensions, across = g.D, math.Sqrt(square)
		}
		scores[i] = float64(s.along * along)
		if s.across > 0 {
			cosine, _ := direction(st, dimensions)
			scores[i] += float64(float64(s.across*cosine) * across)
		}
		if before > 0 {
			along = (float64(s.length*along) - scores[i]) / before
		}
	}
	return math.Sqrt(square)
}

// direction draws cosine and sine of the angle of a random direction of n >= 1 dimensions.
func direction(st *stream.Stream, n int) (cosine, sine float64) {
	var z [1]float64
	st.Gaussian(z[:], 1)
	rest := chiSquare(st, n-1)
	length := math.Sqrt(float64(z[0]*z[0]) + rest)
	return z[0] / length, math.Sqrt(rest) / length
}

// fresh draws inner products with an independent output of this length.
func (g *gaussianSum) fresh(st *stream.Stream, out []float64, length float64) {
	for j := range out {
		cosine, _ := direction(st, g.D)
		out[j] = float64(float64(cosine*g.radius(st)) * length)
	}
}

func (g *gaussianSum) radius(st *stream.Stream) float64 {
	if !g.ball {
		return 1
	}
	return stream.Exp(stream.Log(1-st.Float64()) / float64(g.D))
}

// OneRun implements [OneRunSource] in O(m).
func (g *gaussianSum) OneRun(st *stream.Stream, scores []float64, member []bool) (bool, error) {
	coins := flip(st, member)
	if g.orthogonal {
		st.Gaussian(scores, g.Sigma)
		matmul.AddScaled(scores, coins, 1)
		return false, nil
	}
	g.walk = g.walk[:0]
	for _, in := range member {
		if in {
			g.step(st)
		}
	}
	inside := make([]float64, len(g.walk))
	g.fresh(st, scores, g.release(st, inside)) // those that are out
	for i, in := range member {
		if in {
			scores[i], inside = inside[0], inside[1:]
		}
	}
	return false, nil
}

func checkSumOneRun(s *Setup, given audit.Params) error {
	if s.Design == Sphere && s.K > mostCanaries {
		return audit.Fault("m", fmt.Sprint(s.K), fmt.Sprintf("at most %d on the sphere", mostCanaries), fmt.Sprintf("use the design %q", Orthogonal))
	}
	if s.Design != Orthogonal || s.K <= s.Params.Int("d") {
		return nil
	}
	if _, ok := given["d"]; ok || s.K > mostDimensions {
		return audit.Fault("m", fmt.Sprint(s.K), fmt.Sprintf("at most d = %d: canaries are orthogonal", s.Params.Int("d")),
			fmt.Sprintf("lower m, raise d, or use the design %q", Sphere))
	}
	s.Params["d"] = audit.ParamValue{Number: float64(s.K)}
	return nil
}

const fewSquares = 8

// chiSquare draws the squared length of a standard normal vector of n >= 0 dimensions: a
// sum of few squares, or twice a gamma variate by rejection, exact but for rounding
// (G. Marsaglia and W. W. Tsang, A simple method for generating gamma variables, ACM TOMS
// 26(3), 2000).
func chiSquare(st *stream.Stream, n int) float64 {
	var z [fewSquares]float64
	if n <= fewSquares {
		st.Gaussian(z[:n], 1)
		return linalg.Dot(z[:n], z[:n])
	}
	d := float64(float64(n)/2) - 1.0/3
	c := 1 / math.Sqrt(float64(9*d))
	for {
		st.Gaussian(z[:1], 1)
		v := 1 + float64(c*z[0])
		if v <= 0 {
			continue
		}
		v = float64(float64(v*v) * v)
		u, s := 1-st.Float64(), float64(z[0]*z[0]) // u in (0, 1]
		// Step 4, which saves nearly all logarithms, and step 5.
		if u < 1-float64(0.0331*float64(s*s)) ||
			stream.Log(u) < float64(s/2)+float64(d*(1-v+stream.Log(v))) {
			return float64(2 * float64(d*v))
		}
	}
}
