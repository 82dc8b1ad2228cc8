// Package hostclient asks a host of reports.
package hostclient

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	"github.com/dpscope/dpscope/audit"
)

// Host is a host at an address.
type Host struct {
	HTTP *http.Client // nil: the default one
	Base string       // its address
	Does string       // what a host must do to answer, for errors: "stores reports"
}

// Ask sends a request below the host's address and returns the answer, of at most so many
// bytes. It follows no redirection to another host. token, where there is one, shows what
// the asker may do.
func (h Host) Ask(ctx context.Context, method, path string, body []byte, token string, most int64) ([]byte, error) {
	base, err := url.Parse(h.Base)
	if err != nil || base.Scheme != "https" && base.Scheme != "http" || base.Host == "" {
		return nil, &audit.InputError{Field: "-host", Found: fmt.Sprintf("%q", h.Base), Want: "the address of a host", Remedy: "such as https://audits.example.org; dpscope serve -store is one"}
	}
	req, err := http.NewRequestWithContext(ctx, method, strings.TrimSuffix(base.String(), "/")+path, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	client := http.DefaultClient
	if h.HTTP != nil {
		client = h.HTTP
	}
	own := *client
	own.CheckRedirect = func(req *http.Request, via []*http.Request) error {
		if len(via) > 3 || req.URL.Host != base.Host {
			return errors.New("it sends on to another host")
		}
		return nil
	}
	r, err := own.Do(req)
	if err != nil {
		return nil, fmt.Errorf("the host did not answer: %w", err)
	}
	defer r.Body.Close()
	text, err := io.ReadAll(io.LimitReader(r.Body, most))
	if err != nil {
		return nil, fmt.Errorf("the host’s answer broke off: %w", err)
	}
	if r.StatusCode/100 == 2 {
		return text, nil
	}
	var said struct{ Error string }
	if json.Unmarshal(text, &said) == nil && said.Error != "" {
		return nil, fmt.Errorf("the host refused: %s", said.Error)
	}
	return nil, &audit.InputError{Field: "-host", Found: "answering " + r.Status, Want: "a host that " + h.Does, Remedy: "is dpscope serve -store running there?"}
}
