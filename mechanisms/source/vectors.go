package source

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/audit/stream"
	"github.com/dpscope/dpscope/audit/stream/linalg"
	"github.com/dpscope/dpscope/audit/stream/matmul"
	"github.com/dpscope/dpscope/mechanisms/recorded/csv"
)

const maxCells = 1 << 21

// parseVectors reads a CSV file of one vector a line; a first line without numbers is a header.
func parseVectors(file []byte) ([][]float64, error) {
	var rows [][]float64
	head, _, _ := bytes.Cut(bytes.TrimLeft(file, "\r\n"), []byte{'\n'})
	begun := false
	err := csv.Each("vectors", file, csv.Separator(head), true, func(line int, cells []string) error {
		row, bad := make([]float64, len(cells)), -1
		numbers := 0
		for j, c := range cells {
			x, err := strconv.ParseFloat(strings.TrimSpace(c), 64)
			if row[j] = x; err == nil && x-x == 0 {
				numbers++
			} else if bad < 0 {
				bad = j
			}
		}
		header := !begun && numbers == 0
		begun = true
		switch place := fmt.Sprintf("vectors, line %d", line); {
		case header:
			return nil
		case bad >= 0:
			return audit.Fault(fmt.Sprintf("%s, column %d", place, bad+1), fmt.Sprintf("%q", strings.TrimSpace(cells[bad])), "a finite number")
		case len(row) > mostDimensions:
			return audit.Fault(place, fmt.Sprintf("of %d numbers", len(row)), fmt.Sprintf("of at most %d", mostDimensions))
		case len(rows) > 0 && len(row) != len(rows[0]):
			return audit.Fault(place, fmt.Sprintf("of %d numbers", len(row)), fmt.Sprintf("of %d, as the lines before", len(rows[0])))
		case (len(rows)+1)*len(row) > maxCells:
			return audit.Fault("vectors", fmt.Sprintf("of more than %d numbers", maxCells), "fewer", "give fewer vectors, or of fewer dimensions")
		}
		rows = append(rows, row)
		return nil
	})
	if err == nil && len(rows) == 0 {
		err = audit.Fault("vectors", "empty", "a CSV file with one vector a line")
	}
	return rows, err
}

// canaryVectors are the canaries of the user's file: its rows, scaled.
func canaryVectors(file []byte, scale Scale) ([][]float64, error) {
	rows, err := parseVectors(file)
	if err != nil {
		return nil, err
	}
	norms, to := make([]float64, len(rows)), 1.0
	for i, row := range rows {
		if norms[i] = math.Sqrt(linalg.Dot(row, row)); !(norms[i] > 0) {
			return nil, audit.Fault(fmt.Sprintf("vectors: vector %d", i+1), "zero", "one that has a direction", "remove it")
		}
	}
	if scale == MedianNorm {
		sorted := slices.Sorted(slices.Values(norms))
		if to = sorted[(len(sorted)-1)/2]; to > 1 {
			return nil, audit.Fault("vectors", fmt.Sprintf("with a median norm of %v", to), "at most 1, as the sum is over the unit ball",
				fmt.Sprintf("use the scale %q, or divide all vectors by the same number", UnitNorm))
		}
	}
	for i, row := range rows {
		for j := range row {
			row[j] = float64(float64(row[j]*to) / norms[i])
		}
	}
	return rows, nil
}

// vectorSum draws canaries from given vectors, with replacement. A run costs O((K + M) d).
type vectorSum struct {
	*gaussianSum
	vectors   [][]float64
	with, but []float64 // outputs with all canaries, and with all but the last
}

func (p *vectorSum) Run(st *stream.Stream, in, out []float64) (bool, error) {
	draw := func(n int) [][]float64 {
		return audit.Listed(n, func(int) []float64 { return p.vectors[st.Intn(len(p.vectors))] })
	}
	inside, fresh := draw(len(in)), draw(len(out))
	released := func(to []float64, canaries [][]float64) []float64 {
		to = matmul.Resized(to, p.D)
		st.Gaussian(to, p.Sigma)
		for _, c := range canaries {
			matmul.AddScaled(to, c, 1)
		}
		return to
	}
	p.with = released(p.with, inside)
	seen := p.with
	if p.Relation == audit.AddRemove {
		p.but = released(p.but, inside[:len(inside)-1])
		seen = p.but
	}
	for k, c := range inside {
		in[k] = linalg.Dot(c, p.with)
	}
	for k, c := range fresh {
		out[k] = linalg.Dot(c, seen)
	}
	return false, nil
}
