package share

import (
	"bytes"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/core"
	"github.com/dpscope/dpscope/report"
	"github.com/dpscope/dpscope/report/format"
)

// Paths of a host.
const (
	ReportsPath = "/api/reports" // POST; below it GET and DELETE
	ShownPath   = "/r/"          // a report in words
)

// A host answers at most mostOpen requests at once, and works on at most mostWorking of
// them: a report is read into some megabytes.
const (
	mostOpen    = 128
	mostWorking = 4
)

// Host is a host of reports. All fields are needed but limits, Most and Pictures.
type Host struct {
	Store     Store
	Catalogue audit.Catalogue // of the mechanisms that reports may be of
	Uploads   Limit           // POST and DELETE of an address; nil: any
	Reads     Limit           // all else of an address; nil: any
	Most      core.Cost       // that a replay of an upload may have; zero: any
	Origin    func(*http.Request) string
	Who       func(*http.Request) string // the address of who asks, see [Peer]
	Now       func() time.Time
	Random    io.Reader // of tokens
	Pictures  func(report.View) ([]format.Picture, error)

	open    atomic.Int32
	once    sync.Once
	working chan struct{}
}

// turn waits until this request may be worked on.
func (s *Host) turn() (done func()) {
	s.once.Do(func() { s.working = make(chan struct{}, mostWorking) })
	s.working <- struct{}{}
	return func() { <-s.working }
}

// Owns reports whether a path is one of the host's, and not one of the page's files.
func Owns(path string) bool {
	return path == ReportsPath || strings.HasPrefix(path, ReportsPath+"/") || strings.HasPrefix(path, ShownPath)
}

// Policies of answers: nothing runs, nothing is loaded, nothing is sent. A page in words
// has its style in itself.
const (
	closedPolicy = "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; sandbox"
	wordsPolicy  = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; sandbox allow-popups allow-popups-to-escape-sandbox allow-top-navigation-by-user-activation"
	badgePolicy  = "default-src 'none'; style-src 'unsafe-inline'; sandbox"
)

// secure sets the headers that every answer has.
func secure(h http.Header) {
	h.Set("Content-Security-Policy", closedPolicy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Permissions-Policy", "interest-cohort=()")
	h.Set("Cache-Control", "no-store")
}

// open lets other sites show an answer.
func open(h http.Header) {
	h.Set("Cross-Origin-Resource-Policy", "cross-origin")
	h.Set("Access-Control-Allow-Origin", "*")
}

func answer(w http.ResponseWriter, status int, value any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	json.NewEncoder(w).Encode(value) //nolint:errcheck // whoever asked is gone
}

// fail answers an error: of the input with what was found, of the store without.
func fail(w http.ResponseWriter, err error) {
	var in *audit.InputError
	switch {
	case errors.Is(err, ErrAbsent):
		answer(w, http.StatusNotFound, refusal{Error: "There is no report at this address. It may have been deleted, or the address is cut short: copy it again."})
	case errors.Is(err, errDamaged):
		w.Header().Set("Retry-After", "60")
		answer(w, http.StatusServiceUnavailable, refusal{Error: "What is kept at this address is not what was stored. Tell whoever runs this host."})
	case errors.Is(err, ErrFull):
		answer(w, http.StatusInsufficientStorage, refusal{Error: "This host is full. Share the report as a file, and tell whoever runs this host."})
	case errors.As(err, &in):
		answer(w, http.StatusUnprocessableEntity, refusalOf(err))
	default:
		w.Header().Set("Retry-After", "60")
		answer(w, http.StatusServiceUnavailable, refusal{Error: "The store does not answer. Try again in a minute."})
	}
}

// stored is the answer to an upload.
type stored struct {
	ID      string `json:"id"`
	Address string `json:"address"`
	SHA256  string `json:"sha256"`          // in base58, of which the id is the beginning
	Token   string `json:"token,omitempty"` // to delete by; absent where it was there already
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
	reading := r.Method == http.MethodGet || r.Method == http.MethodHead
	limit, what := s.Uploads, "uploads"
	if reading {
		limit, what = s.Reads, "reads"
	}
	if limit != nil && !allowed(w, limit, what, s.Who(r), s.Now()) {
		drain(r)
		return
	}
	if below, ok := strings.CutPrefix(r.URL.Path, ReportsPath); ok && !reading {
		s.change(w, r, below)
		return
	}
	drain(r)
	if !reading {
		w.Header().Set("Allow", "GET, HEAD")
		answer(w, http.StatusMethodNotAllowed, refusal{Error: "Only GET and HEAD are answered here."})
		return
	}
	switch path := r.URL.Path; {
	case path == ReportsPath:
		w.Header().Set("Allow", "GET, HEAD, POST")
		answer(w, http.StatusOK, map[string]any{"store": true, "most": MostBytes})
	case strings.HasPrefix(path, ReportsPath+"/"):
		s.give(w, r, strings.TrimPrefix(path, ReportsPath+"/"))
	case strings.HasPrefix(path, ShownPath):
		s.show(w, r, strings.TrimPrefix(path, ShownPath))
	default:
		fail(w, ErrAbsent)
	}
}

// drain reads a body that nobody wants, within reason: some servers cannot answer before
// it was read to its end.
func drain(r *http.Request) {
	if r.Body != nil {
		io.Copy(io.Discard, io.LimitReader(r.Body, 2*MostBytes)) //nolint:errcheck // it is not wanted
	}
}

// body is that of a request, to its end.
func body(r *http.Request, most int) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(r.Body, int64(most)+1))
	if err != nil {
		return nil, &audit.InputError{Field: "request", Found: "cut off", Want: "a whole body", Remedy: "send it again"}
	}
	drain(r)
	return data, nil
}

