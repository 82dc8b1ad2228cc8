package classifier

import (
	"cmp"
	"math"
	"slices"
	"sort"
	"sync"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/audit/stream"
	"github.com/dpscope/dpscope/audit/stream/linalg"
)

// Model is what all candidates learnt from the outputs of one pair. Its log odds have the same bits on
// every platform.
type Model struct {
	Tree     *tree     `json:"tree,omitempty"`
	Features []feature `json:"features,omitempty"`
	Carriers []float64 `json:"carriers,omitempty"` // symbols that carry numbers
	// Ridge are the weights of the features, the constant's last, under either penalty.
	Ridge [2][]float64 `json:"ridge,omitzero"`
	// Knots of the splines, ascending, and their values there under each penalty.
	Knots  []float64    `json:"knots,omitempty"`
	Spline [3][]float64 `json:"spline,omitzero"`
	// Bins of the second ridge's log odds: bin k is at most Cuts[k].
	Cuts []float64 `json:"cuts,omitempty"`
	Bins []float64 `json:"bins,omitempty"` // log odds
	// Stack are the weights of the stacked log odds and of 1.
	Stack [3]float64 `json:"stack,omitzero"`
	Best  [2]int     `json:"best,omitzero"` // the candidates that are stacked
	// Rounding is the tree of how numbers are rounded: grid, exponent and sign of each.
	Rounding *tree `json:"rounding,omitempty"`

	shape shape
}

// Only is what these candidates need.
func (m *Model) Only(list []Candidate) *Model {
	if slices.Contains(list, Stacked) {
		list = append(slices.Clip(list), Candidate(m.Best[0]), Candidate(m.Best[1]))
	}
	need := func(some ...Candidate) bool {
		return slices.ContainsFunc(list, func(c Candidate) bool { return slices.Contains(some, c) })
	}
	out := Model{shape: m.shape}
	if need(Tree4, Tree16, Tree64) {
		out.Tree = m.Tree
	}
	if need(Ridge1, Ridge16, Binned) {
		out.Features, out.Carriers, out.Ridge = m.Features, m.Carriers, m.Ridge
	}
	for k := range out.Spline {
		if need(Spline3 + Candidate(k)) {
			out.Knots, out.Spline[k] = m.Knots, m.Spline[k]
		}
	}
	if need(Binned) {
		out.Cuts, out.Bins = m.Cuts, m.Bins
	}
	if need(Rounded) {
		out.Rounding = m.Rounding
	}
	if need(Stacked) {
		out.Stack, out.Best = m.Stack, m.Best
	}
	return &out
}

// Score is the candidates' log odds of each row: cells[k][i] is the cell of candidate list[k], which the
// model must have, for row i. It returns how many rows there are.
func (m *Model) Score(list []Candidate, rows []float64, cells [][]uint16) int {
	width := audit.Width(m.shape.columns)
	rounded := roundedColumns(m.shape.columns)
	offsets := audit.Offsets(rounded)
	x := make([]float64, len(m.Features)+1)
	var odds [Candidates]float64
	var known [Candidates]bool
	n := len(rows) / width
	var first map[uint64]int // of symbols alone, where an output was first; they repeat
	if audit.AllSymbols(m.shape.columns) {
		first = map[uint64]int{}
	}
	for i := range n {
		row := rows[i*width : (i+1)*width]
		if first != nil {
			key := audit.RowKey(row)
			if j, ok := first[key]; ok && slices.Equal(row, rows[j*width:(j+1)*width]) {
				for k := range list {
					cells[k][i] = cells[k][j]
				}
				continue
			}
			first[key] = i
		}
		known = [Candidates]bool{}
		leaf, read, place := -1, false, -1.0
		var of func(c Candidate) float64
		of = func(c Candidate) float64 {
			if known[c] {
				return odds[c]
			}
			switch {
			case c <= Tree64:
				if leaf < 0 {
					leaf = m.Tree.find(m.shape.columns, m.shape.at, row)
				}
				odds[c] = m.Tree.odds[c][leaf]
			case c <= Ridge16:
				if !read {
					m.read(row, x)
					read = true
				}
				odds[c] = linalg.Dot(m.Ridge[c-Ridge1], x)
			case c <= Spline300:
				if place < 0 {
					place = knotPlace(m.Knots, row[0])
				}
				odds[c] = hat(m.Spline[c-Spline3], place)
			case c == Binned:
				k, _ := slices.BinarySearch(m.Cuts, of(Ridge16))
				odds[c] = m.Bins[k]
			case c == Stacked:
				odds[c] = stacked(m.Stack, of(Candidate(m.Best[0])), of(Candidate(m.Best[1])))
			case c == Rounded:
				odds[c] = m.Rounding.odds[0][m.Rounding.find(rounded, offsets, rounding(m.shape.columns, row))]
			}
			known[c] = true
			return odds[c]
		}
		for k, c := range list {
			cells[k][i] = uint16(cellOf(of(c)))
		}
	}
	return n
}

