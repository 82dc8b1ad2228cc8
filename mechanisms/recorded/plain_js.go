package recorded

// In a browser there is one worker, and what is here elsewhere would be downloaded: the
// sequential reader reads all, as it defines the format.

const (
	pieceBytes = 0
	piecesEach = 1
)

func defaultWorkers() int { return 1 }

type plainRows struct{}

func (t *textReader) lines(text []byte) error { return t.sequential(text, false) }
