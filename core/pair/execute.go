package pair

import (
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/bounds"
	"github.com/dpscope/dpscope/stream"
)

// Purposes of random streams. The words are part of the seed.
const (
	purposeExplore = "explore"
	purposeCertify = "certify"
	purposeLearn   = "learn"
	purposeFind    = "find"
)

// Execute runs one task. Its result depends on the task and the catalogue
// alone. A panic of a mechanism or a learner is returned as an error.
func Execute(cat audit.Catalogue, t Task, hook audit.Hook) (res Result, err error) {
	defer func() {
		if p := recover(); p != nil {
			what := t.Name() + " of mechanism " + t.Plan.Mechanism
			if t.Kind == CanaryTask {
				what = "canary task"
			}
			res, err = Result{}, fmt.Errorf("%s panicked: %v (%s)", what, p, panicPlace())
		}
	}()
	if hook == nil {
		hook = func(int) error { return nil }
	}
	if t.Kind == CanaryTask {
		if cat.Canary == nil {
			return Result{}, errors.New("this core executes no canary tasks; the full one does")
		}
		if err := t.needs(len(t.Canary) > 0, "canary"); err != nil {
			return Result{}, err
		}
		out, err := cat.Canary(t.Canary, hook)
		return Result{Canary: out}, err
	}
	a, err := t.Plan.Resolve(cat)
	if err != nil {
		return Result{}, err
	}
	switch t.Kind {
	case ExploreTask:
		err = t.needs(t.Pair != nil, "pair")
		if err == nil {
			return explore(cat, a, t, hook)
		}
	case CertifyTask:
		err = t.needs(t.Pair != nil && t.Witness != nil && t.Chart != nil && t.Event != nil, "pair, witness, chart and event")
		if err == nil {
			return certify(cat, a, t, hook)
		}
	case PrepareTask:
		err = t.needs(t.Explored != nil && t.Event != nil, "explored and event")
		if err == nil {
			return executePrepare(a, t)
		}
	case BoundTask:
		err = t.needs(t.Table != nil && t.Prepared != nil && t.Explored != nil, "table, prepared and explored")
		if err == nil {
			return executeBound(a, t)
		}
	default:
		err = audit.UnknownName("task kind", string(t.Kind), []string{string(ExploreTask), string(PrepareTask), string(CertifyTask), string(BoundTask), string(CanaryTask)})
	}
	return Result{}, err
}

func (t Task) needs(ok bool, fields string) error {
	if ok {
		return nil
	}
	return &audit.InputError{Field: "task: fields " + fields, Found: "incomplete", Want: "there for a task of kind " + string(t.Kind)}
}

func executePrepare(a *Audit, t Task) (Result, error) {
	if err := t.Explored.Validate(); err != nil {
		return Result{}, err
	}
	p, err := a.prepare(*t.Explored, *t.Event)
	if err != nil {
		return Result{}, err
	}
	return Result{Prepared: &p}, nil
}

func executeBound(a *Audit, t Task) (Result, error) {
	for _, x := range []*bounds.Table{t.Table, t.Explored} {
		if err := x.Validate(); err != nil {
			return Result{}, err
		}
	}
	if t.Table.Bins != t.Explored.Bins {
		return Result{}, &audit.InputError{Field: "task: table", Found: fmt.Sprintf("of %d bins", t.Table.Bins), Want: fmt.Sprintf("of %d, as explored", t.Explored.Bins)}
	}
	if err := t.Prepared.check(a.Plan, t.Table.Bins); err != nil {
		return Result{}, err
	}
	c := certificate{audit: a, prepared: *t.Prepared, table: *t.Table, explored: *t.Explored, beta: a.Plan.Beta}
	all := c.all()
	return Result{Certified: &all}, nil
}

// panicPlace says where the panic came from that is being recovered: the first
// frame that is not the runtime's.
func panicPlace() string {
	var pcs [32]uintptr
	frames := runtime.CallersFrames(pcs[:runtime.Callers(3, pcs[:])])
	for {
		f, more := frames.Next()
		if !strings.HasPrefix(f.Function, "runtime.") && f.Function != "" {
			return fmt.Sprintf("%s, %s:%d", f.Function, f.File[strings.LastIndexByte(f.File, '/')+1:], f.Line)
		}
		if !more {
			return "at an unknown place"
		}
	}
}

// source draws outputs of one side of a pair in blocks.
type source struct {
	audit   *Audit
	data    audit.Dataset
	side    int
	purpose string
	trial   int
	width   int
}

func newSource(a *Audit, t Task, purpose string, side int) source {
	data := t.Pair.First
	if side == 1 {
		data = t.Pair.Second
	}
	return source{audit: a, data: data, side: side, purpose: purpose, trial: t.Trial, width: audit.Width(a.Columns)}
}

// stream is the randomness of one shard.
func (s source) stream(shard int) *stream.Stream {
	return stream.New(stream.Key{Seed: s.audit.Plan.Seed, Purpose: s.purpose, Trial: s.trial, Side: s.side, Shard: shard})
}

