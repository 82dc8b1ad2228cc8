package host

import (
	"bytes"
	"cmp"
	"crypto/subtle"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"path"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/audit/phrase"
	"github.com/dpscope/dpscope/core"
	"github.com/dpscope/dpscope/core/report"
	"github.com/dpscope/dpscope/core/report/format"
)

const (
	ReportsPath = "/api/reports" // POST; below it GET and DELETE
	ShownPath   = "/r/"          // a report in words
)

// A host answers at most mostOpen requests at once, and works on mostWorking: a report is read into some megabytes.
const (
	mostOpen    = 128
	mostWorking = 4
)

// Host is a host of reports. All fields are needed but limits, Most and Pictures.
type Host struct {
	Store     Store
	Catalogue audit.Catalogue // of the mechanisms that reports may be of
	Uploads   *Minute         // POST and DELETE; nil: any
	Reads     *Minute         // all else; nil: any
	Most      core.Cost       // that a replay of an upload may have; zero: any
	Origin    func(*http.Request) string
	Who       func(*http.Request) string // the address of who asks, see [Peer]
	Now       func() time.Time
	Random    io.Reader // of tokens
	Pictures  func(report.View) ([]format.Picture, error)

	open    atomic.Int32
	once    sync.Once // [Host.begin]
	mux     *http.ServeMux
	working chan struct{}
}

func (s *Host) turn() (done func()) {
	s.working <- struct{}{}
	return func() { <-s.working }
}

// Owns reports whether a path is one of the host's.
func Owns(path string) bool {
	return path == ReportsPath || strings.HasPrefix(path, ReportsPath+"/") || strings.HasPrefix(path, ShownPath)
}

// Policies of answers: nothing runs, is loaded or sent.
const (
	closedPolicy = "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; sandbox"
	wordsPolicy  = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; sandbox allow-popups allow-popups-to-escape-sandbox allow-top-navigation-by-user-activation"
	badgePolicy  = "default-src 'none'; style-src 'unsafe-inline'; sandbox"
)

func secure(h http.Header) {
	h.Set("Content-Security-Policy", closedPolicy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Permissions-Policy", "interest-cohort=()")
	h.Set("Cache-Control", "no-store")
}

func open(h http.Header) {
	h.Set("Cross-Origin-Resource-Policy", "cross-origin")
	h.Set("Access-Control-Allow-Origin", "*")
}

func answer(w http.ResponseWriter, status int, value any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	json.NewEncoder(w).Encode(value) //nolint:errcheck // whoever asked is gone
}

// fail answers an error.
func fail(w http.ResponseWriter, err error) {
	var in *audit.InputError
	switch {
	case errors.Is(err, ErrAbsent):
		answer(w, http.StatusNotFound, refusal{Error: "There is no report at this address. It may have been deleted, or the address is incomplete: copy it again."})
	case errors.Is(err, errDamaged):
		w.Header().Set("Retry-After", "60")
		answer(w, http.StatusServiceUnavailable, refusal{Error: "The content at this address is damaged. Tell the operator of this host."})
	case errors.Is(err, ErrFull):
		answer(w, http.StatusInsufficientStorage, refusal{Error: "This host is full. Share the report as a file, and tell the operator of this host."})
	case errors.As(err, &in):
		answer(w, http.StatusUnprocessableEntity, refusal{phrase.Short(err.Error()), in.Field, in.Path, phrase.Short(in.Found), in.Want, in.Remedy})
	default:
		w.Header().Set("Retry-After", "60")
		answer(w, http.StatusServiceUnavailable, refusal{Error: "The store does not answer. Try again in a minute."})
	}
}

// Receipt is the answer to an upload.
type Receipt struct {
	ID      string `json:"id"`
	Address string `json:"address"`
	SHA256  string `json:"sha256"`          // in base58; the id is its beginning
	Token   string `json:"token,omitempty"` // to delete by; absent where it was there
}

// ServeHTTP implements [http.Handler] for the paths that [Owns] names.
func (s *Host) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	secure(w.Header())
	defer s.open.Add(-1)
	if s.open.Add(1) > mostOpen {
		w.Header().Set("Retry-After", "5")
		answer(w, http.StatusServiceUnavailable, refusal{Error: "This host is busy. Try again in a few seconds."})
		return
	}
	limit, what := s.Uploads, "uploads"
	if reading(r) {
		limit, what = s.Reads, "reads"
	}
	if limit != nil && !allowed(w, limit, what, s.Who(r), s.Now()) {
		drain(r)
		return
	}
	// A server before this one may know it by another name than visitors do.
	if err := crossOrigin.Check(r); err != nil && r.Header.Get("Origin") != s.Origin(r) {
		drain(r)
		answer(w, http.StatusForbidden, refusal{Error: "Pages of other sites cannot store or delete here."})
		return
	}
	s.once.Do(s.begin)
	if path.Clean(r.URL.Path) != r.URL.Path { // which the mux would send on
		other(w, r)
		return
	}
	s.mux.ServeHTTP(w, r)
}

