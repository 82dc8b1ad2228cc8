package classifier

import (
	"cmp"
	"slices"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/audit/stream"
)

const (
	leastSplit = 8   // outputs of a node divided by symbols,
	mostLeaves = 128 // and about how many leaves that gives
	mostKids   = 32  // symbols that a node tells apart
	realBin    = 12  // outputs in a bin of a real column
	carriedBin = 60  // of a carried value
	realDepth  = 7   // halvings of an output's numbers
	mixedDepth = 4   // of carried ones
	cutSample  = 256 // outputs that a cut is taken from
)

// treeNode divides outputs by the symbol in a column, or by a number in it, or not at all.
type treeNode struct {
	Column  int       `json:"column,omitempty"`
	Symbols []float64 `json:"symbols,omitempty"` // one child each, then one for all others
	Cut     *float64  `json:"cut,omitempty"`     // two children: at most that, and above
	Kids    []int     `json:"kids,omitempty"`    // places of the children, behind this node's own
	N       [2]int    `json:"n"`                 // outputs of either dataset
}

// tree divides outputs by their symbols, column by column, and below that by their numbers at medians. A
// node's odds are its counts' and some outputs' worth of those above (a Beta prior); the root's are even.
type tree struct {
	Nodes []treeNode `json:"nodes"`
	odds  [3][]float64
}

var shrinkages = [3]float64{4, 16, 64}

// newTree grows a tree, and says which leaf every distinct output is in.
func newTree(d *Data) (*tree, []int32) {
	g := &grower{data: d, tree: &tree{}, leaf: make([]int32, len(d.count)), least: max(leastSplit, (d.total[0]+d.total[1])/mostLeaves)}
	all := audit.Listed(len(d.count), func(i int) int32 { return int32(i) })
	g.bySymbols(all, 0)
	for s, shrinkage := range shrinkages {
		g.tree.odds[s] = g.tree.without(shrinkage, -1)
	}
	return g.tree, g.leaf
}

type grower struct {
	data  *Data
	tree  *tree
	leaf  []int32
	least int
	keys  []float64
}

func (g *grower) node(list []int32) int {
	var n treeNode
	for _, i := range list {
		n.N[0] += int(g.data.count[i][0])
		n.N[1] += int(g.data.count[i][1])
	}
	g.tree.Nodes = append(g.tree.Nodes, n)
	for _, i := range list {
		g.leaf[i] = int32(len(g.tree.Nodes) - 1)
	}
	return len(g.tree.Nodes) - 1
}

// bySymbols grows the node of these outputs from this column on.
func (g *grower) bySymbols(list []int32, column int) int {
	d := g.data
	at := g.node(list)
	for ; column < len(d.columns); column++ {
		if n := g.tree.Nodes[at].N; n[0]+n[1] < g.least && d.columns[column].Kind != audit.Real {
			return at
		}
		part := audit.Pick(d.columns[column].Kind == audit.Real, g.partAtoms, g.part)
		kids, symbols := part(list, d.at[column])
		if len(kids) < 2 {
			continue
		}
		places := audit.Each(kids, func(kid []int32) int { return g.bySymbols(kid, column+1) })
		n := &g.tree.Nodes[at]
		n.Column, n.Symbols, n.Kids = column, symbols, places
		return at
	}
	g.byNumbers(at, list)
	return at
}

// part divides outputs by the symbol at this place of a row; rare ones go together, last.
func (g *grower) part(list []int32, at int) (kids [][]int32, symbols []float64) {
	d := g.data
	place := map[float64]int{}
	k := -1
	for _, i := range list {
		if s := d.rows[int(i)*d.width+at]; k < 0 || s != symbols[k] {
			var seen bool
			if k, seen = place[s]; !seen {
				k = len(kids)
				place[s] = k
				kids, symbols = append(kids, nil), append(symbols, s)
			}
		}
		kids[k] = append(kids[k], i)
	}
	of := func(s float64) []int32 { return kids[place[s]] }
	slices.Sort(symbols)
	var rest []int32
	if len(symbols) > mostKids {
		slices.SortStableFunc(symbols, func(a, b float64) int { return len(of(b)) - len(of(a)) })
		for _, s := range symbols[mostKids:] {
			rest = append(rest, of(s)...)
		}
		slices.Sort(rest)
		symbols = symbols[:mostKids]
		slices.Sort(symbols)
	}
	sorted := audit.Each(symbols, of)
	if len(rest) > 0 {
		sorted = append(sorted, rest)
	}
	return sorted, symbols
}

// partAtoms gives numbers that repeat exactly a node of their own, unless most do, as whole numbers.
func (g *grower) partAtoms(list []int32, at int) (kids [][]int32, atoms []float64) {
	d := g.data
	value := func(i int32) float64 { return d.rows[int(i)*d.width+at] }
	seen := make(map[float64]int32, len(list))
	repeats := 0
	for _, i := range list {
		v := value(i)
		n := seen[v] + 1
		if seen[v] = n; n == 2 {
			atoms = append(atoms, v)
			repeats++
		}
		if n > 1 {
			repeats++
		}
	}
	if len(atoms) == 0 || 2*repeats > len(list) {
		return nil, nil
	}
	slices.SortFunc(atoms, func(a, b float64) int { return cmp.Or(cmp.Compare(seen[b], seen[a]), cmp.Compare(a, b)) })
	atoms = slices.Clone(atoms[:min(len(atoms), mostKids)])
	slices.Sort(atoms)
	kids = make([][]int32, len(atoms)+1)
	for _, i := range list {
		k, ok := slices.BinarySearch(atoms, value(i))
		if !ok {
			k = len(atoms)
		}
		kids[k] = append(kids[k], i)
	}
	return kids, atoms
}

