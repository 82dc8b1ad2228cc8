package classifier

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/audit/stream"
)

type featureKind string

const (
	isFeature    featureKind = "is"    // 1 where the column shows the symbol
	shareFeature featureKind = "share" // the share of the columns that show it
	firstFeature featureKind = "first" // the place, in [0, 1], of the first column that shows it; 1 where none does
	meanFeature  featureKind = "mean"  // the mean place of those that do; 1/2 where none does
	// Of a number, z is its distance from a median in quartile ranges, in [-20, 20], 0 where there is none.
	valueFeature  featureKind = "value"  // z of the column's number
	logFeature    featureKind = "log"    // log(1 + |z|) with z's sign
	squareFeature featureKind = "square" // log(1 + |z|)^2
	lowFeature    featureKind = "low"    // min(z, 0)
	leadFeature   featureKind = "lead"   // z of the first number that a symbol carries
	leadLow       featureKind = "lead-low"
	leadLog       featureKind = "lead-log"
	leadPlace     featureKind = "lead-place"     // z times the place of the column that carries it
	leadLowPlace  featureKind = "lead-low-place" // min(z, 0) times that place
	totalFeature  featureKind = "total"          // sum over the real columns of log(1 + |z|) with z's sign
	stepFeature   featureKind = "step"           // the same of each number less the one before
)

// feature is one summary of an output, standardised; in JSON a text of its fields in this order.
type feature struct {
	Kind   featureKind
	Column int
	Symbol float64
	Median float64
	Range  float64
	Shift  float64 // added after Scale
	Scale  float64
}

func (f feature) MarshalText() ([]byte, error) {
	text := fmt.Appendf(nil, "%s %d", f.Kind, f.Column)
	for _, v := range []float64{f.Symbol, f.Median, f.Range, f.Shift, f.Scale} {
		text = strconv.AppendFloat(append(text, ' '), v, 'g', -1, 64)
	}
	return text, nil
}

const (
	zMost         = 20
	numberSample  = 2048 // outputs for medians and ranges
	symbolsTold   = 3    // with features over all columns
	indicators    = 40   // of symbols in columns
	realColumns   = 32   // with features of their own
	hugeNumber    = 1e300
	leastSpread   = 1e-6
	mixedWhole    = 2 // columns with symbols whose numbers all have features
	carriersWhole = 4 // real columns that get all features
)

func (f *feature) z(v float64) float64 {
	return min(zMost, max(-zMost, (min(hugeNumber, max(-hugeNumber, v))-f.Median)/f.Range))
}

func signedLog(z float64) float64 {
	if z < 0 {
		return -stream.Log1p(-z)
	}
	return stream.Log1p(z)
}

type shape struct {
	columns []audit.Column
	at      []int
	carrier []float64 // symbols that carry numbers
	symbols int       // columns with symbols
}

func newShape(columns []audit.Column, carriers []float64) shape {
	return shape{columns, audit.Offsets(columns), carriers, len(columns) - audit.Reals(columns)}
}

func (s *shape) number(row []float64, column int) (float64, bool) {
	return s.columns[column].Kind.Number(row[s.at[column]:], s.carrier)
}

// lead is the first number that a symbol carries, and its place.
func (s *shape) lead(row []float64) (v, place float64, ok bool) {
	k := 0
	for c, column := range s.columns {
		if column.Kind == audit.Real {
			continue
		}
		if v, ok := s.number(row, c); ok {
			return v, float64(k) / float64(s.symbols), true
		}
		k++
	}
	return 0, 1, false
}

// reading is of one output; features that follow each other share what they are made of.
type reading struct {
	row     []float64
	symbol  float64 // that was looked for last
	places  places  // where it was
	counted bool
	z, log  float64 // the number whose signed log was taken last; that of 0 is 0
}

func (r *reading) signedLog(z float64) float64 {
	if z != r.z {
		r.z, r.log = z, signedLog(z)
	}
	return r.log
}

// places are those of a symbol among the columns with symbols: how many, the first (-1: none), the sum.
type places struct{ n, first, sum int }

