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

// workerPool starts workers as processes of this program when a runner asks for them, and
// says when one dies. Beam's own pool holds workers in its process, and prism, which can
// start processes too, waits for ever for one that was killed.
type workerPool struct {
	fnpb.UnimplementedBeamFnExternalWorkerPoolServer

	address string
	died    func(error)
	server  *grpc.Server

	mu      sync.Mutex
	workers map[string]*exec.Cmd // by the runner's name
}

// parented, in the environment of a worker, says that it ends with its standard input.
const parented = "DPSCOPE_BEAM_PARENTED"

// endWithParent ends a worker that lost the process that started it.
func endWithParent() {
	if os.Getenv(parented) != "" {
		go func() {
			io.Copy(io.Discard, os.Stdin)
			os.Exit(1)
		}()
	}
}

// startPool serves a pool; died is told of workers that ended and were not stopped.
func startPool(died func(error)) (*workerPool, error) {
	listen, err := net.Listen("tcp", "localhost:0")
	if err != nil {
		return nil, err
	}
	p := &workerPool{address: listen.Addr().String(), died: died, server: grpc.NewServer(), workers: map[string]*exec.Cmd{}}
	fnpb.RegisterBeamFnExternalWorkerPoolServer(p.server, p)
	go p.server.Serve(listen)
	return p, nil
}

// StartWorker starts a worker.
func (p *workerPool) StartWorker(_ context.Context, r *fnpb.StartWorkerRequest) (*fnpb.StartWorkerResponse, error) {
	own, err := os.Executable()
	if err == nil {
		err = p.start(r.GetWorkerId(), exec.Command(own, "--worker", "--id="+r.GetWorkerId(),
			"--logging_endpoint="+r.GetLoggingEndpoint().GetUrl(), "--control_endpoint="+r.GetControlEndpoint().GetUrl()))
	}
	if err != nil {
		return &fnpb.StartWorkerResponse{Error: err.Error()}, nil
	}
	return &fnpb.StartWorkerResponse{}, nil
}

func (p *workerPool) start(id string, cmd *exec.Cmd) error {
	cmd.Env = append(os.Environ(), parented+"=1")
	hold, err := cmd.StdinPipe() // closed when this process ends
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	p.mu.Lock()
	p.workers[id] = cmd
	p.mu.Unlock()
	go func() {
		err := cmd.Wait()
		hold.Close()
		p.mu.Lock()
		_, running := p.workers[id]
		delete(p.workers, id)
		p.mu.Unlock()
		if running {
			p.died(fmt.Errorf("worker process %d ended: %v", cmd.Process.Pid, err))
		}
	}()
	return nil
}

// StopWorker ends a worker.
func (p *workerPool) StopWorker(_ context.Context, r *fnpb.StopWorkerRequest) (*fnpb.StopWorkerResponse, error) {
	p.end(r.GetWorkerId())
	return &fnpb.StopWorkerResponse{}, nil
}

func (p *workerPool) end(id string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if cmd := p.workers[id]; cmd != nil {
		delete(p.workers, id)
		cmd.Process.Kill()
	}
}

// stop ends all workers.
func (p *workerPool) stop() {
	p.mu.Lock()
	var all []string
	for id := range p.workers {
		all = append(all, id)
	}
	p.mu.Unlock()
	for _, id := range all {
		p.end(id)
	}
	p.server.Stop()
}
