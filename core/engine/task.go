package engine

import (
	"encoding/json"
	"fmt"
	"runtime"
	"slices"
	"strings"

	"github.com/dpscope/dpscope/audit"
)

// TaskVersion is the version of a task's JSON form.
const TaskVersion = 2

// Task is a piece of an audit: a value that JSON can hold.
type Task interface {
	// Kind names the [Executor] of such tasks: the kind of audit and the step.
	Kind() string
	// Name is what messages call this task.
	Name() string
}

// Unwatched marks a task whose execution draws nothing and never calls its hook.
// When a run ends first, it is left to itself.
type Unwatched interface{ Unwatched() }

// Telling is a task whose execution tells of parts of its result before the whole is
// there. Telling is the task with what they are told to; parts are pointers to values of
// the result's type.
type Telling interface {
	Task
	Telling(tell func(part any)) Task
}

// taskForm is the JSON form of a task.
type taskForm struct {
	Version int             `json:"version"`
	Kind    string          `json:"kind"`
	Task    json.RawMessage `json:"task"`
}

// EncodeTask writes a task for a worker elsewhere, which reads it by
// [Executors.DecodeTask].
func EncodeTask(t Task) ([]byte, error) {
	task, err := json.Marshal(t)
	if err != nil {
		return nil, err
	}
	return json.Marshal(taskForm{TaskVersion, t.Kind(), task})
}

// Hook is called between blocks of work, a few milliseconds apart, with the number
// of outputs drawn since the last call. When it returns an error, the execution
// stops and returns that error.
type Hook func(rows int) error

// Executor executes the tasks of one kind.
type Executor struct {
	kind    string
	decode  func(data []byte) (Task, error)
	execute func(t Task, hook Hook) (any, error)
	result  func(data []byte) (any, error)
}

// NewExecutor is the executor of the tasks T, whose results are R. execute is a pure
// function of its task; its hook is never nil.
func NewExecutor[T Task, R any](execute func(t T, hook Hook) (*R, error)) Executor {
	var none T
	kind := none.Kind()
	return Executor{
		kind: kind,
		decode: func(data []byte) (Task, error) {
			var t T
			err := audit.DecodeStrict(data, "task "+kind, &t)
			return t, err
		},
		execute: func(t Task, hook Hook) (any, error) {
			r, err := execute(t.(T), hook)
			if err != nil {
				return nil, err
			}
			return r, nil
		},
		result: func(data []byte) (any, error) {
			r := new(R)
			return r, audit.DecodeStrict(data, "result of "+kind, r)
		},
	}
}

// Executors are those of all tasks that a worker knows.
type Executors []Executor

// find returns the executor of a kind of task.
func (e Executors) find(kind string) (Executor, error) {
	i := slices.IndexFunc(e, func(x Executor) bool { return x.kind == kind })
	if i >= 0 {
		return e[i], nil
	}
	names := make([]string, len(e))
	for k, x := range e {
		names[k] = x.kind
	}
	return Executor{}, audit.UnknownName("task: field kind", kind, names)
}

// DecodeTask reads what [EncodeTask] wrote; unknown fields are refused.
func (e Executors) DecodeTask(data []byte) (Task, error) {
	var form taskForm
	if err := audit.DecodeStrict(data, "task", &form); err != nil {
		return nil, err
	}
	if form.Version != TaskVersion {
		return nil, &audit.InputError{Field: "task: field version", Found: fmt.Sprint(form.Version), Want: fmt.Sprint(TaskVersion)}
	}
	x, err := e.find(form.Kind)
	if err != nil {
		return nil, err
	}
	return x.decode(form.Task)
}

// DecodeResult reads the JSON of what executing the task returned elsewhere.
func (e Executors) DecodeResult(t Task, data []byte) (any, error) {
	x, err := e.find(t.Kind())
	if err != nil {
		return nil, err
	}
	return x.result(data)
}

// ExecuteTelling is [Executors.Execute] that tells of parts of the result, of tasks that
// have any.
func (e Executors) ExecuteTelling(t Task, hook Hook, tell func(part any)) (any, error) {
	if t, ok := t.(Telling); ok {
		return e.Execute(t.Telling(tell), hook)
	}
	return e.Execute(t, hook)
}

// Execute runs one task and returns a pointer to its result; hook may be nil. A panic
// of a mechanism or a learner is returned as an error.
func (e Executors) Execute(t Task, hook Hook) (res any, err error) {
	defer func() {
		if p := recover(); p != nil {
			res, err = nil, fmt.Errorf("%s panicked: %v (%s)", t.Name(), p, panicPlace())
		}
	}()
	x, err := e.find(t.Kind())
	if err != nil {
		return nil, err
	}
	if hook == nil {
		hook = func(int) error { return nil }
	}
	return x.execute(t, hook)
}

// Execute is [Executors.Execute] for a task whose result is known to be an R.
func Execute[R any](e Executors, t Task, hook Hook) (*R, error) {
	res, err := e.Execute(t, hook)
	if err != nil {
		return nil, err
	}
	return res.(*R), nil
}

// panicPlace says where the panic came from that is being recovered: the first
// frame that is not the runtime's.
func panicPlace() string {
	var pcs [32]uintptr
	frames := runtime.CallersFrames(pcs[:runtime.Callers(3, pcs[:])])
	for {
		f, more := frames.Next()
		if !strings.HasPrefix(f.Function, "runtime.") && f.Function != "" {
			return fmt.Sprintf("%s, %s:%d", f.Function, f.File[strings.LastIndexByte(f.File, '/')+1:], f.Line)
		}
		if !more {
			return "at an unknown place"
		}
	}
}
