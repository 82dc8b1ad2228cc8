package accounting

import (
	"math"

	"github.com/dpscope/dpscope/audit"
	"gonum.org/v1/gonum/floats"
)

// SubsampledGaussian is [Gaussian] noise on a sum over a Poisson sample: every record takes part
// with probability Rate on its own, one record is added or removed (Mironov, Talwar and Zhang
// 2019). Attained.
//
// With q = Rate, noise sigma = Sigma/Sensitivity and z ~ N(0, sigma^2) let 1 + w = 1-q + q
// e^((2z-1)/(2 sigma^2)). Then E w = 0 and the divergence is
//
//	log(E (1+w)^alpha)/(alpha-1) = log(1 + E[(1+w)^alpha - 1 - alpha w])/(alpha-1)
//
// (theorem 4; the other order of the two distributions gives less, theorem 5). On the right nothing
// cancels, as the variable is not negative. At a whole alpha up to 4096 it is the finite sum
//
//	sum over k >= 2 of C(alpha, k) (1-q)^(alpha-k) q^k (e^((k^2-k)/(2 sigma^2)) - 1),
//
// (section 3.3, less the terms that add up to 1), else the trapezoidal rule. Relative error below
// 1e-10.
type SubsampledGaussian struct{ Sigma, Sensitivity, Rate float64 }

func (s SubsampledGaussian) Validate() error {
	noise := s.Sigma / s.Sensitivity
	return audit.First(checkNoise("sigma", s.Sigma, s.Sensitivity), checkRate(s.Rate),
		audit.Remedy("rate 1 is an upper bound", audit.Require(s.Rate == 1 || noise >= MinNoise && noise <= 1e9, "sigma/sensitivity", noise, "in [0.05, 1e9] with a rate below 1")))
}

const largestSum = 4096

func (s SubsampledGaussian) At(alpha float64) float64 {
	mustBeOrder(alpha)
	if s.Rate == 1 {
		return Gaussian{s.Sigma, s.Sensitivity}.At(alpha)
	}
	if alpha == inf {
		return alpha
	}
	noise := s.Sigma / s.Sensitivity
	if alpha >= 2 && alpha <= largestSum && alpha == math.Trunc(alpha) {
		return softplus(logBinomialMoment(noise, s.Rate, int(alpha))) / (alpha - 1)
	}
	mean := logMean(noise, s.Rate, alpha, quadratureStep(noise))
	if alpha == 1 {
		return math.Exp(mean)
	}
	return softplus(mean+math.Log(alpha-1)) / (alpha - 1)
}

func softplus(x float64) float64 {
	if x > 40 {
		return x
	}
	return math.Log1p(math.Exp(x))
}

func logBinomialMoment(noise, q float64, alpha int) float64 {
	var terms []float64
	odds := math.Log(q) - math.Log1p(-q)
	weight := float64(alpha) * math.Log1p(-q) // log C(alpha, k) q^k (1-q)^(alpha-k)
	for k := 1; k <= alpha; k++ {
		weight += odds + math.Log(float64(alpha-k+1)/float64(k))
		if k >= 2 {
			terms = append(terms, weight+logExpm1(float64(k)*float64(k-1)/(2*noise*noise)))
		}
	}
	return floats.LogSumExp(terms)
}

func logExpm1(x float64) float64 {
	if x > 1 {
		return x + math.Log1p(-math.Exp(-x))
	}
	return math.Log(math.Expm1(x))
}

// logMean is log(E[(1+w)^alpha - 1 - alpha w]/(alpha-1)) by the trapezoidal rule of step h on [-12
// sigma, alpha + 12 sigma]; the limit at alpha = 1.
//
// The integrand is analytic for |Im z| < pi sigma^2, where 1+w has its zeros, and there |1+w| is at
// most its value at Re z. So the error is about e^(d^2/(2 sigma^2) - 2 pi d/h) of the whole for any
// d up to pi sigma^2, and less than e^-70 lies outside the interval. Where the term is below e^-60
// of the largest it is leapt over: its logarithm is at most -z^2/(2 sigma^2) + alpha log(1+w),
// whose slope is at most (alpha-z)/sigma^2.
func logMean(sigma, q, alpha, h float64) float64 {
	v, t := sigma*sigma, alpha-1
	logq, log1mq := math.Log(q), math.Log1p(-q)
	l := func(z float64) float64 { // log(1+w)
		x := (2*z - 1) / (2 * v)
		if x < 30 {
			return math.Log1p(q * math.Expm1(x))
		}
		return logq + x + math.Log1p(math.Exp(log1mq-logq-x))
	}
	term := func(z float64) float64 { return -z*z/(2*v) + logConvexity(t, l(z)) }
	top := max(term(sigma), term(alpha))
	var terms []float64
	end := alpha + 12*sigma
	for i := math.Ceil(-12 * sigma / h); i*h <= end; i++ {
		z := i * h
		lz := l(z)
		if t > 0 && z > 0 && z < alpha {
			ceiling := -z*z/(2*v) + max(0, alpha*lz) + max(0, -math.Log(t))
			if gap := top - 60 - ceiling; gap > 0 {
				i = max(i, math.Floor((z+gap*v/(alpha-z))/h)-1)
				continue
			}
		}
		x := -z*z/(2*v) + logConvexity(t, lz)
		top = max(top, x)
		terms = append(terms, x)
	}
	return floats.LogSumExp(terms) + math.Log(h/sigma) - math.Log(2*math.Pi)/2
}

// quadratureStep is where the error of logMean is about e^-45 at the best d.
func quadratureStep(sigma float64) float64 {
	const digits = 45
	v := sigma * sigma
	if h := sigma * math.Pi * math.Sqrt(2.0/digits); h >= 2 {
		return h // d = 2 pi v/h
	}
	return 2 * math.Pi * math.Pi * v / (digits + math.Pi*math.Pi*v/2) // d = pi v
}

// logConvexity is log(((1+w)^(t+1) - 1 - (t+1)w)/t) with l = log(1+w), the limit (1+w)log(1+w) - w
// at t = 0.
func logConvexity(t, l float64) float64 {
	scale := max(1, t) * math.Abs(l)
	switch {
	case l == 0:
		return -inf
	case scale < 0.5:
		// e^l times the sum over n >= 2 of l^n (t^(n-1) - (-1)^(n-1))/n!: nothing cancels.
		sum, up, down := 0.0, l, l
		for n := 2.0; n < 20; n++ {
			up, down = up*t*l/n, down*-l/n
			sum += up - down
		}
		return l + math.Log(sum)
	case t*l > 500:
		return l + t*l - math.Log(t)
	case l > 40:
		return l + math.Log(expOver(t, l)-1)
	}
	return math.Log(math.Exp(l)*expOver(t, l) - math.Expm1(l))
}
