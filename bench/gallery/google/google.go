// Package google answers dpscope's requests with Google's differential privacy library for Go, by
// repeated rounding (Casacuberta, Shoemate, Vadhan and Wagaman, Widespread Underestimation of
// Sensitivity in Differentially Private Libraries and How to Fix it, 2022).
//
// The rows of a request are the records that neighbours differ in. A case adds 2^32 records of 1
// before them, by shards that the library merges, and 2^22 that a sum rounds after them, one by one.
package google

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"

	"github.com/google/differential-privacy/go/v3/dpagg"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/internal/try"
)

// Powers of two: records of 1, and those that are rounded.
//
// A sum at 2^ones or above is a multiple of ulp = 2^(ones-52), one just below it of ulp/2. A
// record a little closer to 0 than -ulp/2 is lost in the former and takes ulp/2 off the latter:
// 2^small of them take off 2^(small+ones-53), which is 2.
const (
	ones  = 32
	small = 22
)

// aggregate is what the cases use of the library's objects.
type aggregate[A any] interface {
	Merge(A) error
	GobEncode() ([]byte, error)
	GobDecode([]byte) error
}

// A rounded case fills an aggregate with a dataset and takes the aggregate's result.
type rounded[A aggregate[A]] struct {
	empty  func(epsilon float64) (A, error)
	add    func(a A, value float64) error
	result func(A) (float64, error)
	after  bool // records of -1 follow, which bring the sum back to 0
}

// Answer gives n outputs of a mechanism on a dataset.
type Answer func(rows [][]float64, n int) ([]float64, error)

// Cases are the mechanisms by name, each for an epsilon.
var Cases = map[string]func(epsilon float64) Answer{
	"google-sum-float": rounded[*dpagg.BoundedSumFloat64]{
		empty: func(epsilon float64) (*dpagg.BoundedSumFloat64, error) {
			return dpagg.NewBoundedSumFloat64(&dpagg.BoundedSumFloat64Options{Epsilon: epsilon, MaxPartitionsContributed: 1, Lower: -1, Upper: 1})
		},
		add:    (*dpagg.BoundedSumFloat64).Add,
		result: (*dpagg.BoundedSumFloat64).Result,
	}.answer,
	"google-sum-int": func(epsilon float64) Answer {
		// The same records in units of ulp/2, the small ones rounded to -1.
		const unit = 1 << (53 - ones)
		return rounded[*dpagg.BoundedSumInt64]{
			empty: func(epsilon float64) (*dpagg.BoundedSumInt64, error) {
				return dpagg.NewBoundedSumInt64(&dpagg.BoundedSumInt64Options{Epsilon: epsilon, MaxPartitionsContributed: 1, Lower: -unit, Upper: unit})
			},
			add: func(a *dpagg.BoundedSumInt64, value float64) error { return a.Add(int64(math.Round(value * unit))) },
			result: func(a *dpagg.BoundedSumInt64) (float64, error) {
				sum, err := a.Result()
				return float64(sum) / unit, err
			},
		}.answer(epsilon)
	},
	"google-mean-float": rounded[*dpagg.BoundedMean]{
		empty: func(epsilon float64) (*dpagg.BoundedMean, error) {
			return dpagg.NewBoundedMean(&dpagg.BoundedMeanOptions{Epsilon: epsilon, MaxPartitionsContributed: 1, MaxContributionsPerPartition: 1, Lower: -1, Upper: 1})
		},
		add:    (*dpagg.BoundedMean).Add,
		result: (*dpagg.BoundedMean).Result,
		after:  true,
	}.answer,
}

// answer fills an aggregate for each dataset once, and takes each output from a copy of it.
func (c rounded[A]) answer(epsilon float64) Answer {
	filled := map[string][]byte{}
	return func(rows [][]float64, n int) (outputs []float64, err error) {
		defer try.To(&err)
		key := fmt.Sprint(rows)
		if filled[key] == nil {
			filled[key] = try.Get(c.fill(epsilon, rows).GobEncode())
		}
		outputs = make([]float64, n)
		for i := range outputs {
			outputs[i] = try.Get(c.result(c.copied(epsilon, filled[key])))
		}
		return outputs, nil
	}
}

func (c rounded[A]) copied(epsilon float64, text []byte) A {
	a := try.Get(c.empty(epsilon))
	try.Do(a.GobDecode(text))
	return a
}

// fill adds the whole dataset: 2^ones - 1 records of 1, one of 1/2, the rows, the small ones.
func (c rounded[A]) fill(epsilon float64, rows [][]float64) A {
	a := try.Get(c.empty(epsilon))
	add := func(value float64) { try.Do(c.add(a, value)) }
	most := func(value float64) { // 2^ones - 1 records, by shards of 1, 2, 4, ...
		shard := try.Get(c.empty(epsilon))
		try.Do(c.add(shard, value))
		for range ones {
			text := try.Get(shard.GobEncode())
			try.Do(a.Merge(c.copied(epsilon, text)))
			shard = c.copied(epsilon, text)
			try.Do(shard.Merge(c.copied(epsilon, text)))
		}
	}
	most(1)
	add(0.5)
	for _, row := range rows {
		add(row[0])
	}
	for range 1 << small {
		add(-math.Ldexp(1-1e-9, ones-53))
	}
	if c.after {
		most(-1)
	}
	return a
}

// Serve answers requests in the lines of the command protocol, until there are no more.
func Serve(name string, epsilon float64, in io.Reader, out io.Writer) (err error) {
	defer try.To(&err)
	start, ok := Cases[name]
	if !ok {
		return audit.UnknownName("case of the gallery", name, slices.Sorted(maps.Keys(Cases)))
	}
	answer := start(epsilon)
	lines := json.NewDecoder(bufio.NewReader(in))
	for {
		var request struct {
			Dataset [][]float64 `json:"dataset"`
			N       int         `json:"n"`
		}
		if err := lines.Decode(&request); err != nil {
			return audit.Pick(err == io.EOF, nil, err)
		}
		outputs := try.Get(answer(request.Dataset, request.N))
		try.Do(json.NewEncoder(out).Encode(map[string]any{"outputs": outputs}))
	}
}
