// Package host keeps a log of receipts in a file, serves it, and asks such a server.
package host

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"

	"golang.org/x/mod/sumdb/tlog"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/internal/hostclient"
	"github.com/dpscope/dpscope/receipt"
)

// Path is where a host serves its log.
const Path = "/api/log"

// maxAsked bounds what is read of a request, maxAnswer what is read of an answer.
const (
	maxAsked  = 1 << 10
	maxAnswer = 1 << 20
)

// asked is a commitment to be registered.
type asked struct {
	Commitment string `json:"commitment"`
}

// State is what a log says of itself.
type State struct {
	Key  string `json:"key"` // its verifier key
	Head string `json:"head"`
	Size int64  `json:"size"`
}

// growth proves that a log only grew.
type growth struct {
	Proof []tlog.Hash `json:"proof"`
}

// refused is an error as the log answers it.
type refused struct {
	Error string `json:"error"`
}

// Handler serves a log below [Path]: POST registers a commitment and answers a
// [receipt.Proven], GET answers a [State], GET Path/growth?from=N&to=M the proof that the
// log of M entries goes on from that of N. key is the log's verifier key.
func Handler(l *receipt.Log, key string) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST "+Path, func(w http.ResponseWriter, r *http.Request) {
		text, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxAsked))
		var a asked
		if err == nil {
			err = audit.DecodeStrict(text, "request", &a)
		}
		if err != nil {
			answer(w, http.StatusBadRequest, refused{err.Error()})
			return
		}
		p, err := l.Add(a.Commitment)
		give(w, p, err)
	})
	mux.HandleFunc("GET "+Path, func(w http.ResponseWriter, _ *http.Request) {
		head, size, err := l.Head()
		give(w, State{key, head, size}, err)
	})
	mux.HandleFunc("GET "+Path+"/growth", func(w http.ResponseWriter, r *http.Request) {
		size := func(name string) (int64, error) {
			n, err := strconv.ParseInt(r.URL.Query().Get(name), 10, 64)
			if err != nil {
				return 0, &audit.InputError{Field: name, Found: strconv.Quote(r.URL.Query().Get(name)), Want: "a number of entries"}
			}
			return n, nil
		}
		from, err := size("from")
		if err != nil {
			give(w, nil, err)
			return
		}
		to, err := size("to")
		if err != nil {
			give(w, nil, err)
			return
		}
		proof, err := l.Growth(from, to)
		give(w, growth{proof}, err)
	})
	return mux
}

func give(w http.ResponseWriter, value any, err error) {
	var in *audit.InputError
	switch {
	case errors.As(err, &in):
		answer(w, http.StatusBadRequest, refused{err.Error()})
	case err != nil:
		answer(w, http.StatusServiceUnavailable, refused{"the log is not to be had: try again later"})
	default:
		answer(w, http.StatusOK, value)
	}
}

func answer(w http.ResponseWriter, status int, value any) {
	h := w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("Content-Security-Policy", "default-src 'none'")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Cache-Control", "no-store")
	h.Set("Access-Control-Allow-Origin", "*")
	w.WriteHeader(status)
	json.NewEncoder(w).Encode(value) //nolint:errcheck // whoever asked is gone
}

// Client asks the log of a host, of which it has seen heads before.
type Client struct {
	HTTP *http.Client // nil: the default one
	Base string       // address of the host
	Key  string       // its verifier key, where that is known
	// Seen is the last head that was seen of the log with that key, signed; "" for none.
	Seen func(key string) (string, error)
	// Keep keeps a head that goes on from the one that was seen.
	Keep func(key, head string) error
}

// Register has the log register a commitment. Of a log that does not go on from what was
// seen of it before, it takes nothing. It returns the proof and the log's key.
func (c Client) Register(ctx context.Context, commitment string) (receipt.Proven, string, error) {
	var p receipt.Proven
	var now State
	if err := c.ask(ctx, "", nil, &now); err != nil {
		return p, "", err
	}
	if c.Key != "" && now.Key != c.Key {
		return p, "", &audit.InputError{Field: "key of the log", Found: strconv.Quote(now.Key), Want: c.Key}
	}
	seen, err := c.Seen(now.Key)
	if err != nil {
		return p, "", fmt.Errorf("what was seen of the log before cannot be read: %w", err)
	}
	if err := c.ask(ctx, "", asked{commitment}, &p); err != nil {
		return p, "", err
	}
	if p.Entry.Commitment != commitment {
		return p, "", &audit.InputError{Field: "commitment", Found: p.Entry.Commitment, Want: commitment, Remedy: "the host registered something else"}
	}
	h, err := p.Check(now.Key)
	if err == nil {
		err = c.goesOn(ctx, now.Key, seen, h)
	}
	if err == nil {
		err = c.Keep(now.Key, h.Signed)
	}
	return p, now.Key, err
}

// goesOn holds a head against one that was seen of the log before, signed.
func (c Client) goesOn(ctx context.Context, key, seen string, now receipt.Head) error {
	if seen == "" {
		return nil
	}
	before, err := receipt.OpenHead(seen, key)
	if err != nil {
		return err
	}
	var g growth
	if 0 < before.Size && before.Size < now.Size {
		if err := c.ask(ctx, fmt.Sprintf("/growth?from=%d&to=%d", before.Size, now.Size), nil, &g); err != nil {
			return err
		}
	}
	return receipt.CheckGrowth(before, now, g.Proof)
}

// ask sends a request to the log; without a body it is a GET.
func (c Client) ask(ctx context.Context, path string, body, out any) error {
	method, text := http.MethodGet, []byte(nil)
	if body != nil {
		var err error
		method = http.MethodPost
		if text, err = json.Marshal(body); err != nil {
			return err
		}
	}
	text, err := hostclient.Host{HTTP: c.HTTP, Base: c.Base, Does: "has a log"}.Ask(ctx, method, Path+path, text, "", maxAnswer)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(text, out); err != nil {
		return fmt.Errorf("the host’s answer cannot be read: %w", err)
	}
	return nil
}
