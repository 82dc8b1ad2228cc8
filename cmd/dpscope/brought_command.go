package main

import (
	"context"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/mechanisms/user/command"
)

func openCommand(ctx context.Context, f *outsideFlags, o opening) (outsider, error) {
	if f.timeout <= 0 {
		return nil, &audit.InputError{Field: "-exec-timeout", Found: f.timeout.String(), Want: "above 0", Remedy: "for example 90s"}
	}
	return command.Open(ctx, command.Options{Command: f.Brought.Exec, Space: o.space, Pair: o.pair, Kinds: o.kinds, NonFinite: o.nonFinite, Columns: o.columns, Timeout: f.timeout})
}
