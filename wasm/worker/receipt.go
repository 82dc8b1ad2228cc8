package main

import (
	"crypto/rand"
	"encoding/hex"
	"fmt"

	"golang.org/x/mod/sumdb/tlog"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/core"
	"github.com/dpscope/dpscope/core/pair"
	"github.com/dpscope/dpscope/receipt"
)

// committed is an audit to be registered with a log before it runs.
type committed struct {
	Commitment string `json:"commitment"` // what the log gets
	Salt       string `json:"salt"`       // this and the subjects stay with whoever registers
	Subjects   string `json:"subjects"`   // their JSON, whose numbers keep their digits
}

// commit hashes a plan, as the report of its run will hold it, under a fresh salt.
func (c *coordinator) commit(m message) (message, error) {
	plan, err := pair.ParsePlan([]byte(m.JSON))
	if err != nil {
		return message{}, err
	}
	kind, resolved, files, err := core.Registered(plan, core.Given{Catalogue: c.known()})
	if err != nil {
		return message{}, err
	}
	salt := make([]byte, receipt.SaltBytes)
	rand.Read(salt)
	subjects := []receipt.Subject{{Kind: kind, Plan: resolved, Files: files}}
	sum, err := receipt.Commit(subjects, salt)
	if err != nil {
		return message{}, err
	}
	return message{Type: msgCommitted, JSON: mustJSON(committed{sum, hex.EncodeToString(salt), mustJSON(subjects)})}, nil
}

// receiptRequest is a receipt to be held against a report, or one that was just given out
// against what was seen of its log before.
type receiptRequest struct {
	Receipt string   `json:"receipt"`          // its text
	Report  string   `json:"report,omitempty"` // its text; empty: the run is still to come
	Seen    string   `json:"seen,omitempty"`   // the last head that was seen of the log, signed
	Growth  []string `json:"growth,omitempty"` // proof that the log goes on from there
}

// receiptHolds says what a receipt that holds shows. One that does not is refused.
type receiptHolds struct {
	Says   string `json:"says"`
	Limits string `json:"limits"` // what it does not prove
	Key    string `json:"key"`    // of the log
	Head   string `json:"head"`   // signed
}

// holds checks a receipt, without the log.
func holds(m message) (message, error) {
	var req receiptRequest
	if err := audit.DecodeStrict([]byte(m.JSON), "receipt", &req); err != nil {
		return message{}, err
	}
	r, err := receipt.Parse([]byte(req.Receipt))
	if err != nil {
		return message{}, err
	}
	var h receipt.Head
	if req.Report != "" {
		h, err = r.Check([]byte(req.Report), "")
	} else {
		h, err = r.CheckAlone("")
	}
	if err != nil {
		return message{}, err
	}
	if req.Seen != "" {
		before, err := receipt.OpenHead(req.Seen, r.Key)
		if err == nil {
			proof := make([]tlog.Hash, len(req.Growth))
			for i, text := range req.Growth {
				proof[i], err = tlog.ParseHash(text)
				if err != nil {
					return message{}, &audit.InputError{Field: "growth of the log", Found: text, Want: "hashes in base64"}
				}
			}
			err = receipt.CheckGrowth(before, h, proof)
		}
		if err != nil {
			return message{}, err
		}
	}
	says := fmt.Sprintf("%s has this plan as entry %d of %d, since %s.", h.Origin, r.Index, h.Size, r.Entry.Time)
	return message{Type: msgHolds, JSON: mustJSON(receiptHolds{says, receipt.Limits, r.Key, h.Signed})}, nil
}
