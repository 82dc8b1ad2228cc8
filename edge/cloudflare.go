//go:build js

package main

// All that this program uses of github.com/syumai/workers stands in this file: the
// library changed its name after this version.

import (
	"context"
	"encoding/base64"
	"errors"
	"net/http"
	"strings"
	"syscall/js"
	"time"
	"unicode/utf8"

	"github.com/syumai/workers"
	"github.com/syumai/workers/cloudflare"
	"github.com/syumai/workers/cloudflare/kv"

	"github.com/dpscope/dpscope/share"
)

func serve(h http.Handler) { workers.Serve(h) }

// setting is a variable of the Worker's configuration.
func setting(name string) string { return cloudflare.Getenv(name) }

// visitor is the address that a request is from, as the edge says it.
func visitor(r *http.Request) string {
	who := r.Header.Get("CF-Connecting-IP")
	if strings.Contains(who, ":") {
		who = "[" + who + "]"
	}
	return share.Peer(&http.Request{RemoteAddr: who + ":0"})
}

// binding is the name of the Worker's namespace of keys and values.
const binding = "REPORTS"

// absent is what the library gives for a key that there is not: JavaScript's null as
// syscall/js writes it. No value that is stored begins so.
const absent = "<null>"

// values is a [share.Store] over Workers KV, which is eventually consistent: it never
// knows that there is a value already.
type values struct{}

// Get implements [share.Store].
func (values) Get(_ context.Context, key string) ([]byte, error) {
	ns, err := kv.NewNamespace(binding)
	if err != nil {
		return nil, err
	}
	value, err := ns.GetString(key, nil)
	if err != nil {
		return nil, err
	}
	switch form, rest := value[:min(1, len(value))], value[min(1, len(value)):]; {
	case value == absent:
		return nil, share.ErrAbsent
	case form == "t":
		return []byte(rest), nil
	case form == "b":
		return base64.StdEncoding.DecodeString(rest)
	}
	return nil, errors.New("a value of another program")
}

// Replace implements [share.Store].
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

// Create implements [share.Store].
func (v values) Create(ctx context.Context, key string, value []byte) error {
	return v.Replace(ctx, key, value)
}

// Delete implements [share.Store].
func (values) Delete(_ context.Context, key string) error {
	ns, err := kv.NewNamespace(binding)
	if err != nil {
		return err
	}
	return ns.Delete(key)
}

// counter is a [share.Limit] by the edge's own counters, which the configuration gives a
// name and the same number a minute. They say no more than whether there was one too many,
// and each place of the edge counts for itself.
type counter struct {
	name string
	most int
}

// Take implements [share.Limit].
func (c counter) Take(who string, now time.Time) (left, of int, anew time.Duration) {
	anew = time.Minute - time.Duration(now.Second())*time.Second
	limiter := cloudflare.GetBinding(c.name)
	if limiter.IsUndefined() {
		return c.most - 1, c.most, anew // configured without: then there is none
	}
	asked := js.Global().Get("Object").New()
	asked.Set("key", who)
	done := make(chan bool, 1)
	answered := js.FuncOf(func(_ js.Value, args []js.Value) any {
		done <- len(args) > 0 && args[0].Type() == js.TypeObject && args[0].Get("success").Truthy()
		return nil
	})
	failed := js.FuncOf(func(js.Value, []js.Value) any {
		done <- true // a counter that fails keeps nobody out
		return nil
	})
	defer answered.Release()
	defer failed.Release()
	limiter.Call("limit", asked).Call("then", answered, failed)
	if !<-done {
		return -1, c.most, anew
	}
	return c.most - 1, c.most, anew
}
