package receipt

import (
	"fmt"
	"sync"
	"time"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"

	"github.com/dpscope/dpscope/audit"
)

// Records keep the entries of a log.
type Records interface {
	// Read returns all of them, one after another.
	Read() ([]byte, error)
	// Append adds a record. When it returns nil, the record is there for good.
	Append(record []byte) error
}

// Log is an append-only log of commitments. Its methods may be called at once.
type Log struct {
	records Records
	signer  note.Signer
	now     func() time.Time

	mu     sync.Mutex
	n      int64
	hashes []tlog.Hash      // of the tree, in the order of [tlog.StoredHashIndex]
	at     map[string]int64 // entry of a commitment
	all    []Entry
	broken bool
}

// Open opens a log with the records that there are. signer is the log's key, as
// [note.GenerateKey] makes it; the log's name is that of the key.
func Open(records Records, signer string, now func() time.Time) (*Log, error) {
	s, err := note.NewSigner(signer)
	if err != nil {
		return nil, &audit.InputError{Field: "key of the log", Found: "not one that can sign", Want: "PRIVATE+KEY+name+... as dpscope serve writes it"}
	}
	l := &Log{records: records, signer: s, now: now, at: map[string]int64{}}
	text, err := records.Read()
	if err != nil {
		return nil, err
	}
	if len(text)%RecordBytes != 0 {
		return nil, fmt.Errorf("the log has %d bytes, must be a multiple of %d", len(text), RecordBytes)
	}
	for ; len(text) > 0; text = text[RecordBytes:] {
		e, err := parseRecord(text[:RecordBytes])
		if err != nil {
			return nil, err
		}
		if err := l.grow(e, text[:RecordBytes]); err != nil {
			return nil, err
		}
	}
	return l, nil
}

// grow puts a record into the tree.
func (l *Log) grow(e Entry, record []byte) error {
	more, err := tlog.StoredHashes(l.n, record, tlog.HashReaderFunc(l.read))
	if err != nil {
		return err
	}
	l.hashes = append(l.hashes, more...)
	l.at[e.Commitment] = l.n
	l.all = append(l.all, e)
	l.n++
	return nil
}

func (l *Log) read(indexes []int64) ([]tlog.Hash, error) {
	out := make([]tlog.Hash, len(indexes))
	for i, at := range indexes {
		if at < 0 || at >= int64(len(l.hashes)) {
			return nil, fmt.Errorf("hash %d of the log, which has %d", at, len(l.hashes))
		}
		out[i] = l.hashes[at]
	}
	return out, nil
}

// Add registers a commitment and proves that it is there. One that is there keeps its
// first entry.
func (l *Log) Add(commitment string) (Proven, error) {
	e := Entry{l.now().UTC().Truncate(time.Second).Format(time.RFC3339), commitment}
	record, err := e.record()
	if err != nil {
		return Proven{}, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	at, there := l.at[commitment]
	if !there {
		if l.broken {
			return Proven{}, errLog
		}
		if err := l.records.Append(record); err != nil {
			l.broken = true // what is there of it, the next start finds out
			return Proven{}, err
		}
		at = l.n
		if err := l.grow(e, record); err != nil {
			l.broken = true
			return Proven{}, err
		}
	}
	head, err := l.head()
	if err != nil {
		return Proven{}, err
	}
	proof, err := tlog.ProveRecord(l.n, at, tlog.HashReaderFunc(l.read))
	return Proven{Entry: l.all[at], Index: at, Proof: proof, Head: head}, err
}

// Head is the log's signed checkpoint, and its size.
func (l *Log) Head() (string, int64, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	head, err := l.head()
	return head, l.n, err
}

func (l *Log) head() (string, error) {
	root, err := tlog.TreeHash(l.n, tlog.HashReaderFunc(l.read))
	if err != nil {
		return "", err
	}
	signed, err := note.Sign(&note.Note{Text: fmt.Sprintf("%s\n%d\n%s\n", l.signer.Name(), l.n, root)}, l.signer)
	return string(signed), err
}

// Growth proves that the log of its first to entries goes on from that of its first from.
func (l *Log) Growth(from, to int64) ([]tlog.Hash, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if from < 1 || from > to || to > l.n {
		return nil, &audit.InputError{Field: "from and to", Found: fmt.Sprintf("%d and %d", from, to), Want: fmt.Sprintf("in [1, %d], the smaller first", l.n)}
	}
	return tlog.ProveTree(to, from, tlog.HashReaderFunc(l.read))
}
