// Package partial is the file in which a machine leaves its part of an audit that several
// machines do, and the merge of such files. Nothing in it sees a file system: readers and
// writers are given to it.
//
// A partial is lines of JSON: a [Header], [Search] where it is the search's own or the
// first share's, one [engine.Part] for each stage, and last the SHA-256 of all bytes
// before that line, by which a file that was cut short is known.
package partial

import (
	"bufio"
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"hash"
	"io"
	"iter"
	"slices"
	"strings"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/core/engine"
)

// Version is the version of the form.
const Version = 1

// Schema names the form.
const Schema = "dpscope-partial"

// Header says what a partial is a part of.
type Header struct {
	Schema   string `json:"schema"`
	Version  int    `json:"version"`
	Product  string `json:"product"`  // version of the program that drew
	Protocol int    `json:"protocol"` // version of tasks, [engine.TaskVersion]
	Kind     string `json:"kind"`     // of the audit, as reports name it
	// Audit is the SHA-256 of kind, plan and file of data, Search that of the answers of the
	// search and all else that is not divided: partials of one audit agree on both.
	Audit  string `json:"audit"`
	Search string `json:"search"`
	Index  int    `json:"index"` // of the share, from 0
	Of     int    `json:"of"`    // shares; 0: the search alone
}

// Search is what is not divided: the audit itself, and what its single tasks came to.
type Search struct {
	Plan    json.RawMessage            `json:"plan"`
	Data    []byte                     `json:"data,omitempty"` // file of an audit with canaries; of a pair, the user's mechanism, an audit.Brought
	Answers map[string]json.RawMessage `json:"answers"`
}

// sum is the SHA-256 of the JSON of v.
func sum(v any) (string, error) {
	data, err := json.Marshal(v)
	if err != nil {
		return "", err
	}
	h := sha256.Sum256(data)
	return hex.EncodeToString(h[:]), nil
}

// identity is [Header.Audit].
func (s Search) identity(kind string) (string, error) {
	return sum(struct {
		Kind string          `json:"kind"`
		Plan json.RawMessage `json:"plan"`
		Data []byte          `json:"data,omitempty"`
	}{kind, s.Plan, s.Data})
}

// ending is the last line.
type ending struct {
	SHA256 string `json:"sha256"`
}

// Write writes what a machine did of an audit. h needs Product, Kind, Index and Of.
func Write(w io.Writer, h Header, s Search, parts []engine.Part) error {
	h.Schema, h.Version, h.Protocol = Schema, Version, engine.TaskVersion
	var err error
	if h.Audit, err = s.identity(h.Kind); err != nil {
		return err
	}
	if s.Answers == nil {
		s.Answers = map[string]json.RawMessage{}
	}
	if h.Search, err = sum(s.Answers); err != nil {
		return err
	}
	all := sha256.New()
	lines := json.NewEncoder(io.MultiWriter(w, all))
	if err := lines.Encode(h); err != nil {
		return err
	}
	if h.Index == 0 {
		if err := lines.Encode(s); err != nil {
			return err
		}
	}
	for _, p := range parts {
		if err := lines.Encode(p); err != nil {
			return err
		}
	}
	return json.NewEncoder(w).Encode(ending{hex.EncodeToString(all.Sum(nil))})
}

// reader reads a partial line by line.
type reader struct {
	name string
	in   *bufio.Reader
	all  hash.Hash
}

// maxLine bounds a line: what one machine counted, or the search.
const maxLine = 1 << 30

