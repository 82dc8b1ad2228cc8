package shares

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/core"
	"github.com/dpscope/dpscope/core/report"
	"github.com/dpscope/dpscope/core/suite"
	"github.com/dpscope/dpscope/internal/cli"
)

// partial is what one machine did of an audit. Its file is this in a line of JSON, and a line
// with the SHA-256 of that one, by which a file that was cut short or changed is known.
type partial struct {
	Schema   string  `json:"schema"`
	Version  int     `json:"version"` // of the form
	Product  string  `json:"product"` // version of the program that drew
	Search   string  `json:"search"`  // SHA-256 of the search: partials of one audit agree on it
	Index    int     `json:"index"`   // of the share, from 0
	Of       int     `json:"of"`      // shares; 0: the search alone
	Searched *Search `json:"searched,omitempty"`
	Drawn    []drawn `json:"drawn,omitempty"` // of each audit
}

// drawn is the share of one audit.
type drawn struct {
	Pieces int             `json:"pieces"` // of all shares
	First  int             `json:"first"`
	End    int             `json:"end"`              // the first piece that is not of this share
	Result json.RawMessage `json:"result,omitempty"` // what they came to; absent of none
}

const (
	version = 3
	schema  = "dpscope-partial"
	largest = 1 << 30 // bytes of a partial
)

// sum is the SHA-256 of the JSON of v, and that JSON.
func sum(v any) (digest string, data []byte, err error) {
	data, err = json.Marshal(v)
	h := sha256.Sum256(data)
	return hex.EncodeToString(h[:]), data, err
}

// encode is the file of the partial of that search.
func (p partial) encode(s Search) ([]byte, error) {
	p.Schema, p.Version, p.Product = schema, version, cli.Generator().Version
	if p.Index == 0 {
		p.Searched = &s
	}
	var err error
	if p.Search, _, err = sum(s); err != nil {
		return nil, err
	}
	end, data, err := sum(p)
	return fmt.Appendf(data, "\n%s\n", end), err
}

// Opener opens the file of a name; who reads it closes it.
type Opener func(name string) (io.ReadCloser, error)

// read reads a partial whole. Partials of one share are equal if their digests are.
func read(name string, open Opener) (p partial, digest string, err error) {
	f, err := open(name)
	if err != nil {
		return p, "", err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, largest))
	if err != nil {
		return p, "", fmt.Errorf("%s: %w", name, err)
	}
	body, end, _ := bytes.Cut(data, []byte("\n"))
	h := sha256.Sum256(body)
	digest = hex.EncodeToString(h[:])
	refuse := func(found, want, remedy string) (partial, string, error) {
		return p, "", &audit.InputError{Field: name, Found: found, Want: want, Remedy: remedy}
	}
	start := `{"schema":"` + schema + `",`
	n := min(len(start), len(body))
	switch {
	case string(body[:n]) != start[:n]:
		return refuse("another file", "a partial", "dpscope audit -shards I/N -partial FILE writes one")
	case string(end) != digest+"\n":
		return refuse("incomplete or damaged", "a whole partial, whose last line is the SHA-256 of its first", "copy the file again, or draw this share again")
	}
	if err := audit.DecodeStrict(body, name, &p); err != nil {
		return p, "", err
	}
	if p.Version != version {
		return refuse(fmt.Sprintf("a partial of version %d", p.Version), fmt.Sprintf("version %d", version), "merge with the program that drew it")
	}
	if own := cli.Generator().Version; p.Product != own {
		return refuse("drawn by version "+p.Product, "version "+own+", which this is", "merge with the program that drew it")
	}
	if p.Of < 0 || p.Index < 0 || p.Index > max(0, p.Of-1) {
		return refuse(fmt.Sprintf("share %d of %d", p.Index, p.Of), "a share from 0 on, below their number", "")
	}
	if p.Index == 0 {
		if got, _, err := sum(p.Searched); err != nil || got != p.Search {
			return refuse("without the search that its SHA-256 names", "with that search", "draw this share again")
		}
	}
	for _, d := range p.Drawn {
		if first, end := share(d.Pieces, p.Index, max(1, p.Of)); d.Pieces < 0 || d.First != first || d.End != end || (d.Result == nil) != (first == end) {
			return refuse(fmt.Sprintf("pieces %d to %d of %d", d.First, d.End, d.Pieces), fmt.Sprintf("%d to %d, those of share %d of %d", first, end, p.Index, p.Of), "draw this share again")
		}
	}
	return p, digest, nil
}

// ReadSearch reads the search of a partial that has it.
func ReadSearch(name string, open Opener) (Search, error) {
	p, _, err := read(name, open)
	if err != nil {
		return Search{}, err
	}
	if p.Searched == nil {
		return Search{}, &audit.InputError{Field: name, Found: fmt.Sprintf("share %d, which has no search", p.Index), Want: "the file of -search-only, or share 0"}
	}
	return *p.Searched, nil
}

// Check says what is wrong with a partial.
func Check(name string, open Opener) error {
	_, _, err := read(name, open)
	return err
}

// mergeGarbage is how much a merge lets its memory grow between collections, in percent: what
// is alive is the search and some hundred bytes a partial.
const mergeGarbage = 30

