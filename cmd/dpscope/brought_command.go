package main

import (
	"context"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/internal/cli"
	"github.com/dpscope/dpscope/mechanisms/user/command"
)

func (f *broughtFlags) registerCommand(s *cli.Flags) {
	s.StringVar(&f.exec, "exec", "", "`command` that runs a mechanism of yours: a program, in any language, that reads a JSON request a line and writes its outputs as a JSON line (docs/command.md). Quotes are read as in a shell, but no shell runs")
	s.DurationVar(&f.timeout, "exec-timeout", command.DefaultTimeout, "how long -exec may take for one request, of up to 4096 outputs")
}

func openCommand(ctx context.Context, f *broughtFlags, o opening) (outsider, error) {
	if f.timeout <= 0 {
		return nil, &audit.InputError{Field: "-exec-timeout", Found: f.timeout.String(), Want: "above 0", Remedy: "for example 90s"}
	}
	return command.Open(ctx, command.Options{Command: f.exec, Space: o.space, Pair: o.pair, Kinds: o.kinds, NonFinite: o.nonFinite, Columns: o.columns, Timeout: f.timeout})
}
