package pair

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
)

// packed are counts that JSON has as variable-length numbers: most are small.
type packed []int

// MarshalJSON implements [json.Marshaler].
func (p packed) MarshalJSON() ([]byte, error) {
	out := make([]byte, 0, len(p))
	for _, k := range p {
		out = binary.AppendUvarint(out, uint64(k))
	}
	return json.Marshal(out)
}

// UnmarshalJSON implements [json.Unmarshaler].
func (p *packed) UnmarshalJSON(text []byte) error {
	var data []byte
	if err := json.Unmarshal(text, &data); err != nil {
		return err
	}
	*p = nil
	for len(data) > 0 {
		k, size := binary.Uvarint(data)
		if size <= 0 || k > MaxSamples {
			return fmt.Errorf("packed counts end at number %d", len(*p))
		}
		*p, data = append(*p, int(k)), data[size:]
	}
	return nil
}

// packSparse packs counts of which most are 0: how many zeros are passed over, then a
// count, and so on.
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
	at := -1
	for len(data) > 0 {
		zeros, a := binary.Uvarint(data)
		k, b := binary.Uvarint(data[max(a, 0):])
		if a <= 0 || b <= 0 || zeros >= uint64(n) || k == 0 || k > MaxSamples {
			return nil, errors.New("packed counts are cut off or out of range")
		}
		if at += int(zeros) + 1; at >= n {
			return nil, fmt.Errorf("packed counts go beyond number %d", n)
		}
		out[at], data = int(k), data[a+b:]
	}
	return out, nil
}
