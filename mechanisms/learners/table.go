package learners

import (
	"fmt"
	"math"
	"slices"
	"sync"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/audit/stream"
	"github.com/dpscope/dpscope/mechanisms/train"
)

// Table is labelled examples in declared bounds: what a learner is trained on.
type Table struct {
	Name     string
	Features []string  // names
	Classes  [2]string // names of the labels 0 and 1
	// Lower and Upper, declared, bound each feature, within [-1, 1].
	Lower, Upper []float64
	Rows         audit.Dataset // the features, then the label, 0 or 1
	Clamped      int           // values of a file outside of its bounds, which were moved to the nearest
	Notes        []string      // warnings, in words, that belong to every report of it
}

func (t *Table) with(i int, row []float64) audit.Dataset {
	d := audit.Dataset{Columns: t.Rows.Columns, Values: slices.Clone(t.Rows.Values)}
	copy(d.Row(i), row)
	return d
}

// BuiltIn are the tables that come along. The last, of digits, is large: learners by DP-SGD
// only have it in [All].
func BuiltIn() []*Table { return slices.Clone(builtIn()) }

var builtIn = sync.OnceValue(func() []*Table {
	return []*Table{
		iris(4),
		iris(2),
		blobs("spherical", [4]float64{0.25, 0.25, 0.25, 0.25}),
		blobs("stretched", [4]float64{0.5, 0.125, 0.03125, 0.0078125}),
		digits(),
	}
})

// irisTenths are versicolor, then virginica, fifty rows each: length and width of sepals, then
// of petals, in tenths of a centimetre, two digits each.
const irisTenths = "" +
	"7032471464324515693149155523401365284615572845136333471649243310662946135227391450203510593042156022401061294714562936136731441456304515582741106222451556253911" +
	"5932481861284013632549156128471264294313663044146828481467305017602945155726351055243811552437105827391260275116543045156034451667314715632344135630411355254013" +
	"55264412613046145826401250233310562742135730421257294213622943135125301157284113" +
	"6333602558275119713059216329561865305822763066214925451773296318672558187236612565325120642753196830552157255020582851246432532365305518773867227726692360225015" +
	"6932572356284920772867206327491867335721723260186228481861304918642856217230581674286119793864206428562263285115612656147730612363345624643155186030481869315421" +
	"67315624693151235827511968325923673357256730522363255019653052206234542359305118"

// over gives the table these features, between lower and 1.
func (t *Table) over(features []string, lower float64) {
	t.Features, t.Rows.Columns = features, len(features)+1
	t.Lower, t.Upper = slices.Repeat([]float64{lower}, len(features)), slices.Repeat([]float64{1}, len(features))
}

// iris is two classes of the irises of Anderson and Fisher (The use of multiple measurements in
// taxonomic problems, Annals of Eugenics 7, 1936, table I), its last features. Bounds are, in
// centimetres, [4, 8] and [1, 5] for sepals, [0, 8] and [0, 4] for petals.
func iris(features int) *Table {
	names := []string{"sepal length", "sepal width", "petal length", "petal width"}[4-features:]
	middle, half := [4]int{60, 30, 40, 20}, [4]float64{20, 20, 40, 20}
	t := &Table{Name: audit.Pick(features == 2, "iris-petals", "iris"), Classes: [2]string{"versicolor", "virginica"}}
	t.over(names, -1)
	for i := range len(irisTenths) / 8 {
		for j := 4 - features; j < 4; j++ {
			at := 8*i + 2*j
			v := 10*int(irisTenths[at]-'0') + int(irisTenths[at+1]-'0')
			t.Rows.Values = append(t.Rows.Values, float64(v-middle[j])/half[j])
		}
		t.Rows.Values = append(t.Rows.Values, float64(i/50))
	}
	return t
}

// blobs is 150 rows of two normal clouds about (±1/4, 0, 0, 0), in turns, rounded to thousandths
// and clamped to [-1, 1].
func blobs(name string, deviations [4]float64) *Table {
	const rows, features = 150, 4
	t := &Table{Name: name, Classes: [2]string{"left", "right"}}
	t.over([]string{"x1", "x2", "x3", "x4"}, -1)
	s := stream.New(stream.Key{Purpose: "learners/" + name})
	z := make([]float64, features)
	for i := range rows {
		s.Gaussian(z, 1)
		for j, v := range z {
			v = float64(v * deviations[j])
			if j == 0 {
				v += float64(float64(i%2)/2) - 0.25
			}
			t.Rows.Values = append(t.Rows.Values, max(-1, min(1, math.RoundToEven(float64(v*1000))/1000))+0) // no -0, which an address loses
		}
		t.Rows.Values = append(t.Rows.Values, float64(i%2))
	}
	return t
}

