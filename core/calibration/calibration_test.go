package calibration_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/audit/stream"
	"github.com/dpscope/dpscope/core/calibration"
	"github.com/dpscope/dpscope/core/engine"
	"github.com/dpscope/dpscope/core/finders"
	"github.com/dpscope/dpscope/core/pair"
	"github.com/dpscope/dpscope/estimators"
	"github.com/dpscope/dpscope/internal/must"
	"github.com/dpscope/dpscope/internal/testsize"
	"github.com/dpscope/dpscope/mechanisms"
)

var catalogue = audit.Catalogue{Mechanisms: mechanisms.All(), Learners: estimators.Registry(), Finders: finders.Registry()}

func plan() calibration.Plan {
	return calibration.Plan{Runs: 100, Samples: 2000, Explore: 2000, Trials: 3, Beta: 0.05, Seed: 1}
}

func cellsOf(t *testing.T, p calibration.Plan) []calibration.Cell {
	t.Helper()
	cells, left, err := p.Cells(catalogue)
	if err != nil || len(left) > 0 {
		t.Fatalf("%v, left out %v", err, left)
	}
	return cells
}

// Every mechanism that keeps its claim is audited with the portfolio and every
// learner that applies, with every finder, and no broken one is; every kind of
// claim, fixed and anytime.
func TestCellsCoverTheRegistries(t *testing.T) {
	cells := cellsOf(t, plan())
	seen := map[string]calibration.Cell{}
	kinds := map[string]int{}
	for _, c := range cells {
		if _, twice := seen[c.Name]; twice {
			t.Errorf("two cells %q", c.Name)
		}
		seen[c.Name] = c
		if c.Block == calibration.Guarantees {
			kinds[fmt.Sprint(c.Subject, (c.Plan.Mode == pair.UntilRefuted))]++
			if c.Plan.Mode == pair.UntilRefuted && c.Plan.Samples != calibration.AnytimeSamples {
				t.Errorf("%s has %d samples", c.Name, c.Plan.Samples)
			}
		}
		if m, err := catalogue.Mechanism(c.Plan.Mechanism); err != nil || m.Fault != "" {
			t.Errorf("%s: %v, fault %q", c.Name, err, m.Fault)
		}
		if c.Runs < 4 {
			t.Errorf("%s has %d runs", c.Name, c.Runs)
		}
	}
	want, private := 0, 0
	for _, m := range catalogue.Mechanisms {
		if m.Fault != "" {
			continue
		}
		private++
		auto, ok := seen["learner auto on "+m.Name]
		if !ok {
			t.Errorf("%s: no cell of the portfolio", m.Name)
			continue
		}
		if !auto.Met != strings.HasPrefix(m.Name, "gaussian-mean") {
			t.Errorf("%s: the claim is met: %v", m.Name, auto.Met)
		}
		a := must.Get(auto.Plan.Resolve(catalogue))(t)
		for _, l := range catalogue.Learners {
			if _, ok := seen[fmt.Sprintf("learner %s on %s", l.Name, m.Name)]; ok != (l.Applies(a.Columns) == nil) {
				t.Errorf("%s, learner %s: a cell %v", m.Name, l.Name, ok)
			} else if ok {
				want++
			}
		}
		for _, f := range catalogue.Finders {
			if _, ok := seen[fmt.Sprintf("finder %s on %s", f.Name, m.Name)]; ok != f.Fits(m, a.Plan.Parameters) {
				t.Errorf("%s: a cell of finder %s: %v", m.Name, f.Name, ok)
			} else if ok {
				want++
			}
		}
	}
	guarantees := 0
	for _, n := range kinds {
		guarantees += n
	}
	if len(kinds) != 12 || len(cells) != want+private+guarantees {
		t.Errorf("%d kinds of guarantees, %d cells; want 12 kinds and %d cells", len(kinds), len(cells), want+private+guarantees)
	}
	for name, n := range map[string]int{"learner histogram on svt1": 100, "learner mlp on svt1": 20, "learner renyi-tester on svt1": 4, "finder grid on svt1": 33,
		"rho = 0.5 (zCDP) on dp-sgd": 400, "rho = 0.5 (zCDP) on dp-sgd, anytime": 200} {
		if seen[name].Runs != n {
			t.Errorf("%s has %d runs, want %d", name, seen[name].Runs, n)
		}
	}
	if c := seen["learner renyi-tester on dp-sgd"]; c.Plan.Trials != 1 || !c.Met {
		t.Errorf("%+v", c)
	}
	if c := seen["learner renyi-tester on laplace-mean"]; c.Met {
		t.Errorf("%s is met, but on pair 3 only", c.Name)
	}
}

