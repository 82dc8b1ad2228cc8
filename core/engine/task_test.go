package engine

import (
	"errors"
	"strings"
	"testing"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/internal/must"
)

// sum is a task that adds numbers up.
type sum struct {
	Numbers []int `json:"numbers"`
}

func (sum) Kind() string { return "test/sum" }
func (sum) Name() string { return "the sum" }

type total struct {
	Total int `json:"total"`
}

func (t sum) Run(hook Hook, _ func(any)) (any, error) {
	out := &total{}
	for _, x := range t.Numbers {
		if err := hook(1); err != nil {
			return nil, err
		}
		if x == 13 {
			defer func() { panic(recover()) }() // handed on, as learners do
			panic("unlucky")
		}
		out.Total += x
	}
	return out, nil
}

var known = Codecs{NewCodec[sum, total](func(t *sum) error {
	if t.Numbers == nil {
		return errors.New("no numbers")
	}
	return nil
})}

// A task that went through JSON gives the same result, which goes through JSON too.
func TestTasksTravel(t *testing.T) {
	data := must.Get(EncodeTask(sum{[]int{1, 2, 3}}))(t)
	task := must.Get(known.Task(data))(t)
	res, err := Result[total](task, nil)
	if err != nil || res.Total != 6 {
		t.Errorf("%+v, %v", res, err)
	}
	back, err := known.Result(task, []byte(`{"total":6}`))
	if err != nil || *back.(*total) != *res {
		t.Errorf("%+v, %v", back, err)
	}
}

// Tasks and results come from another process and may be anything.
func TestTasksRefused(t *testing.T) {
	for text, says := range map[string]string{
		`{"version":9,"kind":"test/sum","task":{}}`:              "version is 9, must be 2",
		`{"version":1,"kind":"test/sum","task":{"numbers":[1]}}`: "version is 1, must be 2",
		`{"version":2,"kind":"test/som","task":{}}`:              `did you mean "test/sum"`,
		`{"version":2,"kind":"test/sum","task":{"nombers":[1]}}`: `"nombers"`,
		`{"version":2,"kind":"test/sum","work":{}}`:              `"work"`,
		`{"version":2,"kind":"test/sum"}`:                        "empty",
		`{"version":2,"kind":"test/sum","task":{}}`:              "no numbers",
		``: "empty",
	} {
		if _, err := known.Task([]byte(text)); err == nil || says != "no numbers" && !audit.IsInput(err) || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v, want %q", text, err, says)
		}
	}
	must.Refuse(t, must.Err(known.Result(sum{}, []byte(`{"totel":6}`))), `"totel"`)
	stop := errors.New("stop")
	if _, err := Execute(sum{[]int{1}}, func(int) error { return stop }, nil); !errors.Is(err, stop) {
		t.Errorf("the hook's error: %v", err)
	}
	must.Refuse(t, must.Err(Execute(sum{[]int{13}}, nil, nil)), "the sum panicked: unlucky (github.com/dpscope/dpscope/core/engine.sum.Run, task_test.go:", "a panic")
}
