package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

// untilSignal is a context that ends with the first SIGINT or SIGTERM, so that a run
// can tell what it has. The second one ends the process.
//
// Before it, and where there is nothing to tell, signals are left alone: they end the
// process at once, whatever it waits for. So all input is read first.
func untilSignal() (ctx context.Context, stop context.CancelFunc) {
	ctx, stop = signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop)
	return ctx, stop
}