func TestSelections(t *testing.T) {
	p := plan()
	p.Mechanisms, p.Learners = []string{"svt1", "svt2", "numeric-svt"}, []string{"auto", "renyi-tester"}
	p.Cheap = true
	names := func() (names []string) {
		for _, c := range cellsOf(t, p) {
			names = append(names, c.Name)
		}
		return names
	}
	if got := names(); !slices.Equal(got, []string{"learner auto on svt1", "learner renyi-tester on svt1", "learner auto on svt2", "learner renyi-tester on svt2", "learner auto on numeric-svt", "learner renyi-tester on numeric-svt"}) {
		t.Errorf("%q", got)
	}
	p.Mechanisms, p.Learners, p.Finders = []string{"numeric-svt"}, nil, []string{"grid"}
	if got := names(); !slices.Equal(got, []string{"finder grid on numeric-svt"}) {
		t.Errorf("%q", got)
	}
	p = calibration.Plan{Runs: 1, Samples: 500, Explore: 500, Trials: 1, Beta: 0.1, Mechanisms: []string{"svt2", "svt1"}, Learners: []string{"histogram"}}
	if got := names(); !slices.Equal(got, []string{"learner histogram on svt1", "learner histogram on svt2"}) {
		t.Errorf("%q", got)
	}
	p.Mechanisms, p.Learners = []string{"randomised-response"}, nil
	for _, c := range cellsOf(t, p) {
		if c.Plan.Mechanism != "randomised-response" {
			t.Errorf("%s, which was not asked for", c.Name)
		}
	}
	for _, c := range []struct {
		change func(*calibration.Plan)
		says   string
	}{
		{func(p *calibration.Plan) { p.Mechanisms = []string{"svt1", "svt4"} }, `mechanisms is "svt4", must be mechanisms that keep their claim`},
		{func(p *calibration.Plan) { p.Mechanisms = []string{"svt9"} }, "svt9"},
		{func(p *calibration.Plan) { p.Learners = []string{"histogran"} }, `did you mean "histogram"?`},
		{func(p *calibration.Plan) { p.Finders = []string{"gird"} }, `"gird"`},
		{func(p *calibration.Plan) { p.Samples = 7 }, "samples is 7"},
		{func(p *calibration.Plan) { p.Beta = 0.7 }, "beta is 0.7"},
	} {
		p := plan()
		c.change(&p)
		if _, _, err := p.Cells(catalogue); err == nil || !strings.Contains(err.Error(), c.says) || !audit.IsInput(err) {
			t.Errorf("%v, want %q", err, c.says)
		}
	}
}

// outputs are rows of a mechanism on both sides of a pair.
func outputs(t *testing.T, c calibration.Cell, pair audit.Pair, rows int) (sides [2]audit.Samples) {
	t.Helper()
	a := must.Get(c.Plan.Resolve(catalogue))(t)
	for side, d := range []audit.Dataset{pair.First, pair.Second} {
		sides[side] = audit.Samples{Columns: a.Columns, Rows: make([]float64, rows*audit.Width(a.Columns))}
		must.Do(t, a.Mechanism.Sample(d, stream.New(stream.Key{Seed: 11, Purpose: c.Name, Side: side}), sides[side].Rows))
	}
	return sides
}

// logRatio is the log ratio of an event's rates, and its standard error.
func logRatio(sides [2]audit.Samples, event func([]float64) bool) (value, se float64) {
	var k [2]float64
	for side, s := range sides {
		for i := range s.Len() {
			if event(s.Row(i)) {
				k[side]++
			}
		}
	}
	n := float64(sides[0].Len())
	return math.Log(k[0] / k[1]), math.Sqrt((1-k[0]/n)/k[0] + (1-k[1]/n)/k[1])
}

