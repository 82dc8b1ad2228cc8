package host

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
)

// Store keeps values by keys of letters, digits and dots. It may be eventually consistent.
type Store interface {
	// Get is the value of a key, or an error that is [ErrAbsent].
	Get(ctx context.Context, key string) ([]byte, error)
	// Create keeps a value: when it returns, whatever happens to the machine. Where the store knows a value of the key,
	// the error is [ErrExists] and that value stays.
	Create(ctx context.Context, key string, value []byte) error
	Replace(ctx context.Context, key string, value []byte) error
	Delete(ctx context.Context, key string) error
}

// Errors of a [Store]: nothing under a key, something already, no room, or not what was stored.
var (
	ErrAbsent  = errors.New("there is nothing under this key")
	ErrExists  = errors.New("there is a value under this key")
	ErrFull    = errors.New("the store is full")
	errDamaged = errors.New("what is kept here is damaged")
)

type kept struct {
	Version int    `json:"v"`
	Token   string `json:"token"` // SHA-256 of the token to delete by
	Day     string `json:"day"`   // on which it was stored
}

func (k kept) with(content []byte) []byte {
	head, _ := json.Marshal(k) // of texts and a number
	return slices.Concat(head, []byte("\n"), content)
}

func find(ctx context.Context, s Store, id string) (kept, []byte, error) {
	var k kept
	value, err := s.Get(ctx, id)
	if err != nil {
		return k, nil, err
	}
	head, content, ok := bytes.Cut(value, []byte("\n"))
	if !ok || json.Unmarshal(head, &k) != nil || k.Version != 1 || !Is(id, content) {
		return k, nil, fmt.Errorf("%s: %w", id, errDamaged)
	}
	return k, content, nil
}

// keep stores a content under its shortest free id, once.
func keep(ctx context.Context, s Store, content []byte, k kept) (id string, isNew bool, err error) {
	sum := sumOf(content)
	for n := shortest; n <= longest; n++ {
		id := sum[:n]
		switch _, there, err := find(ctx, s, id); {
		case err == nil && bytes.Equal(there, content):
			return id, false, nil
		case err == nil, errors.Is(err, errDamaged):
			continue // another content begins alike; somebody has to look at what is damaged
		case !errors.Is(err, ErrAbsent):
			return "", false, err
		}
		switch err := s.Create(ctx, id, k.with(content)); {
		case errors.Is(err, ErrExists): // at the same time, or not seen yet
			if _, there, err := find(ctx, s, id); err == nil && bytes.Equal(there, content) {
				return id, false, nil
			}
		case err != nil:
			return "", false, err
		default:
			return id, true, nil
		}
	}
	return "", false, fmt.Errorf("all ids of %s are taken", sum)
}
