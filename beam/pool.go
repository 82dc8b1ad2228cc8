package main

import (
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"sync"

	fnpb "github.com/apache/beam/sdks/v2/go/pkg/beam/model/fnexecution_v1"
	"google.golang.org/grpc"
)

// workerPool starts workers as processes of this program, and says when one dies: for one in Beam's own pool prism
// waits for ever.
type workerPool struct {
	fnpb.UnimplementedBeamFnExternalWorkerPoolServer

	ctx     context.Context // of all workers
	died    func(error)
	workers sync.Map // what ends each, by the runner's name
}

// parented, in the environment of a worker, says that it ends with its standard input, which this process holds.
const parented = "DPSCOPE_BEAM_PARENTED"

func endWithParent() {
	if os.Getenv(parented) != "" {
		go func() {
			io.Copy(io.Discard, os.Stdin)
			os.Exit(1)
		}()
	}
}

func startPool(ctx context.Context, died func(error)) (address string, stop func(), err error) {
	listen, err := net.Listen("tcp", "localhost:0")
	if err != nil {
		return "", nil, err
	}
	server := grpc.NewServer()
	fnpb.RegisterBeamFnExternalWorkerPoolServer(server, &workerPool{ctx: ctx, died: died})
	go server.Serve(listen)
	return listen.Addr().String(), server.Stop, nil
}

func (p *workerPool) StartWorker(_ context.Context, r *fnpb.StartWorkerRequest) (*fnpb.StartWorkerResponse, error) {
	out := &fnpb.StartWorkerResponse{}
	if err := p.start(r); err != nil {
		out.Error = err.Error()
	}
	return out, nil
}

func (p *workerPool) start(r *fnpb.StartWorkerRequest) error {
	own, err := os.Executable()
	if err != nil {
		return err
	}
	ctx, end := context.WithCancel(p.ctx)
	cmd := exec.CommandContext(ctx, own, "--worker", "--id="+r.GetWorkerId(),
		"--logging_endpoint="+r.GetLoggingEndpoint().GetUrl(), "--control_endpoint="+r.GetControlEndpoint().GetUrl())
	cmd.Env = append(os.Environ(), parented+"=1")
	hold, err := cmd.StdinPipe() // closed when this process ends
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		end()
		return err
	}
	p.workers.Store(r.GetWorkerId(), end)
	go func() {
		defer end()
		err := cmd.Wait()
		hold.Close()
		if ctx.Err() == nil {
			p.died(fmt.Errorf("worker process %d ended: %v", cmd.Process.Pid, err))
		}
	}()
	return nil
}

func (p *workerPool) StopWorker(_ context.Context, r *fnpb.StopWorkerRequest) (*fnpb.StopWorkerResponse, error) {
	if end, ok := p.workers.LoadAndDelete(r.GetWorkerId()); ok {
		end.(context.CancelFunc)()
	}
	return &fnpb.StopWorkerResponse{}, nil
}