// The claim of each setting is met: an event of each mechanism has the log ratio
// of the claim to five standard errors, none of which is above .025. No single
// symbol has more. About 60 comparisons, each wrong with probability 6e-7: false
// alarms in less than one of 20000 seeds.
func TestSettingsMeetTheirClaims(t *testing.T) {
	testsize.Native(t)
	const rows = 200_000
	p := plan()
	p.Learners = []string{audit.Auto}
	above := func(at int, v float64) func([]float64) bool {
		return func(row []float64) bool { return row[at] > v }
	}
	events := map[string]func([]float64) bool{
		"randomised-response":   above(0, 0.5),
		"laplace-mean":          func(row []float64) bool { return row[0] < -1e6 },
		"svt1":                  above(0, 0.5),
		"svt2":                  above(0, 0.5),
		"numeric-svt":           func(row []float64) bool { return row[0] == 1 && row[1] > 1 },
		"noisy-max-laplace":     above(0, 0.5),
		"noisy-max-exponential": above(0, 0.5),
		"noisy-histogram":       above(0, 1),
		"laplace-count":         above(0, 4),
		"exponential-median":    func(row []float64) bool { return math.Abs(row[0]-0.95) < 1e-9 },
		"prefix-sum":            above(0, 1),
		"laplace-parallel":      func(row []float64) bool { return row[0] > 1 && row[1] > 1 },
		"laplace-snapping":      above(0, 1.5),
		"geo-sample":            func(row []float64) bool { return row[0] == 0 },
		"svt-parallel":          func(row []float64) bool { return row[0] == 1 && row[1] > 1 && row[2] == 1 },
		"sum-clipped":           above(0, 1),
		"sum-ratios":            above(1, 1),

		"noisy-histogram-replace": func(row []float64) bool { return row[0] > 1 && row[1] < 0 },
	}
	pairAt := map[string]int{"laplace-mean": 2, "sum-ratios": 2}
	checked := 0
	for _, c := range cellsOf(t, p) {
		if !c.Met {
			continue
		}
		checked++
		a := must.Get(c.Plan.Resolve(catalogue))(t)
		pair := a.Spec.Pairs(a.Plan.Parameters, a.Plan.Relation)[pairAt[c.Plan.Mechanism]]
		if c.Plan.Pair != nil && c.Plan.Pair.Label != pair.Label {
			t.Errorf("%s is audited on %q", c.Plan.Mechanism, c.Plan.Pair.Label)
		}
		sides := outputs(t, c, pair, rows)
		if c.Plan.Mechanism == "dp-sgd" {
			// Two Gaussians mu apart: the same at every threshold.
			mu := math.Sqrt(2 * c.Claim.Epsilon / c.Claim.Alpha)
			for _, at := range []float64{-2.5, -0.5, 1.5} {
				var z [2]float64
				for side, s := range sides {
					k := 0.0
					for _, v := range s.Rows {
						if v > at {
							k++
						}
					}
					z[side] = distuv.UnitNormal.Quantile(k / rows)
				}
				// The standard error of a quantile is 2.5/sqrt(rows) at most where
				// the rate is within [.04, .96].
				if got := z[0] - z[1]; math.Abs(got-mu) > 5*2.5*math.Sqrt2/math.Sqrt(rows) {
					t.Errorf("dp-sgd: mu = %.4f at %g, want %g", got, at, mu)
				}
			}
			continue
		}
		event := events[c.Plan.Mechanism]
		if strings.HasPrefix(c.Plan.Mechanism, "rappor") {
			event = bitsThatDiffer(sides)
		}
		if event == nil {
			t.Errorf("%s: no event is known that meets the claim", c.Plan.Mechanism)
			continue
		}
		got, se := logRatio(sides, event)
		if math.Abs(math.Abs(got)-c.Claim.Epsilon) > 5*se || se > 0.025 {
			t.Errorf("%s: the event has log ratio %.4f (standard error %.4f), the claim is %g", c.Plan.Mechanism, got, se, c.Claim.Epsilon)
		}
		if len(a.Columns) == 1 && a.Columns[0].Kind == audit.Symbol {
			seen := slices.Compact(slices.Sorted(slices.Values(sides[0].Rows)))
			for _, v := range seen {
				if got, se := logRatio(sides, func(row []float64) bool { return row[0] == v }); math.Abs(got) > c.Claim.Epsilon+5*se {
					t.Errorf("%s: %g has log ratio %.4f (standard error %.4f), the claim is %g", c.Plan.Mechanism, v, got, se, c.Claim.Epsilon)
				}
			}
		}
	}
	if checked < 15 {
		t.Errorf("%d claims are said to be met", checked)
	}
}

