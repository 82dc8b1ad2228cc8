// Package shares divides an audit, or a file of audits, among machines. Each leaves a partial:
// the search, or a share of what is certified. A merge makes of them the report of one machine.
package shares

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/core"
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

// Register defines the flags of an audit that searches.
func (f *Flags) Register(s *cli.Flags) {
	f.RegisterShares(s)
	s.BoolVar(&f.search, "search-only", false, "search, choose what is certified, and write both to the file of -partial; shares start from it with -after")
	s.StringVar(&f.After, "after", "", "partial `file` of -search-only, so that a share does not search again")
}

// RegisterShares defines the flags of what has no search.
func (f *Flags) RegisterShares(s *cli.Flags) {
	s.StringVar(&f.shards, "shards", "", "draw share `I/N` of what is certified, I from 0 to N-1, and write it to the file of -partial; dpscope merge joins the shares (docs/scale.md)")
	s.StringVar(&f.to, "partial", "", "`file` to which a share or a search is written")
}

// Given says whether a part is asked for.
func (f *Flags) Given() bool { return f.shards != "" || f.search || f.After != "" || f.to != "" }

// Do draws the part of the audit of this plan that is asked for, and writes it. g and watch
// are those of [Search.Draw].
func (f *Flags) Do(ctx context.Context, kind string, plan any, data []byte, g core.Env, watch Watch) error {
	var index, of int
	switch {
	case f.to == "":
		return &audit.InputError{Field: "-partial", Found: audit.Absent, Want: "the file that this part is written to", Remedy: "for example -partial part-0"}
	case f.search == (f.shards != ""):
		return &audit.InputError{Field: "-shards", Found: fmt.Sprintf("%q with search-only %v", f.shards, f.search), Want: "one of -shards I/N and -search-only"}
	case f.search && f.After != "":
		return &audit.InputError{Field: "-after", Found: "given with -search-only", Want: "absent: it names the search that is done"}
	case !f.search:
		i, n, ok := strings.Cut(f.shards, "/")
		var err, err2 error
		index, err = strconv.Atoi(i)
		of, err2 = strconv.Atoi(n)
		if !ok || err != nil || err2 != nil || index < 0 || of < 1 || of > Most || index >= of {
			return &audit.InputError{Field: "-shards", Found: strconv.Quote(f.shards), Want: fmt.Sprintf("I/N with N from 1 to %d and I from 0 to N-1", Most), Remedy: "-shards 0/64 is the first of 64 shares, -shards 63/64 the last"}
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

// Names are the files that arguments name: a file, all files of a folder, or, for -, the
// lines of standard input.
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
			if err != nil || !info.IsDir() {
				if !yield(arg, err) {
					return
				}
				continue
			}
			entries, err := os.ReadDir(arg)
			if err != nil && !yield(arg, err) {
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
