// Package shares divides audits among machines. Each leaves a partial: a search, or a share of what is certified. A
// merge makes of them the report of one machine.
package shares

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"maps"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/core"
	"github.com/dpscope/dpscope/core/report"
	"github.com/dpscope/dpscope/core/suite"
	"github.com/dpscope/dpscope/internal/cli"
)

// Most is how many shares an audit has at most.
const Most = 10_000_000

// Flags ask for a part of an audit.
type Flags struct {
	shards string // "I/N"
	search bool
	After  string // partial that has the search; "": none
	to     string
}

// Register defines the flags.
func (f *Flags) Register(s *cli.Flags) {
	s.StringVar(&f.shards, "shards", "", "draw share `I/N` of what is certified, I from 0 to N-1, and write it to the file of -partial; dpscope merge joins the shares (docs/scale.md)")
	s.StringVar(&f.to, "partial", "", "`file` to which a share or a search is written")
	s.BoolVar(&f.search, "search-only", false, "search, choose what is certified, and write both to the file of -partial; shares start from it with -after")
	s.StringVar(&f.After, "after", "", "partial `file` of -search-only, so that a share does not search again")
}

// Given says whether a part is asked for.
func (f *Flags) Given() bool { return f.shards != "" || f.search || f.After != "" || f.to != "" }

// Do writes the part of an audit that is asked for, see [Search.Draw].
func (f *Flags) Do(ctx context.Context, kind string, plan any, data []byte, g core.Env, watch Watch) error {
	var index, of int
	switch {
	case f.to == "":
		return audit.Fault("-partial", audit.Absent, "the file that this part is written to", "for example -partial part-0")
	case f.search == (f.shards != ""):
		return audit.Fault("-shards", fmt.Sprintf("%q with search-only %v", f.shards, f.search), "one of -shards I/N and -search-only")
	case f.search && f.After != "":
		return audit.Fault("-after", "given with -search-only", "absent: it names the search that is done")
	case !f.search:
		i, n, ok := strings.Cut(f.shards, "/")
		var err, err2 error
		index, err = strconv.Atoi(i)
		of, err2 = strconv.Atoi(n)
		if !ok || err != nil || err2 != nil || index < 0 || of < 1 || of > Most || index >= of {
			return audit.Fault("-shards", strconv.Quote(f.shards), fmt.Sprintf("I/N with N from 1 to %d and I from 0 to N-1", Most), "-shards 0/64 is the first of 64 shares, -shards 63/64 the last")
		}
	}
	s, err := New(kind, plan, data)
	if err == nil && f.After != "" {
		s, err = s.After(f.After, Open)
	}
	if err != nil {
		return err
	}
	part, _, err := s.Draw(ctx, g, index, of, watch)
	if ctx.Err() != nil {
		return cli.ErrStopped
	}
	if err != nil {
		return err
	}
	if err := cli.WriteWhole(f.to, part); err != nil {
		return fmt.Errorf("-partial was not written: %w", err)
	}
	return nil
}

// Open is an [Opener] of files.
func Open(name string) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, largest))
	if err != nil {
		err = fmt.Errorf("%s: %w", name, err)
	}
	return data, err
}

// Names are the files that arguments name: one, all of a folder, or, for -, the lines of stdin.
func Names(args []string, stdin io.Reader) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		for _, arg := range args {
			if arg == "-" {
				lines := bufio.NewScanner(stdin)
				for lines.Scan() {
					if name := lines.Text(); name != "" && !yield(name, nil) {
						return
					}
				}
				if err := lines.Err(); err != nil {
					yield("", fmt.Errorf("standard input: %w", err))
					return
				}
				continue
			}
			info, err := os.Stat(arg)
			folder := err == nil && info.IsDir()
			var entries []os.DirEntry
			if folder {
				entries, err = os.ReadDir(arg)
			}
			if (err != nil || !folder) && !yield(arg, err) {
				return
			}
			for _, e := range entries {
				// A file that is being written has such a name until it is whole.
				if !e.IsDir() && !strings.HasPrefix(e.Name(), cli.Unfinished) && !yield(filepath.Join(arg, e.Name()), nil) {
					return
				}
			}
		}
	}
}

// partial is what one machine did: a line of JSON in its file, before a line with the SHA-256 of that.
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

type drawn struct {
	Pieces int             `json:"pieces"`           // of all shares
	Result json.RawMessage `json:"result,omitempty"` // what those of this share came to; absent of none
}

const (
	version = 4
	schema  = "dpscope-partial"
	largest = 1 << 30 // bytes of a file
)

func sum(v any) (digest string, data []byte, err error) {
	data, err = json.Marshal(v)
	return fmt.Sprintf("%x", sha256.Sum256(data)), data, err
}

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

// Opener reads a file whole.
type Opener func(name string) ([]byte, error)

