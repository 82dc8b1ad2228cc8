package main

import (
	"context"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/audit/stream"
	"github.com/dpscope/dpscope/core/canary"
	"github.com/dpscope/dpscope/internal/cli"
	"github.com/dpscope/dpscope/mechanisms/source"
	"github.com/dpscope/dpscope/mechanisms/train"
)

// lidpPlan is what bench lidp is asked for.
type lidpPlan struct {
	Dataset string `json:"dataset"`
	Data    string `json:"-"` // a folder of this machine
	Model   string `json:"model"`
	Only    string `json:"only,omitempty"`
	Paper   bool   `json:"paper"`
	Quick   bool   `json:"quick"`
	Seed    uint64 `json:"seed"`

	Trials   int       `json:"trials"` // n, that certify; as many explore
	Train    int       `json:"train"`  // examples
	Test     int       `json:"test"`
	Pool     int       `json:"pool"` // pixels a side that become one
	Hidden   int       `json:"hidden"`
	Epochs   int       `json:"epochs"`
	Batch    int       `json:"batch"`
	Rate     float64   `json:"learningRate"`
	Clip     float64   `json:"clip"`
	Epsilons []float64 `json:"epsilons"`
	Canaries []int     `json:"canaries"` // K
}

// lidpCell is one model with K canaries of one kind in each training.
type lidpCell struct {
	kind string // of canaries
	eps  float64
	k    int
}

func (c lidpCell) String() string {
	return fmt.Sprintf("%s, epsilon = %g, K = %d", choose(c.kind == train.Tail, lidpKinds[0].name, lidpKinds[1].name), c.eps, c.k)
}

// lidpMeasured are the scores of its trainings, and how well the models did.
type lidpMeasured struct {
	*simulation
	accuracy []float64
}

type lidpBench struct {
	lidpPlan
	workshop
	data  examples
	cells map[lidpCell]*lidpMeasured
}

// lidpKinds are the canaries of section 5, by what the paper calls them.
var lidpKinds = []struct{ name, kind string }{{"data poisoning", train.Tail}, {"random gradient", train.Gradient}}

// lidpTables are the tables by name, in the order in which they are printed.
var lidpTables = []struct {
	name  string
	build func(*lidpBench) (*canaryTable, error)
}{{"gain", (*lidpBench).gain}, {"runs", (*lidpBench).byRuns}, {"canaries", (*lidpBench).byCanaries}}

const lidpMost = 16 // canaries of table 1

var lidpEpsilons = []float64{2, 4, 8, 16} // of table 1

// benchLiDP measures audits of models trained by DP-SGD.
func benchLiDP(c *call) (int, error) {
	var p lidpPlan
	c.StringVar(&p.Dataset, "dataset", "mnist", "mnist, fashion, purchase, or generated: 600 sparse binary features made here, like those of purchase")
	c.StringVar(&p.Data, "data", "", "`folder` of the dataset's files; of mnist default those that go mod download brings")
	c.StringVar(&p.Model, "model", train.Linear, "linear, or mlp: two hidden layers")
	c.StringVar(&p.Only, "only", "", "only these tables, comma between: gain (table 1), runs and canaries (figures 5 and 12 to 15)")
	c.BoolVar(&p.Paper, "paper", false, "the paper's sizes where no flag says another: days")
	c.BoolVar(&p.Quick, "quick", false, "a minute: fewer trials and canaries, small models")
	c.Count(&p.Trials, "n", 0, "trials that certify; as many explore. 0: 160 to 1000, with -paper 1000, with -quick 60 to 240")
	c.Count(&p.Train, "train", 0, "examples to train on. 0: 1000, with -paper 60000 (purchase 20000)")
	c.Count(&p.Epochs, "epochs", 0, "epochs. 0: 5, with -paper 30 (purchase 100)")
	c.Float64Var(&p.Rate, "learning-rate", 0, "learning rate. 0: 0.5, with -paper the paper's")
	c.Float64Var(&p.Clip, "clip", 1, "largest norm of a gradient")
	c.Seed(&p.Seed, 1, "seed")
	epsilons := c.String("epsilons", "2,4,8,16", "claims, comma between, some of these")
	workers := c.workersFlag()
	c.outputFlags()
	if exit, ok := c.parse(); !ok {
		return exit, nil
	}
	for _, name := range namesOf(*epsilons) {
		x, err := strconv.ParseFloat(name, 64)
		if err != nil || !slices.Contains(lidpEpsilons, x) {
			return 0, &audit.InputError{Field: "-epsilons", Found: fmt.Sprintf("%q", name), Want: "some of 2, 4, 8 and 16, those of table 1"}
		}
		p.Epsilons = append(p.Epsilons, x)
	}
	var names []string
	for _, t := range lidpTables {
		names = append(names, t.name)
	}
	only := namesOf(p.Only)
	for _, name := range only {
		if !slices.Contains(names, name) {
			return 0, audit.UnknownName("-only", name, names)
		}
	}
	b := &lidpBench{lidpPlan: p, cells: map[lidpCell]*lidpMeasured{}, workshop: workshop{ctx: c.ctx, workers: *workers, say: c.say}}
	if err := b.sizes(); err != nil {
		return 0, err
	}
	if err := b.read(); err != nil {
		return 0, err
	}
	result := canaryResult{Bench: "lidp", Plan: b.lidpPlan}
	for _, t := range lidpTables {
		if len(only) > 0 && !slices.Contains(only, t.name) {
			continue
		}
		table, err := t.build(b)
		if err != nil {
			return 0, err
		}
		table.ID = t.name
		result.Tables = append(result.Tables, table)
	}
	return cli.ExitOK, c.emit(result, func(w io.Writer) { b.print(w, result.Tables) })
}