func (m *Model) read(row, x []float64) {
	r := reading{row: row}
	for j := range m.Features {
		x[j] = m.shape.read(&m.Features[j], &r)
	}
	x[len(m.Features)] = 1
}

func stacked(w [3]float64, a, b float64) float64 {
	return float64(w[0]*a) + float64(w[1]*b) + w[2]
}

// knotPlace is the place of v among the knots: k and a part of the way to the next.
func knotPlace(knots []float64, v float64) float64 {
	last := len(knots) - 1
	if !(v > knots[0]) {
		return 0
	}
	if v >= knots[last] {
		return float64(last)
	}
	k, _ := slices.BinarySearch(knots, v) // knots[k-1] < v <= knots[k]
	low, high := knots[k-1], knots[k]
	if math.IsInf(high-low, 1) {
		low, high, v = low/2, high/2, v/2
	}
	return float64(k-1) + (v-low)/(high-low)
}

func hat(values []float64, place float64) float64 {
	k := min(int(place), len(values)-2)
	t := place - float64(k)
	return float64((1-t)*values[k]) + float64(t*values[k+1])
}

// Learner goes on learning the outputs of one pair.
type Learner struct {
	model  *Model
	learnt int       // outputs a side when features were chosen
	x      []float64 // features of all distinct outputs so far, and 1 of each
}

const (
	featuresAnew = 3 // times the outputs after which features are chosen again
	knotsMost    = 33
	foldSteps    = 1  // of Newton's method without a fold, from the fit with all
	placeSteps   = 16 // of a knot's distance, at which spline outputs are pooled
	binOutputs   = 20 // outputs of a bin of log odds
	binDepth     = 6
	binShrink    = 24.0
	stackRidge   = 4.0
)

var ridges = [2]float64{1, 16}
var roughnesses = [3]float64{3, 30, 300}

// Learn fits all candidates to the data, and counts the data by the log odds that each would have given
// without having seen it. Trees grow beside the regressions.
func (l *Learner) Learn(d *Data) (*Model, [Candidates]*Table) {
	old := l.model
	m := &Model{}
	l.model = m
	var tables [Candidates]*Table
	var trees oddsOf
	var growing sync.WaitGroup
	growing.Go(func() { trees = m.grow(d, &tables) })
	ridges := l.regress(d, m, old, &tables)
	l.splines(d, m, &tables)
	growing.Wait()
	if tables[Ridge16] != nil && m.Tree != nil {
		stack(d, m, trees, ridges, &tables)
	}
	return m, tables
}

// grow returns the log odds of the best tree without each fold.
func (m *Model) grow(d *Data, tables *[Candidates]*Table) (trees oddsOf) {
	var leaf []int32
	if m.Tree, leaf = newTree(d); len(m.Tree.Nodes) > 1 {
		loss := math.Inf(1)
		for s, shrinkage := range shrinkages {
			tables[s] = m.Tree.counted(shrinkage, d, leaf)
			if v := logLoss(tables[s]); v < loss {
				loss, m.Best[0] = v, s
			}
		}
		trees = m.Tree.withoutFolds(shrinkages[m.Best[0]], d, leaf)
	} else {
		m.Tree = nil
	}
	if d.rounded != nil {
		if m.Rounding, leaf = newTree(d.rounded); len(m.Rounding.Nodes) > 1 {
			tables[Rounded] = m.Rounding.counted(shrinkages[0], d.rounded, leaf)
		}
	}
	return trees
}

func logLoss(t *Table) float64 {
	sum := 0.0
	for c := range Cells {
		if n := t[0][c]; n > 0 {
			sum += float64(float64(n) * stream.Log1p(stream.Exp(-Logit(c))))
		}
		if n := t[1][c]; n > 0 {
			sum += float64(float64(n) * stream.Log1p(stream.Exp(Logit(c))))
		}
	}
	return sum
}