// block fills out with outputs and refuses what is not finite.
// Recorded outputs are those from number at on, all phases of the run counted.
func (s source) block(st *stream.Stream, at int, out []float64) error {
	name := s.audit.Spec.Name
	var err error
	if r, ok := s.audit.Mechanism.(audit.Recorded); ok {
		err = r.Recorded(s.audit.Plan.Seed, s.side, at, out)
	} else {
		// A copy: code that sorts or clips its rows in place must not change what
		// the next block sees.
		data := audit.Dataset{Columns: s.data.Columns, Values: append([]float64{}, s.data.Values...)}
		err = s.audit.Mechanism.Sample(data, st, out)
	}
	if err != nil {
		return fmt.Errorf("mechanism %s on the %s dataset: %w", name, sideName(s.side), err)
	}
	if i := audit.NonFinite(out); i >= 0 {
		return &audit.InputError{Field: fmt.Sprintf("output of mechanism %s on the %s dataset, number %d of %d", name, sideName(s.side), i%s.width+1, s.width),
			Found: audit.Number(out[i]), Want: "finite", Remedy: "describe values that are not numbers as symbols"}
	}
	return nil
}

func sideName(side int) string {
	if side == 1 {
		return "second"
	}
	return "first"
}

// explore draws the exploration outputs of a pair, trains on the first half
// and picks learner, direction and threshold on the second.
func explore(cat audit.Catalogue, a *Audit, t Task, hook audit.Hook) (Result, error) {
	var half [2][2]audit.Samples // side, then train and validate
	for side := range half {
		all, err := newSource(a, t, purposeExplore, side).draw(a.Plan.Explore, hook)
		if err != nil {
			return Result{}, err
		}
		mid := all.Len() / 2
		half[side] = [2]audit.Samples{all.Slice(0, mid), all.Slice(mid, all.Len())}
	}
	best, err := portfolio(cat, a, t.Trial, half, hook)
	if err != nil {
		return Result{}, err
	}
	m, err := best.Witness.decode(cat, a.Columns)
	if err != nil {
		return Result{}, err
	}
	best.Chart = newChart(a.Columns, half[0][0], half[1][0], m)
	return Result{Explored: best}, nil
}

// draw returns n outputs of the source, shard after shard.
func (s source) draw(n int, hook audit.Hook) (audit.Samples, error) {
	all := audit.Samples{Columns: s.audit.Columns, Rows: make([]float64, n*s.width)}
	for lo := 0; lo < n; lo += ShardRows {
		st := s.stream(lo / ShardRows)
		for at := lo; at < min(lo+ShardRows, n); at += BlockRows {
			end := min(at+BlockRows, n)
			if err := s.block(st, at, all.Rows[at*s.width:end*s.width]); err != nil {
				return audit.Samples{}, err
			}
			if err := hook(end - at); err != nil {
				return audit.Samples{}, err
			}
		}
	}
	return all, nil
}

// certify draws one shard on both sides and counts pairs: output i on the first
// dataset with output i on the second.
func certify(cat audit.Catalogue, a *Audit, t Task, hook audit.Hook) (Result, error) {
	n := t.rows()
	if t.Shard < 0 || n <= 0 {
		return Result{}, &audit.InputError{Field: "task: field shard", Found: fmt.Sprint(t.Shard), Want: fmt.Sprintf("in [0, %d]", t.Plan.shards()-1)}
	}
	if err := checkEdges(t.Edges); err != nil {
		return Result{}, err
	}
	if err := t.Event.check(len(t.Edges)); err != nil {
		return Result{}, err
	}
	model, err := t.Witness.decode(cat, a.Columns)
	if err != nil {
		return Result{}, err
	}
	binner, err := t.Chart.binner(a.Columns)
	if err != nil {
		return Result{}, err
	}
	counted := Counted{Rows: n}
	for k := range counted.Chart {
		counted.Chart[k] = make([]int, t.Chart.bins())
	}
	width := audit.Width(a.Columns)
	plane := t.Chart.Plane.counter()
	rows, scores := make([]float64, BlockRows*width), make([]float64, BlockRows)
	event := t.Event.bins(len(t.Edges) + 1)
	bins := [2][]uint16{make([]uint16, n), make([]uint16, n)}
	// The trial is part of the stream's key: certification has its own purpose
	// and one trial only, number 0.
	t.Trial = 0
	for side := range bins {
		src := newSource(a, t, purposeCertify, side)
		st := src.stream(t.Shard)
		for at := 0; at < n; at += BlockRows {
			k := min(BlockRows, n-at)
			if err := src.block(st, a.Plan.Explore+t.Shard*t.Plan.shardRows()+at, rows[:k*width]); err != nil {
				return Result{}, err
			}
			model.Score(rows[:k*width], scores[:k])
			binScores(t.Edges, scores[:k], bins[side][at:at+k])
			binner.count(rows[:k*width], scores[:k], bins[side][at:at+k], event, counted.Chart[2*side], counted.Chart[2*side+1])
			plane.count(side, rows[:k*width], scores[:k])
			if err := hook(k); err != nil {
				return Result{}, err
			}
		}
	}
	table := bounds.NewTable(len(t.Edges) + 1)
	countPairs(table, bins[0], bins[1])
	counted.Cells, counted.Plane = packCounts(table.N), plane.packed()
	return Result{Counted: &counted}, nil
}