// byNumbers divides the node of these outputs at medians, one column after the other.
func (g *grower) byNumbers(at int, list []int32) {
	d := g.data
	var places []int // columns with numbers that vary
	bin, depth := carriedBin, mixedDepth
	for c, column := range d.columns {
		offset := d.at[c]
		switch column.Kind {
		case audit.Symbol:
			continue
		case audit.Mixed:
			offset++
		case audit.Real:
			bin, depth = realBin, realDepth
		}
		first := d.rows[int(list[0])*d.width+offset]
		if slices.ContainsFunc(list, func(i int32) bool { return d.rows[int(i)*d.width+offset] != first }) {
			places = append(places, c)
		}
	}
	if len(places) > 0 {
		g.halve(at, list, places, 0, depth, 2*bin)
	}
}

func (g *grower) halve(at int, list []int32, columns []int, turn, depth, least int) {
	d := g.data
	if depth == 0 || len(list) < least {
		return
	}
	for k := range columns {
		column := columns[(turn+k)%len(columns)]
		offset := d.at[column]
		if d.columns[column].Kind == audit.Mixed {
			offset++
		}
		value := func(i int32) float64 { return d.rows[int(i)*d.width+offset] }
		g.keys = g.keys[:0]
		step := (len(list) + cutSample - 1) / cutSample
		for i := 0; i < len(list); i += step {
			g.keys = append(g.keys, value(list[i]))
		}
		slices.Sort(g.keys)
		cut := g.keys[(len(g.keys)-1)/2]
		if cut == g.keys[len(g.keys)-1] { // the upper half is one value: the cut is below it
			below, _ := slices.BinarySearch(g.keys, cut)
			if below == 0 {
				continue
			}
			cut = g.keys[below-1]
		}
		low, high := make([]int32, 0, len(list)), make([]int32, 0, len(list)/2)
		for _, i := range list {
			if value(i) <= cut {
				low = append(low, i)
			} else {
				high = append(high, i)
			}
		}
		kids := []int{g.node(low), 0}
		g.halve(kids[0], low, columns, turn+k+1, depth-1, least)
		kids[1] = g.node(high)
		g.halve(kids[1], high, columns, turn+k+1, depth-1, least)
		n := &g.tree.Nodes[at]
		n.Column, n.Cut, n.Kids = column, &cut, kids
		return
	}
}

// without are the log odds of every leaf without one of its outputs of that side; -1: with all.
func (t *tree) without(shrinkage float64, side int) []float64 {
	return t.oddsOf(shrinkage, func(k int) [2]int {
		n := t.Nodes[k].N
		if side >= 0 {
			n[side] = max(0, n[side]-1)
		}
		return n
	})
}

func (t *tree) oddsOf(shrinkage float64, count func(k int) [2]int) []float64 {
	odds := slices.Repeat([]float64{0.5}, len(t.Nodes))
	for i, n := range t.Nodes {
		for _, k := range n.Kids {
			kid := count(k)
			odds[k] = (float64(kid[0]) + float64(shrinkage*odds[i])) / (float64(kid[0]+kid[1]) + shrinkage)
		}
	}
	return logits(odds)
}

func (t *tree) counted(shrinkage float64, d *Data, leaf []int32) *Table {
	by := [2][]float64{t.without(shrinkage, 0), t.without(shrinkage, 1)}
	table := new(Table)
	for i, k := range leaf {
		table.count([2]float64{by[0][k], by[1][k]}, d.count[i])
	}
	return table
}

// withoutFolds are the log odds of every distinct output without each fold.
func (t *tree) withoutFolds(shrinkage float64, d *Data, leaf []int32) oddsOf {
	parent := make([]int, len(t.Nodes))
	for i, n := range t.Nodes {
		for _, k := range n.Kids {
			parent[k] = i
		}
	}
	out := newOdds(len(leaf))
	for f := range out {
		in := make([][2]int, len(t.Nodes))
		for i, k := range leaf {
			n := d.inFold(i, f)
			in[k][0] += int(n[0])
			in[k][1] += int(n[1])
		}
		for k := len(in) - 1; k > 0; k-- { // children stand behind their parents
			in[parent[k]][0] += in[k][0]
			in[parent[k]][1] += in[k][1]
		}
		odds := t.oddsOf(shrinkage, func(k int) [2]int {
			n := t.Nodes[k].N
			return [2]int{n[0] - in[k][0], n[1] - in[k][1]}
		})
		for i, k := range leaf {
			out[f][i] = odds[k]
		}
	}
	return out
}

func logits(p []float64) []float64 {
	for i, v := range p {
		p[i] = stream.Log(v / (1 - v))
	}
	return p
}

func (t *tree) find(columns []audit.Column, at []int, row []float64) int {
	i := 0
	for len(t.Nodes[i].Kids) > 0 {
		n := &t.Nodes[i]
		v := row[at[n.Column]]
		if n.Cut == nil {
			k := slices.Index(n.Symbols, v)
			if k < 0 {
				if k = len(n.Symbols); k == len(n.Kids) {
					return i // a symbol that was not seen here
				}
			}
			i = n.Kids[k]
			continue
		}
		if columns[n.Column].Kind == audit.Mixed {
			v = row[at[n.Column]+1]
		}
		if v <= *n.Cut {
			i = n.Kids[0]
		} else {
			i = n.Kids[1]
		}
	}
	return i
}
