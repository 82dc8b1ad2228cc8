package mechanisms

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/audit/stream"
	"github.com/dpscope/dpscope/internal/must"
	"github.com/dpscope/dpscope/internal/testsize"
)

// falseAlarm is the probability with which one comparison below fails a right
// mechanism; there are about 2600, so that all of them pass with probability
// 95 % on seeds chosen blindly. The seeds are fixed.
const falseAlarm = 2e-5

// comparedRows are those of a sample: a scale that is off by 15 %, or in the full tests by
// 5 %, shows.
var comparedRows = testsize.Of(10_000, 100_000)

// Every mechanism has the distribution of its twin, on both sides of its first
// and last pairs: outcomes by a two-sample chi-square test, numbers by a
// two-sample Kolmogorov-Smirnov test a column.
func TestMechanismsAgreeWithTheirTwins(t *testing.T) {
	testsize.Native(t)
	for _, spec := range All() {
		slow, ok := twins[spec.Name]
		if !ok {
			t.Errorf("%s has no twin", spec.Name)
			continue
		}
		for _, p := range settings(spec) {
			t.Run(spec.Name+"/"+fmt.Sprint(p.Assignments()), func(t *testing.T) {
				m := mustNew(t, spec, p)
				for _, r := range spec.Relations(p) {
					pairs := spec.Pairs(p, r)
					for i, d := range []audit.Dataset{pairs[0].First, pairs[0].Second, pairs[len(pairs)-1].First} {
						fast := sample(t, m, d, comparedRows, i)
						rng := rand.New(rand.NewPCG(7, uint64(i)))
						other := audit.Samples{Columns: fast.Columns}
						for range comparedRows {
							other.Rows = append(other.Rows, slow(p, d, rng)...)
						}
						agree(t, fmt.Sprintf("%s, dataset %v", r, d.Values), fast, other)
					}
				}
			})
		}
	}
}

// settings are the parameters to compare a mechanism at: its defaults, and
// others that reach what those do not.
func settings(spec audit.MechanismSpec) []audit.Params {
	list := []audit.Params{defaults(spec)}
	add := func(change func(audit.Params)) {
		p := defaults(spec)
		change(p)
		list = append(list, p)
	}
	switch d := list[0]; {
	case spec.Name == "randomised-response":
		add(func(p audit.Params) { p["p"] = number(0.8) })
	case has(d, "queries"):
		add(func(p audit.Params) { p["c"], p["m"], p["epsilon"] = number(3), number(6), number(3) })
		add(func(p audit.Params) {
			p["threshold"], p["sensitivity"], p["m"], p["c"] = number(-2), number(2), number(4), number(4)
		})
		for _, name := range queryFamilyNames()[1:] {
			if strings.HasSuffix(spec.Name, "-parallel") {
				break // its parts have them
			}
			add(func(p audit.Params) {
				p["queries"], p["c"], p["m"] = audit.ParamValue{Text: name}, number(2), number(5)
			})
		}
	case has(d, "sigma"):
		add(func(p audit.Params) { p["sigma"], p["clip"], p["notion"] = number(0.7), number(1.6), text("zcdp") })
		add(func(p audit.Params) {
			p["notion"] = text("gaussian-dp")
			for name, value := range map[string]float64{"s": 0.2, "microbatches": 3, "steps": 3, "batch": 2} {
				if has(p, name) {
					p[name] = number(value)
				}
			}
		})
	case has(d, "hashes"):
		add(func(p audit.Params) { p["f"], p["bits"], p["hashes"] = number(0.6), number(4), number(2) })
		add(func(p audit.Params) { p["epsilon"] = number(9) })
	default:
		add(func(p audit.Params) { p["epsilon"] = number(0.25) })
	}
	switch spec.Name {
	case "prefix-sum":
		add(func(p audit.Params) { p["data"], p["m"] = text("answers"), number(4) })
	case "exponential-median":
		add(func(p audit.Params) {
			p["lo"], p["hi"], p["points"], p["epsilon"] = number(-3), number(7), number(5), number(3)
		})
	case "truncated-geometric", "geo-sample":
		add(func(p audit.Params) { p["epsilon"], p["n"] = number(3), number(1) })
	case "laplace-snapping":
		add(func(p audit.Params) { p["epsilon"] = number(0.05) })
	}
	return list
}