func (s *shape) read(f *feature, r *reading) float64 {
	x, row := 0.0, r.row
	switch f.Kind {
	case isFeature:
		if row[s.at[f.Column]] == f.Symbol {
			x = 1
		}
	case shareFeature, firstFeature, meanFeature:
		if !r.counted || r.symbol != f.Symbol {
			r.symbol, r.places, r.counted = f.Symbol, s.places(f.Symbol, row), true
		}
		x = r.places.of(f.Kind, float64(s.symbols))
	case valueFeature, logFeature, squareFeature, lowFeature:
		if v, ok := s.number(row, f.Column); ok {
			x = f.of(f.z(v), r)
		}
	case leadFeature, leadLow, leadLog, leadPlace, leadLowPlace:
		v, place, ok := s.lead(row)
		if !ok {
			break
		}
		x = f.of(f.z(v), r)
		if f.Kind == leadPlace || f.Kind == leadLowPlace {
			x = float64(x * place)
		}
	case totalFeature, stepFeature:
		before := 0.0
		for c, column := range s.columns {
			if column.Kind != audit.Real {
				continue
			}
			v := row[s.at[c]]
			if f.Kind == stepFeature {
				v, before = v-before, v
			}
			x += signedLog(f.z(v))
		}
	}
	return float64(x*f.Scale) + f.Shift
}

func (f *feature) of(z float64, r *reading) float64 {
	switch f.Kind {
	case lowFeature, leadLow, leadLowPlace:
		return min(z, 0)
	case logFeature, leadLog:
		return r.signedLog(z)
	case squareFeature:
		l := r.signedLog(z)
		return float64(l * l)
	}
	return z
}

func (s *shape) places(symbol float64, row []float64) places {
	k, p := 0, places{first: -1}
	for c, column := range s.columns {
		if column.Kind == audit.Real {
			continue
		}
		if row[s.at[c]] == symbol {
			p.n++
			p.sum += k
			if p.first < 0 {
				p.first = k
			}
		}
		k++
	}
	return p
}

func (p places) of(kind featureKind, columns float64) float64 {
	switch {
	case kind == shareFeature:
		return float64(p.n) / columns
	case kind == firstFeature && p.n > 0:
		return float64(p.first) / columns
	case kind == firstFeature:
		return 1
	case p.n > 0:
		return (float64(p.sum)/float64(p.n) + 0.5) / columns
	}
	return 0.5
}

func featuresOf(d *Data) ([]feature, []float64) {
	step := d.step(numberSample)
	frequent, inColumn, carriers := tally(d, step)
	s := newShape(d.columns, carriers)
	var list []feature
	for c := range d.columns {
		for rank, symbol := range inColumn[c] {
			if rank > 0 && len(list) < indicators {
				list = append(list, feature{Kind: isFeature, Column: c, Symbol: symbol})
			}
		}
	}
	if s.symbols > 1 {
		for _, symbol := range frequent[:min(symbolsTold, len(frequent))] {
			for _, kind := range []featureKind{shareFeature, firstFeature, meanFeature} {
				list = append(list, feature{Kind: kind, Symbol: symbol})
			}
		}
	}
	numbers := func(of func(row []float64) (float64, bool), column int, kinds ...featureKind) {
		var pool []float64
		for i := 0; i < len(d.count); i += step {
			if v, ok := of(d.row(i)); ok {
				pool = append(pool, min(hugeNumber, max(-hugeNumber, v)))
			}
		}
		median, width := quartiles(pool)
		median, width = digits(median), digits(width)
		if !(width > 0) {
			return
		}
		for _, kind := range kinds {
			list = append(list, feature{Kind: kind, Column: column, Median: median, Range: width})
		}
	}
	reals := 0
	for c, column := range d.columns {
		if column.Kind == audit.Real {
			reals++
			continue
		}
		if column.Kind == audit.Mixed && s.symbols <= mixedWhole {
			numbers(func(row []float64) (float64, bool) { return s.number(row, c) }, c, valueFeature, lowFeature)
		}
	}
	if s.symbols > 1 && len(carriers) > 0 {
		numbers(func(row []float64) (float64, bool) { v, _, ok := s.lead(row); return v, ok }, 0, leadFeature, leadLow, leadLog, leadPlace, leadLowPlace)
	}
	told := 0
	for c, column := range d.columns {
		if column.Kind != audit.Real || told == realColumns {
			continue
		}
		told++
		kinds := []featureKind{logFeature, valueFeature, squareFeature}[:audit.Pick(reals > carriersWhole, 1, 3)]
		numbers(func(row []float64) (float64, bool) { return row[s.at[c]], true }, c, kinds...)
	}
	if reals > 1 {
		for _, kind := range []featureKind{totalFeature, stepFeature} {
			// One scale for all columns: of the numbers, or of the steps, of every row in turn.
			turn := 0
			numbers(func(row []float64) (float64, bool) {
				turn++
				v, before, k := 0.0, 0.0, turn%reals
				for c, column := range s.columns {
					if column.Kind == audit.Real {
						if v = row[s.at[c]]; k == 0 {
							break
						}
						before = v
						k--
					}
				}
				if kind == stepFeature {
					v -= before
				}
				return v, true
			}, 0, kind)
		}
	}
	return standardised(d, s, list, step), carriers
}

