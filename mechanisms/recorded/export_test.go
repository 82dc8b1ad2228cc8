package recorded

import (
	"errors"
	"io"
)

// ReadPieces reads as [Read] does, in chunks of so many bytes that are cut into pieces of
// so many for so many workers. Without workers only the sequential reader reads.
func ReadPieces(r io.Reader, o Options, chunk, piece, workers int) (*File, error) {
	p, err := NewParser(o)
	if err != nil {
		return nil, err
	}
	p.piece, p.workers = piece, workers
	buf := make([]byte, chunk)
	for {
		n, err := io.ReadFull(r, buf)
		if _, err := p.Write(buf[:n]); err != nil {
			p.Close()
			return nil, err
		}
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			return p.Close()
		}
		if err != nil {
			return nil, err
		}
	}
}

// Number reads a number in one of the common forms.
var Number = number