// sizes fills in what no flag says.
func (b *lidpBench) sizes() error {
	p := &b.lidpPlan
	if !slices.Contains([]string{train.Linear, train.Perceptron}, p.Model) {
		return audit.UnknownName("-model", p.Model, []string{train.Linear, train.Perceptron})
	}
	size := func(to *int, usual, quick, paper int) {
		if *to == 0 {
			*to = choose(p.Paper, paper, choose(p.Quick, quick, usual))
		}
	}
	images := p.Dataset == "mnist" || p.Dataset == "fashion"
	switch linear := p.Model == train.Linear; { // by what a training costs
	case images && linear:
		size(&p.Trials, 1000, 240, 1000)
	case images:
		size(&p.Trials, 600, 120, 1000)
	default:
		size(&p.Trials, 160, 60, 1000)
	}
	size(&p.Train, 1000, 1000, choose(images, 60_000, 20_000))
	size(&p.Test, 1000, 500, choose(images, 10_000, 5_000))
	size(&p.Pool, 2, 2, 1)
	size(&p.Hidden, 32, 32, 256)
	size(&p.Epochs, 5, 5, choose(images, 30, 100))
	size(&p.Batch, 100, 100, 100)
	if p.Rate == 0 {
		p.Rate = choose(p.Paper, choose(!images, .05, choose(p.Model == train.Linear, .02, .01)), .5)
	}
	if p.Canaries = []int{1, 2, 4, 8, lidpMost, 32, 64}; !p.Paper {
		p.Canaries = choose(p.Quick, []int{1, 4, lidpMost}, []int{1, 4, lidpMost, 64})
	}
	if p.Trials < 16 || p.Train < p.Batch {
		return &audit.InputError{Field: "-n and -train", Found: fmt.Sprintf("%d and %d", p.Trials, p.Train), Want: fmt.Sprintf("at least 16 trials and %d examples", p.Batch)}
	}
	return nil
}

// read reads the dataset.
func (b *lidpBench) read() (err error) {
	if b.Data == "" {
		switch b.Dataset {
		case "mnist":
			if b.Data, err = mnistFiles(b.ctx); err != nil {
				return err
			}
		case "fashion", "purchase":
			b.Data = "." // the refusal says which file, and where to get it
		}
	}
	switch b.Dataset {
	case "mnist", "fashion":
		b.data, err = idxExamples(b.Data, b.Train, b.Test, b.Pool)
	case "purchase":
		b.data, err = purchaseExamples(b.Data, b.Train, b.Test)
	case "generated":
		b.data, err = generatedPurchases(b.Train, b.Test)
	default:
		err = audit.UnknownName("-dataset", b.Dataset, []string{"mnist", "fashion", "purchase", "generated"})
	}
	b.data.name = map[string]string{"mnist": "MNIST", "fashion": "Fashion-MNIST", "purchase": "Purchase-100", "generated": "generated purchases (not Purchase-100)"}[b.Dataset]
	return err
}

// config is the training of a cell. Its noise is accounted for as usual, by addition and
// removal, and the recipe is that of appendix B.2, which trains once a trial: K canaries on
// both sides, one replaced.
func (b *lidpBench) config(c lidpCell) (train.Config, error) {
	t := train.Config{Model: b.Model, Steps: b.Epochs * b.Train / b.Batch, Rate: float64(b.Batch) / float64(b.Train), Clip: b.Clip, LearningRate: b.Rate,
		Epsilon: c.eps, Delta: canaryDelta, Canary: c.kind, Access: train.Final}
	if b.Model == train.Perceptron {
		t.Hidden, t.Activation = [2]int{b.Hidden, b.Hidden}, train.ReLU
	}
	if d := len(b.data.train.Features); c.kind == train.Tail { // the last 284 of 784 components, and 300 of 600
		t.Scale, t.Tail = train.Median, choose(d == 600, 300, d*284/784)
	}
	t, err := t.Resolve(b.data.train)
	t.Relation = train.Replace
	return t, err
}

