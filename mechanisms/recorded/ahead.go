package recorded

import "io"

// readAll takes all of r, a failure of which is in r.err. Where there are several workers
// and r is a file on a disk, whose reads always end, it is read and its digest is taken
// while what was read before is parsed.
func (p *Parser) readAll(r *reading) {
	if p.workers == 1 || p.source == nil {
		io.CopyBuffer(struct{ io.Writer }{p}, r, make([]byte, 1<<18))
		return
	}
	free, full := make(chan []byte, 2), make(chan []byte, 2)
	for range cap(free) {
		free <- make([]byte, p.workers*piecesEach*pieceBytes)
	}
	go func() {
		defer close(full)
		for buf := range free {
			n, err := io.ReadFull(r, buf)
			p.hash.Write(buf[:n])
			if n > 0 {
				full <- buf[:n]
			}
			if err != nil {
				return
			}
		}
	}()
	for chunk := range full {
		if p.err = p.parse(chunk); p.err != nil {
			close(free)
			for range full { // until the reading ended
			}
			return
		}
		free <- chunk[:cap(chunk)]
	}
}