// read reads a partial. Its digest tells partials of one share apart.
func read(name string, open Opener) (p partial, digest string, err error) {
	data, err := open(name)
	if err != nil {
		return p, "", err
	}
	body, end, _ := bytes.Cut(data, []byte("\n"))
	digest = fmt.Sprintf("%x", sha256.Sum256(body))
	refuse := func(found, want, remedy string) (partial, string, error) {
		return p, "", audit.Fault(name, found, want, remedy)
	}
	start := []byte(`{"schema":"` + schema + `",`)
	switch {
	case !bytes.HasPrefix(start, body) && !bytes.HasPrefix(body, start):
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
		if first, end := share(d.Pieces, p.Index, max(1, p.Of)); d.Pieces < 0 || (d.Result == nil) != (first == end) {
			return refuse(fmt.Sprintf("without what pieces %d to %d of %d came to", first, end, d.Pieces), fmt.Sprintf("share %d of %d whole", p.Index, p.Of), "draw this share again")
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
		return Search{}, audit.Fault(name, fmt.Sprintf("share %d, which has no search", p.Index), "the file of -search-only, or share 0")
	}
	return *p.Searched, nil
}

// Check says what is wrong with a partial.
func Check(name string, open Opener) error {
	_, _, err := read(name, open)
	return err
}

// mergeGarbage is how much, in percent, memory grows between collections: what is alive is small.
const mergeGarbage = 30

// Merge makes of partials what one machine would have found. It reads each once more for each audit.
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
		err = audit.Fault("partial: found", audit.Absent, "what its search found")
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
		if err != nil {
			return nil, audits.of(t, err)
		}
		audits.Audited = append(audits.Audited, suite.Audited{Name: t.name, Report: r})
	}
	return audits, nil
}

type held struct{ name, digest string }

type merge struct {
	search Search
	of     int
	shares map[int]held // by index
	open   Opener
}

// newMerge refuses partials that do not make one audit. Of equal ones it keeps one.
func newMerge(ctx context.Context, names iter.Seq2[string, error], open Opener) (*merge, error) {
	m := &merge{open: open, shares: map[int]held{}}
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
		if p.Searched != nil {
			m.search = *p.Searched
		}
		m.of = cmp.Or(m.of, p.Of)
		twin, twice := m.shares[p.Index]
		switch {
		case p.Search != search:
			return nil, audit.Fault(name, "of another audit (its plan or its data) or another search than "+whose, "partials of one audit", "merge those together that were drawn with the same flags")
		case p.Of == 0:
			continue
		case p.Of != m.of:
			return nil, audit.Fault(name, fmt.Sprintf("one of %d shares", p.Of), fmt.Sprintf("one of %d, as others are", m.of), "draw all shares with the same number after the slash")
		case twice && twin.digest != digest:
			return nil, audit.Fault(fmt.Sprintf("share %d", p.Index), fmt.Sprintf("other counts in %s than in %s", name, twin.name), "the same counts each time", "one of the machines is faulty or runs another program: draw the share a third time")
		}
		m.shares[p.Index] = held{name, digest}
	}
	switch missing := m.of - len(m.shares); {
	case whose == "":
		return nil, audit.Fault("what was given", "empty", "the partials of all shares, or the folder that has them")
	case m.of == 0:
		return nil, audit.Fault("what was given", "the search alone", "the partials of all shares too")
	case missing > 0:
		return nil, audit.Fault("what was given", fmt.Sprintf("without %d of %d shares: %s", missing, m.of, m.gaps()), "all shares", "draw them, with -shards I/"+fmt.Sprint(m.of))
	}
	return m, nil
}

const gapsNamed = 20

func (m *merge) gaps() string {
	var gaps []string
	first := 0 // that may be missing
	for _, i := range append(slices.Sorted(maps.Keys(m.shares)), m.of) {
		switch {
		case i > first && len(gaps) == gapsNamed:
			return strings.Join(gaps, ", ") + " and more"
		case i == first+1:
			gaps = append(gaps, fmt.Sprint(first))
		case i > first:
			gaps = append(gaps, fmt.Sprintf("%d to %d", first, i-1))
		}
		first = i + 1
	}
	return strings.Join(gaps, ", ")
}

func (m *merge) parts(k, pieces int) iter.Seq2[report.Part, error] {
	return func(yield func(report.Part, error) bool) {
		for i := range m.of {
			s := m.shares[i]
			p, digest, err := read(s.name, m.open)
			switch {
			case err != nil:
			case digest != s.digest:
				err = audit.Fault(s.name, "different counts from those that were read first", "a file that nothing writes to while it is merged", "merge again")
			case k >= len(p.Drawn) || p.Drawn[k].Pieces != pieces:
				err = audit.Fault(s.name, fmt.Sprintf("no share of the %d pieces of audit %d", pieces, k+1), "one of each audit of its plan")
			}
			if err != nil {
				yield(report.Part{}, err)
				return
			}
			if first, end := share(pieces, i, m.of); first < end && !yield(report.Part{First: first, End: end, Result: p.Drawn[k].Result}, nil) {
				return
			}
		}
	}
}
