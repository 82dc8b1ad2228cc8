package membership

import (
	"encoding/binary"
	"encoding/json"
	"math"
	"slices"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/audit/phrase"
)

// ScoreSample are exploration scores to look at. Canaries go by their places in a run, of one law.
type ScoreSample struct {
	// In and Out have a row for each of the first 64 runs at most, with its first canaries' scores, at
	// most 16 each, to five digits; null where there is none.
	In  [][]*float64 `json:"in"`
	Out [][]*float64 `json:"out"`
	// Correlations between these canaries, those inside first: row i has those with the places before i,
	// to four decimals; null where scores are all the same. Absent where fewer than two runs have all.
	Correlations [][]*float64 `json:"correlations,omitempty"`
	Correlated   int          `json:"correlated,omitempty"` // runs they are of: of the first 4096 those with all scores
}

const (
	portrayedRuns     = 64
	portrayedCanaries = 16 // a side
	correlatedRuns    = 4096
)

// Portray pictures all exploration scores, K in and M out a run.
func Portray(k, m int, scores []float64) *ScoreSample {
	if len(scores) == 0 {
		return nil
	}
	a, b := min(k, portrayedCanaries), min(m, portrayedCanaries)
	runs := len(scores) / (k + m)
	p := &ScoreSample{}
	picked := make([]float64, 0, min(runs, correlatedRuns)*(a+b))
	for i := range min(runs, correlatedRuns) {
		in, out := scores[i*(k+m):][:a], scores[i*(k+m)+k:][:b]
		if i < portrayedRuns {
			p.In, p.Out = append(p.In, rounded(in)), append(p.Out, rounded(out))
		}
		n := len(picked)
		picked = append(append(picked, in...), out...)
		if slices.ContainsFunc(picked[n:], Unscored) {
			picked = picked[:n]
		}
	}
	p.Correlations, p.Correlated = correlations(a+b, picked)
	return p
}

// Unscored: what diverged, or is not finite, has no score.
func Unscored(x float64) bool { return x == -math.MaxFloat64 }

func rounded(scores []float64) []*float64 {
	return audit.Each(scores, func(x float64) *float64 {
		if Unscored(x) {
			return nil
		}
		return new(phrase.Figures(x, 5))
	})
}

// correlations are those of columns, n a row; nil of fewer than two rows.
func correlations(n int, runs []float64) ([][]*float64, int) {
	count := len(runs) / n
	if count < 2 {
		return nil, 0
	}
	means := make([]float64, n)
	for i := range count {
		for j, x := range runs[i*n:][:n] {
			means[j] += x
		}
	}
	for j := range means {
		means[j] /= float64(count)
	}
	sums := make([]float64, n*n) // of products; the lower triangle
	off := make([]float64, n)
	for i := range count {
		for j, x := range runs[i*n:][:n] {
			off[j] = x - means[j]
			row := sums[j*n:][:j+1]
			for l, y := range off[:j+1] {
				row[l] += float64(off[j] * y)
			}
		}
	}
	out := make([][]*float64, n)
	for j := range out {
		out[j] = make([]*float64, j)
		for l := range out[j] {
			r := sums[j*n+l] / float64(math.Sqrt(sums[j*n+j])*math.Sqrt(sums[l*n+l]))
			if r = math.Round(float64(r*1e4)) / 1e4; math.Abs(r) <= 1 {
				r += 0 // no negative zero
				out[j][l] = &r
			}
		}
	}
	return out, count
}

func (p *ScoreSample) Check(runs, k, m int) error {
	if p == nil {
		return nil
	}
	a, b, rows := min(k, portrayedCanaries), min(m, portrayedCanaries), len(p.Correlations)
	ok := len(p.In) >= 1 && len(p.In) <= min(runs, portrayedRuns) && len(p.Out) == len(p.In) &&
		p.Correlated >= 0 && p.Correlated <= min(runs, correlatedRuns) && (rows > 0) == (p.Correlated > 1) && (rows == 0 || rows == a+b)
	for i := range min(len(p.In), len(p.Out)) {
		ok = ok && len(p.In[i]) == a && len(p.Out[i]) == b
	}
	for i, row := range p.Correlations {
		ok = ok && len(row) == i && !slices.ContainsFunc(row, func(r *float64) bool { return r != nil && !(math.Abs(*r) <= 1) })
	}
	return audit.Require(ok, "portrait", "impossible for any exploration", "%d canaries inside and %d fresh ones of at most %d runs, and their correlations", a, b, min(runs, portrayedRuns))
}

// Scored are the scores of runs that follow each other, K canaries inside and then M fresh ones each,
// for whoever looks on while an audit runs.
type Scored struct {
	First  int    `json:"first"` // run
	K      int    `json:"k"`
	M      int    `json:"m"`
	Scores Floats `json:"scores"`
}

// Floats are numbers that JSON has packed, little-endian, eight bytes each.
type Floats []float64

// Pack writes them.
func (f Floats) Pack() []byte {
	b, _ := binary.Append(make([]byte, 0, 8*len(f)), binary.LittleEndian, []float64(f))
	return b
}

// UnpackFloats reads what [Floats.Pack] wrote.
func UnpackFloats(b []byte) Floats {
	f := make([]float64, len(b)/8)
	binary.Decode(b, binary.LittleEndian, f)
	return f
}

func (f Floats) MarshalJSON() ([]byte, error) { return json.Marshal(f.Pack()) }

func (f *Floats) UnmarshalJSON(text []byte) error {
	var data []byte
	err := json.Unmarshal(text, &data)
	*f = UnpackFloats(data)
	return err
}