// lidpSource draws runs and looks at how well their models do.
type lidpSource struct {
	*train.Source
	test     *train.Dataset
	accuracy *[]float64
}

// Run implements [source.Source].
func (s lidpSource) Run(st *stream.Stream, in, out []float64) (diverged bool, err error) {
	if diverged, err = s.Source.Run(st, in, out); err == nil && !diverged {
		*s.accuracy = append(*s.accuracy, s.Outcome(s.test).Accuracy)
	}
	return diverged, err
}

// measure trains the models of cells that were not trained before.
func (b *lidpBench) measure(cells []lidpCell) error {
	cells = slices.DeleteFunc(slices.Clone(cells), func(c lidpCell) bool { return b.cells[c] != nil })
	done, err := results(b.ctx, b.workers, len(cells), func(ctx context.Context, i int) (*lidpMeasured, error) {
		m := &lidpMeasured{}
		config, err := b.config(cells[i])
		if err != nil {
			return nil, err
		}
		spec := source.Spec{Name: "trained", Relations: []audit.Relation{audit.Replace}, Designs: []source.Design{source.Design(cells[i].kind)},
			New: func(source.Setup) (source.Source, error) {
				s, err := train.New(config, b.data.train)
				if err == nil {
					s.Check = ctx.Err
				}
				return lidpSource{s, b.data.test, &m.accuracy}, err
			}}
		plan := canary.Plan{Version: canary.PlanVersion, Subject: canary.Subject{Source: spec.Name, Claim: new(audit.DPClaim(cells[i].eps, canaryDelta))},
			Mode: canary.Fixed, Runs: b.Trials, K: cells[i].k, Beta: canaryBeta, Seed: b.Seed}
		a, err := plan.Resolve([]source.Spec{spec}, nil)
		if err == nil {
			m.simulation, err = simulate(a)
		}
		b.say("%s: done", cells[i])
		return m, err
	})
	for i, c := range cells {
		b.cells[c] = done[i]
	}
	return err
}

// bound is that of a way on n trials, 0 where nothing is bounded: the mean over as many parts
// of the trials as there are, each with its two halves in both roles.
func (b *lidpBench) bound(c lidpCell, way canaryWay, n int) canaryFigure {
	if c.k < way.kind.Order() {
		return canaryFigure{}
	}
	var all []float64
	for first := 0; first+n <= b.Trials; first += n {
		part := b.cells[c].part(first, n)
		for _, s := range []*simulation{part, part.swapped()} {
			all = append(all, math.Max(0, s.judge(way.kind, way.quantile).Epsilon))
		}
	}
	return meanFigure(all)
}

// trials are the numbers of them in the figures: 125 to 1000 of 1000.
func (b *lidpBench) trials() (all []int) {
	for _, share := range []int{8, 4, 2, 1} {
		all = append(all, b.Trials/share)
	}
	return all
}

// lidpPublished is table 1, by model, order and kind of canary, at epsilon 2, 4, 8 and 16.
var lidpPublished = map[string][2][2][4]float64{
	"FMNIST / Linear": {{{.68, 3.31, 2.55, 4.38}, {2.69, 3.34, 5.98, 5.06}}, {{.42, 2.68, 2.29, 3.76}, {2.66, 2.70, 7.75, 4.19}}},
	"FMNIST / MLP":    {{{4.80, 1.46, 2.95, 1.60}, {4.62, 2.88, 2.33, 5.46}}, {{4.42, 2.49, 2.37, 1.30}, {3.95, 2.81, 2.02, 4.60}}},
	"Purchase / MLP":  {{{3.14, 1.06, 1.41, 9.28}, {1.41, .71, 4.30, 2.84}}, {{2.84, 1.09, 1.36, 6.99}, {1.29, .42, 4.35, 2.38}}},
}

