// Package client stores reports with a host, and gets them back.
package client

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/internal/hostclient"
	"github.com/dpscope/dpscope/share"
)

// Client stores reports with a host.
type Client struct {
	HTTP *http.Client // nil: the default one
	Base string       // address of the host
}

// Stored says where a report is.
type Stored struct {
	ID      string `json:"id"`
	Address string `json:"address"`
	Token   string `json:"token"` // to delete it by; empty where it was there already
}

// Share stores a report. That the host gave it the id that its content has is checked.
func (c Client) Share(ctx context.Context, data []byte) (Stored, error) {
	var out Stored
	if len(data) > share.MostBytes {
		return out, &audit.InputError{Field: "report", Found: fmt.Sprintf("%d bytes", len(data)), Want: fmt.Sprintf("at most %d", share.MostBytes), Remedy: "send it as a file"}
	}
	text, err := c.ask(ctx, http.MethodPost, "", data, "")
	if err != nil {
		return out, err
	}
	if err := json.Unmarshal(text, &out); err != nil || !share.Is(out.ID, data) {
		return out, &audit.InputError{Field: "-host", Found: "an id that is not of this report", Want: "one that its content has", Remedy: "the host stored something else, or is none of dpscope"}
	}
	return out, nil
}

// Delete deletes a report by its id, or its address, and the token of its upload.
func (c Client) Delete(ctx context.Context, id, token string) error {
	if !share.IsID(id) {
		base, of, err := split(id)
		if err != nil {
			return err
		}
		if c.Base == "" {
			c.Base = base
		}
		id = of
	}
	_, err := c.ask(ctx, http.MethodDelete, "/"+id, nil, token)
	return err
}

// Open gets what is at an address that a host gave out, and holds it against the id in
// that address. It asks that host only, whoever it is sent on to.
func Open(ctx context.Context, client *http.Client, address string) ([]byte, error) {
	base, id, err := split(address)
	if err != nil {
		return nil, err
	}
	c := Client{HTTP: client, Base: base}
	data, err := c.ask(ctx, http.MethodGet, "/"+id, nil, "")
	if err != nil {
		return nil, err
	}
	if !share.Is(id, data) {
		return nil, &audit.InputError{Field: "address", Found: "something else than what was stored there", Want: "a content that the id is made of", Remedy: "do not trust this host; ask whoever sent the address for the report"}
	}
	return data, nil
}

// split is the host and the id of an address.
func split(address string) (base, id string, err error) {
	u, err := url.Parse(address)
	if err == nil && (u.Scheme == "https" || u.Scheme == "http") && u.Host != "" && u.User == nil {
		at := strings.LastIndex(u.Path, share.ShownPath)
		if at >= 0 && share.IsID(u.Path[at+len(share.ShownPath):]) {
			return u.Scheme + "://" + u.Host + u.Path[:at], u.Path[at+len(share.ShownPath):], nil
		}
		if id, ok := strings.CutPrefix(u.Fragment, "report="); ok && share.IsID(id) {
			return u.Scheme + "://" + u.Host + strings.TrimSuffix(u.Path, "/"), id, nil
		}
	}
	return "", "", &audit.InputError{Field: "address", Found: fmt.Sprintf("%q", address), Want: "one that a host gave out, such as https://audits.example.org/r/6yJ3WcPmQa"}
}

// ask sends a request about reports to the host.
func (c Client) ask(ctx context.Context, method, path string, body []byte, token string) ([]byte, error) {
	return hostclient.Host{HTTP: c.HTTP, Base: c.Base, Does: "stores reports"}.Ask(ctx, method, share.ReportsPath+path, body, token, share.MostBytes+1)
}
