package main

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/audit/stream"
	"github.com/dpscope/dpscope/core/canary"
	"github.com/dpscope/dpscope/internal/try"
	"github.com/dpscope/dpscope/mechanisms/source"
	"github.com/dpscope/dpscope/mechanisms/train"
)

type lidpBench struct {
	lab
	of    lidpDataset
	data  string // folder of its files
	model string
	quick bool
	seed  uint64

	trials         int   // n, that certify; as many explore
	numbers        []int // of trials in the figures: 125 to 1000 of 1000
	train, test    int   // examples
	pool           int   // pixels a side that become one
	hidden, epochs int
	rate           float64
	epsilons       []float64
	canaries       []int // K

	examples examples
	cells    map[lidpCell]*lidpMeasured
}

type lidpCell struct {
	kind lidpKind
	eps  float64
	k    int
}

func (c lidpCell) String() string {
	return fmt.Sprintf("%s, epsilon = %g, K = %d", c.kind.name, c.eps, c.k)
}

type lidpMeasured struct {
	*simulation
	accuracy []float64
}

// lidpKind are canaries: what the paper calls them, and what they are in a training.
type lidpKind struct{ name, canary string }

var lidpKinds = []lidpKind{{"data poisoning", train.Tail}, {"random gradient", train.Gradient}} // of section 5

// lidpDataset is a dataset by its name, in words, and the one of table 1 that it is like.
type lidpDataset struct {
	name, words, paper string
	read               func(*lidpBench) (examples, error)
}

func lidpImages(b *lidpBench) (examples, error) { return idxExamples(b.data, b.train, b.test, b.pool) }

var lidpDatasets = []lidpDataset{
	{"mnist", "MNIST", "FMNIST", lidpImages},
	{"fashion", "Fashion-MNIST", "FMNIST", lidpImages},
	{"purchase", "Purchase-100", "Purchase", func(b *lidpBench) (examples, error) { return purchaseExamples(b.data, b.train, b.test) }},
	{"generated", "generated purchases (not Purchase-100)", "Purchase", func(b *lidpBench) (examples, error) { return generatedPurchases(b.train, b.test) }},
}

var lidpTables = []part[*lidpBench]{{"gain", (*lidpBench).gain}, {"runs", (*lidpBench).byRuns}, {"canaries", (*lidpBench).byCanaries}}

const (
	lidpMost  = 16  // canaries of table 1
	lidpBatch = 100 // examples, on average
)

var lidpEpsilons = []float64{2, 4, 8, 16} // of table 1

func benchLiDP(c *call) {
	b := &lidpBench{cells: map[lidpCell]*lidpMeasured{}}
	dataset := c.String("dataset", "mnist", "mnist, fashion, purchase, or generated: 600 sparse binary features made here, like those of purchase")
	c.StringVar(&b.data, "data", "", "`folder` of the dataset's files; of mnist default those that go mod download brings")
	c.StringVar(&b.model, "model", train.Linear, "linear, or mlp: two hidden layers")
	only := c.String("only", "", "only these tables, comma between: gain (table 1), runs and canaries (figures 5 and 12 to 15)")
	c.BoolVar(&b.quick, "quick", false, "a minute, not days: fewer trials and canaries, small models")
	c.Count(&b.trials, "n", 0, "trials that certify; as many explore. 0: 1000, with -quick 60 to 240")
	c.Count(&b.train, "train", 0, "examples to train on. 0: 60000 (purchase 20000), with -quick 1000")
	c.Seed(&b.seed, 1, "seed")
	epsilons := c.String("epsilons", "2,4,8,16", "claims, comma between, some of these")
	c.parse()
	b.lab, b.epsilons = c.lab, audit.Each(namesOf(*epsilons), func(name string) float64 {
		x, err := strconv.ParseFloat(name, 64)
		refuse(err != nil || !slices.Contains(lidpEpsilons, x), "-epsilons", name, "some of 2, 4, 8 and 16, those of table 1")
		return x
	})
	refuse(len(b.epsilons) == 0, "-epsilons", *epsilons, "some of 2, 4, 8 and 16, those of table 1")
	parts := pick(*only, lidpTables)
	b.of = try.Get(audit.Find("-dataset", *dataset, lidpDatasets, func(d lidpDataset) string { return d.name }))
	models := []string{train.Linear, train.Perceptron}
	try.Get(audit.Find("-model", b.model, models, func(model string) string { return model }))
	b.sizes()
	if b.data == "" && b.of.name == "mnist" {
		b.data = mnistFiles(b.ctx)
	}
	b.data = cmp.Or(b.data, ".") // where a refusal says which file, and where to get it
	b.examples = try.Get(b.of.read(b))
	tables := built(b, parts)
	c.print(fmt.Sprintf("Audits of a %s model on %s by DP-SGD with canaries, means ± standard errors, [published]; beta = %g, delta = %g, seed %d\n", b.model, b.of.words, canaryBeta, canaryDelta, b.seed)+
		fmt.Sprintf("%d examples, %d features, %d epochs of batches of %d on average, learning rate %g, clipping norm 1; the final model is seen", b.train, len(b.examples.train.Features), b.epochs, lidpBatch, b.rate), tables...)
}