// line returns the next line but the last; nil: that was the last one, and it holds.
func (r *reader) line() ([]byte, error) {
	var line []byte
	for {
		piece, err := r.in.ReadSlice('\n')
		line = append(line, piece...)
		if err == nil {
			break
		}
		if err != bufio.ErrBufferFull && err != io.EOF {
			return nil, fmt.Errorf("%s: %w", r.name, err)
		}
		if err == io.EOF || len(line) > maxLine {
			return nil, &audit.InputError{Field: r.name, Found: "a file that was cut short", Want: "a whole partial, whose last line is its SHA-256", Remedy: "draw this share again"}
		}
	}
	if bytes.HasPrefix(line, []byte(`{"sha256":`)) {
		var end ending
		if err := audit.DecodeStrict(line, r.name, &end); err != nil {
			return nil, err
		}
		if got := hex.EncodeToString(r.all.Sum(nil)); got != end.SHA256 {
			return nil, &audit.InputError{Field: r.name, Found: "other bytes than were written", Want: "those whose SHA-256 is " + end.SHA256, Remedy: "copy the file again, or draw this share again"}
		}
		if _, err := r.in.ReadByte(); err != io.EOF {
			return nil, &audit.InputError{Field: r.name, Found: "more after its last line", Want: "one partial a file"}
		}
		return nil, nil
	}
	r.all.Write(line)
	return line, nil
}

// open begins a partial.
func open(name string, in io.Reader) (*reader, Header, error) {
	r := &reader{name, bufio.NewReader(in), sha256.New()}
	var h Header
	line, err := r.line()
	if err != nil {
		return nil, h, err
	}
	if line == nil || !bytes.HasPrefix(line, []byte(`{"schema":"`+Schema+`",`)) {
		return nil, h, &audit.InputError{Field: name, Found: "another file", Want: "a partial", Remedy: "dpscope audit -shards I/N -partial FILE writes one"}
	}
	if err := audit.DecodeStrict(line, name, &h); err != nil {
		return nil, h, err
	}
	if h.Version != Version || h.Protocol != engine.TaskVersion {
		return nil, h, &audit.InputError{Field: name, Found: fmt.Sprintf("a partial of version %d with tasks of version %d", h.Version, h.Protocol), Want: fmt.Sprintf("versions %d and %d", Version, engine.TaskVersion), Remedy: "merge with the program that drew it"}
	}
	if h.Of < 0 || h.Index < 0 || h.Index > max(0, h.Of-1) {
		return nil, h, &audit.InputError{Field: name, Found: fmt.Sprintf("share %d of %d", h.Index, h.Of), Want: "a share from 0 on, below their number"}
	}
	return r, h, nil
}

// search reads the second line of a partial that has the search.
func (r *reader) search(h Header) (Search, error) {
	var s Search
	line, err := r.line()
	if err != nil {
		return s, err
	}
	if err := audit.DecodeStrict(line, r.name, &s); err != nil {
		return s, err
	}
	id, err := s.identity(h.Kind)
	if err != nil {
		return s, err
	}
	answers, err := sum(s.Answers)
	if err == nil && (id != h.Audit || answers != h.Search) {
		err = &audit.InputError{Field: r.name, Found: "another audit or search than its first line says", Want: "the same"}
	}
	return s, err
}

// Opener opens the file of a name; the merge closes it.
type Opener func(name string) (io.ReadCloser, error)

// ReadSearch reads the search of a partial that has it, whole.
func ReadSearch(name string, open Opener) (Header, Search, error) {
	var h Header
	var s Search
	_, err := walk(name, open, func(got Header) error { h = got; return nil }, func(got *Search) bool {
		if got != nil {
			s = *got
		}
		return true
	}, func(engine.Part) error { return nil })
	if err == nil && s.Plan == nil {
		err = &audit.InputError{Field: name, Found: fmt.Sprintf("share %d, which has no search", h.Index), Want: "the file of -search-only, or share 0"}
	}
	return h, s, err
}

// Check reads a partial to its end, and says what is wrong with it.
func Check(name string, open Opener) error {
	_, err := walk(name, open, func(Header) error { return nil }, nil, func(engine.Part) error { return nil })
	return err
}