// bitsThatDiffer is the event that the bit which is likelier on the first side
// is 1 and the one that is likelier on the second is 0.
func bitsThatDiffer(sides [2]audit.Samples) func([]float64) bool {
	width := len(sides[0].Columns)
	gap := make([]float64, width)
	for i := range sides[0].Len() {
		for k := range gap {
			gap[k] += sides[0].Row(i)[k] - sides[1].Row(i)[k]
		}
	}
	most, least := slices.Index(gap, slices.Max(gap)), slices.Index(gap, slices.Min(gap))
	return func(row []float64) bool { return row[most] == 1 && row[least] == 0 }
}

// law is a pair of laws on a grid: probabilities of small cells.
type law struct{ p, q []float64 }

// lawOf is the pair of laws that a guarantee is about, from its description.
func lawOf(c calibration.Cell) law {
	grid := func(lo, hi, step float64, p, q func(float64) float64) (l law) {
		for i := range int(math.Round((hi - lo) / step)) {
			x := lo + (float64(i)+0.5)*step
			l.p, l.q = append(l.p, step*p(x)), append(l.q, step*q(x))
		}
		return l
	}
	switch c.Plan.Mechanism {
	case "randomised-response":
		lie := 1 / (1 + math.Exp(c.Plan.Parameters.Num("epsilon")))
		return law{[]float64{1 - lie, lie}, []float64{lie, 1 - lie}}
	case "noisy-histogram":
		rate := c.Plan.Parameters.Num("epsilon")
		density := func(at float64) func(float64) float64 {
			return func(x float64) float64 { return rate / 2 * math.Exp(-rate*math.Abs(x-at)) }
		}
		return grid(-40, 41, 1e-3, density(0), density(1))
	}
	mu := 1 / c.Plan.Parameters.Num("sigma")
	return grid(-20, 20, 1e-3, distuv.Normal{Mu: 0, Sigma: 1}.Prob, distuv.Normal{Mu: mu, Sigma: 1}.Prob)
}

func (l law) turned() law { return law{l.q, l.p} }

func (l law) renyi(alpha float64) float64 {
	sum := 0.0
	for i, p := range l.p {
		if p > 0 {
			sum += l.q[i] * math.Pow(p/l.q[i], alpha)
		}
	}
	return math.Log(sum) / (alpha - 1)
}

func (l law) delta(epsilon float64) float64 {
	sum := 0.0
	for i, p := range l.p {
		sum += max(0, p-math.Exp(epsilon)*l.q[i])
	}
	return sum
}

// mu is the largest Phi^-1(P) - Phi^-1(Q) of an event of the first cells.
func (l law) mu() float64 {
	most, a, b := 0.0, 0.0, 0.0
	for i := range l.p[:len(l.p)-1] {
		if a, b = a+l.p[i], b+l.q[i]; a > 1e-4 && a < 1-1e-4 && b > 1e-4 && b < 1-1e-4 {
			most = max(most, distuv.UnitNormal.Quantile(a)-distuv.UnitNormal.Quantile(b))
		}
	}
	return most
}