// regress fits the ridges and bins, and returns the second ridge's log odds without each fold.
func (l *Learner) regress(d *Data, m, old *Model, tables *[Candidates]*Table) oddsOf {
	if old != nil && d.Len() < featuresAnew*l.learnt {
		m.Features, m.Carriers = old.Features, old.Carriers
	} else {
		m.Features, m.Carriers = featuresOf(d)
		old, l.learnt, l.x = nil, d.Len(), nil
	}
	m.shape = newShape(d.columns, m.Carriers)
	if len(m.Features) == 0 {
		return oddsOf{}
	}
	width := len(m.Features) + 1
	read := len(l.x) / width
	l.x = slices.Grow(l.x, len(d.count)*width-len(l.x))[:len(d.count)*width]
	all := points{width: width, x: l.x}
	fitted := make([]int, 0, len(d.count))
	for i := range d.count {
		if i >= read {
			m.read(d.row(i), all.x[i*width:(i+1)*width])
		}
		if d.isFitted(i) {
			fitted = append(fitted, i)
		}
	}
	p := &points{width: width, n: make([][2]float64, len(fitted)), x: all.x}
	if len(fitted) < len(d.count) {
		p.x = make([]float64, len(fitted)*width)
	}
	for j, i := range fitted {
		p.n[j] = d.count[i]
		copy(p.x[j*width:], all.x[i*width:(i+1)*width])
	}
	r := regression{points: p, w: make([]float64, width)}
	for k, ridge := range ridges {
		if old != nil {
			r.w = slices.Clone(old.Ridge[k])
		} else {
			r.w = slices.Clone(r.w)
		}
		r.penalty = diagonal(width, ridge)
		r.penalty[width*width-1] = 1e-6 // the constant goes free
		r.fit(newtonSteps)
		m.Ridge[k] = rounded(r.w)
		t := r.counted()
		for i, n := range d.count {
			if !d.isFitted(i) {
				z := all.dot(i, r.w)
				t.count([2]float64{z, z}, n)
			}
		}
		tables[int(Ridge1)+k] = t
	}
	m.Best[1] = int(Ridge16)
	out := newOdds(len(d.count))
	whole := p.n
	p.n = make([][2]float64, len(whole))
	for f := range out {
		for j, n := range whole {
			in := d.inFold(fitted[j], f)
			p.n[j] = [2]float64{n[0] - in[0], n[1] - in[1]}
		}
		r.w = slices.Clone(m.Ridge[1])
		r.fit(foldSteps)
		for i := range out[f] {
			if n := d.inFold(i, f); n[0]+n[1] > 0 {
				out[f][i] = all.dot(i, r.w)
			}
		}
	}
	tables[Binned] = m.bin(d, &out)
	return out
}

func rounded(list []float64) []float64 {
	return audit.Each(list, digits)
}

// digits rounds to six significant digits or so.
func digits(x float64) float64 {
	if x == 0 || x-x != 0 {
		return 0
	}
	_, exponent := math.Frexp(x)
	places := 5 - int(math.Floor(float64(exponent-1)*0.30103))
	if places > 300 {
		return 0
	}
	if scale := math.Pow10(places); places > 0 {
		return math.Round(float64(x*scale)) / scale
	}
	scale := math.Pow10(-places)
	return float64(math.Round(x/scale) * scale)
}

func diagonal(n int, v float64) []float64 {
	a := make([]float64, n*n)
	for i := range n {
		a[i*n+i] = v
	}
	return a
}

// bin counts the second ridge's log odds in quantile bins, each shrunk to the bin that it is half of.
func (m *Model) bin(d *Data, o *oddsOf) *Table {
	type seen struct {
		z float64
		n [2]float64
	}
	list := make([]seen, 0, len(d.count))
	total := 0.0
	d.eachInFold(func(i, f int, n [2]float64) {
		list = append(list, seen{o[f][i], n})
		total += n[0] + n[1]
	})
	depth := 0
	for depth < binDepth && total >= float64(binOutputs*int(2<<depth)) {
		depth++
	}
	if depth == 0 {
		return nil
	}
	bins := 1 << depth
	step := (len(list) + numberSample - 1) / numberSample
	var pool []seen
	sum := 0.0
	for i := 0; i < len(list); i += step {
		pool = append(pool, list[i])
		sum += list[i].n[0] + list[i].n[1]
	}
	sort.Slice(pool, func(i, j int) bool { return cmp.Less(pool[i].z, pool[j].z) })
	passed := 0.0
	for i, s := range pool {
		if k := len(m.Cuts) + 1; k < bins && passed >= float64(sum*float64(k))/float64(bins) && s.z > pool[i-1].z {
			if cut := digits(pool[i-1].z); len(m.Cuts) == 0 || cut > m.Cuts[len(m.Cuts)-1] {
				m.Cuts = append(m.Cuts, cut)
			}
		}
		passed += s.n[0] + s.n[1]
	}
	counts := make([][2]float64, len(m.Cuts)+1)
	at := make([]int, len(list))
	for i, s := range list {
		at[i], _ = slices.BinarySearch(m.Cuts, s.z)
		counts[at[i]][0] += s.n[0]
		counts[at[i]][1] += s.n[1]
	}
	m.Bins = rounded(dyadic(counts, -1))
	by := [2][]float64{dyadic(counts, 0), dyadic(counts, 1)}
	t := new(Table)
	for i, s := range list {
		t.count([2]float64{by[0][at[i]], by[1][at[i]]}, s.n)
	}
	return t
}