// change answers what is not reading.
func (s *Host) change(w http.ResponseWriter, r *http.Request, below string) {
	// A form of another site can send a body, but not with this header's name or type.
	if site := r.Header.Get("Sec-Fetch-Site"); site != "" && site != "same-origin" && site != "none" {
		drain(r)
		answer(w, http.StatusForbidden, refusal{Error: "Pages of other sites cannot store or delete here."})
		return
	}
	switch {
	case below == "" && r.Method == http.MethodPost:
		s.post(w, r)
	case strings.HasPrefix(below, "/") && r.Method == http.MethodDelete:
		drain(r)
		s.delete(w, r, below[1:])
	default:
		drain(r)
		w.Header().Set("Allow", "GET, HEAD, POST, DELETE")
		answer(w, http.StatusMethodNotAllowed, refusal{Error: "POST a report to " + ReportsPath + ", or DELETE it at its id."})
	}
}

func (s *Host) post(w http.ResponseWriter, r *http.Request) {
	data, err := body(r, MostBytes)
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
	if err != nil {
		fail(w, err)
		return
	}
	token := tokenOf(random)
	id, isNew, err := keep(r.Context(), s.Store, data, kept{Version: 1, Token: hashOf(token), Day: s.Now().UTC().Format(time.DateOnly)})
	if err != nil {
		fail(w, err)
		return
	}
	out := stored{ID: id, Address: s.Origin(r) + ShownPath + id, SHA256: sumOf(data)}
	status := http.StatusOK
	if isNew {
		out.Token, status = token, http.StatusCreated
	}
	w.Header().Set("Location", out.Address)
	answer(w, status, out)
}

// owner checks the token of a request against that of an id.
func (s *Host) owner(w http.ResponseWriter, r *http.Request, id string) bool {
	if !IsID(id) {
		fail(w, ErrAbsent)
		return false
	}
	k, _, err := find(r.Context(), s.Store, id)
	if err != nil {
		fail(w, err)
		return false
	}
	token, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	if !ok || subtle.ConstantTimeCompare([]byte(hashOf(token)), []byte(k.Token)) != 1 {
		w.Header().Set("WWW-Authenticate", `Bearer realm="dpscope"`)
		answer(w, http.StatusUnauthorized, refusal{Error: "The token is not the one that was given when this was stored."})
		return false
	}
	return true
}