// The claims of the guarantees are the truth on their laws, by sums over a fine
// grid that share no code with what the claims are made of.
func TestGuaranteesAreExact(t *testing.T) {
	seen := map[string]bool{}
	for _, c := range cellsOf(t, plan()) {
		if c.Block != calibration.Guarantees || (c.Plan.Mode == pair.UntilRefuted) {
			continue
		}
		seen[c.Subject] = true
		l := lawOf(c)
		truth, claim := 0.0, 0.0
		switch c.Claim.Kind {
		case audit.Pure:
			claim = c.Claim.Epsilon
			for i, p := range l.p {
				truth = max(truth, math.Abs(math.Log(p/l.q[i])))
			}
			if alpha := c.Plan.ThroughRenyi; alpha > 0 {
				// The divergence that the claim allows is met too.
				claim, truth = audit.RandomisedResponseRenyi(claim, alpha), max(l.renyi(alpha), l.turned().renyi(alpha))
			}
		case audit.Approximate:
			claim, truth = c.Claim.Delta, max(l.delta(c.Claim.Epsilon), l.turned().delta(c.Claim.Epsilon))
		case audit.Renyi:
			claim, truth = c.Claim.Epsilon, max(l.renyi(c.Claim.Alpha), l.turned().renyi(c.Claim.Alpha))
		case audit.ZCDP:
			claim = c.Claim.Rho
			for _, alpha := range []float64{1.1, 2, 5, 9} {
				truth = max(truth, l.renyi(alpha)/alpha)
			}
		case audit.GaussianDP:
			claim, truth = c.Claim.Mu, l.mu()
		}
		if math.Abs(claim-truth) > 1e-6 {
			t.Errorf("%s: the claim is %.9g, the truth %.9g", c.Name, claim, truth)
		}
	}
	if len(seen) != 6 {
		t.Errorf("kinds %v", seen)
	}
}

// An audit depends on the plan's seed, the cell's name and the run alone; other
// cells of the same mechanism have other seeds.
func TestAuditsAreIndependentOfEachOther(t *testing.T) {
	p := plan()
	p.Mechanisms, p.Learners, p.Samples, p.Explore = []string{"noisy-histogram"}, []string{"histogram", "logistic-vector"}, 500, 500
	cells := cellsOf(t, p)
	judge := func(c calibration.Cell, seed uint64, run int) float64 {
		o := must.Get(c.Audit(context.Background(), catalogue, engine.LocalPool(1), seed, run))(t)
		if o.Verdict == audit.Violation != (o.Share > 1) {
			t.Errorf("%+v", o)
		}
		return o.Share
	}
	first := judge(cells[0], 1, 0)
	if again := judge(cells[0], 1, 0); again != first {
		t.Errorf("%g, then %g", first, again)
	}
	renamed := cells[0]
	renamed.Name = "another"
	for what, got := range map[string]float64{"run": judge(cells[0], 1, 1), "seed": judge(cells[0], 2, 0), "name": judge(renamed, 1, 0)} {
		if got == first {
			t.Errorf("another %s gives the same %g", what, got)
		}
	}
	ctx, stop := context.WithCancel(context.Background())
	stop()
	if _, err := cells[0].Audit(ctx, catalogue, engine.LocalPool(1), 1, 0); !errors.Is(err, context.Canceled) {
		t.Errorf("stopped: %v", err)
	}
	refused := cells[0]
	refused.Plan.Samples = 5
	must.Input(t, must.Err(refused.Audit(context.Background(), catalogue, engine.LocalPool(1), 1, 0)), "", "a plan that is refused")
}

// A learner that learns nothing makes runs that fail, which are no alarms and
// are told.
func TestFailuresAreTold(t *testing.T) {
	cat := catalogue
	cat.Learners = append(slices.Clone(cat.Learners), audit.LearnerSpec{Name: "silent", ByName: true, Applies: func([]audit.Column) error { return nil },
		Learn: func(audit.Exploration) (audit.Model, error) { return nil, errors.New("has nothing to say") }})
	p := plan()
	p.Mechanisms, p.Learners, p.Runs, p.Samples = []string{"randomised-response"}, []string{"silent"}, 2, 500
	cells, _ := must.Get2(p.Cells(cat))(t)
	var outcomes []calibration.Outcome
	for run := range cells[0].Runs {
		o := must.Get(cells[0].Audit(context.Background(), cat, engine.LocalPool(1), 1, run))(t)
		outcomes = append(outcomes, o)
	}
	if r := calibration.Tally(cells[0], outcomes); r.Failed != 2 || r.Alarms != 0 || !strings.Contains(r.Note, "has nothing to say") {
		t.Errorf("%+v", r)
	}
}

