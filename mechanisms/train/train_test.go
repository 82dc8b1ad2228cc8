package train

import (
	"maps"
	"math"
	"slices"
	"testing"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/audit/stream"
	"github.com/dpscope/dpscope/audit/stream/matmul"
	"github.com/dpscope/dpscope/bounds/accounting"
	"github.com/dpscope/dpscope/internal/must"
)

// small is quick and has every part.
func small() Config {
	return Config{Data: Synthetic{Examples: 60, Features: 6, Classes: 3}, Hidden: 8, Steps: 20, Rate: 0.3, Sigma: 2}
}

func source(t testing.TB, c Config) *Source {
	t.Helper()
	return must.Get(New(c, nil))(t)
}

func TestNoiselessModelsLearn(t *testing.T) {
	for _, c := range []Config{{}, {Activation: ReLU}, {Model: Linear}} {
		s := source(t, c)
		// The private ones learn too, the perceptrons less.
		for noise, least := range map[float64]float64{0: 0.94, s.t.noise(): 0.85} {
			finite, err := s.t.run(stream.New(stream.Key{}), s.t.draw(nil, 0), noise, nil, nil)
			if accuracy := s.Accuracy(s.t.data); err != nil || !finite || accuracy < least {
				t.Errorf("%+v with noise of %v: accuracy %v, %v", s.Config(), noise, accuracy, err)
			}
		}
	}
}

// Every example and every canary takes part in a step with probability q, on its
// own. Two z tests at 5 deviations: false alarm 1.2e-6.
func TestPoissonSampling(t *testing.T) {
	c := small()
	c.Steps, c.Rate, c.Model, c.Hidden = 4000, 0.15, Linear, 0
	s := source(t, c)
	inside := s.t.draw(stream.New(stream.Key{Purpose: "canaries"}), 5)
	n, k := 0.0, 0.0
	squares := 0.0
	must.Get(s.t.run(stream.New(stream.Key{Purpose: "sampling"}), inside, 1, func(at step) {
		size := float64(len(s.t.common.scratch.present.Labels))
		n += size
		squares += (size - 60*c.Rate) * (size - 60*c.Rate)
		for _, v := range at.present {
			k += v
		}
	}, nil))(t)
	trials := float64(c.Steps) * 60
	if z := (n - trials*c.Rate) / math.Sqrt(trials*c.Rate*(1-c.Rate)); math.Abs(z) > 5 {
		t.Errorf("examples took part %v times of %v", n, trials)
	}
	trials = float64(c.Steps) * 5
	if z := (k - trials*c.Rate) / math.Sqrt(trials*c.Rate*(1-c.Rate)); math.Abs(z) > 5 {
		t.Errorf("canaries took part %v times of %v", k, trials)
	}
	// Binomial sizes: their variance, of relative deviation sqrt(2/steps).
	if ratio := squares / float64(c.Steps) / (60 * c.Rate * (1 - c.Rate)); math.Abs(ratio-1) > 5*math.Sqrt(2/float64(c.Steps)) {
		t.Errorf("variance of the sample's size is %v of the binomial", ratio)
	}
}

// What a step releases is the clipped sum plus noise of deviation sigma C, and
// the weights move against it by the rate over q N. False alarm of the
// deviation's test 6e-7.
func TestStep(t *testing.T) {
	for _, canary := range []string{Gradient, Poison} {
		for _, fault := range []Config{{}, {NoClipping: true}, {NoiseFactor: 0.25}} {
			c := small()
			c.Canary, c.NoClipping, c.NoiseFactor, c.Clip = canary, fault.NoClipping, fault.NoiseFactor, 0.5
			s := source(t, c)
			c = s.Config()
			tr := s.t
			before := append([]float64(nil), tr.start...)
			inside := tr.draw(stream.New(stream.Key{Purpose: "canaries"}), 4)
			var energy, count float64
			sum, own := make([]float64, s.Parameters()), make([]float64, s.Parameters())
			must.Get(tr.run(stream.New(stream.Key{Purpose: "steps"}), inside, tr.noise(), func(at step) {
				// Gradients of all who took part, at the weights of the step.
				if !slices.EqualFunc(tr.model.theta, before, func(a, b float64) bool { return math.Abs(a-b) <= 1e-12 }) {
					t.Fatal("the weights did not move by the noisy sum")
				}
				clear(sum)
				clipped, stretch := inside.gradients(tr)
				for k, on := range at.present {
					length := 1.0
					if c.NoClipping {
						length = stretch[k]
					}
					matmul.AddScaled(sum, clipped[k*len(own):(k+1)*len(own)], on*length)
				}
				m := newNetwork(c.sizes(tr.data), c.Activation)
				copy(m.theta, tr.model.theta)
				m.ready()
				m.forward(tr.common.scratch.present.X, tr.common.scratch.present.Labels)
				m.backward(tr.common.scratch.present.Labels)
				for k := range tr.common.scratch.present.Labels {
					m.gradient(k, own)
					length := 1.0
					if !c.NoClipping {
						length = math.Min(1, c.Clip/m.norms[k])
					}
					matmul.AddScaled(sum, own, length)
				}
				for i, v := range at.released {
					energy += (v - sum[i]) * (v - sum[i])
					count++
					before[i] += -c.move(60) * v
				}
			}, nil))(t)
			want := c.Sigma * c.NoiseFactor * c.Clip
			if got := math.Sqrt(energy / count); math.Abs(got/want-1) > 5/math.Sqrt(2*count) {
				t.Errorf("%+v: the noise has deviation %v, want %v", c, got, want)
			}
		}
	}
}

