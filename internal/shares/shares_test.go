package shares

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/core"
	"github.com/dpscope/dpscope/core/engine"
	"github.com/dpscope/dpscope/core/pair"
	"github.com/dpscope/dpscope/core/report"
	"github.com/dpscope/dpscope/core/suite"
	"github.com/dpscope/dpscope/internal/cli"
	"github.com/dpscope/dpscope/internal/must"
)

// part is share i of 10 pieces, which come to their numbers and more.
func part(t *testing.T, i, of, more int) []byte {
	t.Helper()
	d := drawn{Pieces: 10}
	first, end := share(10, i, of)
	var numbers []int
	for k := first; k < end; k++ {
		numbers = append(numbers, k+more)
	}
	if numbers != nil {
		d.Result, _ = json.Marshal(numbers)
	}
	data := must.Get(partial{Index: i, Of: of, Drawn: []drawn{d}}.encode(Search{Kind: report.Pair, Plan: json.RawMessage(`{"a":1}`), Found: []json.RawMessage{json.RawMessage(`{"b":2}`)}}))(t)
	return data
}

// TestGaps names the missing shares of a number that nobody could count to.
func TestGaps(t *testing.T) {
	for _, c := range []struct {
		there []int
		of    int
		want  string
	}{
		{[]int{0, 1, 2}, 3, ""},
		{[]int{4, 1}, 6, "0, 2 to 3, 5"},
		{[]int{7, 1 << 40}, 1 << 62, "0 to 6, 8 to 1099511627775, 1099511627777 to 4611686018427387903"},
		{[]int{1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31, 33, 35, 37, 39, 41}, 1 << 62, "0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30, 32, 34, 36, 38 and more"},
	} {
		m := merge{of: c.of, shares: map[int]held{}}
		for _, i := range c.there {
			m.shares[i] = held{}
		}
		if got := m.gaps(); got != c.want {
			t.Errorf("%v of %d: %q, want %q", c.there, c.of, got, c.want)
		}
	}
}

// TestShare holds that shares are contiguous, cover all pieces and differ by one at most,
// at numbers of pieces beyond what the product of the two would hold.
func TestShare(t *testing.T) {
	for _, c := range [][2]int{{0, 1}, {0, 3}, {1, 3}, {2, 3}, {7, 7}, {61036, 64}, {1 << 40, 100_000}, {1<<62 + 5, 64}} {
		pieces, n := c[0], c[1]
		next := 0
		for i := range n {
			first, end := share(pieces, i, n)
			if size := end - first; first != next || size < pieces/n || size > pieces/n+1 {
				t.Fatalf("share %d of %d of %d pieces is %d to %d, after %d", i, n, pieces, first, end, next)
			}
			next = end
		}
		if next != pieces {
			t.Errorf("%d shares of %d pieces end at %d", n, pieces, next)
		}
	}
}

// written are all shares.
func written(t *testing.T, of int) map[string][]byte {
	files := map[string][]byte{}
	for i := range of {
		files[fmt.Sprintf("part-%02d", i)] = part(t, i, of, 0)
	}
	return files
}