// walk reads a partial to its end and returns the SHA-256 of what it drew. search is asked
// with nil whether it wants the search, which is large, and then told it; nil: it is not.
func walk(name string, opener Opener, head func(Header) error, search func(*Search) bool, part func(engine.Part) error) (digest [32]byte, err error) {
	f, err := opener(name)
	if err != nil {
		return digest, err
	}
	defer f.Close()
	r, h, err := open(name, f)
	if err != nil {
		return digest, err
	}
	if err := head(h); err != nil {
		return digest, err
	}
	if h.Index == 0 {
		if search == nil || !search(nil) {
			_, err = r.line()
		} else if own, e := r.search(h); e != nil {
			err = e
		} else {
			search(&own)
		}
		if err != nil {
			return digest, err
		}
	}
	drawn := sha256.New()
	for {
		line, err := r.line()
		if err != nil {
			return digest, err
		}
		if line == nil {
			drawn.Sum(digest[:0])
			return digest, nil
		}
		drawn.Write(line)
		var p engine.Part
		if err := audit.DecodeStrict(line, name, &p); err != nil {
			return digest, err
		}
		if p.Pieces < 0 || p.First < 0 || p.First > p.End || p.End > p.Pieces {
			return digest, &audit.InputError{Field: name, Found: fmt.Sprintf("pieces %d to %d of %d", p.First, p.End, p.Pieces), Want: "a range within them"}
		}
		if err := part(p); err != nil {
			return digest, err
		}
	}
}

// share is what a merge remembers of a partial.
type share struct {
	name   string
	digest [32]byte
	index  int32
	of     int32
	stages int32
}

// Merge is an audit that is put together of partials.
type Merge struct {
	Header Header // of the first partial
	Search Search
	shares []share // sorted by index, each once
	open   Opener
}