// gain is table 1: how many times fewer trials K = 16 canaries need to reach the bound that
// one canary reaches at n, between trials on a line and beyond on the nearest one.
func (b *lidpBench) gain() (*canaryTable, error) {
	name := choose(b.Dataset == "purchase" || b.Dataset == "generated", "Purchase / ", "FMNIST / ") + choose(b.Model == train.Linear, "Linear", "MLP")
	published, known := lidpPublished[name]
	t := &canaryTable{Title: fmt.Sprintf("Table 1: gain in sample complexity of K = %d canaries against one at n = %d", lidpMost, b.Trials), Published: choose(known, "table 1 (n = 1000), "+name, "none")}
	var cells []lidpCell
	for _, kind := range lidpKinds {
		for _, eps := range b.Epsilons {
			cells = append(cells, lidpCell{kind.kind, eps, 1}, lidpCell{kind.kind, eps, lidpMost})
			t.Columns = append(t.Columns, fmt.Sprintf("%s, epsilon = %g", kind.name, eps))
		}
	}
	if err := b.measure(cells); err != nil {
		return nil, err
	}
	for order, way := range []canaryWay{wilson2, wilson4} {
		row := canaryTableRow{Name: []string{"second order", "fourth order"}[order]}
		for i := range t.Columns {
			one, many := cells[2*i], cells[2*i+1]
			var x, y []float64
			for _, n := range b.trials() {
				x, y = append(x, float64(n)), append(y, *b.bound(many, way, n).Mean)
			}
			figure := canaryFigure{}
			if need := reaches(x, y, *b.bound(one, wilson1, b.Trials).Mean); need > 0 {
				figure = meanFigure([]float64{float64(b.Trials) / need})
			}
			paper := math.NaN()
			if known {
				paper = published[order][i/len(b.Epsilons)][slices.Index(lidpEpsilons, one.eps)]
			}
			row.Figures = append(row.Figures, figure.beside(paper))
		}
		t.Rows = append(t.Rows, row)
	}
	t.Notes = []string{"no gain where one canary bounds nothing, or where the line through two bounds reaches its bound at no trial",
		"a single number of trials is a single draw, in the paper too: at another seed a gain may be half or twice"}
	return t, nil
}

// reaches is the x at which the line through points, ascending in x, first reaches a value
// above 0; NaN: nowhere.
func reaches(x, y []float64, value float64) float64 {
	for i := 1; i < len(x); i++ {
		if last := i == len(x)-1; value > 0 && y[i] > y[i-1] && (y[i] >= value || last) {
			return x[i] - (y[i]-value)*(x[i]-x[i-1])/(y[i]-y[i-1])
		}
	}
	return math.NaN()
}

var lidpColumns = []string{"Wilson 1", "Wilson 2", "Wilson 4", "paired betting"}

func (b *lidpBench) row(name string, c lidpCell, n int) canaryTableRow {
	row := canaryTableRow{Name: name}
	for _, way := range canaryWays {
		row.Figures = append(row.Figures, b.bound(c, way, n))
	}
	return row
}

// byRuns is figure 5 (left two) and the upper halves of figures 13 to 15.
func (b *lidpBench) byRuns() (*canaryTable, error) {
	t := &canaryTable{Title: "Figures 5 (left) and 13 to 15 (top): lower bound against the number of trials", Published: "none in numbers: K = 16 reaches the bound of one canary with fewer trials", Columns: lidpColumns}
	var cells []lidpCell
	for _, kind := range lidpKinds {
		for _, eps := range b.Epsilons {
			cells = append(cells, lidpCell{kind.kind, eps, 1}, lidpCell{kind.kind, eps, lidpMost})
		}
	}
	if err := b.measure(cells); err != nil {
		return nil, err
	}
	for _, c := range cells {
		for _, n := range b.trials() {
			t.Rows = append(t.Rows, b.row(fmt.Sprintf("%s, n = %d", c, n), c, n))
		}
	}
	return t, nil
}

// byCanaries is figure 5 (right two), the lower halves of figures 13 to 15, and figure 12.
func (b *lidpBench) byCanaries() (*canaryTable, error) {
	t := &canaryTable{Title: fmt.Sprintf("Figures 5 (right), 12 and 13 to 15 (bottom): lower bound and test accuracy against the number of canaries, n = %d", b.Trials),
		Published: "none in numbers: the bound grows with K and falls later; the accuracy does not change", Columns: append(slices.Clone(lidpColumns), "test accuracy")}
	var cells []lidpCell
	for _, kind := range lidpKinds {
		for _, eps := range choose(b.Paper, b.Epsilons, b.Epsilons[len(b.Epsilons)-1:]) {
			for _, k := range b.Canaries {
				cells = append(cells, lidpCell{kind.kind, eps, k})
			}
		}
	}
	if err := b.measure(cells); err != nil {
		return nil, err
	}
	for _, c := range cells {
		row := b.row(c.String(), c, b.Trials)
		row.Figures = append(row.Figures, meanFigure(b.cells[c].accuracy))
		t.Rows = append(t.Rows, row)
	}
	return t, nil
}

func (b *lidpBench) print(w io.Writer, tables []*canaryTable) {
	p := b.lidpPlan
	fmt.Fprintf(w, "Audits of a %s model on %s by DP-SGD with canaries, means ± standard errors, [published]; beta = %g, delta = %g, seed %d\n", p.Model, b.data.name, canaryBeta, canaryDelta, p.Seed)
	fmt.Fprintf(w, "%d examples, %d features, %d epochs of batches of %d on average, learning rate %g, clipping norm %g; the final model is seen\n", p.Train, len(b.data.train.Features), p.Epochs, p.Batch, p.Rate, p.Clip)
	for _, t := range tables {
		printCanaryTable(w, t)
	}
}
