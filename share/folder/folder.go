// Package folder keeps what a host of reports is given in files.
package folder

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/dpscope/dpscope/share"
)

// ending is that of a file that is being written.
const ending = ".part"

// Store keeps values in a folder, a file each. A file is written whole, to the disk, under
// another name and then given its own, so that whoever reads sees all of a value or none,
// and a value that was acknowledged is there when the power goes. Names are the keys in
// hexadecimal: some systems do not tell letters from capitals.
type Store struct {
	root *os.Root
	dir  *os.File // the folder itself, to be written to the disk
	// mu is held while a name is given, so that what was read is on the disk.
	mu sync.RWMutex
}

// Open opens a folder, or makes it, and clears away what was not written to its end when
// a process ended. Several processes may have it open: what they clear away of each other
// is written again by whoever asks again.
func Open(name string) (*Store, error) {
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
	s := &Store{root: root, dir: dir}
	left, err := fs.Glob(root.FS(), "*"+ending)
	for _, name := range left {
		err = errors.Join(err, root.Remove(name))
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

// Close closes the folder.
func (s *Store) Close() error { return errors.Join(s.dir.Close(), s.root.Close()) }

func nameOf(key string) string { return hex.EncodeToString([]byte(key)) }

// Get implements [share.Store].
func (s *Store) Get(_ context.Context, key string) ([]byte, error) {
	s.mu.RLock()
	value, err := s.root.ReadFile(nameOf(key))
	s.mu.RUnlock()
	if errors.Is(err, fs.ErrNotExist) {
		return nil, share.ErrAbsent
	}
	return value, err
}

// Create implements [share.Store].
func (s *Store) Create(_ context.Context, key string, value []byte) error {
	return s.put(key, value, func(from, to string) error {
		err := s.root.Link(from, to) // which fails where there is one
		if errors.Is(err, fs.ErrExist) {
			err = share.ErrExists
		}
		return errors.Join(err, s.root.Remove(from))
	})
}

// Replace implements [share.Store].
func (s *Store) Replace(_ context.Context, key string, value []byte) error {
	return s.put(key, value, s.root.Rename)
}

// put writes a file and has it named.
func (s *Store) put(key string, value []byte, name func(from, to string) error) error {
	f, part, err := s.create()
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
	if err := name(part, nameOf(key)); err != nil {
		return err
	}
	return s.dir.Sync()
}

// create makes a file of a name that nobody has.
func (s *Store) create() (*os.File, string, error) {
	for i := 0; ; i++ {
		name := fmt.Sprintf("%d-%d%s", os.Getpid(), i, ending)
		f, err := s.root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
		if !errors.Is(err, fs.ErrExist) {
			return f, name, err
		}
	}
}

// Delete implements [share.Store].
func (s *Store) Delete(_ context.Context, key string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.root.Remove(nameOf(key)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return s.dir.Sync()
}

// IDs are the keys that are ids of contents.
func (s *Store) IDs() ([]string, error) {
	entries, err := fs.ReadDir(s.root.FS(), ".")
	var out []string
	for _, e := range entries {
		if key, err := hex.DecodeString(e.Name()); err == nil && share.IsID(string(key)) {
			out = append(out, string(key))
		}
	}
	return out, err
}

// Len is how many values there are.
func (s *Store) Len() (int, error) {
	entries, err := fs.ReadDir(s.root.FS(), ".")
	n := 0
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), ending) {
			n++
		}
	}
	return n, err
}

func syncFolder(name string) error {
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}
