package estimators

import "github.com/dpscope/dpscope/audit"

// outcomeKeys numbers the outcomes of a product of partitions: in mixed radix
// where there are at most 2^16, else by a 64-bit polynomial hash, whose
// collisions (about one in 10^13 among a thousand outcomes) join outcomes and
// do no other harm.
type outcomeKeys struct {
	coders []*coder
	width  int
	dense  int // number of outcomes, or 0 where they are hashed
	stride []uint64
}

const hashFactor = 0xd1342543de82ef95 // odd; multiplier of a good linear congruential generator mod 2^64

func newOutcomeKeys(partitions []partition, columns []audit.Column) *outcomeKeys {
	k := &outcomeKeys{width: audit.Width(columns), dense: 1}
	at := offsets(columns)
	for i, p := range partitions {
		k.coders = append(k.coders, newCoder(p, columns[i].Kind, at[i]))
		k.stride = append(k.stride, uint64(k.dense))
		if k.dense *= p.cells(columns[i].Kind); k.dense > mostCells || k.dense == 0 {
			k.dense = 0
		}
	}
	return k
}

// code writes the keys of the first n rows into out. A dense key is at least
// the number of outcomes where a symbol is not listed.
func (k *outcomeKeys) code(rows []float64, n int, out *[block]uint64) {
	var cell codes
	clear(out[:n])
	for c, coder := range k.coders {
		coder.code(rows, k.width, n, &cell)
		if k.dense > 0 {
			stride := k.stride[c]
			for i, v := range cell[:n] {
				out[i] += uint64(v) * stride
			}
			continue
		}
		for i, v := range cell[:n] {
			out[i] = (out[i] + uint64(v) + 1) * hashFactor
		}
	}
}

// of is the key of the outcome with these cells.
func (k *outcomeKeys) of(cells []int) uint64 {
	var key uint64
	for c, v := range cells {
		if k.dense > 0 {
			key += uint64(v) * k.stride[c]
		} else {
			key = (key + uint64(v) + 1) * hashFactor
		}
	}
	return key
}

// keyTable finds the position of a key among few: linear probing in a table
// that is at most a quarter full.
type keyTable struct {
	shift uint
	slots []keySlot
}

type keySlot struct {
	key   uint64
	index uint32 // 1 + position; 0: empty
}

func newKeyTable(keys []uint64) *keyTable {
	t := &keyTable{shift: 64 - 4}
	for 1<<(64-t.shift) < 4*len(keys) {
		t.shift--
	}
	t.slots = make([]keySlot, 1<<(64-t.shift))
	mask := uint64(len(t.slots) - 1)
	for i, k := range keys {
		s := k * firstFactor >> t.shift
		for t.slots[s].index != 0 {
			s = (s + 1) & mask
		}
		t.slots[s] = keySlot{k, uint32(i + 1)}
	}
	return t
}

// find writes 1 + the position of each key, or 0 where it is not there.
func (t *keyTable) find(keys []uint64, out []uint32) {
	slots, shift, mask := t.slots, t.shift, uint64(len(t.slots)-1)
	for i, k := range keys {
		s := k * firstFactor >> shift
		for slots[s].index != 0 && slots[s].key != k {
			s = (s + 1) & mask
		}
		out[i] = slots[s].index
	}
}
