package recorded_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/core/engine"
	"github.com/dpscope/dpscope/core/finders"
	"github.com/dpscope/dpscope/core/pair"
	"github.com/dpscope/dpscope/estimators"
	"github.com/dpscope/dpscope/internal/must"
	"github.com/dpscope/dpscope/internal/mutate"
	"github.com/dpscope/dpscope/internal/testsize"
	"github.com/dpscope/dpscope/mechanisms/recorded"
)

// A report's samples are taken again from the same files, under other names and in
// either order, and from no others.
func TestReplayTakesTheSameFiles(t *testing.T) {
	a, b := "x,y\n"+many("1,2\n3,4\n", 150), "y,x\n"+many("5,6\n", 250)
	first, second := read(t, a, recorded.Options{Name: "a.csv"}), read(t, b, recorded.Options{Name: "b.csv"})
	samples := must.Get(recorded.Pair([]*recorded.File{first, second}, audit.Reading{Outputs: []string{"y"}}))(t)
	rec := samples.Spec().Recording
	p, q := read(t, a, recorded.Options{Name: "p"}), read(t, b, recorded.Options{Name: "q"})
	for _, files := range [][]*recorded.File{{p, q}, {q, p}} {
		again := must.Get(recorded.Replay(rec, files))(t)
		if fmt.Sprint(again.Columns) != fmt.Sprint(samples.Columns) || again.Rows(0) != 300 || again.Rows(1) != 250 || again.Files[0].Name != "a.csv" || again.Files[1].Name != "b.csv" || again.Datasets != samples.Datasets {
			t.Errorf("%+v", again)
		}
	}
	if p.Name != "p" || q.Name != "q" {
		t.Error("the files that were given have other names now")
	}
	other := read(t, a+"1,2\n", recorded.Options{Name: "other"})
	for what, c := range map[string]struct {
		files []*recorded.File
		want  string
	}{"another": {[]*recorded.File{p, other}, "b.csv with SHA-256 " + second.SHA256}, "one": {[]*recorded.File{p}, "2 files, as the report has: a.csv, b.csv"}, "none": {nil, "2 files"}} {
		must.Input(t, must.Err(recorded.Replay(rec, c.files)), c.want, what)
	}
}

// A parser names the columns of a file that it refused, as far as it came.
func TestColumnsOfRefused(t *testing.T) {
	rows := many("1,a,0\n2,b,1\n", 600)
	for _, c := range []struct{ data, want string }{
		{"x,y,dataset\n" + rows + "z,a,0\n", "x real, y symbol, dataset real"},
		{"x,y,dataset\n1,a,0\n2\n", "x real, y symbol, dataset real"},
		{"{\"x\": 1, \"y\": \"a\"}\n{\"x\": 1}\n", "x real, y symbol"},
		{"x,x\n1,2\n", ""},
		{"", ""},
		{"PK\x03\x04", ""},
	} {
		f, err := recorded.Read(strings.NewReader(c.data), recorded.Options{})
		if err == nil {
			t.Errorf("%.30q was not refused", c.data)
		}
		var got []string
		if f != nil {
			for _, x := range f.Tables[0].Columns {
				got = append(got, x.Name+" "+string(x.Kind))
			}
		}
		if strings.Join(got, ", ") != c.want {
			t.Errorf("%.30q: %v, want %s", c.data, got, c.want)
		}
	}
}

