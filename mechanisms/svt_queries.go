package mechanisms

import (
	"fmt"
	"math"

	"github.com/dpscope/dpscope/audit"
)

// queryFamily is where the answers to an SVT's m queries come from.
type queryFamily struct {
	name string
	// leastSensitivity is by how much an answer can move between neighbours;
	// 0 where the relation itself keeps the moves within the sensitivity.
	leastSensitivity float64
	// answers are the m true answers on a dataset of one column.
	answers func(values []float64, m int) ([]float64, error)
	// recordPairs are the family's pairs for T = threshold; nil for direct.
	recordPairs func(r audit.Relation, threshold float64) []audit.Pair
}

const svtRows = 20 // most records that a finder proposes

// queryFamilies of an SVT; the first is the default.
var queryFamilies = []queryFamily{
	{name: "direct", answers: directAnswers},
	{name: "sum", leastSensitivity: 1, answers: sumAnswers, recordPairs: sumPairs},
	{name: "reveal-records", leastSensitivity: 1, answers: revealRecordsAnswers, recordPairs: revealRecordsPairs},
	{name: "count-above", leastSensitivity: 1, answers: countAboveAnswers, recordPairs: countAbovePairs},
}

func queryFamilyNames() []string {
	names := make([]string, len(queryFamilies))
	for i, f := range queryFamilies {
		names[i] = f.name
	}
	return names
}

// family is the query family that resolved parameters name.
func family(p audit.Params) queryFamily {
	for _, f := range queryFamilies {
		if f.name == p.Word("queries") {
			return f
		}
	}
	panic("mechanisms: parameter queries was not resolved")
}

func (f queryFamily) relations() []audit.Relation {
	if f.recordPairs == nil {
		return []audit.Relation{audit.LInfinity}
	}
	return []audit.Relation{audit.AddRemove, audit.Replace}
}

// domain of direct is the cube of half-width 5 sensitivities around the
// threshold, beyond which an answer is hardly ever in doubt.
func (f queryFamily) domain(p audit.Params, r audit.Relation) audit.Domain {
	if f.recordPairs == nil {
		m, t, reach := p.Int("m"), p.Num("threshold"), p.Num("sensitivity")
		wide := float64(5 * reach)
		return audit.Domain{Columns: 1, MinRows: m, MaxRows: m, Lower: []float64{t - wide}, Upper: []float64{t + wide}, Reach: reach}
	}
	least := 0
	if r == audit.Replace {
		least = 1
	}
	return audit.Domain{Columns: 1, MinRows: least, MaxRows: svtRows, Lower: []float64{0}, Upper: []float64{1}}
}

func (f queryFamily) pairs(p audit.Params, r audit.Relation, v svtVariant) []audit.Pair {
	if f.recordPairs == nil {
		return v.directPairs(p.Int("m"), p.Num("threshold"), p.Num("sensitivity"))
	}
	return f.recordPairs(r, p.Num("threshold"))
}

// directAnswers takes the dataset for the answers.
func directAnswers(values []float64, m int) ([]float64, error) {
	if len(values) != m {
		return nil, &audit.InputError{Field: "dataset", Found: fmt.Sprintf("%d rows", len(values)),
			Want: fmt.Sprintf("%d rows, the answer of one query each", m)}
	}
	return values, nil
}

// sumAnswers answers every query with the sum of the records clipped to [0, 1].
func sumAnswers(values []float64, m int) ([]float64, error) {
	return vector(m, clippedSum(values)), nil
}

// revealRecordsAnswers answers m-1 queries with the last record and one with
// the record before it, clipped to [0, 1]; a record that is not there counts 0.
func revealRecordsAnswers(values []float64, m int) ([]float64, error) {
	n := len(values)
	q := vector(m, clippedSum(values[max(n-1, 0):]))
	q[m-1] = clippedSum(values[max(n-2, 0):max(n-1, 0)])
	return q, nil
}

// countAboveAnswers answers query i = 1..m with the number of records above
// the cut point (i-1/2)/m.
func countAboveAnswers(values []float64, m int) ([]float64, error) {
	q := make([]float64, m)
	for i := range q {
		cut := (float64(i) + 0.5) / float64(m)
		for _, v := range values {
			if v > cut {
				q[i]++
			}
		}
	}
	return q, nil
}

// onesBelow is how many records of 1 bring a sum just below the threshold.
func onesBelow(threshold float64) int {
	return int(min(max(math.Ceil(threshold)-1, 0), svtRows-1))
}

// beside is rows of 1, then others.
func beside(ones int, others ...float64) audit.Dataset {
	return audit.Records(append(vector(ones, 1), others...)...)
}

func sumPairs(r audit.Relation, threshold float64) []audit.Pair {
	k := onesBelow(threshold)
	if r == audit.Replace {
		return []audit.Pair{
			{Label: "a 0 replaced by 1, the sum below and above the threshold", First: beside(k, 0), Second: beside(k, 1)},
			{Label: "{0} against {1}", First: audit.Records(0), Second: audit.Records(1)},
		}
	}
	return []audit.Pair{
		{Label: "a record of 1 more, the sum below and above the threshold", First: beside(k), Second: beside(k, 1)},
		{Label: "none against {1}", First: audit.Records(), Second: audit.Records(1)},
	}
}

// revealRecordsPairs swap the last record and the one before it, so that m-1
// queries fall as one rises. The order of rows carries no meaning, so datasets
// that are permuted and differ in one row are neighbours.
func revealRecordsPairs(r audit.Relation, _ float64) []audit.Pair {
	if r == audit.Replace {
		return []audit.Pair{
			{Label: "last two records 0, 1 against 1, 0", First: audit.Records(0, 0, 1), Second: audit.Records(1, 1, 0)},
			{Label: "{0} against {1}", First: audit.Records(0), Second: audit.Records(1)},
		}
	}
	return []audit.Pair{
		{Label: "{0, 1} against {0, 1, 0}: the last two records swap", First: audit.Records(0, 1), Second: audit.Records(0, 1, 0)},
		{Label: "none against {1}", First: audit.Records(), Second: audit.Records(1)},
	}
}

// countAbovePairs move half of the queries, or all, across the threshold.
func countAbovePairs(r audit.Relation, threshold float64) []audit.Pair {
	k := onesBelow(threshold)
	if r == audit.Replace {
		return []audit.Pair{
			{Label: "a 0 replaced by 0.5: the first half of the counts rises", First: beside(k, 0), Second: beside(k, 0.5)},
			{Label: "a 0.5 replaced by 1: the second half of the counts rises", First: beside(k, 0.5), Second: beside(k, 1)},
			{Label: "a 0 replaced by 1: all counts rise", First: beside(k, 0), Second: beside(k, 1)},
		}
	}
	return []audit.Pair{
		{Label: "a record of 0.5 more: the first half of the counts rises", First: beside(k), Second: beside(k, 0.5)},
		{Label: "a record of 1 more: all counts rise", First: beside(k), Second: beside(k, 1)},
	}
}