// The plan of the page: one cell a mechanism, all of whose claims are met, with
// the names that the command line gives them.
func TestSmall(t *testing.T) {
	p := calibration.Small()
	cells := cellsOf(t, p)
	if len(cells) != len(p.Mechanisms) || len(cells) < 4 {
		t.Fatalf("%d cells", len(cells))
	}
	audits := 0
	for _, c := range cells {
		audits += c.Runs
		if !c.Met || c.Unjudged != "" || c.Runs != p.Runs || c.Name != "learner auto on "+c.Plan.Mechanism {
			t.Errorf("%+v", c)
		}
	}
	if audits != 200 {
		t.Errorf("%d audits", audits)
	}
	p.Mechanisms = nil
	settings := calibration.Settings(cellsOf(t, p))
	for i, s := range settings {
		if m, err := catalogue.Mechanism(s.Mechanism); err != nil || m.Fault != "" || s.Claim == "" || s.Why == "" || i > 0 && settings[i-1].Mechanism == s.Mechanism {
			t.Errorf("%+v, %v", s, err)
		}
	}
	if len(settings) < 17 {
		t.Errorf("%d settings", len(settings))
	}
}

// A run that was stopped is no outcome, whatever it was stopped for.
func TestStopIsNoOutcome(t *testing.T) {
	cell := cellsOf(t, calibration.Small())[0]
	for _, why := range []error{context.Canceled, errors.New("another run failed")} {
		ctx, cancel := context.WithCancelCause(context.Background())
		cancel(why)
		if o, err := cell.Audit(ctx, catalogue, engine.LocalPool(1), 1, 0); !errors.Is(err, why) {
			t.Errorf("%+v, %v; want %v", o, err, why)
		}
	}
	if o, err := cell.Audit(context.Background(), catalogue, engine.NewPool(lost{}), 1, 0); !errors.Is(err, engine.ErrWorkerLost) {
		t.Errorf("%+v, %v; want a lost worker", o, err)
	}
}

type lost struct{}

func (lost) Execute(context.Context, engine.Task, func(int), func(any)) (any, error) {
	return nil, engine.ErrWorkerLost
}

// Rates are rounded, ends of intervals outwards.
func TestWords(t *testing.T) {
	for _, c := range []struct {
		alarms, of int
		want       string
	}{
		// 99 % Clopper-Pearson: .01245 to .05945; a lower end of .005 errs downwards in its last bits.
		{12, 400, "12 of 400 audits of mechanisms that keep their claim raised a false alarm: 3.0 % (99 % interval: 1.2 to 6.0 %), allowed 5 %."},
		{0, 40, "40 audits of mechanisms that keep their claim raised no false alarm: 0 % (99 % interval: 0 to 12.5 %), allowed 5 %."},
		{1, 1, "1 of 1 audit of a mechanism that keeps its claim raised a false alarm: 100 % (99 % interval: 0.49 to 100 %), allowed 5 %."},
		{30, 10000, "30 of 10000 audits of mechanisms that keep their claim raised a false alarm: 0.30 % (99 % interval: 0.17 to 0.48 %), allowed 5 %."},
		{0, 0, "No audit has ended."},
	} {
		r := calibration.Total([]calibration.Row{alarmed("a", c.alarms, c.of)})
		if got := strings.ReplaceAll(r.Sentence(0.05), "\u00a0", " "); got != c.want {
			t.Errorf("%d of %d: %q, want %q", c.alarms, c.of, got, c.want)
		}
		if c.of == 0 {
			continue
		}
		// The exact tails at the ends of the interval are a half of a percent.
		bin := func(p float64) distuv.Binomial { return distuv.Binomial{N: float64(c.of), P: p} }
		if c.alarms > 0 && math.Abs(bin(r.Lower).Survival(float64(c.alarms-1))-.005) > 1e-6 || c.alarms < c.of && math.Abs(bin(r.Upper).CDF(float64(c.alarms))-.005) > 1e-6 {
			t.Errorf("%d of %d: interval %g to %g", c.alarms, c.of, r.Lower, r.Upper)
		}
	}
	if got := calibration.Percent(0.07); got != "7\u00a0%" {
		t.Errorf("%q", got)
	}
}