func TestSigma(t *testing.T) {
	for _, v := range []struct {
		c            Config
		want, within float64
	}{
		// LiDP's figures: 2.149 at (2, 1e-5); T steps on everything are one at
		// sigma/sqrt(T).
		{Config{Rate: 1, Steps: 1}, 2.149, 0.001},
		{Config{Rate: 1, Steps: 100}, 21.49, 0.011},
		// Replacement is twice the sensitivity.
		{Config{Rate: 1, Steps: 1, Relation: Replace}, 4.298, 0.002},
	} {
		r, err := v.c.Resolve(nil)
		if err != nil || math.Abs(r.Sigma-v.want) > v.within {
			t.Errorf("%+v: sigma %v, %v; want %v", v.c, r.Sigma, err, v.want)
		}
	}
	for _, c := range []Config{{}, {Rate: 0.02, Steps: 1000, Epsilon: 4}, {Epsilon: 0.1}, {Epsilon: 20, Delta: 1e-9}, {Relation: Replace, Rate: 0.5}} {
		r := must.Get(c.Resolve(nil))(t)
		if got := r.Guarantee(); got > r.Epsilon {
			t.Errorf("%+v: epsilon %v, claimed %v", r, got, r.Epsilon)
		}
		if r.guarantee(r.Sigma*0.998) <= r.Epsilon {
			t.Errorf("%+v: less noise would do", r)
		}
		if again, err := r.Resolve(nil); err != nil || again != r {
			t.Errorf("%+v: resolved again %+v, %v", r, again, err)
		}
	}
	// Abadi et al. 2016, section 3.2: q = 0.01, sigma = 4, 10,000 steps, delta =
	// 1e-5 give 1.26 by the moments accountant, whose conversion is the
	// classical one.
	c := Config{Rate: 0.01, Steps: 10000, Sigma: 4, Delta: 1e-5}
	classical := accounting.BestEpsilon(accounting.Repeat{Curve: accounting.SubsampledGaussian{Sigma: 4, Sensitivity: 1, Rate: 0.01}, K: 10000}, 1e-5, accounting.Classical).Epsilon
	if math.Abs(classical-1.26) > 0.01 {
		t.Errorf("classical epsilon %v, published 1.26", classical)
	}
	if got := c.Guarantee(); !(got < classical && got > 0.8*classical) {
		t.Errorf("epsilon %v, classical %v", got, classical)
	}
}

func TestResolveRefuses(t *testing.T) {
	for field, c := range map[string]Config{
		"model":         {Model: "tree"},
		"activation":    {Activation: "sigmoid"},
		"hidden":        {Hidden: -1},
		"steps":         {Steps: -1},
		"rate":          {Rate: 1.5},
		"clip":          {Clip: -1},
		"learning-rate": {LearningRate: math.NaN()},
		"epsilon":       {Epsilon: -2},
		"delta":         {Delta: 1},
		"sigma":         {Sigma: 0.01},
		"noise-factor":  {NoiseFactor: 1.1},
		"relation":      {Relation: "swap"},
		"canary":        {Canary: "dove"},
		"access":        {Access: "none"},
		"strength":      {Strength: 0.5},
		"examples":      {Data: Synthetic{Examples: 1}},
		"features":      {Data: Synthetic{Features: 1e6}},
		"classes":       {Data: Synthetic{Classes: 1}},
		"separation":    {Data: Synthetic{Separation: -1}},
	} {
		_, err := c.Resolve(nil)
		in, ok := err.(*audit.InputError)
		if !ok || in.Field != field {
			t.Errorf("%s: %v", field, err)
		}
	}
	for _, c := range []Config{{Model: Linear, Activation: Tanh}, {Model: Linear, Hidden: 3}, {Canary: Poison, Strength: 10}} {
		must.Input(t, must.Err(c.Resolve(nil)), "", c)
	}
	must.Input(t, must.Err((Config{Data: Synthetic{Seed: 1}}).Resolve(NewSynthetic(Synthetic{}))), "", "two sets of data")
}

// The parameters' defaults are the configuration's, and every one is taken.
func TestParams(t *testing.T) {
	p := must.Get(audit.ResolveParams(Params(), nil, audit.Claim{}))(t)
	want := must.Get(Config{}.Resolve(nil))(t)
	if got, err := FromParams(p, true).Resolve(nil); err != nil || got != want {
		t.Errorf("%+v, %v; want %+v", got, err, want)
	}
	for _, s := range Params() {
		other := maps.Clone(p)
		v := audit.ParamValue{Number: s.Default + 1}
		if s.Name == "rate" {
			v.Number = 0.5
		}
		if len(s.Choices) > 0 {
			v = audit.ParamValue{Text: s.Choices[len(s.Choices)-1]}
		}
		other[s.Name] = v
		if got, err := FromParams(other, true).Resolve(nil); err != nil || got == want {
			t.Errorf("%s = %v changes nothing, %v", s.Name, v, err)
		}
	}
}
