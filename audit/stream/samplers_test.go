package stream

// sampler is one block sampler with its parameters fixed.
type sampler struct {
	name string
	fill func(s *Stream, dst []float64)
}

// samplers lists every block sampler, those with awkward parameters too.
func samplers() []sampler {
	return []sampler{
		{"uniform(0,1)", func(s *Stream, dst []float64) { s.Uniform(dst, 0, 1) }},
		{"uniform(-3,10)", func(s *Stream, dst []float64) { s.Uniform(dst, -3, 10) }},
		{"laplace(1)", func(s *Stream, dst []float64) { s.Laplace(dst, 1) }},
		{"laplace(0.3)", func(s *Stream, dst []float64) { s.Laplace(dst, 0.3) }},
		{"gaussian(1)", func(s *Stream, dst []float64) { s.Gaussian(dst, 1) }},
		{"gaussian(2.7)", func(s *Stream, dst []float64) { s.Gaussian(dst, 2.7) }},
		{"exponential(1)", func(s *Stream, dst []float64) { s.Exponential(dst, 1) }},
		{"exponential(1e-3)", func(s *Stream, dst []float64) { s.Exponential(dst, 1e-3) }},
		{"geometric(0.5)", func(s *Stream, dst []float64) { s.Geometric(dst, 0.5) }},
		{"geometric(0.01)", func(s *Stream, dst []float64) { s.Geometric(dst, 0.01) }},
		{"geometric(1e-300)", func(s *Stream, dst []float64) { s.Geometric(dst, 1e-300) }},
		{"bernoulli(0.3)", func(s *Stream, dst []float64) { s.Bernoulli(dst, 0.3) }},
		{"bernoulli(0.999)", func(s *Stream, dst []float64) { s.Bernoulli(dst, 0.999) }},
	}
}

// degenerate lists samplers at the ends of their parameters' ranges, where all
// samples are equal.
func degenerate() []sampler {
	return []sampler{
		{"uniform(5,5)", func(s *Stream, dst []float64) { s.Uniform(dst, 5, 5) }},
		{"laplace(0)", func(s *Stream, dst []float64) { s.Laplace(dst, 0) }},
		{"gaussian(0)", func(s *Stream, dst []float64) { s.Gaussian(dst, 0) }},
		{"exponential(0)", func(s *Stream, dst []float64) { s.Exponential(dst, 0) }},
		{"geometric(1)", func(s *Stream, dst []float64) { s.Geometric(dst, 1) }},
		{"bernoulli(0)", func(s *Stream, dst []float64) { s.Bernoulli(dst, 0) }},
		{"bernoulli(1)", func(s *Stream, dst []float64) { s.Bernoulli(dst, 1) }},
		{"bernoulli(1e-300)", func(s *Stream, dst []float64) { s.Bernoulli(dst, 1e-300) }},
	}
}