// glyphs are the digits 0 and 1 on eight by eight pixels, ink where a bit is set, row by row.
var glyphs = [2]uint64{0x003c666666663c00, 0x0018381818183c00}

// digits is 1000 images of the digits 0 and 1, in turns: glyphs moved by a pixel or none each
// way, with normal noise but for the margins left and right, in sixteenths.
func digits() *Table {
	const rows, side = 1000, 8
	t := &Table{Name: "digits", Classes: [2]string{"0", "1"}}
	t.over(audit.Listed(side*side, func(i int) string { return fmt.Sprintf("pixel %d, %d", i/side+1, i%side+1) }), 0)
	s := stream.New(stream.Key{Purpose: "learners/digits"})
	z, ink := make([]float64, side*side), make([]float64, 1)
	for i := range rows {
		down, right := s.Intn(3)-1, s.Intn(3)-1
		s.Uniform(ink, 0.6, 1)
		s.Gaussian(z, 0.15)
		for k, v := range z {
			y, x := k/side-down, k%side-right
			if k%side == 0 || k%side == side-1 {
				v = 0
			} else if y >= 0 && y < side && x >= 0 && x < side && glyphs[i%2]>>(63-side*y-x)&1 != 0 {
				v += ink[0]
			}
			t.Rows.Values = append(t.Rows.Values, math.RoundToEven(16*max(0, min(1, v)))/16)
		}
		t.Rows.Values = append(t.Rows.Values, float64(i%2))
	}
	return t
}

// examples are the rows of a dataset as a learner takes them in: features clamped to the
// table's bounds, labels 1 from 1/2 on. The checks are for callers but the engine.
type examples struct {
	train.Rows
	n, d int // rows, features
}

func (t *Table) examples(d audit.Dataset, fewest int) (examples, error) {
	e := examples{n: d.Len(), d: d.Columns - 1}
	err := audit.First(
		audit.Require(d.Columns == t.Rows.Columns, "dataset.columns", d.Columns,
			"%d: %d features, then the label", t.Rows.Columns, t.Rows.Columns-1),
		audit.Require(e.n >= fewest, "dataset", fmt.Sprintf("%d rows", e.n), "at least %d", fewest))
	if err != nil {
		return e, err
	}
	e.X, e.Labels = make([]float64, 0, e.n*e.d), make([]int32, e.n)
	for i := range e.n {
		row := d.Row(i)
		for j, v := range row {
			if v-v != 0 { // NaN or infinite
				return e, &audit.InputError{Field: fmt.Sprintf("dataset.values[%d]", i*d.Columns+j), Found: audit.Number(v), Want: "a finite number"}
			}
			if j < e.d {
				e.X = append(e.X, max(t.Lower[j], min(t.Upper[j], v)))
			}
		}
		e.Labels[i] = audit.Pick[int32](row[e.d] >= 0.5, 1, 0)
	}
	return e, nil
}

func (e examples) row(i int) []float64 { return e.X[i*e.d : (i+1)*e.d] }

// without are the rows of d that are left when these are taken away, as multisets, in the
// order of d.
func without(d audit.Dataset, these [][]float64) [][]float64 {
	away := map[string]int{}
	for _, row := range these {
		away[fmt.Sprint(row)]++
	}
	var list [][]float64
	for i := range d.Len() {
		row := d.Row(i)
		if key := fmt.Sprint(row); len(away) > 0 && away[key] > 0 {
			away[key]--
		} else {
			list = append(list, row)
		}
	}
	return list
}

// differing are the rows of b that find no equal row in a, in the order of b.
func differing(a, b audit.Dataset) [][]float64 { return without(b, without(a, nil)) }

// poison is the point x* of a pair, without its label: of the first row that only the second
// dataset has, or else only the first; nil where they hold the same rows.
func poison(p audit.Pair) []float64 {
	rows := append(differing(p.First, p.Second), differing(p.Second, p.First)...)
	if len(rows) == 0 {
		return nil
	}
	return slices.Clone(rows[0][:len(rows[0])-1])
}