// dyadic are the log odds of bins, each half shrunk to the whole, without an output of that side, if any.
func dyadic(counts [][2]float64, side int) []float64 {
	out := make([]float64, len(counts))
	var walk func(lo, hi int, above float64)
	walk = func(lo, hi int, above float64) {
		var n [2]float64
		for _, c := range counts[lo:hi] {
			n[0] += c[0]
			n[1] += c[1]
		}
		if side >= 0 {
			n[side] = max(0, n[side]-1)
		}
		here := above
		if hi-lo < len(counts) {
			here = (n[0] + float64(binShrink*above)) / (n[0] + n[1] + binShrink)
		}
		if hi-lo == 1 {
			out[lo] = here
			return
		}
		mid := (lo + hi) / 2
		walk(lo, mid, here)
		walk(mid, hi, here)
	}
	walk(0, len(counts), 0.5)
	return logits(out)
}

// splines are on outputs pooled at a sixteenth of a knot's distance.
func (l *Learner) splines(d *Data, m *Model, tables *[Candidates]*Table) {
	if len(d.columns) != 1 || d.columns[0].Kind != audit.Real {
		return
	}
	step := d.step(numberSample)
	var pool []float64
	for i := 0; i < len(d.count); i += step {
		pool = append(pool, d.rows[i])
	}
	slices.Sort(pool)
	count := 0
	for count < knotsMost && (count+1)*(count+1)*(count+1) <= 8*d.Len() { // twice the cube root
		count++
	}
	for k := range count {
		// The outermost knots leave out the last few outputs: beyond them the odds stay.
		q := (float64(k) + 0.5) / float64(count)
		v := pool[int(float64(q*float64(len(pool)-1)))]
		if len(m.Knots) == 0 || v > m.Knots[len(m.Knots)-1] {
			m.Knots = append(m.Knots, v)
		}
	}
	n := len(m.Knots)
	if n < 3 {
		m.Knots = nil
		return
	}
	p := &points{width: n, n: make([][2]float64, (n-1)*placeSteps+1)}
	p.x = make([]float64, len(p.n)*n)
	for i := range p.n { // at a place between knots two features are not 0
		k, t := i/placeSteps, float64(float64(i%placeSteps)/placeSteps)
		p.x[i*n+k] = 1 - t
		if t > 0 {
			p.x[i*n+k+1] = t
		}
	}
	for i, c := range d.count {
		k := int(math.Floor(float64(knotPlace(m.Knots, d.rows[i])*placeSteps) + 0.5))
		p.n[k][0] += c[0]
		p.n[k][1] += c[1]
	}
	r := regression{points: p, w: make([]float64, n)}
	for k, roughness := range roughnesses {
		r.penalty = diagonal(n, 0.5)
		bend := [3]float64{1, -2, 1}
		for j := range n - 2 {
			for a, x := range bend {
				for b, y := range bend {
					r.penalty[(j+a)*n+j+b] += float64(roughness * float64(x*y))
				}
			}
		}
		r.w = slices.Clone(r.w)
		r.fit(newtonSteps)
		m.Spline[k] = rounded(r.w)
		tables[int(Spline3)+k] = r.counted()
	}
}

// stack fits on the log odds of the best tree and the second ridge.
func stack(d *Data, m *Model, trees, ridges oddsOf, tables *[Candidates]*Table) {
	p := &points{width: 3}
	d.eachInFold(func(i, f int, n [2]float64) {
		if d.isFitted(i) {
			p.x = append(p.x, trees[f][i], ridges[f][i], 1)
			p.n = append(p.n, n)
		}
	})
	r := regression{points: p, w: []float64{0.5, 0.5, 0}, penalty: diagonal(3, stackRidge)}
	r.fit(newtonSteps)
	copy(m.Stack[:], rounded(r.w))
	tables[Stacked] = r.counted()
	d.eachInFold(func(i, f int, n [2]float64) {
		if !d.isFitted(i) {
			z := stacked([3]float64(r.w), trees[f][i], ridges[f][i])
			tables[Stacked].count([2]float64{z, z}, n)
		}
	})
}
