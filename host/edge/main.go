//go:build js && wasm

// Command edge is the host of reports as a Cloudflare Worker. How often it may be asked, front.mjs counts.
package main

// Of github.com/syumai/workers it uses little: the library changed its name after this version.

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"net/http"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/syumai/workers"
	"github.com/syumai/workers/cloudflare"
	"github.com/syumai/workers/cloudflare/kv"

	"github.com/dpscope/dpscope/core/catalogue"
	"github.com/dpscope/dpscope/host"
)

func main() {
	workers.Serve(&host.Host{
		Store: values{}, Catalogue: catalogue.All(), Random: rand.Reader, Now: time.Now,
		Origin: func(r *http.Request) string { // by the Worker's configuration
			return cmp.Or(cloudflare.Getenv("ORIGIN"), "https://"+r.Host)
		},
	})
}

const binding = "REPORTS"

// absent is JavaScript's null, of a key that there is not, as syscall/js writes it. No stored value begins so.
const absent = "<null>"

// values is over Workers KV, which never knows that there is a value already.
type values struct{}

func (values) Get(_ context.Context, key string) ([]byte, error) {
	ns, err := kv.NewNamespace(binding)
	if err != nil {
		return nil, err
	}
	value, err := ns.GetString(key, nil)
	if err != nil {
		return nil, err
	}
	if value == absent {
		return nil, host.ErrAbsent
	}
	if text, ok := strings.CutPrefix(value, "t"); ok {
		return []byte(text), nil
	}
	if packed, ok := strings.CutPrefix(value, "b"); ok {
		return base64.StdEncoding.DecodeString(packed)
	}
	return nil, errors.New("a value of another program")
}

func (values) Replace(_ context.Context, key string, value []byte) error {
	ns, err := kv.NewNamespace(binding)
	if err != nil {
		return err
	}
	text := "t" + string(value)
	if !utf8.Valid(value) {
		text = "b" + base64.StdEncoding.EncodeToString(value)
	}
	return ns.PutString(key, text, nil)
}

func (v values) Create(ctx context.Context, key string, value []byte) error {
	return v.Replace(ctx, key, value)
}

func (values) Delete(_ context.Context, key string) error {
	ns, err := kv.NewNamespace(binding)
	if err != nil {
		return err
	}
	return ns.Delete(key)
}
