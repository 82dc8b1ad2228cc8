package pair

import (
	"cmp"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/bounds"
	"github.com/dpscope/dpscope/core/pair/chart"
	"github.com/dpscope/dpscope/core/pair/threshold"
)

// Evidence is what all bounds follow from: they are functions of Table and Prepared.
type Evidence struct {
	Pair     audit.Pair    `json:"pair"`
	Witness  Witness       `json:"witness"`
	Learners []LearnerNote `json:"learners,omitempty"` // how the learners did on the pair's validation split
	Edges    []float64     `json:"edges"`              // bin k holds scores above Edges[k-1] and at or below Edges[k]
	Prepared Prepared      `json:"prepared" same:"ratio"`
	Explored bounds.Table  `json:"explored"`        // of the validation pairs
	Table    *bounds.Table `json:"table,omitempty"` // of the certification pairs
	Chart    chart.Chart   `json:"chart"`
}

// TrialNote is one explored pair. Values are in units of the goal, and no certificates.
type TrialNote struct {
	Trial   int        `json:"trial"`
	Pair    audit.Pair `json:"pair"`
	Value   float64    `json:"value"`
	Learner string     `json:"learner"`
	Outputs int        `json:"outputs,omitempty"` // explored, a side, in all rounds
	Chosen  bool       `json:"chosen,omitempty"`
}

// Witness is a score that tells two datasets apart. Events are unions of its bins.
type Witness struct {
	Learner string          `json:"learner"` // names the learner, which decodes Model
	Model   json.RawMessage `json:"model"`
}

// decode builds the score of w for outputs of the audit.
func (w Witness) decode(a *Audit) (audit.Model, error) {
	spec, err := a.cat.Learner(w.Learner)
	if err != nil {
		return nil, fmt.Errorf("witness: %w", err)
	}
	m, err := spec.Decode(w.Model, a.Columns)
	return m, audit.Of("witness of learner "+w.Learner, err)
}

// certified is how many pairs of outputs were counted.
func (e *Evidence) certified() int {
	if e == nil || e.Table == nil {
		return 0
	}
	return e.Table.Pairs()
}

func (e Evidence) check(plan Plan) error {
	if err := audit.First(threshold.CheckEdges(e.Edges), e.Prepared.check(plan, len(e.Edges)+1)); err != nil {
		return err
	}
	table := func(t bounds.Table) error {
		return audit.First(t.Validate(), audit.Require(t.Bins == len(e.Edges)+1, "table.bins", t.Bins, "%d, one more than there are edges", len(e.Edges)+1))
	}
	if err := cmp.Or(table(e.Explored), e.Chart.Check()); err != nil || e.Table == nil {
		return err
	}
	if err := table(*e.Table); err != nil {
		return err
	}
	return e.Chart.CheckCounts(*e.Table, e.Prepared.Event)
}

// packed are counts, most of them 0, in JSON a text: how many, and then as [packSparse] has them.
type packed []int

// mostPacked is the cells of a table of the most bins, or of a plane.
const mostPacked = 1 << 16

func (p packed) MarshalJSON() ([]byte, error) {
	return json.Marshal(append(binary.AppendUvarint(nil, uint64(len(p))), packSparse(p)...))
}

func (p *packed) UnmarshalJSON(text []byte) error {
	var data []byte
	if err := json.Unmarshal(text, &data); err != nil {
		return err
	}
	n, size := binary.Uvarint(data)
	if size <= 0 || n > mostPacked {
		return errPacked
	}
	var err error
	*p, err = unpackSparse(data[size:], int(n))
	return err
}

var errPacked = errors.New("packed counts are cut off or out of range")

// packSparse writes numbers of a variable length: how many zeros are passed over, a count, and so on.
func packSparse(n []int) []byte {
	var out []byte
	zeros := 0
	for _, k := range n {
		if k == 0 {
			zeros++
			continue
		}
		out = binary.AppendUvarint(binary.AppendUvarint(out, uint64(zeros)), uint64(k))
		zeros = 0
	}
	return out
}

func unpackSparse(data []byte, n int) ([]int, error) {
	out := make([]int, n)
	for at := -1; len(data) > 0; {
		zeros, a := binary.Uvarint(data)
		k, b := binary.Uvarint(data[max(a, 0):])
		if a <= 0 || b <= 0 || zeros >= uint64(n-at-1) || k == 0 || k > MaxSamples {
			return nil, errPacked
		}
		at += int(zeros) + 1
		out[at], data = int(k), data[a+b:]
	}
	return out, nil
}
