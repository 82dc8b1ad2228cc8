package source

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/mechanisms/train"
)

func checkTrainedOneRun(s *Setup, _ audit.Params) error {
	c, data, err := trainConfig(*s)
	if err != nil {
		return err
	}
	if s.K > train.CanariesMost {
		return audit.Fault("m", fmt.Sprint(s.K), fmt.Sprintf("at most %d canaries in one training", train.CanariesMost))
	}
	s.Params["sigma"] = audit.ParamValue{Number: c.Sigma}
	// The rest of the limit depends on the model, which is cheap to make but for the
	// reference training of final-model access.
	if c.Access == train.Final {
		return nil
	}
	model, err := train.New(c, data)
	if err != nil {
		return err
	}
	return audit.At("m", model.CheckCanaries(s.K))
}

// DPSGD is a model trained by DP-SGD, see package mechanisms/train. A run trains two
// models, one under replace.
func DPSGD() Spec {
	params := slices.DeleteFunc(train.Params(), func(p audit.ParamSpec) bool { return p.Name == "canary" })
	return Spec{
		Name: "dp-sgd", Title: "a model trained by gradient descent with clipped gradients and Gaussian noise",
		Score:  "log likelihood ratio of what the auditor sees of the training with and without the canary; for the final model alone, how far it moved in the canary's direction or how well it fits the canary",
		Params: params, Relations: []audit.Relation{audit.AddRemove, audit.Replace}, Designs: []Design{RandomGradients, TailSingular, DataPoisoning}, TakesData: true,
		ShardRuns: 4, Runs: 128, OneRunDesigns: []Design{RandomGradients, DataPoisoning}, CheckOneRun: checkTrainedOneRun,
		Check: func(s *Setup) error {
			c, _, err := trainConfig(*s)
			if err != nil {
				return err
			}
			s.Params, s.Pool.Tail = maps.Clone(s.Params), c.Tail
			s.Params["sigma"] = audit.ParamValue{Number: c.Sigma}
			return nil
		},
		New:  newTrained,
		Idle: func(s Setup) []string { return train.Idle(trainParams(s), s.Data == nil) },
		Facts: func(s Setup) []audit.FactRow {
			c, data, err := trainConfig(s)
			if err != nil {
				return []audit.FactRow{}
			}
			noise := fmt.Sprintf("%.6g times the clipping norm: epsilon = %.6g at delta = %g by our accounting", c.Sigma, c.Guarantee(), c.Delta)
			if c.NoiseFactor != 1 {
				noise = fmt.Sprintf("%.6g times the clipping norm is accounted for, which would be epsilon = %.6g at delta = %g; %.6g times is added", c.Sigma, c.Guarantee(), c.Delta, c.Sigma*c.NoiseFactor)
			}
			if c.NoClipping {
				noise += ", if gradients were clipped"
			}
			rows := []audit.FactRow{{Name: "Noise", Value: noise}}
			if data != nil {
				rows = append(rows, audit.FactRow{Name: "Data", Value: fmt.Sprintf("%d examples, %d features, %d classes, of the file", data.Len(), len(data.Features), len(data.Classes))})
			}
			return rows
		},
	}
}

func trainParams(s Setup) audit.Params {
	p := maps.Clone(s.Params)
	p["canary"] = audit.ParamValue{Text: map[Design]string{RandomGradients: train.Gradient, DataPoisoning: train.Poison, TailSingular: train.Tail}[s.Design]}
	return p
}

// trainConfig is the training that a setup means, resolved.
func trainConfig(s Setup) (train.Config, *train.Dataset, error) {
	var data *train.Dataset
	if s.Data != nil {
		var err error
		if data, err = train.ReadCSV(s.Data, *cmp.Or(s.CSV, new(train.CSV))); err != nil {
			return train.Config{}, nil, audit.At("/data", err)
		}
	}
	c := train.FromParams(trainParams(s), data == nil)
	c.Tail, c.Scale = s.Pool.Tail, string(s.Pool.Scale)
	c.Relation, c.Epsilon, c.Delta = string(s.Relation), s.Claim.Epsilon, s.Claim.Delta
	c, err := c.Resolve(data)
	var in *audit.InputError
	if errors.As(err, &in) && slices.ContainsFunc(train.Params(), func(p audit.ParamSpec) bool { return p.Name == in.Field }) {
		in.Path = "p." + in.Field
	}
	return c, data, err
}

func newTrained(s Setup) (Source, error) {
	c, data, err := trainConfig(s)
	if err != nil {
		return nil, err
	}
	model, err := train.New(c, data)
	if err != nil {
		return nil, err
	}
	if model.Check = s.Interrupt; s.M == 0 {
		err = model.CheckCanaries(s.K)
	}
	return model, err
}
