// Command training trains the papers' network once and prints how long that
// took and what came out, as a line of JSON. The bench network builds it for
// the host and for js/wasm.
package main

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"runtime"
	"time"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/estimators"
	"github.com/dpscope/dpscope/stream"
)

// shift of every column on the second side: it makes the sides tell apart, and
// the network find something.
const shift = 0.2

func main() {
	outputs := flag.Int("outputs", 0, "outputs, both sides together")
	columns := flag.Int("columns", 0, "columns of an output")
	units := flag.Int("units", 0, "units of each hidden layer")
	epochs := flag.Int("epochs", 0, "passes over the training outputs")
	flag.Parse()
	if err := train(*outputs, *columns, *units, *epochs); err != nil {
		fmt.Fprintln(os.Stderr, "training:", err)
		os.Exit(2)
	}
}

func train(outputs, columns, units, epochs int) error {
	spec, err := estimators.MLP("mlp-100", estimators.MLPOptions{Hidden: [2]int{units, units}, Epochs: epochs, Patience: epochs})
	if err != nil {
		return err
	}
	side := func(i int) audit.Samples {
		s := audit.Samples{Columns: make([]audit.Column, columns), Rows: make([]float64, outputs/2*columns)}
		for c := range s.Columns {
			s.Columns[c].Kind = audit.Real
		}
		stream.New(stream.Key{Seed: 1, Purpose: "bench-network", Side: i}).Gaussian(s.Rows, 1)
		for j := range s.Rows {
			s.Rows[j] += float64(i) * shift
		}
		return s
	}
	ex := audit.Exploration{First: side(0), Second: side(1), Claim: audit.DPClaim(1, 0),
		Stream: stream.New(stream.Key{Seed: 1, Purpose: "learn"}), Check: func() error { return nil }}
	start := time.Now()
	model, err := spec.Learn(ex)
	if err != nil {
		return err
	}
	seconds := time.Since(start).Seconds()
	data, err := json.Marshal(model)
	if err != nil {
		return err
	}
	sum := sha256.Sum256(data)
	return json.NewEncoder(os.Stdout).Encode(map[string]any{
		"platform": runtime.GOOS + "/" + runtime.GOARCH, "seconds": seconds, "network": hex.EncodeToString(sum[:])})
}
