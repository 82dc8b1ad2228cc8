package main

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/core/pair"
	"github.com/dpscope/dpscope/internal/must"
	"github.com/dpscope/dpscope/mechanisms/recorded"
)

func textFile(name, text string) userFile {
	return userFile{strings.NewReader(text), name, int64(len(text))}
}

// rowsOf is a CSV of outputs whose second dataset is moved by a shift, with a
// column that counts the rows.
func rowsOf(n int, shift float64) string {
	var b strings.Builder
	b.WriteString("row,x,word,dataset\n")
	for i := range n {
		fmt.Fprintf(&b, "%d,%g,w%d,%d\n", i, float64(i*7919%101)/10+shift*float64(i%2), i*31%3, i%2)
	}
	return b.String()
}

func samplesPlan() pair.Plan {
	return pair.Plan{Version: pair.PlanVersion, Mechanism: audit.RecordedName, Claim: &audit.Claim{Kind: audit.Pure, Epsilon: 1}, Seed: 7}
}

// natively audits the samples of a file without any message.
func natively(t *testing.T, cat audit.Catalogue, name, text string, r audit.Reading, plan pair.Plan) pair.Report {
	t.Helper()
	o := recorded.Options{Reading: r}
	o.Name = name
	f := must.Get(recorded.Read(strings.NewReader(text), o))(t)
	s := must.Get(recorded.Pair([]*recorded.File{f}, r))(t)
	spec := s.Spec()
	return alone(t, with(cat, &spec), plan)
}

// Samples are read, described, audited as without messages, and replayed, with
// their own file only.
func TestSamplesThroughMessages(t *testing.T) {
	cat := testCatalogue()
	p := newSamplesPage(t, cat)
	text := rowsOf(2000, 3)
	found := answerTo[inspected](p, "inspect", "{}", textFile("a.csv", text))
	if found.Problem != nil || found.Samples == nil || found.Samples.Rows != [2]int{1000, 1000} || len(found.Files) != 1 || found.Files[0].Rows != 2000 || len(found.Head) != headRows || found.Head[1][2] != "w1" {
		t.Fatalf("%+v", found)
	}
	var roles []string
	for _, c := range found.Columns {
		roles = append(roles, c.Name+" "+c.Role+" "+string(c.Kind))
	}
	if got := strings.Join(roles, ", "); got != "row left out real, x output real, word output symbol, dataset dataset real" {
		t.Errorf("columns: %s", got)
	}
	if !strings.Contains(strings.Join(found.Samples.Notes, " "), `"row" is ignored`) {
		t.Errorf("%+v", found.Samples)
	}
	got := answerTo[reported](p, "run", samplesPlan())
	r, want := reportIn(t, got), natively(t, cat, "a.csv", text, audit.Reading{}, samplesPlan())
	want.Generator, want.Timing, r.Generator, r.Timing = audit.Generator{}, audit.Timing{}, audit.Generator{}, audit.Timing{}
	a, _ := audit.Canonical(r)
	b, _ := audit.Canonical(want)
	if string(a) != string(b) || r.Verdict != audit.Violation {
		t.Errorf("through messages:\n%s\nalone:\n%s", a, b)
	}
	if v := answerTo[verified](p, "verify", got.Text); !v.OK {
		t.Errorf("%+v", v)
	}
	// Another reading of what is there; the report is replayed as it was read.
	found = answerTo[inspected](p, "inspect", `{"outputs": ["x"], "kinds": {"x": "symbol"}}`)
	if found.Samples == nil || found.Samples.Width != 1 || found.Columns[1].Kind != audit.Symbol || found.Columns[2].Role != roleLeftOut {
		t.Errorf("%+v", found)
	}
	if v := answerTo[verified](p, "verify", got.Text); !v.OK {
		t.Errorf("%+v", v)
	}
	// Another file.
	answerTo[inspected](p, "inspect", "{}", textFile("a.csv", rowsOf(2000, 2)))
	if refused := answerTo[refusal](p, "verify", got.Text); !strings.Contains(refused.Found, "another file, with SHA-256 ") {
		t.Errorf("%+v", refused)
	}
	if len(p.progress) == 0 {
		t.Error("no progress was told")
	}
}

