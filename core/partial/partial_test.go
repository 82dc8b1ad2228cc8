package partial

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/dpscope/dpscope/core/engine"
)

// written are shares of a stage of 10 pieces, whose results are their numbers.
func written(t *testing.T, of int) map[string][]byte {
	t.Helper()
	files := map[string][]byte{}
	search := Search{Plan: json.RawMessage(`{"a":1}`), Answers: map[string]json.RawMessage{"x": json.RawMessage(`{"b":2}`)}}
	for i := range of {
		p := engine.Part{Stage: "count", Pieces: 10}
		p.First, p.End = engine.Share(10, i, of)
		for k := p.First; k < p.End; k++ {
			p.Results = append(p.Results, json.RawMessage(fmt.Sprint(k)))
		}
		var b bytes.Buffer
		if err := Write(&b, Header{Product: "1", Kind: "pair", Index: i, Of: of}, search, []engine.Part{p}); err != nil {
			t.Fatal(err)
		}
		files[fmt.Sprintf("part-%02d", i)] = b.Bytes()
	}
	return files
}

func merged(files map[string][]byte, names ...string) (*Merge, error) {
	return NewMerge("1", func(yield func(string, error) bool) {
		for _, n := range names {
			if !yield(n, nil) {
				return
			}
		}
	}, func(name string) (io.ReadCloser, error) {
		data, ok := files[name]
		if !ok {
			return nil, fmt.Errorf("%s is not there", name)
		}
		return io.NopCloser(bytes.NewReader(data)), nil
	})
}

// TestMergeOrder holds that all pieces come once and in their order, however the files are
// named and whatever was tried twice, at fewer and at more shares than pieces.
func TestMergeOrder(t *testing.T) {
	for _, of := range []int{1, 3, 10, 17} {
		files := written(t, of)
		names := slices.Sorted(maps.Keys(files))
		slices.Reverse(names)
		names = append(names, names[len(names)/2]) // retried
		m, err := merged(files, names...)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for part, err := range m.Division().Given("count", 10) {
			if err != nil {
				t.Fatal(err)
			}
			for _, r := range part.Results {
				got = append(got, string(r))
			}
		}
		if want := "0 1 2 3 4 5 6 7 8 9"; strings.Join(got, " ") != want {
			t.Errorf("%d shares give %v", of, got)
		}
		if a := m.Division().Answers(); string(a["x"]) != `{"b":2}` || len(a) != 1 {
			t.Errorf("the answers are %s", a)
		}
		for _, wrong := range []struct {
			stage  string
			pieces int
		}{{"count", 11}, {"other", 10}} {
			for _, err := range m.Division().Given(wrong.stage, wrong.pieces) {
				if err == nil {
					t.Errorf("stage %q of %d pieces was given", wrong.stage, wrong.pieces)
				}
			}
		}
	}
}

// TestCutShort holds that no beginning of a partial is taken for a whole one, nor one with
// any byte changed.
func TestCutShort(t *testing.T) {
	files := written(t, 1)
	whole := files["part-00"]
	if _, err := merged(files, "part-00"); err != nil {
		t.Fatal(err)
	}
	for n := range whole {
		files["part-00"] = whole[:n]
		if _, err := merged(files, "part-00"); err == nil {
			t.Errorf("the first %d of %d bytes were taken", n, len(whole))
		}
		changed := bytes.Clone(whole)
		changed[n] ^= 1
		files["part-00"] = changed
		if _, err := merged(files, "part-00"); err == nil {
			t.Errorf("a change of byte %d, %q, was taken", n, whole[n])
		}
	}
}

// TestChangedBetween holds that a partial that is another one when it is read again is
// refused, though it is whole.
func TestChangedBetween(t *testing.T) {
	files := written(t, 2)
	m, err := merged(files, "part-00", "part-01")
	if err != nil {
		t.Fatal(err)
	}
	search := Search{Plan: json.RawMessage(`{"a":1}`), Answers: map[string]json.RawMessage{"x": json.RawMessage(`{"b":2}`)}}
	other := engine.Part{Stage: "count", Pieces: 10, First: 5, End: 10, Results: []json.RawMessage{json.RawMessage("99")}}
	var b bytes.Buffer
	if err := Write(&b, Header{Product: "1", Kind: "pair", Index: 1, Of: 2}, search, []engine.Part{other}); err != nil {
		t.Fatal(err)
	}
	files["part-01"] = b.Bytes()
	var last error
	for part, err := range m.Division().Given("count", 10) {
		if last = err; err == nil && part.First != 0 {
			t.Errorf("%s was given", part.Results)
		}
	}
	if last == nil || !strings.Contains(last.Error(), "part-01") || !strings.Contains(last.Error(), "other counts") {
		t.Errorf("the error is %v", last)
	}
}

// FuzzMerge: no bytes make a merge panic.
func FuzzMerge(f *testing.F) {
	f.Add([]byte(`{"schema":"dpscope-partial","version":1}` + "\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		m, err := merged(map[string][]byte{"x": data}, "x")
		if err == nil && len(m.shares) == 0 {
			t.Error("a merge of no share was taken")
		}
	})
}