// What files hold is told by their form and by names; the sign of a score by its name alone.
func TestGuess(t *testing.T) {
	rows := func(line string) string { return many(line, 300) }
	for data, want := range map[string]string{
		"score,member\n" + rows("1,1\n2,0\n"): "scores score member higher", "Run,Score,Member\n" + rows("1,1,1\n1,2,0\n"): "scores Score Member higher",
		"loss,is_member\n" + rows("1,1\n2,0\n"): "scores loss is_member lower", "in_train,neg_loss,id\n" + rows("yes,1,7\nno,2,8\n"): "scores neg_loss in_train higher",
		"value,is_member\n" + rows("1,1\n2,0\n3,0\n"): "scores value is_member ", "a,b,member\n" + rows("1,3,1\n2,4,0\n5,5,0\n"): "outputs  member ",
		"loss,nonmember\n" + rows("1,1\n2,0\n"): "outputs loss nonmember lower", "in,out\n" + rows("1,1\n2,0\n"): "scores", "in,out,dataset\n" + rows("1,3,1\n2,4,0\n"): "outputs",
		`{"in_canary_scores": [1, 2], "out_canary_scores": [3, 4]}`: "scores", `{"score": [[1, 2], [3, 4]], "member": [[0, 1], [1, 0]]}`: "scores score member higher",
		`{"d0": [1, 2], "d1": [3, 4]}`: "outputs", "value,arm\n" + rows("1.5,a\n2,b\n"): "outputs", "x\n" + rows("1.5\n"): "outputs",
		"age,height,kind\n" + rows("1,1,tall\n2,2,short\n"): "table", "age,size\n" + rows("1,a\n2,b\n3,c\n"): "table",
	} {
		f := read(t, data, recorded.Options{Name: "f"})
		got := string(recorded.Guess([]*recorded.File{f}))
		if score, member, _, _ := recorded.ScoresIn(f); strings.Contains(want, " ") {
			got += " " + score + " " + member + " " + recorded.Sign(score)
		}
		if got != want {
			t.Errorf("%.30q: %q, want %q", data, got, want)
		}
	}
	for name, want := range map[string]string{"nll": "lower", "cross_entropy": "lower", "log_likelihood": "higher", "negative_log_likelihood": "lower", "minus loss": "higher", "Confidence": "higher", "x": "", "score_loss": ""} {
		if got := recorded.Sign(name); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}

// Keys in another order, with spaces or escapes, are the same keys as in the first
// row; one that only begins like another is not.
func TestJSONKeys(t *testing.T) {
	rows := []string{`{"ab":1,"a":2,"q\"":3}`, `{ "a" : 2 , "ab" : 1 , "q\u0022" : 3 }`, `{"\u0061b":1,"a":2,"q\"":3}`}
	f := read(t, many(strings.Join(rows, "\n")+"\n", 3), recorded.Options{Name: "f"})
	for i := range f.Tables[0].Rows() {
		for k, c := range f.Tables[0].Columns {
			if c.Real(i) != float64(k+1) {
				t.Errorf("row %d, column %s: %v", i, c.Name, c.Real(i))
			}
		}
	}
	for _, bad := range []string{`{"abc":1,"a":2,"q\"":3}`, `{"ab":01,"a":2,"q\"":3}`, `{"ab":1.,"a":2,"q\"":3}`, `{"ab":1e,"a":2,"q\"":3}`, `{"ab":-,"a":2,"q\"":3}`, `{"ab":1-2,"a":2,"q\"":3}`, `{"ab" 1,"a":2,"q\"":3}`} {
		must.Refuse(t, must.Err(recorded.Read(strings.NewReader(rows[0]+"\n"+bad+"\n"), recorded.Options{})), "", bad, "was taken")
	}
}

// Whatever is deleted, changed or swapped in what a report says of its recorded
// outputs, the replay with the same file notices.
func TestMutatedRecordings(t *testing.T) {
	testsize.Native(t)
	text := "x,kind,dataset\n" + many("1,a,0\n2,b,1\n3,a,0\n1,a,1\n", 120)
	reading := audit.Reading{Header: "yes", Dataset: "dataset", Outputs: []string{"x"}, Kinds: map[string]audit.ColumnKind{"x": audit.Symbol}, NonFinite: "symbol"}
	samples := must.Get(recorded.Pair([]*recorded.File{read(t, text, recorded.Options{Name: "a.csv", Reading: reading})}, reading))(t)
	good := runAudit(t, samples.Spec(), pair.Plan{Claim: &audit.Claim{Epsilon: 1}, Learner: "outcome-table"}, 1)
	good.Generator.Version = audit.Version
	accepts := func(data []byte) bool {
		r := good
		r.Inputs.Samples = nil
		if err := audit.DecodeStrict(data, "samples", &r.Inputs.Samples); err != nil || r.Inputs.Samples == nil {
			return false
		}
		file, err := recorded.Read(strings.NewReader(text), recorded.Options{Reading: r.Inputs.Samples.Reading})
		if err != nil {
			return false
		}
		samples, err := recorded.Replay(r.Inputs.Samples, []*recorded.File{file})
		if err != nil {
			return false
		}
		cat := audit.Catalogue{Mechanisms: []audit.MechanismSpec{samples.Spec()}, Learners: estimators.Registry(), Finders: finders.Registry()}
		v, err := pair.Verify(t.Context(), cat, engine.LocalPool(1), r, true)
		return err == nil && v.OK()
	}
	doc := must.Get(audit.Canonical(good.Inputs.Samples))(t)
	if !accepts(doc) {
		t.Fatal("the report as it is does not pass")
	}
	passed, tried := mutate.Unnoticed(must.Get(mutate.All(doc))(t), func(data []byte) bool {
		var s *audit.Recording
		return audit.DecodeStrict(data, "samples", &s) == nil && audit.EqualJSON(s, good.Inputs.Samples)
	}, accepts)
	if tried < 80 {
		t.Fatal(tried)
	}
	for field, all := range passed {
		t.Errorf("%s: passes: %v", field, all)
	}
}