// What is wrong with a file is an answer, with the columns where they are known,
// so that their kinds can be set; after it nothing can be run.
func TestSamplesWithProblems(t *testing.T) {
	p := newSamplesPage(t, testCatalogue())
	rows := strings.Repeat("1,0\n2,1\n", 600)
	for _, c := range []struct {
		what, reading string
		file          userFile
		says          string
		columns       int
		scores        bool
	}{
		{"empty", "{}", textFile("e", ""), "empty", 0, false},
		{"text", "{}", textFile("t", "x,dataset\n"+rows+"abc,1\n"), `"abc"`, 2, false},
		{"one dataset", "{}", textFile("o", "x,y\n"+rows), "one dataset: columns x, y", 2, false},
		{"scores", "{}", textFile("s", "score,member\n"+rows), "one dataset", 2, true},
		{"scores of other lengths", "{}", textFile("s", "in,out\n"+rows+"1,\n"), "empty", 2, true},
		{"too large", "{}", userFile{neverRead{}, "l", 1 << 31}, "2 GiB", 0, false},
		{"unreadable", "{}", userFile{neverRead{}, "u", 100}, "unreadable: no", 0, false},
		{"shorter than it says", "{}", userFile{strings.NewReader("x,dataset\n"), "u", 100}, "ends before its size", 0, false},
		{"no such kind", `{"kinds": {"x": "odd"}}`, textFile("k", "x,dataset\n"+rows), "odd", 0, false},
	} {
		found := answerTo[inspected](p, "inspect", c.reading, c.file)
		if found.Problem == nil || !strings.Contains(found.Problem.Message, c.says) || found.Samples != nil || len(found.Columns) != c.columns || found.Scores != c.scores {
			t.Errorf("%s: %+v, %+v", c.what, found.Problem, found)
		}
		if refused := answerTo[refusal](p, "run", samplesPlan()); refused.Field != "mechanism" {
			t.Errorf("%s: %+v", c.what, refused)
		}
	}
	// What could be outputs or scores.
	numbers := strings.Repeat("1, 2, ", 200) + "3"
	for name, data := range map[string]string{"arrays": `{"in": [` + numbers + `], "out": [` + numbers + `]}`, "matrices": `{"in": [[1, 2], ` + strings.Repeat("[1, 2], ", 200) + `[3, 4]], "out": [` + strings.Repeat("[1, 2], ", 201) + `[3, 4]]}`} {
		if found := answerTo[inspected](p, "inspect", "{}", textFile("s", data)); found.Samples == nil || !found.Scores {
			t.Errorf("%s: %+v", name, found)
		}
	}
	// Mended.
	found := answerTo[inspected](p, "inspect", `{"kinds": {"x": "mixed"}}`, textFile("t", "x,dataset\n"+rows+"abc,1\n"))
	if found.Samples == nil || found.Columns[0].Kind != audit.Mixed {
		t.Errorf("%+v", found)
	}
}

// neverRead is a file that cannot be read.
type neverRead struct{}

func (neverRead) ReadAt([]byte, int64) (int, error) { return 0, errors.New("no") }

// endless is a file of rows that stops the reading itself after some time.
type endless struct{ at func(int64) }

func (e endless) ReadAt(p []byte, at int64) (int, error) {
	e.at(at)
	for i := range p {
		p[i] = "1,0\n"[(at+int64(i))%4]
	}
	return len(p), nil
}

var _ io.ReaderAt = endless{}

// A reading that is stopped says so, soon.
func TestSamplesStop(t *testing.T) {
	const piece = 256 << 10 // that is read at a time
	p := newSamplesPage(t, testCatalogue())
	most := int64(0)
	stop := func(at int64) {
		if most = max(most, at); at == 4*piece {
			p.port.post(message{Type: msgStop, ID: 1})
			time.Sleep(50 * time.Millisecond)
		}
	}
	_, answers := p.ask("inspect", "{}", userFile{endless{stop}, "e.csv", 1 << 26})
	answer := <-answers
	if answer.Type != msgRefused || !strings.Contains(answer.JSON, "stopped") || most > 8*piece {
		t.Errorf("%+v after %d bytes", answer, most)
	}
}
