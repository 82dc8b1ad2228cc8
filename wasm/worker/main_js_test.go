package main

import (
	"syscall/js"
	"testing"
)

// TestStrangeMessages: a message that syscall/js panics at is an empty one.
func TestStrangeMessages(t *testing.T) {
	for text, want := range map[string]message{
		`({type: "start", id: 3})`:       {Type: "start", ID: 3},
		`({type: "start", id: "3"})`:     {Type: "start"},
		`({type: "start", id: 1n})`:      {},
		`({type: 1n})`:                   {},
		`({type: "start", files: {}})`:   {Type: "start"},
		`({type: "start", files: [1n]})`: {},
		`1n`:                             {},
		`null`:                           {},
	} {
		got := fromJS(js.Global().Call("eval", text))
		if got.Type != want.Type || got.ID != want.ID || got.Files != nil {
			t.Errorf("%s: %+v", text, got)
		}
	}
}
