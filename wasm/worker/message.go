package main

import (
	"encoding/json"
	"errors"
	"io"

	"github.com/dpscope/dpscope/audit"
)

// message is one between page, coordinator and task workers. Which fields count depends on Type;
// the others are zero. Their types in TypeScript are in site/worker/protocol.d.ts.
type message struct {
	Type   string
	ID     int    // of the request, or of the task
	JSON   string // the value that the message carries
	Worker int    // number of a task worker
	Rows   int    // outputs drawn since the last message
	Reason string
	Port   port // attach, serve
	Files  []userFile
}

// userFile is a file of the user's, whose bytes are read where they lie.
type userFile struct {
	io.ReaderAt
	name string
	size int64
}

const (
	// Page to coordinator, beside the calls.
	msgStop   = "stop"
	msgAttach = "attach"
	msgDetach = "detach"
	msgLost   = "lost"
	// Coordinator to page.
	msgReady    = "ready"
	msgProgress = "progress"
	msgAnswer   = "answer"
	msgRefused  = "refused"
	msgReplace  = "replace"
	// Page to task worker.
	msgServe = "serve"
	// Coordinator to task worker.
	msgTask   = "task"
	msgCancel = "cancel"
	// Task worker to coordinator.
	msgRows   = "rows"
	msgPart   = "part"
	msgDone   = "done"
	msgFailed = "failed"
)

// port is one end of a channel, whose messages arrive in the order of their posting.
type port interface {
	post(message)
	// listen has handle called for each message, one at a time, those that
	// came before included. handle must not wait for another message.
	listen(handle func(message))
	// close ends the channel and frees what listen holds.
	close()
}

// refusal is an error as a JSON value. That about the user's input, with a path always, and
// Fault, which is it without where it came up, are empty for other errors.
type refusal struct {
	Message string `json:"message"`
	audit.InputError
	Fault string `json:"fault"`
}

func refusalOf(err error) refusal {
	r := refusal{Message: err.Error()}
	var in *audit.InputError
	if errors.As(err, &in) {
		r.InputError, r.Fault = *in, in.Error()
		r.Path = in.Place()
	}
	return r
}

// remoteError is a refusal that came back from a task worker.
type remoteError struct{ refusal }

func (e remoteError) Error() string { return e.Message }

// Unwrap keeps the error one about the user's input, where it was one.
func (e remoteError) Unwrap() error {
	if e.Field == "" {
		return nil
	}
	return &e.InputError
}

// mustJSON is for values that are built here and always have a JSON form.
func mustJSON(v any) string {
	data, err := json.Marshal(v)
	if err != nil {
		panic("worker: an answer has no JSON form: " + err.Error())
	}
	return string(data)
}