func (s *Host) delete(w http.ResponseWriter, r *http.Request, id string) {
	if !s.owner(w, r, id) {
		return
	}
	var err error
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

// give answers the content of an id as it was stored, or what came of replaying it.
func (s *Host) give(w http.ResponseWriter, r *http.Request, below string) {
	id, replay := strings.CutSuffix(below, "/replay")
	if !IsID(id) {
		fail(w, ErrAbsent)
		return
	}
	if replay {
		last, err := LastReplay(r.Context(), s.Store, id)
		s.giveReplay(w, r, last, err)
		return
	}
	_, data, err := find(r.Context(), s.Store, id)
	if err != nil {
		fail(w, err)
		return
	}
	kind := "application/json"
	if isCode(data) {
		kind = "text/plain; charset=utf-8"
	}
	open(w.Header())
	s.write(w, r, kind, data)
}

func isCode(data []byte) bool {
	trimmed := bytes.TrimSpace(data)
	return len(trimmed) > 0 && trimmed[0] != '{'
}

// write answers bytes. What has an id may be kept for a while, and not for ever: it may
// be deleted.
func (s *Host) write(w http.ResponseWriter, r *http.Request, kind string, data []byte) {
	h := w.Header()
	h.Set("Content-Type", kind)
	h.Set("Cache-Control", "public, max-age=300")
	tag := `"` + sumOf(data)[:20] + `"`
	h.Set("ETag", tag)
	if r.Header.Get("If-None-Match") == tag {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	h.Set("Content-Length", fmt.Sprint(len(data)))
	if r.Method != http.MethodHead {
		w.Write(data) //nolint:errcheck // whoever asked is gone
	}
}

// forms are the formats that a report is answered in, with their types.
var forms = map[string]string{
	format.JSON:     "application/json",
	format.SARIF:    "application/sarif+json",
	format.JUnit:    "application/xml; charset=utf-8",
	format.Markdown: "text/markdown; charset=utf-8",
}

func (s *Host) show(w http.ResponseWriter, r *http.Request, below string) {
	id, part, _ := strings.Cut(below, "/")
	if !IsID(id) || part == "" && strings.Contains(below, "/") {
		fail(w, ErrAbsent)
		return
	}
	var out bytes.Buffer
	done := sync.OnceFunc(s.turn())
	defer done()
	c, err := load(r.Context(), s.Store, id)
	if err != nil {
		fail(w, err)
		return
	}
	switch part {
	case "":
	case "badge.svg":
		open(w.Header())
		w.Header().Set("Content-Security-Policy", badgePolicy)
		s.write(w, r, "image/svg+xml", badge(c))
		return
	default:
		fail(w, ErrAbsent)
		return
	}
	if name := r.URL.Query().Get("format"); name != "" && name != format.HTML {
		s.showAs(w, r, c, name, done)
		return
	}
	page := s.page(r, id, c)
	if c.code != nil {
		err = codePage(&out, page, c)
	} else {
		run := c.run()
		run.Page, run.Pictures = page, s.Pictures
		err = format.Write(&out, format.HTML, run)
	}
	if err != nil {
		fail(w, err)
		return
	}
	done() // whoever reads slowly keeps nobody waiting
	w.Header().Set("Content-Security-Policy", wordsPolicy)
	s.write(w, r, "text/html; charset=utf-8", out.Bytes())
}

func (s *Host) showAs(w http.ResponseWriter, r *http.Request, c *content, name string, done func()) {
	kind, known := forms[name]
	if !known || c.code != nil && name != format.JSON {
		fail(w, audit.UnknownName("format", name, []string{format.JSON, format.SARIF, format.JUnit, format.Markdown}))
		return
	}
	open(w.Header())
	if name == format.JSON && c.code == nil {
		done()
		s.write(w, r, kind, c.data)
		return
	}
	var out bytes.Buffer
	var err error
	if c.code != nil {
		err = json.NewEncoder(&out).Encode(c.code)
	} else {
		run := c.run()
		run.Value = nil
		err = format.Write(&out, name, run)
	}
	if err != nil {
		fail(w, err)
		return
	}
	done()
	s.write(w, r, kind, out.Bytes())
}

// page is what the page of an id says of itself.
func (s *Host) page(r *http.Request, id string, c *content) *format.Page {
	origin := s.Origin(r)
	p := &format.Page{Address: origin + ShownPath + id, Open: origin + "/#report=" + id,
		Note: "This host checked that everything the report says follows from the counts in it. "}
	if replayed, err := LastReplay(r.Context(), s.Store, id); err == nil && replayed.words() != "" {
		p.Note += replayed.words() + "Do not take this host’s word for it: open"
	} else {
		p.Note += "It did not draw them again: open"
	}
	p.Note += " the report in the instrument, or run dpscope open with this address, to see that they come out."
	if c.code != nil {
		p.Open = origin + "/#door=code&code=" + c.link
		p.Note = "This host keeps the code and runs none of it. Nothing of it runs in the instrument until you press Run."
	}
	p.Title, p.Description = c.words()
	for _, name := range []string{format.JSON, format.Markdown, format.SARIF, format.JUnit} {
		if c.code == nil || name == format.JSON {
			p.Forms = append(p.Forms, format.Link{Name: name, Address: p.Address + "?format=" + name})
		}
	}
	return p
}