var crossOrigin = http.NewCrossOriginProtection()

func reading(r *http.Request) bool { return r.Method == http.MethodGet || r.Method == http.MethodHead }

func (s *Host) begin() {
	s.working = make(chan struct{}, mostWorking)
	s.mux = http.NewServeMux()
	for pattern, handle := range map[string]http.HandlerFunc{
		"POST " + ReportsPath:                 s.post,
		"DELETE " + ReportsPath + "/{id}":     s.delete,
		"GET " + ReportsPath:                  about,
		"GET " + ReportsPath + "/{id}":        s.give,
		"GET " + ReportsPath + "/{id}/replay": s.giveReplay,
		"GET " + ShownPath + "{id}":           s.show,
		"GET " + ShownPath + "{id}/badge.svg": s.badge,
		"/":                                   other,
	} {
		s.mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
			if r.Method != http.MethodPost {
				drain(r)
			}
			if id := r.PathValue("id"); strings.Contains(pattern, "{id}") && !IsID(id) {
				fail(w, ErrAbsent)
				return
			}
			handle(w, r)
		})
	}
}

func about(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Allow", "GET, HEAD, POST")
	answer(w, http.StatusOK, map[string]any{"store": true, "most": MostBytes})
}

func other(w http.ResponseWriter, r *http.Request) {
	drain(r)
	switch {
	case reading(r):
		fail(w, ErrAbsent)
	case strings.HasPrefix(r.URL.Path, ReportsPath):
		w.Header().Set("Allow", "GET, HEAD, POST, DELETE")
		answer(w, http.StatusMethodNotAllowed, refusal{Error: "POST a report to " + ReportsPath + ", or DELETE it at its id."})
	default:
		w.Header().Set("Allow", "GET, HEAD")
		answer(w, http.StatusMethodNotAllowed, refusal{Error: "Only GET and HEAD are answered here."})
	}
}

// drain reads an unwanted body: some servers cannot answer before.
func drain(r *http.Request) {
	if r.Body != nil {
		io.Copy(io.Discard, io.LimitReader(r.Body, 2*MostBytes)) //nolint:errcheck // it is not wanted
	}
}

func (s *Host) post(w http.ResponseWriter, r *http.Request) {
	data, err := io.ReadAll(io.LimitReader(r.Body, MostBytes+1))
	if err != nil {
		err = &audit.InputError{Field: "request", Found: "cut off", Want: "a whole body", Remedy: "send it again"}
	}
	drain(r)
	defer s.turn()()
	if err == nil && len(data) > MostBytes {
		answer(w, http.StatusRequestEntityTooLarge, refusal{Error: "The report is larger than 1 MiB. Share it as a file.", Field: "report", Found: "larger than 1 MiB", Want: "at most that"})
		return
	}
	if err == nil {
		err = s.check(data)
	}
	random := make([]byte, tokenBytes)
	if err == nil {
		_, err = io.ReadFull(s.Random, random)
	}
	token, id, isNew := base64.RawURLEncoding.EncodeToString(random), "", false
	if err == nil {
		k := kept{Version: 1, Token: hashOf(token), Day: s.Now().UTC().Format(time.DateOnly)}
		id, isNew, err = keep(r.Context(), s.Store, data, k)
	}
	if err != nil {
		fail(w, err)
		return
	}
	out := Receipt{ID: id, Address: s.Origin(r) + ShownPath + id, SHA256: sumOf(data)}
	status := http.StatusOK
	if isNew {
		out.Token, status = token, http.StatusCreated
	}
	w.Header().Set("Location", out.Address)
	answer(w, status, out)
}