func merged(files map[string][]byte, names ...string) (*merge, error) {
	return newMerge(context.Background(), func(yield func(string, error) bool) {
		for _, n := range names {
			if !yield(n, nil) {
				return
			}
		}
	}, func(name string) ([]byte, error) {
		if data, ok := files[name]; ok {
			return data, nil
		}
		return nil, fmt.Errorf("%s is not there", name)
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
		m := must.Get(merged(files, names...))(t)
		var got []int
		for p, err := range m.parts(0, 10) {
			if err != nil {
				t.Fatal(err)
			}
			var numbers []int
			if err := json.Unmarshal(p.Result, &numbers); err != nil || len(numbers) != p.End-p.First || p.First != len(got) {
				t.Fatalf("%v: part %d to %d has %s", err, p.First, p.End, p.Result)
			}
			got = append(got, numbers...)
		}
		if want := []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}; !slices.Equal(got, want) {
			t.Errorf("%d shares give %v", of, got)
		}
		if f := m.search.Found; len(f) != 1 || string(f[0]) != `{"b":2}` {
			t.Errorf("the search found %s", f)
		}
		for _, wrong := range [][2]int{{0, 11}, {1, 10}} {
			for _, err := range m.parts(wrong[0], wrong[1]) {
				if err == nil {
					t.Errorf("audit %d of %d pieces was given", wrong[0], wrong[1])
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
	must.Get(merged(files, "part-00"))(t)
	for n := range whole {
		files["part-00"] = whole[:n]
		must.Refuse(t, must.Err(merged(files, "part-00")), "", n, "bytes of a share")
		changed := bytes.Clone(whole)
		changed[n] ^= 1
		files["part-00"] = changed
		must.Refuse(t, must.Err(merged(files, "part-00")), "", "a change of byte", n)
	}
}

// TestChangedBetween holds that a partial that is another one when it is read again is
// refused, though it is whole.
func TestChangedBetween(t *testing.T) {
	files := written(t, 2)
	m := must.Get(merged(files, "part-00", "part-01"))(t)
	files["part-01"] = part(t, 1, 2, 90)
	var last error
	for p, err := range m.parts(0, 10) {
		if last = err; err == nil && p.First != 0 {
			t.Errorf("%s was given", p.Result)
		}
	}
	if last == nil || !strings.Contains(last.Error(), "part-01") || !strings.Contains(last.Error(), "different counts") {
		t.Errorf("the error is %v", last)
	}
}

// FuzzMerge: no bytes make a merge panic.
func FuzzMerge(f *testing.F) {
	f.Add([]byte(`{"schema":"dpscope-partial","version":4,"product":"","index":0,"of":1}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		m, err := merged(map[string][]byte{"x": fmt.Appendf(data, "\n%x\n", sha256.Sum256(data))}, "x")
		if err == nil && len(m.shares) == 0 {
			t.Error("a merge of no share was taken")
		}
	})
}

func given() core.Env {
	g := core.Env{Catalogue: cli.Catalogue(), Generator: cli.Generator()}
	g.Pool = engine.LocalPool(2)
	return g
}

// TestSeveral: a part of a file of audits is refused where a program or an unknown mechanism
// is in it.
func TestSeveral(t *testing.T) {
	text := `{"version": 1, "audits": [{"name": "svt", "mechanism": "svt4", "claim": {"kind": "pure", "epsilon": 1}, "samples": 20000, "trials": 2}]}`
	read := func(text string) error {
		s, err := New(suite.ReportKind, Several{File: "plan.json", Text: []byte(text)}, nil)
		if err == nil {
			_, err = s.Audits(given())
		}
		return err
	}
	must.Do(t, read(text))
	for name, text := range map[string]string{
		"a program":         strings.Replace(text, `"mechanism": "svt4"`, `"brought": {"command": "true"}`, 1),
		"no such mechanism": strings.Replace(text, "svt4", "svt44", 1),
	} {
		if in := new(audit.InputError); !errors.As(read(text), &in) {
			t.Errorf("%s: %v", name, read(text))
		}
	}
}

// TestStopped: a part that is stopped says so.
func TestStopped(t *testing.T) {
	ctx, stop := context.WithCancel(context.Background())
	stop()
	plan := pair.Plan{Version: pair.PlanVersion, Mechanism: "svt4", Claim: &audit.Claim{Kind: audit.Pure, Epsilon: 1}, Samples: 40000, Trials: 2, Beta: 0.05, Seed: 7}
	s := must.Get(New(report.Pair, plan, nil))(t)
	if _, _, err := s.Draw(ctx, given(), 0, 2, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("ended with %v", err)
	}
}

// resealed is a partial with a change that its last line knows of.
func resealed(t *testing.T, data []byte, change func(*partial)) []byte {
	t.Helper()
	body, _, _ := bytes.Cut(data, []byte("\n"))
	var p partial
	must.Do(t, json.Unmarshal(body, &p))
	change(&p)
	end, body, err := sum(p)
	must.Do(t, err)
	return fmt.Appendf(body, "\n%s\n", end)
}

// TestPartialsThatDoNotFit: whole partials that are not the shares of one audit, each once, are refused.
func TestPartialsThatDoNotFit(t *testing.T) {
	good := written(t, 3)
	for name, c := range map[string]struct {
		part string
		data []byte // of the part; nil: it is not there
		says string
	}{
		"another audit":          {"part-01", resealed(t, good["part-01"], func(p *partial) { p.Search = strings.Repeat("0", 64) }), "of another audit"},
		"another number":         {"part-01", part(t, 1, 4, 0), "one of 4 shares"},
		"other counts":           {"part-03", part(t, 1, 3, 90), "share 1 is other counts in part-03 than in part-01"},
		"one missing":            {"part-02", nil, "without 1 of 3 shares: 2"},
		"no result":              {"part-01", resealed(t, good["part-01"], func(p *partial) { p.Drawn[0].Result = nil }), "without what pieces 3 to 6 of 10"},
		"a result of no pieces":  {"part-01", resealed(t, good["part-01"], func(p *partial) { p.Drawn[0].Pieces = 0 }), "without what pieces 0 to 0 of 0"},
		"a share beyond":         {"part-03", resealed(t, good["part-02"], func(p *partial) { p.Index, p.Drawn = 3, nil }), "share 3 of 3"},
		"a share before":         {"part-03", resealed(t, good["part-02"], func(p *partial) { p.Index, p.Drawn = -1, nil }), "share -1 of 3"},
		"a search of other data": {"part-00", resealed(t, good["part-00"], func(p *partial) { p.Searched.Data = []byte("x") }), "without the search that its SHA-256 names"},
		"no search":              {"part-00", resealed(t, good["part-00"], func(p *partial) { p.Searched = nil }), "without the search that its SHA-256 names"},
	} {
		files := maps.Clone(good)
		if files[c.part] = c.data; c.data == nil {
			delete(files, c.part)
		}
		must.Refuse(t, must.Err(merged(files, slices.Sorted(maps.Keys(files))...)), c.says, name)
	}
}

// TestAfter: a share starts from the search of its own audit alone.
func TestAfter(t *testing.T) {
	after := func(kind, plan, data string) error {
		s := Search{Kind: report.Pair, Plan: json.RawMessage(`{"a":1}`), Data: []byte("x"), Found: []json.RawMessage{json.RawMessage(`{"b":2}`)}}
		file := must.Get(partial{}.encode(s))(t)
		_, err := Search{Kind: kind, Plan: json.RawMessage(plan), Data: []byte(data)}.After("search", func(string) ([]byte, error) { return file, nil })
		return err
	}
	must.Do(t, after(report.Pair, `{"a": 1}`, "x"))
	for _, c := range [][3]string{{suite.ReportKind, `{"a":1}`, "x"}, {report.Pair, `{"a":2}`, "x"}, {report.Pair, `{"a":1}`, "y"}} {
		must.Refuse(t, after(c[0], c[1], c[2]), "the search of another audit", c)
	}
}