// agree tests that two samples come from one distribution.
func agree(t *testing.T, what string, a, b audit.Samples) {
	t.Helper()
	// Outcomes are the symbols of a whole row; where those are too many to
	// compare, the symbols of each column are compared too.
	tally, marginals := map[string][2]float64{}, make([]map[string][2]float64, len(a.Columns))
	for k := range marginals {
		marginals[k] = map[string][2]float64{}
	}
	add := func(tally map[string][2]float64, word string, side int) {
		n := tally[word]
		n[side]++
		tally[word] = n
	}
	var reals [2][][]float64
	var word []byte // the symbols of a row
	for side, s := range []audit.Samples{a, b} {
		reals[side] = make([][]float64, len(s.Columns))
		for i := range s.Len() {
			row := s.Row(i)
			word = word[:0]
			for k, c := range s.Columns {
				if c.Kind != audit.Real {
					word = binary.LittleEndian.AppendUint64(word, math.Float64bits(row[0]))
					add(marginals[k], string(word[len(word)-8:]), side)
				}
				if v := row[c.Width()-1]; c.Kind == audit.Real || c.Kind == audit.Mixed && row[0] == above {
					reals[side][k] = append(reals[side][k], v)
				}
				row = row[c.Width():]
			}
			add(tally, string(word), side)
		}
	}
	p, cells := chiSquare(tally)
	if p < falseAlarm {
		t.Errorf("%s: the outcomes are not the twin's: p = %.2g over %d cells", what, p, cells)
	}
	for k := range marginals {
		if p, cells := chiSquare(marginals[k]); len(tally) > 20*cells && p < falseAlarm {
			t.Errorf("%s, column %s: the symbols are not the twin's: p = %.2g over %d cells", what, a.Columns[k].Name, p, cells)
		}
	}
	for k := range a.Columns {
		if d, limit := kolmogorovSmirnov(reals[0][k], reals[1][k]); d > limit {
			t.Errorf("%s, column %s: the numbers are not the twin's: distance %.4f, allowed %.4f", what, a.Columns[k].Name, d, limit)
		}
	}
}

// chiSquare is the p-value of the hypothesis that two samples of equal size
// come from one distribution. Words seen fewer than 20 times are one cell.
func chiSquare(tally map[string][2]float64) (p float64, cells int) {
	var x2 float64
	var rare [2]float64
	add := func(n [2]float64) {
		if n[0]+n[1] > 0 {
			x2 += (n[0] - n[1]) * (n[0] - n[1]) / (n[0] + n[1])
			cells++
		}
	}
	for _, n := range tally {
		if n[0]+n[1] < 20 {
			rare[0] += n[0]
			rare[1] += n[1]
			continue
		}
		add(n)
	}
	add(rare)
	if cells < 2 {
		return 1, cells
	}
	return distuv.ChiSquared{K: float64(cells - 1)}.Survival(x2), cells
}

// kolmogorovSmirnov is the largest distance of two empirical distribution
// functions, and what it may be: P(D > d) <= 2 exp(-2 d² nm/(n+m)) in the limit.
func kolmogorovSmirnov(a, b []float64) (d, limit float64) {
	if len(a) == 0 || len(b) == 0 {
		return 0, 0
	}
	slices.Sort(a)
	slices.Sort(b)
	n, m := float64(len(a)), float64(len(b))
	return stat.KolmogorovSmirnov(a, nil, b, nil), math.Sqrt(-math.Log(falseAlarm/2) / 2 * (n + m) / (n * m))
}

func number(v float64) audit.ParamValue { return audit.ParamValue{Number: v} }

func text(s string) audit.ParamValue { return audit.ParamValue{Text: s} }

// numbers makes parameters of name, value, name, value, ....
func numbers(nameValue ...any) audit.Params {
	p := audit.Params{}
	for i := 0; i < len(nameValue); i += 2 {
		switch v := nameValue[i+1].(type) {
		case float64:
			p[nameValue[i].(string)] = number(v)
		case int:
			p[nameValue[i].(string)] = number(float64(v))
		}
	}
	return p
}

func has(p audit.Params, name string) bool { _, ok := p[name]; return ok }

func defaults(spec audit.MechanismSpec) audit.Params {
	p := audit.Params{}
	for _, s := range spec.Params {
		p[s.Name] = number(s.Default)
		if len(s.Choices) > 0 {
			p[s.Name] = audit.ParamValue{Text: s.Choices[0]}
		}
	}
	return p
}

func mustNew(t testing.TB, spec audit.MechanismSpec, p audit.Params) audit.Mechanism {
	t.Helper()
	return must.Get(spec.New(p))(t)
}

func sample(t testing.TB, m audit.Mechanism, d audit.Dataset, rows, shard int) audit.Samples {
	t.Helper()
	s := audit.Samples{Columns: m.Columns(), Rows: make([]float64, rows*audit.Width(m.Columns()))}
	must.Do(t, m.Sample(d, stream.New(stream.Key{Seed: 42, Purpose: "test", Shard: shard}), s.Rows))
	return s
}