func (s *Host) delete(w http.ResponseWriter, r *http.Request) {
	id := r.PathValue("id")
	k, _, err := find(r.Context(), s.Store, id)
	token, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	if err == nil && (!ok || subtle.ConstantTimeCompare([]byte(hashOf(token)), []byte(k.Token)) != 1) {
		w.Header().Set("WWW-Authenticate", `Bearer realm="dpscope"`)
		answer(w, http.StatusUnauthorized, refusal{Error: "The token is not the one that was issued when this was stored."})
		return
	}
	for _, key := range []string{replayOf(id), id} { // last: the token is with the report
		if err == nil {
			err = s.Store.Delete(r.Context(), key)
		}
	}
	if err != nil {
		fail(w, err)
		return
	}
	w.WriteHeader(http.StatusNoContent)
}

func (s *Host) give(w http.ResponseWriter, r *http.Request) {
	_, data, err := find(r.Context(), s.Store, r.PathValue("id"))
	if err != nil {
		fail(w, err)
		return
	}
	kind := "application/json"
	if trimmed := bytes.TrimSpace(data); len(trimmed) > 0 && trimmed[0] != '{' { // code
		kind = "text/plain; charset=utf-8"
	}
	open(w.Header())
	write(w, r, kind, data)
}

// write answers bytes, kept for a while, not for ever: they may be deleted.
func write(w http.ResponseWriter, r *http.Request, kind string, data []byte) {
	h := w.Header()
	h.Set("Content-Type", kind)
	h.Set("Cache-Control", "public, max-age=300")
	h.Set("ETag", `"`+sumOf(data)[:20]+`"`)
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(data))
}

var forms = map[string]string{
	format.HTML:     "text/html; charset=utf-8",
	format.JSON:     "application/json",
	format.SARIF:    "application/sarif+json",
	format.JUnit:    "application/xml; charset=utf-8",
	format.Markdown: "text/markdown; charset=utf-8",
}

func (s *Host) badge(w http.ResponseWriter, r *http.Request) {
	done := s.turn()
	c, err := load(r.Context(), s.Store, r.PathValue("id"))
	done() // who reads slowly keeps nobody waiting
	if err != nil {
		fail(w, err)
		return
	}
	open(w.Header())
	w.Header().Set("Content-Security-Policy", badgePolicy)
	write(w, r, "image/svg+xml", badge(c))
}

func (s *Host) show(w http.ResponseWriter, r *http.Request) {
	id, name := r.PathValue("id"), cmp.Or(r.URL.Query().Get("format"), format.HTML)
	done := sync.OnceFunc(s.turn())
	defer done()
	c, err := load(r.Context(), s.Store, id)
	var out bytes.Buffer
	switch _, known := forms[name]; {
	case err != nil:
	case !known || c.code != nil && name != format.JSON && name != format.HTML:
		err = audit.UnknownName("format", name, []string{format.JSON, format.SARIF, format.JUnit, format.Markdown})
	case name == format.JSON && c.code == nil:
		out.Write(c.data)
	case name == format.JSON:
		err = json.NewEncoder(&out).Encode(c.code)
	case c.code != nil:
		err = codePage(&out, s.page(r, id, c), c)
	default:
		run := format.Run{Audits: c.audits, Value: c.whole}
		if c.suite != nil {
			run.Summary = c.suite.Verify(nil).Summary
		}
		if name == format.HTML {
			run.Page, run.Pictures = s.page(r, id, c), s.Pictures
		}
		err = format.Write(&out, name, run)
	}
	if err != nil {
		fail(w, err)
		return
	}
	done()
	if name == format.HTML {
		w.Header().Set("Content-Security-Policy", wordsPolicy)
	} else {
		open(w.Header())
	}
	write(w, r, forms[name], out.Bytes())
}

func (s *Host) page(r *http.Request, id string, c *content) *format.Page {
	origin := s.Origin(r)
	p := &format.Page{Address: origin + ShownPath + id, Open: origin + "/#report=" + id,
		Note: "This host checked that everything in the report follows from its counts. "}
	if replayed, err := LastReplay(r.Context(), s.Store, id); err == nil && replayed.words() != "" {
		p.Note += replayed.words() + "To check it yourself, open"
	} else {
		p.Note += "It did not draw the counts again. To do so, open"
	}
	p.Note += " the report in the instrument, or run dpscope open with this address."
	if c.code != nil {
		p.Open = origin + "/#door=code&code=" + c.link
		p.Note = "This host stores the code but never runs it. The instrument runs it only when you press Run."
	}
	p.Title, p.Description = c.words()
	for _, name := range []string{format.JSON, format.Markdown, format.SARIF, format.JUnit} {
		if c.code == nil || name == format.JSON {
			p.Forms = append(p.Forms, format.Link{Name: name, Address: p.Address + "?format=" + name})
		}
	}
	return p
}
