package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

// untilSignal is a context that ends with the first SIGINT or SIGTERM, or when the terminal
// is closed (SIGHUP; nohup has that ignored), so that a run can tell what it has. The
// second one ends the process.
//
// Before it, and where there is nothing to tell, signals are left alone: they end the
// process at once, whatever it waits for. So all input is read first.
func untilSignal() (ctx context.Context, stop context.CancelFunc) {
	ends := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) {
		ends = append(ends, syscall.SIGHUP)
	}
	ctx, stop = signal.NotifyContext(context.Background(), ends...)
	context.AfterFunc(ctx, stop)
	return ctx, stop
}