func standardised(d *Data, s shape, list []feature, step int) []feature {
	keep := list[:0]
	for _, f := range list {
		f.Scale = 1
		var total, sum, squares float64
		for i := 0; i < len(d.count); i += step {
			w := d.count[i][0] + d.count[i][1]
			x := s.read(&f, &reading{row: d.row(i)})
			total += w
			sum += float64(w * x)
			squares += float64(w * float64(x*x))
		}
		mean := sum / total
		spread := math.Sqrt(max(0, squares/total-float64(mean*mean)))
		if spread > leastSpread {
			f.Scale = digits(1 / spread)
			f.Shift = digits(-mean / spread)
			keep = append(keep, f)
		}
	}
	return keep
}

// quartiles are the median and the distance of the quartiles, or of the nearest quantiles that differ.
func quartiles(pool []float64) (median, width float64) {
	if len(pool) == 0 {
		return 0, 0
	}
	slices.Sort(pool)
	last := float64(len(pool) - 1)
	for _, q := range []float64{0.25, 0.05, 0.005, 0} {
		if width = pool[int((1-q)*last)] - pool[int(q*last)]; width > 0 {
			break
		}
	}
	return pool[int(last/2)], min(width, hugeNumber)
}

// tally lists symbols, the most frequent first, and those that carry numbers.
func tally(d *Data, step int) (frequent []float64, inColumn [][]float64, carriers []float64) {
	all := map[float64]float64{}
	value := map[float64]float64{}
	inColumn = make([][]float64, len(d.columns))
	for c, column := range d.columns {
		if column.Kind == audit.Real {
			continue
		}
		for i := 0; i < len(d.count); i += step {
			row, n := d.row(i), d.count[i]
			symbol := row[d.at[c]]
			all[symbol] += n[0] + n[1]
			if !slices.Contains(inColumn[c], symbol) && len(inColumn[c]) < mostKids {
				inColumn[c] = append(inColumn[c], symbol)
			}
			if column.Kind == audit.Mixed {
				v := row[d.at[c]+1]
				if before, seen := value[symbol]; !seen {
					value[symbol] = v
				} else if before != v && !slices.Contains(carriers, symbol) {
					carriers = append(carriers, symbol)
				}
			}
		}
	}
	byCount := func(a, b float64) int { return cmp.Or(cmp.Compare(all[b], all[a]), cmp.Compare(a, b)) }
	frequent = slices.SortedStableFunc(maps.Keys(all), byCount)
	for _, list := range inColumn {
		slices.SortStableFunc(list, byCount)
	}
	slices.Sort(carriers)
	return frequent, inColumn, carriers
}
