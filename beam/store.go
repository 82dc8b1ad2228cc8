package main

import (
	"cmp"
	"context"
	"crypto/rand"
	"fmt"
	"io"
	"iter"
	"path/filepath"
	"strings"

	"github.com/apache/beam/sdks/v2/go/pkg/beam/io/filesystem"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/internal/cli"
	"github.com/dpscope/dpscope/internal/shares"
)

// store is the folder of one audit, on a disk that all workers see, or gs://bucket/folder.
type store string

func (s store) partials() string { return strings.TrimSuffix(string(s), "/") + "/partials/" }

func (s store) search() string { return s.partials() + "search" }

func (s store) share(index, of int) string {
	return fmt.Sprintf("%s%d-of-%d", s.partials(), index, of)
}

func (s store) report() string { return strings.TrimSuffix(string(s), "/") + "/report.json" }

func (s store) use(ctx context.Context, f func(filesystem.Interface) error) error {
	fs, err := filesystem.New(ctx, string(s))
	if err != nil {
		return err
	}
	defer fs.Close()
	return f(fs)
}

// write writes a file whole or not at all: objects show once they are closed; on a disk the name comes last.
func (s store) write(ctx context.Context, name string, data []byte) error {
	return s.use(ctx, func(fs filesystem.Interface) error {
		to := name
		if !strings.Contains(string(s), "://") {
			to = filepath.Join(filepath.Dir(name), cli.Unfinished+rand.Text())
		}
		f, err := fs.OpenWrite(ctx, to)
		if err != nil {
			return err
		}
		_, err = f.Write(data)
		err = cmp.Or(err, f.Close())
		if own, ok := fs.(filesystem.Remover); ok && err != nil && to != name {
			own.Remove(ctx, to)
		}
		if own, ok := fs.(filesystem.Renamer); ok && err == nil && to != name {
			err = own.Rename(ctx, to, name)
		}
		return audit.Of(name, err)
	})
}

func (s store) open(ctx context.Context) shares.Opener {
	return func(name string) (data []byte, err error) {
		err = s.use(ctx, func(fs filesystem.Interface) error {
			f, err := fs.OpenRead(ctx, name)
			if err != nil {
				return err
			}
			defer f.Close()
			data, err = io.ReadAll(f)
			return err
		})
		return data, err
	}
}

// drawn are the shares that are there, and of how many they are, 0 for none.
func (s store) drawn(ctx context.Context) (there map[int]bool, of int, err error) {
	var names []string
	err = s.use(ctx, func(fs filesystem.Interface) error {
		names, err = fs.List(ctx, s.partials()+"*")
		return err
	})
	there, whose := map[int]bool{}, ""
	for _, name := range names {
		var index, n int
		base := name[strings.LastIndexAny(name, `/\`)+1:]
		if got, _ := fmt.Sscanf(base, "%d-of-%d", &index, &n); got != 2 {
			continue
		}
		if of != 0 && n != of {
			return nil, 0, &audit.InputError{Field: string(s), Found: fmt.Sprintf("with %s and %s, of two numbers of shares", whose, base), Want: "the shares of one division", Remedy: "remove those of one of them, or give another folder with -work"}
		}
		there[index], of, whose = true, n, base
	}
	return there, of, err
}

func (s store) missing(ctx context.Context, of int) (out []int, err error) {
	there, _, err := s.drawn(ctx)
	for i := range of {
		if !there[i] || shares.Check(s.share(i, of), s.open(ctx)) != nil {
			out = append(out, i)
		}
	}
	return out, err
}

func (s store) all(of int) iter.Seq2[string, error] {
	names := append([]string{s.search()}, audit.Listed(of, func(i int) string { return s.share(i, of) })...)
	return func(yield func(string, error) bool) {
		for _, name := range names {
			if !yield(name, nil) {
				return
			}
		}
	}
}
