package host

import (
	"fmt"
	"math"
	"net"
	"net/http"
	"sync"
	"time"
)

const mostAddresses = 1 << 16 // that a [Minute] holds

// Minute says how often an address may ask in each minute. Handlers may share it.
type Minute struct {
	Most int

	mu    sync.Mutex
	since time.Time
	asked map[string]int
}

// Take counts a request: what is left, below 0 for one too many, and when the count begins anew.
func (m *Minute) Take(who string, now time.Time) (left int, anew time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if past := now.Sub(m.since); past >= time.Minute || past < 0 || m.asked == nil { // the clock may go back
		m.since, m.asked = now, map[string]int{}
	}
	if _, known := m.asked[who]; !known && len(m.asked) >= mostAddresses {
		who = "" // the rest share one count
	}
	if m.asked[who] < math.MaxInt32 {
		m.asked[who]++
	}
	return m.Most - m.asked[who], time.Minute - now.Sub(m.since)
}

// allowed counts a request, says so in headers of one item each, as commas may be cut, and refuses one too many.
func allowed(w http.ResponseWriter, l *Minute, what, who string, now time.Time) bool {
	left, anew := l.Take(who, now)
	seconds := max(1, int(math.Ceil(anew.Seconds())))
	h := w.Header()
	h.Set("RateLimit-Policy", fmt.Sprintf("%q;q=%d;w=60", what, l.Most))
	h.Set("RateLimit", fmt.Sprintf("%q;r=%d;t=%d", what, max(0, left), seconds))
	if left >= 0 {
		return true
	}
	h.Set("Retry-After", fmt.Sprint(seconds))
	answer(w, http.StatusTooManyRequests, refusal{Error: fmt.Sprintf("more than %d %s in a minute; try again in %d s", l.Most, what, seconds)})
	return false
}

// Peer is the address that a request came from, of IPv6 its network: one visitor has it all.
func Peer(r *http.Request) string {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		host = r.RemoteAddr
	}
	if ip := net.ParseIP(host); ip != nil && ip.To4() == nil && !ip.IsLoopback() {
		return ip.Mask(net.CIDRMask(64, 128)).String()
	}
	return host
}