// sizes are the paper's, or small, where no flag says another.
func (b *lidpBench) sizes() {
	images, linear := b.of.paper == "FMNIST", b.model == train.Linear
	if b.quick {
		trials := audit.Pick(images, audit.Pick(linear, 240, 120), 60) // by what a training costs
		b.trials, b.train, b.test = cmp.Or(b.trials, trials), cmp.Or(b.train, 1000), 500
		b.pool, b.hidden, b.epochs, b.rate = 2, 32, 5, .5
		b.canaries = []int{1, 4, lidpMost}
	} else {
		b.trials, b.train, b.test = cmp.Or(b.trials, 1000), cmp.Or(b.train, audit.Pick(images, 60_000, 20_000)), audit.Pick(images, 10_000, 5_000)
		b.pool, b.hidden, b.epochs = 1, 256, audit.Pick(images, 30, 100)
		b.rate = audit.Pick(!images, .05, audit.Pick(linear, .02, .01))
		b.canaries = []int{1, 2, 4, 8, lidpMost, 32, 64}
	}
	b.numbers = []int{b.trials / 8, b.trials / 4, b.trials / 2, b.trials}
	try.Do(audit.Require(b.trials >= 16 && b.train >= lidpBatch, "-n and -train", fmt.Sprintf("%d and %d", b.trials, b.train), "at least 16 trials and %d examples", lidpBatch))
}

// config is the training of a cell, whose noise is accounted for by addition and removal. The
// recipe of appendix B.2 trains once a trial: K canaries on both sides, one replaced.
func (b *lidpBench) config(c lidpCell) (train.Config, error) {
	t := train.Config{Model: b.model, Steps: b.epochs * b.train / lidpBatch, Rate: float64(lidpBatch) / float64(b.train), Clip: 1, LearningRate: b.rate,
		Epsilon: c.eps, Delta: canaryDelta, Canary: c.kind.canary, Access: train.Final}
	if b.model == train.Perceptron {
		t.Hidden, t.Activation = b.hidden, train.ReLU
	}
	if d := len(b.examples.train.Features); c.kind.canary == train.Tail { // the last 284 of 784 components, and 300 of 600
		t.Scale, t.Tail = train.Median, audit.Pick(d == 600, 300, d*284/784)
	}
	t, err := t.Resolve(b.examples.train)
	t.Relation = train.Replace
	return t, err
}

// lidpSource looks at how well the models do.
type lidpSource struct {
	*train.Source
	test     *train.Dataset
	accuracy *[]float64
}

func (s lidpSource) Run(st *stream.Stream, in, out []float64) (diverged bool, err error) {
	if diverged, err = s.Source.Run(st, in, out); err == nil && !diverged {
		*s.accuracy = append(*s.accuracy, s.Accuracy(s.test))
	}
	return diverged, err
}

func (b *lidpBench) measure(cells []lidpCell) {
	cells = unknown(b.cells, cells)
	done := results(b.lab, len(cells), func(ctx context.Context, i int) *lidpMeasured {
		m := &lidpMeasured{}
		config := try.Get(b.config(cells[i]))
		spec := source.Spec{Name: "trained", Relations: []audit.Relation{audit.Replace}, Designs: []source.Design{source.Design(cells[i].kind.canary)},
			New: func(source.Setup) (source.Source, error) {
				s, err := train.New(config, b.examples.train)
				if err == nil {
					s.Check = ctx.Err
				}
				return lidpSource{s, b.examples.test, &m.accuracy}, err
			}}
		plan := canary.Plan{Version: canary.PlanVersion, Source: spec.Name, Claim: new(audit.DPClaim(cells[i].eps, canaryDelta)),
			Mode: canary.Fixed, Runs: b.trials, K: cells[i].k, Beta: canaryBeta, Seed: b.seed}
		m.simulation = simulate(try.Get(plan.Resolve([]source.Spec{spec}, nil)))
		b.say("%s: done", cells[i])
		return m
	})
	for i, m := range done {
		b.cells[cells[i]] = m
	}
}

// bound is that of a way on n trials, 0 where nothing is bounded: the mean over all parts of the trials.
func (b *lidpBench) bound(c lidpCell, way canaryWay, n int) figure {
	if c.k < way.kind.Order() {
		return noFigure
	}
	bound := func(s *simulation) float64 { return max(0, s.judge(way).epsilon) }
	return figureOf(audit.Each(b.cells[c].parts(n), bound)...)
}

