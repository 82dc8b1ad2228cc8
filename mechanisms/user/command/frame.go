package command

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/mechanisms/user"
)

// FramesVariable is the variable of the environment that says which version of frames this
// program understands. One that wants them says so in its first answer,
// {"outputs": [...], "frames": 1}; what follows goes in frames, both ways.
const FramesVariable = "DPSCOPE_FRAMES"

// ColumnsVariable says how many columns datasets have: the first request, a line, does not
// where its dataset is empty.
const ColumnsVariable = "DPSCOPE_COLUMNS"

// framesVersion is that of frames: a kind of four letters, the length of the body in bytes as
// uint32, and the body. Numbers are little-endian.
const framesVersion = 1

// Kinds of frames.
const (
	frameRequest = "RQST" // uint64 seed; uint32 n, rows, columns, 0; rows * columns float64
	frameFloats  = "F64 " // uint32 n, columns; n * columns float64, output by output
	frameInts    = "I64 " // the same with int64
	frameJSON    = "JSON" // an answer as a line has it, for words
	frameFail    = "FAIL" // why the request is refused, in UTF-8
)

// Bytes before a body, and before its numbers.
const (
	frameHead = 8
	blockHead = 8
)

// requestFrame is a request; a dataset without rows has its columns.
func requestFrame(b []byte, d audit.Dataset, columns, n int, seed uint64) []byte {
	if d.Len() > 0 {
		columns = len(d.Row(0))
	}
	b = binary.LittleEndian.AppendUint32(append(b[:0], frameRequest...), uint32(24+8*d.Len()*columns))
	b = binary.LittleEndian.AppendUint64(b, seed)
	b, _ = binary.Append(b, binary.LittleEndian, []uint32{uint32(n), uint32(d.Len()), uint32(columns), 0})
	b, _ = binary.Append(b, binary.LittleEndian, d.Values)
	return b
}

// read reads an answer; a line is of the kind [frameJSON]. With io.EOF it returns what came.
func (w *worker) read() (kind string, body []byte, err error) {
	if !w.frames {
		body, err = w.readLine()
		return frameJSON, body, err
	}
	var head [frameHead]byte
	if n, err := io.ReadFull(w.Out, head[:]); err != nil {
		return "", head[:n], ended(err)
	}
	size := int(binary.LittleEndian.Uint32(head[4:]))
	switch kind = string(head[:4]); kind {
	case frameFloats, frameInts, frameJSON, frameFail:
	default:
		return "", nil, audit.Fault("what it wrote", fmt.Sprintf("%q", head), fmt.Sprintf("a frame, which begins with %q, %q, %q or %q", frameFloats, frameInts, frameJSON, frameFail),
			"once frames are in use, nothing else may go to standard output; print to standard error")
	}
	if size > maxAnswer {
		return "", nil, audit.Fault("its frame "+strconv.Quote(kind), fmt.Sprintf("of %d bytes", size), fmt.Sprintf("at most %d MiB", maxAnswer>>20), "the length is a little-endian uint32")
	}
	if cap(w.line) < size {
		w.line = make([]byte, size)
	}
	w.line = w.line[:size]
	n, err := io.ReadFull(w.Out, w.line)
	return kind, w.line[:n], ended(err)
}

// floats writes the numbers of a frame to out, where all columns are of numbers and all are finite;
// else cells say what they are. It is why there are frames: cells take fifteen times as long.
func (p *Program) floats(kind string, body []byte, out []float64) bool {
	columns := len(p.columns)
	if kind != frameFloats || len(out) == 0 || columns != audit.Reals(p.columns) || len(body) != blockHead+8*len(out) ||
		int(binary.LittleEndian.Uint32(body[4:])) != columns || int(binary.LittleEndian.Uint32(body)) != len(out)/columns {
		return false
	}
	for i := range out {
		v := math.Float64frombits(binary.LittleEndian.Uint64(body[blockHead+8*i:]))
		if v-v != 0 { // NaN or infinite
			return false
		}
		out[i] = v + 0 // no negative zero: it equals zero
	}
	return true
}

// block reads so many outputs from the body of a frame of numbers.
func block(kind string, body []byte, want int) ([][]cell, error) {
	fault := func(found, want, remedy string) ([][]cell, error) {
		return nil, audit.Fault("its frame "+strconv.Quote(kind), found, want, remedy)
	}
	if len(body) < blockHead {
		return fault(fmt.Sprintf("of %d bytes", len(body)), fmt.Sprintf("at least %d: how many outputs and how many columns, as uint32", blockHead), "")
	}
	n, columns := int(binary.LittleEndian.Uint32(body)), int(binary.LittleEndian.Uint32(body[4:]))
	if columns < 1 || columns > user.MostColumns {
		return fault(fmt.Sprintf("of %d columns", columns), fmt.Sprintf("1 to %d", user.MostColumns), "")
	}
	if body = body[blockHead:]; uint64(len(body)) != uint64(n)*uint64(columns)*8 {
		return fault(fmt.Sprintf("%d bytes of numbers for %d outputs of %d columns", len(body), n, columns), fmt.Sprint(uint64(n)*uint64(columns)*8), "a number has eight bytes")
	}
	if n != want { // before cells are made of them
		return nil, outputsOf(want).not(strconv.Itoa(n))
	}
	cells := audit.Listed(n*columns, func(i int) cell {
		bits := binary.LittleEndian.Uint64(body[8*i:])
		switch v := int64(bits); {
		case kind == frameFloats:
			return floatCell(math.Float64frombits(bits))
		case v > 1<<53 || v < -1<<53:
			return cell{form: long, value: float64(v), word: strconv.FormatInt(v, 10)}
		default:
			return cell{value: float64(v)}
		}
	})
	return slices.Collect(slices.Chunk(cells, columns)), nil
}

// ended is io.EOF where a frame was cut off, too.
func ended(err error) error { return audit.Pick(errors.Is(err, io.ErrUnexpectedEOF), io.EOF, err) }

func floatCell(v float64) cell {
	if v-v != 0 { // NaN or infinite
		return cell{form: nonFinite, value: v, word: audit.Exactly(v)}
	}
	return cell{value: v + 0} // no negative zero: it equals zero
}
