package host

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"
)

// Outcomes of a replay by a host.
const (
	Same      = "same"      // every output was drawn again, and all is as the report says
	Different = "different" // it is not
	Derived   = "derived"   // nothing could be drawn again; all follows from the report's counts
	Cannot    = "cannot"    // neither: it needs something of whoever made it, or more memory or time than the host has
)

// Replayed is what came of a report that a host replayed.
type Replayed struct {
	Outcome string `json:"outcome"`
	Says    string `json:"says,omitempty"` // the first difference, or why it cannot
	Day     string `json:"day"`
	Version string `json:"version,omitempty"` // of the program that replayed it
}

func replayOf(id string) string { return id + ".replay" }

// LastReplay may be [ErrAbsent].
func LastReplay(ctx context.Context, s Store, id string) (r Replayed, err error) {
	text, err := s.Get(ctx, replayOf(id))
	if err == nil {
		err = json.Unmarshal(text, &r)
	}
	return r, err
}

// KeepReplay publishes what came of a replay, unless the report was deleted meanwhile.
func KeepReplay(ctx context.Context, s Store, id string, r Replayed) error {
	if _, _, err := find(ctx, s, id); err != nil {
		return err
	}
	text, err := json.Marshal(r)
	if err != nil {
		return err
	}
	return s.Replace(ctx, replayOf(id), text)
}

// DropReplay forgets what came of a replay.
func DropReplay(ctx context.Context, s Store, id string) error { return s.Delete(ctx, replayOf(id)) }

// Stored is the JSON of the report with an id; ErrAbsent where there is none.
func Stored(ctx context.Context, s Store, id string) ([]byte, error) {
	_, data, err := find(ctx, s, id)
	return data, err
}

func (s *Host) giveReplay(w http.ResponseWriter, r *http.Request) {
	last, err := LastReplay(r.Context(), s.Store, r.PathValue("id"))
	text, _ := json.Marshal(last)
	switch {
	case errors.Is(err, ErrAbsent):
		answer(w, http.StatusNotFound, refusal{Error: "This host has not replayed it yet."})
	case err != nil:
		fail(w, err)
	default:
		open(w.Header())
		write(w, r, "application/json", text)
	}
}

func (r Replayed) words() string {
	if _, err := time.Parse(time.DateOnly, r.Day); err != nil {
		return "" // not this program's
	}
	switch by := fmt.Sprintf("On %s, version %s", r.Day, r.Version); r.Outcome {
	case Same:
		return by + " drew every output again on this host, with the same counts, bounds and verdict. "
	case Different:
		return by + " drew every output again on this host, and the result differs: " + r.Says + ". Do not rely on this report. "
	case Derived:
		return by + " checked on this host that everything in the report follows from its counts. Only its author can draw the counts again. "
	case Cannot:
		return by + " could not replay it on this host: " + r.Says + ". "
	}
	return ""
}