// lidpPublished is table 1, by model, order and kind of canary, at epsilon 2, 4, 8 and 16.
var lidpPublished = map[string][2][2][4]float64{
	"FMNIST / Linear": {{{.68, 3.31, 2.55, 4.38}, {2.69, 3.34, 5.98, 5.06}}, {{.42, 2.68, 2.29, 3.76}, {2.66, 2.70, 7.75, 4.19}}},
	"FMNIST / MLP":    {{{4.80, 1.46, 2.95, 1.60}, {4.62, 2.88, 2.33, 5.46}}, {{4.42, 2.49, 2.37, 1.30}, {3.95, 2.81, 2.02, 4.60}}},
	"Purchase / MLP":  {{{3.14, 1.06, 1.41, 9.28}, {1.41, .71, 4.30, 2.84}}, {{2.84, 1.09, 1.36, 6.99}, {1.29, .42, 4.35, 2.38}}},
}

// gain is table 1, between trials on a line and beyond on the nearest one.
func (b *lidpBench) gain() *table {
	name := b.of.paper + " / " + audit.Pick(b.model == train.Linear, "Linear", "MLP")
	published, known := lidpPublished[name]
	t := &table{title: fmt.Sprintf("Table 1: gain in sample complexity of K = %d canaries against one at n = %d", lidpMost, b.trials), notes: []string{
		"published: " + audit.Pick(known, "table 1 (n = 1000), "+name, "none"),
		"no gain where one canary bounds nothing, or where the line through two bounds reaches its bound at no trial",
		"a single number of trials is a single draw, in the paper too: at another seed a gain may be half or twice"}}
	cells, x := b.oneAndMany(), audit.Each(b.numbers, func(n int) float64 { return float64(n) })
	var rows [2][]any
	for i := 0; i < len(cells); i += 2 {
		one, many := cells[i], cells[i+1]
		t.columns = append(t.columns, fmt.Sprintf("%s, epsilon = %g", one.kind.name, one.eps))
		for order, way := range []canaryWay{wilson2, wilson4} {
			y := audit.Each(b.numbers, func(n int) float64 { return b.bound(many, way, n).mean })
			gain := noFigure
			if need := reaches(x, y, b.bound(one, wilson1, b.trials).mean); need > 0 {
				gain = figureOf(float64(b.trials) / need)
			}
			if known {
				gain.published = published[order][i/2/len(b.epsilons)][slices.Index(lidpEpsilons, one.eps)]
			}
			rows[order] = append(rows[order], gain)
		}
	}
	t.rows = []line{{"second order", rows[0]}, {"fourth order", rows[1]}}
	return t
}

func (b *lidpBench) oneAndMany() []lidpCell {
	cells := slices.Concat(crossed(lidpKinds, b.epsilons, func(kind lidpKind, eps float64) []lidpCell {
		return []lidpCell{{kind, eps, 1}, {kind, eps, lidpMost}}
	})...)
	b.measure(cells)
	return cells
}

// reaches is the x at which a line through points first reaches a value above 0; NaN: nowhere.
func reaches(x, y []float64, value float64) float64 {
	for i := 1; i < len(x); i++ {
		if last := i == len(x)-1; value > 0 && y[i] > y[i-1] && (y[i] >= value || last) {
			return x[i] - (y[i]-value)*(x[i]-x[i-1])/(y[i]-y[i-1])
		}
	}
	return math.NaN()
}

func (b *lidpBench) ways(c lidpCell, n int) []any {
	return audit.Each(canaryWays, func(way canaryWay) any { return b.bound(c, way, n) })
}

var lidpColumns = []string{"Wilson 1", "Wilson 2", "Wilson 4", "paired betting"}

func (b *lidpBench) byRuns() *table {
	t := &table{title: "Figures 5 (left) and 13 to 15 (top): lower bound against the number of trials", columns: lidpColumns,
		notes: []string{"published are no numbers: K = 16 reaches the bound of one canary with fewer trials"}}
	t.rows = crossed(b.oneAndMany(), b.numbers, func(c lidpCell, n int) line {
		return line{fmt.Sprintf("%s, n = %d", c, n), b.ways(c, n)}
	})
	return t
}

func (b *lidpBench) byCanaries() *table {
	t := &table{title: fmt.Sprintf("Figures 5 (right), 12 and 13 to 15 (bottom): lower bound and test accuracy against the number of canaries, n = %d", b.trials),
		columns: append(slices.Clone(lidpColumns), "test accuracy"),
		notes:   []string{"published are no numbers: the bound grows with K and falls later; the accuracy does not change"}}
	epsilons := audit.Pick(b.quick, b.epsilons[len(b.epsilons)-1:], b.epsilons)
	cells := slices.Concat(crossed(lidpKinds, epsilons, func(kind lidpKind, eps float64) []lidpCell {
		return audit.Each(b.canaries, func(k int) lidpCell { return lidpCell{kind, eps, k} })
	})...)
	b.measure(cells)
	for _, c := range cells {
		t.add(c.String(), append(b.ways(c, b.trials), figureOf(b.cells[c].accuracy...))...)
	}
	return t
}