// Merge makes of the partials of those names what one machine would have found. It reads them
// once, and once more for each audit, one at a time, and refuses those that do not make one
// audit.
func Merge(ctx context.Context, names iter.Seq2[string, error], open Opener, g core.Env) (*Audits, error) {
	defer debug.SetGCPercent(debug.SetGCPercent(mergeGarbage))
	m, err := newMerge(ctx, names, open)
	if err == nil {
		g, err = m.search.named(g)
	}
	if err != nil {
		return nil, err
	}
	audits, err := m.search.Audits(g)
	if err == nil && m.search.Found == nil {
		err = &audit.InputError{Field: "partial: found", Found: audit.Absent, Want: "what its search found"}
	}
	if err != nil {
		return nil, err
	}
	for k, t := range audits.todo {
		after, err := t.Shared(m.search.Found[k])
		var r report.View
		if err == nil {
			r, err = after.Merge(g, m.parts(k, after.Pieces))
		}
		if err != nil && audits.File != nil {
			err = fmt.Errorf("audit %s: %w", t.name, err)
		}
		if err != nil {
			return nil, err
		}
		audits.Audited = append(audits.Audited, suite.Audited{Name: t.name, Report: r})
	}
	return audits, nil
}

// held is what a merge remembers of a partial.
type held struct {
	name, digest string
	index        int
}

// merge is an audit that is put together of partials.
type merge struct {
	search Search
	of     int
	shares []held // sorted by index, each once
	open   Opener
}

// newMerge reads all partials once, one at a time, and refuses those that do not make one
// audit. Of each it remembers its name and its SHA-256.
func newMerge(ctx context.Context, names iter.Seq2[string, error], open Opener) (*merge, error) {
	m := &merge{open: open}
	whose, search := "", ""
	for name, err := range names {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		if err != nil {
			return nil, err
		}
		p, digest, err := read(name, open)
		if err != nil {
			return nil, err
		}
		if whose == "" {
			whose, search = name, p.Search
		}
		if p.Search != search {
			return nil, &audit.InputError{Field: name, Found: "of another audit (its plan or its data) or another search than " + whose, Want: "partials of one audit", Remedy: "merge those together that were drawn with the same flags"}
		}
		if p.Searched != nil {
			m.search = *p.Searched
		}
		if p.Of == 0 {
			continue
		}
		if m.of == 0 {
			m.of = p.Of
		}
		if p.Of != m.of {
			return nil, &audit.InputError{Field: name, Found: fmt.Sprintf("one of %d shares", p.Of), Want: fmt.Sprintf("one of %d, as others are", m.of), Remedy: "draw all shares with the same number after the slash"}
		}
		m.shares = append(m.shares, held{name, digest, p.Index})
	}
	if whose == "" {
		return nil, &audit.InputError{Field: "what was given", Found: "empty", Want: "the partials of all shares, or the folder that has them"}
	}
	slices.SortStableFunc(m.shares, func(a, b held) int {
		return cmp.Or(cmp.Compare(a.index, b.index), strings.Compare(a.name, b.name))
	})
	return m, m.once()
}

// gapsNamed is how many missing ranges an error names.
const gapsNamed = 20

// once keeps one of equal partials of a share, as one that was tried again leaves two; and
// refuses different ones, and gaps.
func (m *merge) once() error {
	kept := m.shares[:0]
	for _, s := range m.shares {
		if n := len(kept); n > 0 && kept[n-1].index == s.index {
			if kept[n-1].digest != s.digest {
				return &audit.InputError{Field: fmt.Sprintf("share %d", s.index), Found: fmt.Sprintf("other counts in %s than in %s", s.name, kept[n-1].name), Want: "the same counts each time", Remedy: "one of the machines is faulty or runs another program: draw the share a third time"}
			}
			continue
		}
		kept = append(kept, s)
	}
	m.shares = kept
	if len(kept) == 0 {
		return &audit.InputError{Field: "what was given", Found: "the search alone", Want: "the partials of all shares too"}
	}
	var gaps []string
	next, missing := 0, 0
	for _, s := range append(slices.Clone(kept), held{index: m.of}) {
		switch n := s.index - next; {
		case n == 1:
			gaps = append(gaps, fmt.Sprint(next))
		case n > 1:
			gaps = append(gaps, fmt.Sprintf("%d to %d", next, s.index-1))
		}
		missing += s.index - next
		next = s.index + 1
	}
	if missing > 0 {
		words := strings.Join(gaps[:min(len(gaps), gapsNamed)], ", ")
		if len(gaps) > gapsNamed {
			words += " and more"
		}
		return &audit.InputError{Field: "what was given", Found: fmt.Sprintf("without %d of %d shares: %s", missing, m.of, words), Want: "all shares", Remedy: "draw them, with -shards I/" + fmt.Sprint(m.of)}
	}
	return nil
}

// parts are those of audit number k, which has so many pieces.
func (m *merge) parts(k, pieces int) iter.Seq2[report.Part, error] {
	return func(yield func(report.Part, error) bool) {
		for _, s := range m.shares {
			p, digest, err := read(s.name, m.open)
			switch {
			case err != nil:
			case digest != s.digest:
				err = &audit.InputError{Field: s.name, Found: "different counts from those that were read first", Want: "a file that nothing writes to while it is merged", Remedy: "merge again"}
			case k >= len(p.Drawn) || p.Drawn[k].Pieces != pieces:
				err = &audit.InputError{Field: s.name, Found: fmt.Sprintf("no share of the %d pieces of audit %d", pieces, k+1), Want: "one of each audit of its plan"}
			}
			if err != nil {
				yield(report.Part{}, err)
				return
			}
			if d := p.Drawn[k]; d.First < d.End && !yield(report.Part{First: d.First, End: d.End, Result: d.Result}, nil) {
				return
			}
		}
	}
}
