package pair_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/dpscope/dpscope/core/pair"
)

// TestSameBitsOfReports replays reports of earlier versions, exploration and all: each
// learner, each kind of output and each relation, and a search by a model. It runs
// on every platform that the tests run on, so that a report written on one gives
// the same counts on the others. All that were kept are verified in cmd/dpscope.
func TestSameBitsOfReports(t *testing.T) {
	files, err := filepath.Glob("../testdata/released/*/pair/*.json")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		validate(t, data)
		r, _, err := pair.ParseReport(data)
		if err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		v, err := pair.Verify(context.Background(), catalogue, pair.LocalPool(catalogue, 2), r, true)
		if err != nil || !v.OK() {
			t.Errorf("%s: %v %v", file, err, v.Differences)
		}
	}
}
