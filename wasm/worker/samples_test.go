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
	return alone(t, cat.With(s.Spec()), plan)
}

// said is a part as [*this|that], where it is a choice.
func said(p part) string {
	var options []string
	for _, o := range p.Options {
		options = append(options, map[bool]string{true: "*"}[o.Asks == nil]+o.Text)
	}
	if options == nil {
		return p.Text
	}
	return "[" + strings.Join(options, "|") + "]"
}

// Samples are read, described, audited as without messages, and replayed, with
// their own file only.
func TestSamplesThroughMessages(t *testing.T) {
	cat := testCatalogue()
	p := newSamplesPage(t, cat)
	text := rowsOf(2000, 3)
	found := answerTo[inspected](p, "inspect", "{}", textFile("a.csv", text))
	if found.Problem != nil || found.Offer == nil || !strings.Contains(mustJSON(found.Sentences), "1 000 rows with dataset = 0") || len(found.Files) != 1 || found.Files[0].Rows != 2000 || len(found.Head) != headRows || found.Head[1][2] != "w1" {
		t.Fatalf("%+v", found)
	}
	var roles []string
	for _, c := range found.Columns {
		roles = append(roles, c.Name+" "+said(c.Role)+" "+said(c.Kind))
	}
	if got := strings.Join(roles, ", "); !strings.HasPrefix(got, "row [output|tells the dataset|*left out] [numbers|names|numbers and names|*numbers (by content)], x [*output|tells the dataset|left out] ") || !strings.HasSuffix(got, "*names (by content)], dataset [output|*tells the dataset|left out] [numbers|names|numbers and names|*numbers (by content)]") {
		t.Errorf("columns: %s", got)
	}
	if !strings.Contains(strings.Join(found.Notes, " "), `"row" is ignored`) {
		t.Errorf("%+v", found.Notes)
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
	found = answerTo[inspected](p, "inspect", `{"reading": {"outputs": ["x"], "kinds": {"x": "symbol"}}}`)
	if found.Offer == nil || !strings.Contains(said(found.Columns[1].Kind), "*names|") || !strings.Contains(said(found.Columns[2].Role), "*left out") {
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
	}{
		{"empty", "{}", textFile("e", ""), "empty", 0},
		{"text", "{}", textFile("t", "x,dataset\n"+rows+"abc,1\n"), `"abc"`, 2},
		{"one dataset", "{}", textFile("o", "x,y\n"+rows+"3,3\n4,4\n"), "one dataset: columns x, y", 2},
		{"no scores", `{"as": "scores"}`, textFile("s", "in,out\n1,\n2,\n"), "empty", 2},
		{"too large", "{}", userFile{neverRead{}, "l", 1 << 31}, "2 GiB", 0},
		{"unreadable", "{}", userFile{neverRead{}, "u", 100}, "unreadable: no", 0},
		{"shorter than it says", "{}", userFile{strings.NewReader("x,dataset\n"), "u", 100}, "ends before its size", 0},
		{"no such kind", `{"reading": {"kinds": {"x": "odd"}}}`, textFile("k", "x,dataset\n"+rows), "odd", 0},
	} {
		found := answerTo[inspected](p, "inspect", c.reading, c.file)
		if found.Problem == nil || !strings.Contains(found.Problem.Message, c.says) || found.Offer != nil || len(found.Columns) != c.columns {
			t.Errorf("%s: %+v, %+v", c.what, found.Problem, found)
		}
		if refused := answerTo[refusal](p, "run", samplesPlan()); refused.Field != "mechanism" {
			t.Errorf("%s: %+v", c.what, refused)
		}
	}
	// Sentences say what there is, and what may be changed: [*this|that].
	numbers := strings.Repeat("1, 2, ", 200) + "3"
	for _, c := range []struct {
		asks, data, says string
		offers           bool
	}{
		{"{}", "value,arm\n" + strings.Repeat("1.5,a\n2,b\n3,a\n", 400), "[*outputs on two datasets|scores of members and others|a table with labels]; arm tells the datasets apart: the first has 800 rows with arm = a, the second 400 rows with arm = b.; The output is in 1 column: value.", true},
		{"{}", "x,y\n" + rows, "[*choose|x|y] tells the datasets apart. Which column does?", false},
		{"{}", "loss,is_member\n" + rows, "; loss is the score; a [*lower|higher] one means in, as its name says.; is_member says who was in: 1 for in.; 600 scores of members, 600 of others.", true},
		{"{}", "value,is_member\n" + rows, "; value is the score; a [*choose|lower|higher] one means in.;", false},
		{`{"sign": "lower"}`, "value,is_member\n" + rows, "a [*lower|higher] one means in.; is_member says who was in: 1 for in.; 600", true},
		{"{}", "in,out\n" + rows + "1,\n", "; in has the scores of members; a [lower|*higher] one means in.; 1 201 scores of members, 1 200 of others.", true},
		{`{"as": "outputs"}`, `{"in": [` + numbers + `], "out": [` + numbers + `]}`, `; array "in" has 401 outputs on the first dataset, array "out" has 401 on the second.`, true},
		{"{}", `{"in": [[1, 2], ` + strings.Repeat("[1, 2], ", 200) + `[3, 4]], "out": [` + strings.Repeat("[1, 2], ", 201) + `[3, 4]]}`, "404 scores of members, 404 of others, in 202 runs.", true},
	} {
		found := answerTo[inspected](p, "inspect", c.asks, textFile("s.csv", c.data))
		all := ""
		for _, sentence := range found.Sentences {
			for _, p := range sentence {
				all += said(p)
			}
			all += "; "
		}
		if !strings.Contains(all, c.says) || found.Problem != nil || (found.Offer != nil) != c.offers {
			t.Errorf("%.30q: %s, %+v", c.data, all, found.Problem)
		}
		if found.Offer != nil && (found.Offer.Settings["lower"] == "true") != strings.Contains(all, "[*lower|higher] one means in") {
			t.Errorf("%.30q: %s, with the settings %v", c.data, all, found.Offer.Settings)
		}
	}
	// Mended.
	found := answerTo[inspected](p, "inspect", `{"reading": {"kinds": {"x": "mixed"}}}`, textFile("t", "x,dataset\n"+rows+"abc,1\n"))
	if found.Offer == nil || !strings.Contains(said(found.Columns[0].Kind), "*numbers and names|") {
		t.Errorf("%+v", found)
	}
	// What is there is read anew where its bytes mean something else.
	if found = answerTo[inspected](p, "inspect", `{"reading": {"nonFinite": "symbol"}}`, textFile("n", "x,dataset\n"+rows+"NaN,1\n")); found.Offer == nil {
		t.Errorf("%+v", found)
	}
	if found = answerTo[inspected](p, "inspect", "{}"); found.Problem == nil || !strings.Contains(found.Problem.Message, "NaN") || found.Offer != nil {
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

// What comes is told apart by what is in it; a function of another name, or with other
// parameters, is called by lines at the end.
func TestRecognize(t *testing.T) {
	p := newPage(t, testCatalogue(), 1)
	for _, c := range []struct{ text, is, ends string }{
		{" \n", isEmpty, ""}, {"\ufeff{\"$schema\": 1}", isReport, ""}, {"{\n broken", isReport, ""}, {"hello", isReport, ""},
		{"x,dataset\n1,0\n", isData, ""}, {`{"in": [1], "out": [2]}`, isData, ""}, {"{\"x\": 1}\n{\"x\": 2}", isData, ""}, {"[1, 2]", isData, ""}, {"\x93NUMPY\x00", isData, ""},
		{"import math\ndef mechanism(data: list[int], rng=None):\n  return 1\n", isCode, "\noriginal = mechanism\n\n\ndef mechanism(rows, random):\n    return original(rows)\n"},
		{"def mechanism(rows, random):\n  return 1", isCode, "  return 1\n"},
		{"def helper(x):\n  return 1\n\ndef noisy(data, epsilon, scale, size=2):\n  return helper(data)\n", isCode, "return noisy([row[0] for row in rows], 1, scale)\n"},
		{"def many(dataset, n, rng):\n  return 1\n", isCode, "def mechanism(rows, n, random):\n    return many(rows, n, random)\n"},
		{"%matplotlib inline\ndef many(dataset, n, rng):\n  return np.sum(dataset)\n!ls\n", isCode, "import numpy as np\n# %matplotlib inline\ndef many(dataset, n, rng):\n  return np.sum(dataset)\n# !ls\n\n\ndef mechanism(rows, n, random):\n    return many(np.array(rows), n, np.random.default_rng())\n"},
		{"import numpy as np\ndef noisy(data):\n  return np.sum(data)", isCode, "  return np.sum(data)\n\n\ndef mechanism(rows, random):\n    return noisy(np.array([row[0] for row in rows]))\n"},
		{`{"cells": [{"cell_type": "markdown", "source": ["def no(x):"]}, {"cell_type": "code", "source": ["%pip\n", "def half(dataset, n, rng):\n", "  return rng.laplace(size=n)"]}]}`, isCode, "# %pip\ndef half(dataset, n, rng):\n  return rng.laplace(size=n)\n\n\ndef mechanism(rows, n, random):\n    return half(np.array(rows), n, np.random.default_rng())\n"},
		{`{"cells": [{"cell_type": "code", "source": "def half(dataset, n, rng):\n  return rng.laplace(size=n)\n"}, {"cell_type": "code"}]}`, isCode, "def half(dataset, n, rng):\n  return rng.laplace(size=n)\n\n\ndef mechanism(rows, n, random):\n    return half(np.array(rows), n, np.random.default_rng())\n"},
		{`{"cells": [{"cell_type": "code", "source": []}]}`, isData, ""},
		{"import numpy as np\ndef mechanism(data, random):\n  return data.sum()", isCode, "\noriginal = mechanism\n\n\ndef mechanism(rows, random):\n    return original(np.array(rows), random)\n"},
		{"export default function mechanism(rows, random) {\n}", isCode, "function mechanism(rows, random) {\n}\n"},
		{"function noisy(data, random) {\n}", isCode, "function mechanism(rows, random) {\n  return noisy(rows.map((row) => row[0]), random);\n}\n"},
	} {
		got := answerTo[recognized](p, "recognize", beginning{c.text})
		if got.Is != c.is || !strings.HasSuffix(got.Code, c.ends) || strings.Contains(got.Code, "export") || strings.Contains(got.Said, "Give scale a value") != strings.Contains(c.text, "scale") {
			t.Errorf("%q: %+v", c.text, got)
		}
	}
}
