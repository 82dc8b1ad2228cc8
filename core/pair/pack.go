package pair

import (
	"encoding/binary"
	"encoding/json"
	"errors"
)

// packed are counts of which most are 0, which JSON has as a text: how many there are, and
// then as [packSparse] has them.
type packed []int

// mostPacked bounds them: the cells of a table of the most bins, or of a plane.
const mostPacked = 1 << 16

// MarshalJSON implements [json.Marshaler].
func (p packed) MarshalJSON() ([]byte, error) {
	return json.Marshal(append(binary.AppendUvarint(nil, uint64(len(p))), packSparse(p)...))
}

// UnmarshalJSON implements [json.Unmarshaler].
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

// packSparse packs counts of which most are 0: how many zeros are passed over, then a
// count, and so on, as numbers of a variable length.
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
		if a <= 0 || b <= 0 || zeros >= uint64(n) || k == 0 || k > MaxSamples {
			return nil, errPacked
		}
		if at += int(zeros) + 1; at >= n {
			return nil, errPacked
		}
		out[at], data = int(k), data[a+b:]
	}
	return out, nil
}
