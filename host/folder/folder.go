// Package folder keeps what a host of reports is given in files.
package folder

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/dpscope/dpscope/host"
)

const ending = ".part"

// Store keeps values in a folder, a file each, written under another name and then given its own: a reader sees all of
// a value or none. Names are the keys in hexadecimal: some systems ignore case.
type Store struct {
	root *os.Root
	dir  *os.File     // the folder itself, to be written to the disk
	mu   sync.RWMutex // held while a name is given: what was read is on the disk
	most int64        // bytes that it keeps
	used int64
}

const blockSize = 4096 // a file takes whole ones

func sizeOf(bytes int64) int64 { return (bytes/blockSize + 1) * blockSize }

// Open opens or makes a folder for so many bytes, and removes what was not written to its end. One process at a time
// gets it, but on Windows.
func Open(name string, most int64) (*Store, error) {
	if err := os.MkdirAll(name, 0o700); err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(name)
	if err != nil {
		return nil, err
	}
	dir, err := os.Open(name)
	if err != nil {
		root.Close()
		return nil, err
	}
	s := &Store{root: root, dir: dir, most: most}
	var entries []fs.DirEntry
	if err = lock(dir); err == nil {
		entries, err = fs.ReadDir(root.FS(), ".")
	}
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), ending) {
			err = errors.Join(err, root.Remove(e.Name()))
		} else if info, gone := e.Info(); gone == nil {
			s.used += sizeOf(info.Size())
		}
	}
	if err == nil {
		err = syncFolder(filepath.Dir(name)) // the folder may be new
	}
	if err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

func (s *Store) Close() error { return errors.Join(s.dir.Close(), s.root.Close()) }

func nameOf(key string) string { return hex.EncodeToString([]byte(key)) }

func (s *Store) Get(_ context.Context, key string) ([]byte, error) {
	s.mu.RLock()
	value, err := s.root.ReadFile(nameOf(key))
	s.mu.RUnlock()
	if errors.Is(err, fs.ErrNotExist) {
		return nil, host.ErrAbsent
	}
	return value, err
}

// Create: only what is new finds the store full.
func (s *Store) Create(_ context.Context, key string, value []byte) error {
	s.mu.RLock()
	full := s.used+sizeOf(int64(len(value))) > s.most
	s.mu.RUnlock()
	if full {
		return host.ErrFull
	}
	return s.put(key, value, func(from, to string) error {
		err := s.root.Link(from, to) // which fails where there is one
		if errors.Is(err, fs.ErrExist) {
			err = host.ErrExists
		}
		return errors.Join(err, s.root.Remove(from))
	})
}

func (s *Store) Replace(_ context.Context, key string, value []byte) error {
	return s.put(key, value, s.root.Rename)
}

func (s *Store) put(key string, value []byte, name func(from, to string) error) error {
	part := rand.Text() + ending // of a name that nobody has
	f, err := s.root.OpenFile(part, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(value)
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return errors.Join(err, s.root.Remove(part))
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	before := s.size(key)
	if err := name(part, nameOf(key)); err != nil {
		return err
	}
	s.used += s.size(key) - before
	return s.dir.Sync()
}

func (s *Store) size(key string) int64 {
	if info, err := s.root.Stat(nameOf(key)); err == nil {
		return sizeOf(info.Size())
	}
	return 0
}

func (s *Store) Delete(_ context.Context, key string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	size := s.size(key)
	if err := s.root.Remove(nameOf(key)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	s.used -= size
	return s.dir.Sync()
}

// IDs are the keys that are ids of contents.
func (s *Store) IDs() ([]string, error) {
	entries, err := fs.ReadDir(s.root.FS(), ".")
	var out []string
	for _, e := range entries {
		if key, err := hex.DecodeString(e.Name()); err == nil && host.IsID(string(key)) {
			out = append(out, string(key))
		}
	}
	return out, err
}

func syncFolder(name string) error {
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}
