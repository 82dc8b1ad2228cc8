// Package client stores reports with a host, and gets them back.
package client

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/host"
)

// Client stores reports with a host.
type Client struct {
	Base string // address of the host
}

// Share stores a report, and checks that the host gave it the id that its content has.
func (c Client) Share(ctx context.Context, data []byte) (out host.Receipt, err error) {
	if len(data) > host.MostBytes {
		return out, &audit.InputError{Field: "report", Found: fmt.Sprintf("%d bytes", len(data)), Want: fmt.Sprintf("at most %d", host.MostBytes), Remedy: "send it as a file"}
	}
	text, err := c.ask(ctx, http.MethodPost, "", data, "")
	if err != nil {
		return out, err
	}
	if err := json.Unmarshal(text, &out); err != nil || !host.Is(out.ID, data) {
		return out, &audit.InputError{Field: "-host", Found: "an id that is not that of this report", Want: "the id of its content", Remedy: "the host stored something else, or is not a dpscope host"}
	}
	return out, nil
}

// Delete deletes a report by its id or address, and the token of its upload.
func (c Client) Delete(ctx context.Context, id, token string) error {
	if !host.IsID(id) {
		base, of, err := split(id)
		if err != nil {
			return err
		}
		c.Base, id = cmp.Or(c.Base, base), of
	}
	_, err := c.ask(ctx, http.MethodDelete, "/"+id, nil, token)
	return err
}

// Open gets what an address holds, and checks it against the id.
func Open(ctx context.Context, address string) ([]byte, error) {
	base, id, err := split(address)
	if err != nil {
		return nil, err
	}
	data, err := Client{base}.ask(ctx, http.MethodGet, "/"+id, nil, "")
	if err != nil {
		return nil, err
	}
	if !host.Is(id, data) {
		return nil, &audit.InputError{Field: "address", Found: "not what was stored there", Want: "content that matches the id", Remedy: "do not trust this host; ask whoever sent the address for the report"}
	}
	return data, nil
}

func split(address string) (base, id string, err error) {
	u, err := url.Parse(address)
	if err == nil && (u.Scheme == "https" || u.Scheme == "http") && u.Host != "" && u.User == nil {
		at := strings.LastIndex(u.Path, host.ShownPath)
		if at >= 0 && host.IsID(u.Path[at+len(host.ShownPath):]) {
			return u.Scheme + "://" + u.Host + u.Path[:at], u.Path[at+len(host.ShownPath):], nil
		}
		if id, ok := strings.CutPrefix(u.Fragment, "report="); ok && host.IsID(id) {
			return u.Scheme + "://" + u.Host + strings.TrimSuffix(u.Path, "/"), id, nil
		}
	}
	return "", "", &audit.InputError{Field: "address", Found: fmt.Sprintf("%q", address), Want: "one that a host gave out, such as https://audits.example.org/r/6yJ3WcPmQa"}
}

// ask returns an answer. It follows no redirection to another host.
func (c Client) ask(ctx context.Context, method, path string, body []byte, token string) ([]byte, error) {
	base, err := url.Parse(c.Base)
	if err != nil || base.Scheme != "https" && base.Scheme != "http" || base.Host == "" {
		return nil, &audit.InputError{Field: "-host", Found: fmt.Sprintf("%q", c.Base), Want: "the address of a host", Remedy: "such as https://audits.example.org; dpscope serve -store is one"}
	}
	req, err := http.NewRequestWithContext(ctx, method, base.JoinPath(host.ReportsPath, path).String(), bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	own := http.Client{CheckRedirect: func(req *http.Request, via []*http.Request) error {
		if len(via) > 3 || req.URL.Host != base.Host {
			return errors.New("it redirects to another host")
		}
		return nil
	}}
	r, err := own.Do(req)
	if err != nil {
		return nil, fmt.Errorf("the host did not answer: %w", err)
	}
	defer r.Body.Close()
	text, err := io.ReadAll(io.LimitReader(r.Body, host.MostBytes+1))
	if err != nil {
		return nil, fmt.Errorf("the host’s answer was cut off: %w", err)
	}
	if r.StatusCode/100 == 2 {
		return text, nil
	}
	var said struct{ Error string }
	if json.Unmarshal(text, &said) == nil && said.Error != "" {
		return nil, fmt.Errorf("the host refused: %s", said.Error)
	}
	return nil, &audit.InputError{Field: "-host", Found: "answering " + r.Status, Want: "a host that stores reports", Remedy: "is dpscope serve -store running there?"}
}
