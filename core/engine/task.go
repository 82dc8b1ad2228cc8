package engine

import (
	"encoding/json"
	"fmt"
	"runtime"
	"strings"

	"github.com/dpscope/dpscope/audit"
)

// TaskVersion is the version of a task's JSON form.
const TaskVersion = 2

// Task is a piece of an audit, with all that executing it needs. Elsewhere it goes as JSON: [Codec].
type Task interface {
	// Kind names the kind of audit and the step: tasks of one kind are of one type.
	Kind() string
	// Name is what messages call this task.
	Name() string
	// Run is a pure function of the task, and returns a pointer to its result. tell hears pointers to
	// parts of the result. Neither argument is nil.
	Run(hook Hook, tell func(part any)) (any, error)
}

// Hook is called between blocks of work, a few milliseconds apart, with the outputs drawn since the last
// call. Its error stops the execution, which returns it.
type Hook func(rows int) error

// Execute runs one task; hook and tell may be nil. A panic of a mechanism or a learner becomes an error.
func Execute(t Task, hook Hook, tell func(part any)) (res any, err error) {
	defer func() {
		if p := recover(); p != nil {
			res, err = nil, fmt.Errorf("%s panicked: %v (%s)", t.Name(), p, panicPlace())
		}
	}()
	if hook == nil {
		hook = func(int) error { return nil }
	}
	if tell == nil {
		tell = func(any) {}
	}
	return t.Run(hook, tell)
}

// Result is [Execute] for a task whose result is known to be an R.
func Result[R any](t Task, hook Hook) (*R, error) {
	res, err := Execute(t, hook, nil)
	if err != nil {
		return nil, err
	}
	return res.(*R), nil
}

type taskForm struct {
	Version int             `json:"version"`
	Kind    string          `json:"kind"`
	Task    json.RawMessage `json:"task"`
}

// EncodeTask writes a task for [Codecs.Task] elsewhere.
func EncodeTask(t Task) ([]byte, error) {
	task, err := json.Marshal(t)
	if err != nil {
		return nil, err
	}
	return json.Marshal(taskForm{TaskVersion, t.Kind(), task})
}

// Codec reads the tasks of one kind, and their results.
type Codec struct {
	kind   string
	task   func(data []byte) (Task, error)
	result func(data []byte) (any, error)
}

// NewCodec is the codec of the tasks T, whose results are R. bind gives a task what its JSON names only.
func NewCodec[T Task, R any](bind func(*T) error) Codec {
	var none T
	kind := none.Kind()
	return Codec{
		kind: kind,
		task: func(data []byte) (Task, error) {
			var t T
			err := audit.DecodeStrict(data, "task "+kind, &t)
			if err == nil {
				err = bind(&t)
			}
			return t, err
		},
		result: func(data []byte) (any, error) {
			r := new(R)
			return r, audit.DecodeStrict(data, "result of "+kind, r)
		},
	}
}

// Codecs read and write tasks and their results, by kind.
type Codecs []Codec

func (c Codecs) find(kind string) (Codec, error) {
	return audit.Find("task: field kind", kind, c, func(x Codec) string { return x.kind })
}

// Task reads what [EncodeTask] wrote; unknown fields are refused.
func (c Codecs) Task(data []byte) (Task, error) {
	var form taskForm
	if err := audit.DecodeStrict(data, "task", &form); err != nil {
		return nil, err
	}
	x, unknown := c.find(form.Kind)
	version := audit.Require(form.Version == TaskVersion, "task: field version", form.Version, "%d", TaskVersion)
	if err := audit.First(version, unknown); err != nil {
		return nil, err
	}
	return x.task(form.Task)
}

// Result reads what executing the task elsewhere returned.
func (c Codecs) Result(t Task, data []byte) (any, error) {
	x, err := c.find(t.Kind())
	if err != nil {
		return nil, err
	}
	return x.result(data)
}

// panicPlace is where a panic began, below where it was recovered and handed on.
func panicPlace() string {
	var pcs [32]uintptr
	frames := runtime.CallersFrames(pcs[:runtime.Callers(2, pcs[:])])
	place := "at an unknown place"
	for panicked, more := false, true; more; {
		var f runtime.Frame
		f, more = frames.Next()
		if f.Function == "runtime.gopanic" {
			panicked = true
		} else if panicked && !strings.HasPrefix(f.Function, "runtime.") && f.Function != "" {
			place = fmt.Sprintf("%s, %s:%d", f.Function, f.File[strings.LastIndexByte(f.File, '/')+1:], f.Line)
			panicked = false
		}
	}
	return place
}
