package learners

import (
	"slices"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/audit/stream/linalg"
	"github.com/dpscope/dpscope/mechanisms/train"
)

const luSource = "; Lu et al., A General Framework for Auditing Differentially Private Machine Learning (2022), section 5"

// All is the registry: one line a learner, over the tables that come along.
func All() []audit.MechanismSpec {
	tables := BuiltIn()
	return registry(tables[:len(tables)-1], tables)
}

// On is every learner over these tables, at least one. The first is the default of
// the parameter table.
func On(tables ...*Table) []audit.MechanismSpec { return registry(tables, tables) }

// registry is the learners by closed forms over the first tables, by DP-SGD over the second.
func registry(tables, descended []*Table) []audit.MechanismSpec {
	return []audit.MechanismSpec{
		outputPerturbation.spec(tables),
		outputHalfNoise.spec(tables),
		objectivePerturbation.spec(tables),
		objectiveAnyLambda.spec(tables),

		naiveBayes.spec(tables),
		naiveBayesCounts.spec(tables),
		naiveBayesDataBounds.spec(tables),

		randomForest.spec(tables),
		randomForestWrongNeighbours.spec(tables),

		sgdLinear.spec(descended),
		sgdPerceptron.spec(descended),
		sgdNoClipping.spec(descended),
		sgdQuarterNoise.spec(descended),
	}
}

// spec is a learner before its table is known. The claim is pure where it is nil.
type spec struct {
	audit.MechanismSpec
	fewest int // rows of a dataset
	pairs  func(audit.Params, *Table, audit.Relation) []audit.Pair
	known  func(audit.Params, *Table) audit.Table // to an attack, but rows and twin
	build  func(audit.Params, *Table) (audit.Mechanism, error)
	cost   func(audit.Params, *Table) float64 // multiplications of a training, about; nil: few
}

func (s spec) over(tables []*Table) audit.MechanismSpec {
	m, names := s.MechanismSpec, audit.Each(tables, func(t *Table) string { return t.Name })
	m.Params = append(m.Params, audit.ParamSpec{Name: "table", Doc: "the labelled examples that models are trained on", Choices: names})
	chosen := func(p audit.Params) *Table { return tables[slices.Index(names, p.Word("table"))] }
	if m.Claim == nil {
		m.Claim = func(p audit.Params) audit.Claim { return audit.DPClaim(p.Num("epsilon"), 0) }
	}
	m.Domain = func(p audit.Params, r audit.Relation) audit.Domain {
		t := chosen(p)
		return audit.Domain{Columns: t.Rows.Columns, MinRows: max(s.fewest, audit.Pick(r == audit.Replace, 1, 0)), MaxRows: t.Rows.Len() + audit.Pick(r == audit.AddRemove, mostGroup, 0),
			Lower: append(slices.Clone(t.Lower), 0), Upper: append(slices.Clone(t.Upper), 1)}
	}
	if s.cost != nil {
		m.Block = func(p audit.Params) int { return int(max(1, min(audit.BlockRows, blockCost/s.cost(p, chosen(p))))) }
	}
	m.Pairs = func(p audit.Params, r audit.Relation) []audit.Pair { return s.pairs(p, chosen(p), r) }
	m.Table = func(p audit.Params) *audit.Table {
		t := chosen(p)
		known := s.known(p, t)
		known.Base, known.Features, known.Classes = t.Rows, t.Features, t.Classes
		learner, err := s.build(p, t)
		twin, ok := learner.(interface {
			Train(audit.Dataset) ([]float64, error)
		})
		if err == nil && ok {
			known.Train = twin.Train
		}
		return &known
	}
	m.New = func(p audit.Params) (audit.Mechanism, error) { return s.build(p, chosen(p)) }
	return m
}

// blockCost is how many multiplications lie between two signs of life: some hundredths of a second.
const blockCost = 1e7

// mostGroup is how many rows may be added: the largest group that an attack poisons.
const mostGroup = 8

// Parameters of a pure claim. The range of epsilon keeps all noise finite.
var (
	epsilonParam    = audit.ParamSpec{Name: "epsilon", Doc: "privacy parameter that sets the noise", Default: 1, Min: 1e-6, Max: 100, Noise: true}
	neighboursParam = audit.ParamSpec{Name: "neighbours", Doc: "relation of the claim: one row replaced, or one row added or removed", Choices: []string{train.Replace, train.AddRemove}}
)

func neighbours(p audit.Params) []audit.Relation {
	return []audit.Relation{audit.Relation(p.Word("neighbours"))}
}

// longest is the first of the longest rows.
func (t *Table) longest() int {
	squares := audit.Listed(t.Rows.Len(), func(i int) float64 {
		x := t.Rows.Row(i)[:len(t.Features)]
		return linalg.Dot(x, x)
	})
	return slices.Index(squares, slices.Max(squares))
}

func (t *Table) flip(label string, i int) audit.Pair {
	row := t.Rows.Row(i)
	d := len(t.Features)
	return audit.Pair{Label: label, First: t.Rows, Second: t.with(i, ends(row[:d], 1-row[d]))}
}

func (t *Table) join(label string, row []float64) audit.Pair {
	more := audit.Dataset{Columns: t.Rows.Columns, Values: slices.Concat(t.Rows.Values, row)}
	return audit.Pair{Label: label, First: t.Rows, Second: more}
}

// ends is a row of these features and this label.
func ends(features []float64, label float64) []float64 {
	return slices.Concat(features, []float64{label})
}

// crafted is n rows that are alike with one more beside them: from, if not nil, and in the
// second dataset to.
func crafted(label string, n int, all, from, to []float64) audit.Pair {
	p := audit.Pair{Label: label, First: repeated(n, all...), Second: repeated(n, all...)}
	p.First.Values = append(p.First.Values, from...)
	p.Second.Values = append(p.Second.Values, to...)
	return p
}

func repeated(n int, row ...float64) audit.Dataset {
	return audit.Dataset{Columns: len(row), Values: slices.Repeat(row, n)}
}