// NewMerge reads all partials once, one at a time, and refuses those that do not make one
// audit. Of each it remembers some tens of bytes. product is the version of this program.
func NewMerge(product string, names iter.Seq2[string, error], open Opener) (*Merge, error) {
	m := &Merge{open: open}
	found := false
	whose := ""
	for name, err := range names {
		if err != nil {
			return nil, err
		}
		own := share{name: name}
		var only bool
		digest, err := walk(name, open, func(h Header) error {
			if h.Product != product {
				return &audit.InputError{Field: name, Found: "drawn by version " + h.Product, Want: "version " + product + ", which this is", Remedy: "merge with the program that drew it"}
			}
			if whose == "" {
				whose, m.Header = name, h
			}
			if err := agree(name, h, whose, m.Header); err != nil {
				return err
			}
			if only = h.Of == 0; !only {
				if m.Header.Of == 0 {
					m.Header.Of = h.Of
				}
				if h.Of != m.Header.Of {
					return &audit.InputError{Field: name, Found: fmt.Sprintf("one of %d shares", h.Of), Want: fmt.Sprintf("one of %d, as others are", m.Header.Of), Remedy: "draw all shares with the same number after the slash"}
				}
			}
			own.index, own.of = int32(h.Index), int32(h.Of)
			return nil
		}, func(s *Search) bool {
			if s != nil {
				m.Search, found = *s, true
			}
			return !found
		}, func(p engine.Part) error {
			own.stages++
			if first, end := engine.Share(p.Pieces, int(own.index), max(1, int(own.of))); p.First != first || p.End != end {
				return &audit.InputError{Field: name, Found: fmt.Sprintf("pieces %d to %d", p.First, p.End), Want: fmt.Sprintf("%d to %d, those of share %d of %d", first, end, own.index, own.of)}
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
		if own.digest = digest; !only {
			m.shares = append(m.shares, own)
		}
	}
	if whose == "" {
		return nil, &audit.InputError{Field: "what was given", Found: "empty", Want: "the partials of all shares, or the folder that has them"}
	}
	slices.SortStableFunc(m.shares, func(a, b share) int {
		return cmp.Or(cmp.Compare(a.index, b.index), strings.Compare(a.name, b.name))
	})
	if err := m.once(); err != nil {
		return nil, err
	}
	if !found {
		return nil, &audit.InputError{Field: "what was given", Found: "without a search", Want: "the file of -search-only, or share 0"}
	}
	return m, nil
}

// agree refuses a partial of another audit than the first one.
func agree(name string, h Header, first string, with Header) error {
	for _, x := range []struct{ what, one, other string }{
		{"kind", h.Kind, with.Kind}, {"audit (its plan or its data)", h.Audit, with.Audit}, {"search", h.Search, with.Search},
	} {
		if x.one != x.other {
			return &audit.InputError{Field: name, Found: "of another " + x.what + " than " + first, Want: "partials of one audit", Remedy: "merge those together that were drawn with the same flags"}
		}
	}
	return nil
}

// gapsNamed is how many missing ranges an error names.
const gapsNamed = 20

// once keeps one of equal partials of a share, as one that was tried again leaves two; and
// refuses different ones, and gaps.
func (m *Merge) once() error {
	kept := m.shares[:0]
	for _, s := range m.shares {
		if n := len(kept); n > 0 && kept[n-1].index == s.index {
			if kept[n-1].digest != s.digest {
				return &audit.InputError{Field: fmt.Sprintf("share %d", s.index), Found: fmt.Sprintf("other counts in %s than in %s", s.name, kept[n-1].name), Want: "the same counts from every try", Remedy: "one of the machines is broken, or its program is another: draw the share a third time"}
			}
			continue
		}
		kept = append(kept, s)
	}
	m.shares = kept
	var gaps []string
	next, missing := 0, 0
	gap := func(end int) {
		if end > next {
			missing += end - next
			if end-next == 1 {
				gaps = append(gaps, fmt.Sprint(next))
			} else {
				gaps = append(gaps, fmt.Sprintf("%d to %d", next, end-1))
			}
		}
	}
	for _, s := range kept {
		gap(int(s.index))
		next = int(s.index) + 1
	}
	gap(m.Header.Of)
	if missing > 0 {
		words := strings.Join(gaps[:min(len(gaps), gapsNamed)], ", ")
		if len(gaps) > gapsNamed {
			words += " and more"
		}
		return &audit.InputError{Field: "what was given", Found: fmt.Sprintf("without %d of %d shares: %s", missing, m.Header.Of, words), Want: "all shares", Remedy: "draw them, with -shards I/" + fmt.Sprint(m.Header.Of)}
	}
	if len(kept) == 0 {
		return &audit.InputError{Field: "what was given", Found: "the search alone", Want: "the partials of all shares too"}
	}
	for _, s := range kept {
		if s.stages != kept[0].stages {
			return &audit.InputError{Field: s.name, Found: fmt.Sprintf("%d stages", s.stages), Want: fmt.Sprintf("%d, as %s has", kept[0].stages, kept[0].name)}
		}
	}
	return nil
}

// Division is what a run needs to take what the partials hold: they are read again, in
// the order of the shares, one at a time.
func (m *Merge) Division() *engine.Division {
	d := &engine.Division{Given: m.stage}
	d.Answer(m.Search.Answers)
	return d
}

func (m *Merge) stage(name string, pieces int) iter.Seq2[engine.Part, error] {
	return func(yield func(engine.Part, error) bool) {
		for _, s := range m.shares {
			var part *engine.Part
			digest, err := walk(s.name, m.open, func(Header) error { return nil }, nil, func(p engine.Part) error {
				if p.Stage == name {
					part = &p
				}
				return nil
			})
			switch {
			case err != nil:
			case digest != s.digest:
				err = &audit.InputError{Field: s.name, Found: "other counts than when it was read first", Want: "a file that nothing writes to while it is merged", Remedy: "merge again"}
			case part == nil || part.Pieces != pieces:
				err = &audit.InputError{Field: s.name, Found: fmt.Sprintf("no stage %q of %d pieces", name, pieces), Want: "the stages of its plan"}
			}
			if err != nil {
				yield(engine.Part{}, err)
				return
			}
			if !yield(*part, nil) {
				return
			}
		}
	}
}
