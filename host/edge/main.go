//go:build js && wasm

// Command edge is the host of reports as a Cloudflare Worker: the handlers of package
// host over a service for keys and values. It runs no audit; the page does. What
// it may be asked for how often, front.mjs counts before this program is started.
package main

import (
	"crypto/rand"
	"net/http"
	"time"

	"github.com/dpscope/dpscope/core/catalogue"
	"github.com/dpscope/dpscope/host"
)

func main() {
	serve(&host.Host{
		Store: values{}, Catalogue: catalogue.All(), Random: rand.Reader, Now: time.Now,
		Origin: func(r *http.Request) string {
			if origin := setting("ORIGIN"); origin != "" {
				return origin
			}
			return "https://" + r.Host
		},
	})
}
