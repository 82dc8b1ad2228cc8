package main

import (
	"encoding/json"
	"errors"
	"io"

	"github.com/dpscope/dpscope/audit"
)

// message is between page, coordinator and task workers. Fields that its Type does not need are zero.
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

// userFile is a file of the user's, read where it lies.
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

// port is one end of a channel.
type port interface {
	post(message)
	// listen has handle called for each message in order, one at a time, those that came before included.
	// handle must not wait for another message.
	listen(handle func(message))
	close() // frees what listen holds
}

// refusal is an error. What is of the user's input, with a path always, and Fault, which is it without
// where it came up, are empty for others.
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

// remoteError came back from a task worker.
type remoteError struct{ refusal }

func (e remoteError) Error() string { return e.Message }

// Unwrap keeps it one about the user's input.
func (e remoteError) Unwrap() error {
	if e.Field == "" {
		return nil
	}
	return &e.InputError
}

// mustJSON is for values that always have a JSON form.
func mustJSON(v any) string {
	data, err := json.Marshal(v)
	if err != nil {
		panic("worker: an answer has no JSON form: " + err.Error())
	}
	return string(data)
}