// worthless is the value of a witness that shows nothing. It is finite, as
// JSON has no infinity.
const worthless = -99.0

// valueMargin is how much better a trial must be to displace an earlier one:
// differences in the last bits between platforms decide nothing.
const valueMargin = 2.5e-9

// simplicity is the share by which a learner must do better than one that is
// listed before it: the catalogue lists what is easiest to read first.
const simplicity = 0.01

// portfolio trains the learners that apply and returns the witness that does
// best on the validation halves.
func portfolio(cat audit.Catalogue, a *Audit, trial int, half [2][2]audit.Samples, hook audit.Hook) (*Explored, error) {
	var learners []audit.LearnerSpec
	if a.Plan.Learner != audit.Auto {
		l, err := cat.Learner(a.Plan.Learner)
		if err != nil {
			return nil, err
		}
		learners = []audit.LearnerSpec{l}
	} else {
		for _, l := range cat.Learners {
			if !l.ByName && l.Applies(a.Columns) == nil {
				learners = append(learners, l)
			}
		}
	}
	if len(learners) == 0 {
		return nil, fmt.Errorf("no learner applies to the outputs of %s", a.Spec.Name)
	}
	check := func() error { return hook(0) }
	var best *Explored
	var notes []LearnerNote
	for i, l := range learners {
		found, err := learn(l, a, half, stream.New(stream.Key{Seed: a.Plan.Seed, Purpose: purposeLearn, Trial: trial, Shard: i}), check)
		if stop := check(); stop != nil {
			return nil, stop
		}
		if err != nil {
			notes = append(notes, LearnerNote{Learner: l.Name, Value: worthless, Note: err.Error()})
			continue
		}
		notes = append(notes, LearnerNote{Learner: l.Name, Value: found.Value})
		if best == nil || found.Value > best.Value+max(valueMargin, float64(simplicity*best.Value)) {
			best = found
		}
	}
	if best == nil {
		return nil, fmt.Errorf("no learner could learn from the outputs of %s: %s: %s", a.Spec.Name, notes[0].Learner, notes[0].Note)
	}
	best.Learners = notes
	return best, nil
}

// learn trains one learner and picks its threshold and direction.
func learn(l audit.LearnerSpec, a *Audit, half [2][2]audit.Samples, st *stream.Stream, check func() error) (*Explored, error) {
	m, err := l.Learn(audit.Exploration{First: half[0][0], Second: half[1][0], Claim: a.learnClaim(), Stream: st, Check: check})
	if err != nil {
		return nil, err
	}
	data, err := json.Marshal(m)
	if err != nil {
		return nil, err
	}
	// Score with the decoded model, as every replay will.
	if m, err = l.Decode(data, a.Columns); err != nil {
		return nil, err
	}
	var scores [2][]float64
	for side := range scores {
		valid := half[side][1]
		scores[side] = make([]float64, valid.Len())
		for lo := 0; lo < valid.Len(); lo += BlockRows {
			hi := min(lo+BlockRows, valid.Len())
			m.Score(valid.Slice(lo, hi).Rows, scores[side][lo:hi])
			if err := check(); err != nil {
				return nil, err
			}
		}
		if i := audit.NonFinite(scores[side]); i >= 0 {
			return nil, fmt.Errorf("a score is %s, must be finite", audit.Number(scores[side][i]))
		}
	}
	_, delta := a.dpLimits()
	sorted := [2][]float64{slices.Sorted(slices.Values(scores[0])), slices.Sorted(slices.Values(scores[1]))}
	best := bestCut(sorted[0], sorted[1], delta)
	best, line := faintCut(best, sorted[0], sorted[1], delta, a.Plan.Samples)
	if !line && a.Plan.Explore >= boldExplore && a.Plan.Samples >= boldFactor*a.Plan.Explore {
		if best, err = boldCut(best, scores, sorted, delta, a.Plan.Samples, check); err != nil {
			return nil, err
		}
	}
	edges := scoreEdges(sorted[0], sorted[1], best.threshold)
	n := min(len(scores[0]), len(scores[1]))
	halves := [2]bounds.Table{tableOf(edges, scores[0][:n/2], scores[1][:n/2]), tableOf(edges, scores[0][n/2:n], scores[1][n/2:n])}
	return &Explored{
		Witness: Witness{Learner: l.Name, Model: data}, Edges: edges, Table: halves[0].Add(halves[1]),
		Event: Cut{Edge: slices.Index(edges, best.threshold), Above: best.above, Reversed: best.reversed},
		Value: a.worth(best, halves),
	}, nil
}
