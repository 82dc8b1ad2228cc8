package command

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/mechanisms/user"
)

// FramesVariable is the variable of the environment that tells a program which version
// of frames this one understands. A program that wants them says so in its first
// answer, {"outputs": [...], "frames": 1}; what follows goes in frames, both ways. A
// program that knows nothing of it goes on with lines.
const FramesVariable = "DPSCOPE_FRAMES"

// ColumnsVariable tells a program how many columns datasets have: the first request, a
// line, does not show it where the dataset is empty.
const ColumnsVariable = "DPSCOPE_COLUMNS"

// framesVersion is the version of frames: a kind of four letters, the length of the body
// in bytes as uint32, and the body. All numbers are little-endian.
const framesVersion = 1

// Kinds of frames.
const (
	frameRequest = "RQST" // uint64 seed; uint32 n, rows, columns, 0; rows * columns float64
	frameFloats  = "F64 " // uint32 n, columns; n * columns float64, output by output
	frameInts    = "I64 " // the same with int64
	frameJSON    = "JSON" // an answer as a line has it, for words
	frameFail    = "FAIL" // why the request is refused, in UTF-8
)

// What stands before a body, and before its numbers, in bytes.
const (
	frameHead = 8
	blockHead = 8
)

// answer is what a program answers: JSON, or a block of numbers.
type answer struct {
	json    []byte // nil: a block
	failed  []byte // why there are no outputs; nil: there are
	ints    bool
	n       int
	columns int
	block   []byte
}

// requestFrame is a request as a frame. A dataset without rows has its columns.
func requestFrame(b []byte, d audit.Dataset, columns, n int, seed uint64) []byte {
	if d.Len() > 0 {
		columns = len(d.Row(0))
	}
	b = append(b[:0], frameRequest...)
	b = binary.LittleEndian.AppendUint32(b, uint32(24+8*d.Len()*columns))
	b = binary.LittleEndian.AppendUint64(b, seed)
	for _, v := range []int{n, d.Len(), columns, 0} {
		b = binary.LittleEndian.AppendUint32(b, uint32(v))
	}
	b, _ = binary.Append(b, binary.LittleEndian, d.Values)
	return b
}

// readFrame reads an answer. With io.EOF it returns what came.
func (w *worker) readFrame() (answer, error) {
	var head [frameHead]byte
	if n, err := io.ReadFull(w.Out, head[:]); err != nil {
		return answer{json: head[:n]}, ended(err)
	}
	kind, size := string(head[:4]), int(binary.LittleEndian.Uint32(head[4:]))
	switch kind {
	case frameFloats, frameInts, frameJSON, frameFail:
	default:
		return answer{}, &audit.InputError{Field: "what it wrote", Found: fmt.Sprintf("%q", head), Want: fmt.Sprintf("a frame, which begins with %q, %q, %q or %q", frameFloats, frameInts, frameJSON, frameFail),
			Remedy: "once frames are in use, nothing else may go to standard output; print to standard error"}
	}
	if size > maxAnswer {
		return answer{}, &audit.InputError{Field: "its frame " + strconv.Quote(kind), Found: fmt.Sprintf("of %d bytes", size), Want: fmt.Sprintf("at most %d MiB", maxAnswer>>20), Remedy: "the length is a little-endian uint32"}
	}
	if cap(w.line) < size {
		w.line = make([]byte, size)
	}
	w.line = w.line[:size]
	if n, err := io.ReadFull(w.Out, w.line); err != nil {
		return answer{json: w.line[:n]}, ended(err)
	}
	switch kind {
	case frameFail:
		return answer{failed: w.line}, nil
	case frameJSON:
		return answer{json: w.line}, nil
	}
	return readBlock(kind, w.line)
}

func readBlock(kind string, body []byte) (answer, error) {
	if len(body) < blockHead {
		return answer{}, &audit.InputError{Field: "its frame " + strconv.Quote(kind), Found: fmt.Sprintf("of %d bytes", len(body)), Want: fmt.Sprintf("at least %d: how many outputs and how many columns, as uint32", blockHead)}
	}
	a := answer{ints: kind == frameInts, n: int(binary.LittleEndian.Uint32(body)), columns: int(binary.LittleEndian.Uint32(body[4:])), block: body[blockHead:]}
	if a.columns < 1 || a.columns > user.MostColumns {
		return answer{}, &audit.InputError{Field: "its frame " + strconv.Quote(kind), Found: fmt.Sprintf("of %d columns", a.columns), Want: fmt.Sprintf("1 to %d", user.MostColumns)}
	}
	if want := uint64(a.n) * uint64(a.columns) * 8; uint64(len(a.block)) != want {
		return answer{}, &audit.InputError{Field: "its frame " + strconv.Quote(kind), Found: fmt.Sprintf("%d bytes of numbers for %d outputs of %d columns", len(a.block), a.n, a.columns), Want: fmt.Sprintf("%d", want), Remedy: "a number has eight bytes"}
	}
	return a, nil
}

// ended is io.EOF also where a frame was cut off.
func ended(err error) error { return audit.Pick(errors.Is(err, io.ErrUnexpectedEOF), io.EOF, err) }

// floats reports whether the block holds float64 for columns of numbers only, and writes
// them to out where all are finite.
func (p *Program) floats(a answer, out []float64) bool {
	if a.json != nil || a.failed != nil || a.ints || a.columns != audit.Reals(p.columns) || a.columns != len(p.columns) || a.n*a.columns != len(out) {
		return false
	}
	for i := range out {
		v := math.Float64frombits(binary.LittleEndian.Uint64(a.block[8*i:]))
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return false // named with its place by who reads cells
		}
		out[i] = v + 0 // no negative zero: it equals zero
	}
	return true
}

// rows calls row for each output, as [scan] does.
func (a answer) rows(row func(i int, cells []cell) error) (int, error) {
	if a.failed != nil {
		return 0, refusal(string(a.failed))
	}
	if a.json != nil {
		return scan(a.json, row)
	}
	cells := make([]cell, a.columns)
	for i := range a.n {
		for c := range cells {
			bits := binary.LittleEndian.Uint64(a.block[8*(i*a.columns+c):])
			switch v := int64(bits); {
			case !a.ints:
				cells[c] = floatCell(math.Float64frombits(bits))
			case v > 1<<53 || v < -1<<53:
				cells[c] = cell{form: long, value: float64(v), word: strconv.FormatInt(v, 10)}
			default:
				cells[c] = cell{value: float64(v)}
			}
		}
		if err := row(i, cells); err != nil {
			return i, err
		}
	}
	return a.n, nil
}

func floatCell(v float64) cell {
	if v-v != 0 { // NaN or infinite
		return cell{form: nonFinite, value: v, word: strconv.FormatFloat(v, 'g', -1, 64)}
	}
	return cell{value: v + 0} // no negative zero: it equals zero
}
