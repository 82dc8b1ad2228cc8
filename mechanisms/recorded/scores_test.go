package recorded_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/internal/must"
	"github.com/dpscope/dpscope/mechanisms/recorded"
)

func scores(t *testing.T, data ...string) (*recorded.Scores, error) {
	t.Helper()
	var files []*recorded.File
	for _, d := range data {
		f, err := recorded.Read(strings.NewReader(d), recorded.Options{Name: "scores", Scores: true})
		if err != nil {
			return nil, err
		}
		files = append(files, f)
	}
	return recorded.ReadScores(files, recorded.ScoreColumns{})
}

// The same scores in every form.
func TestScoreForms(t *testing.T) {
	in, out := []float64{3, 4.5, 2}, []float64{1, -0.5}
	for name, data := range map[string][]string{
		"score and member":             {"score,member\n3,1\n1,0\n4.5,1\n-0.5,0\n2,1\n"},
		"words":                        {"member;score\nin;3\nout;1\nTRUE;4.5\nfalse;-0.5\nyes;2\n"},
		"uneven columns":               {"in,out\n3,1\n4.5,-0.5\n2,\n"},
		"jax_privacy, CSV":             {"in_canary_scores\tout_canary_scores\n3\t1\n4.5\t-0.5\n2\t\n"},
		"jax_privacy, JSON":            {`{"in_canary_scores": [3, 4.5, 2], "out_canary_scores": [1, -0.5]}`},
		"JSON":                         {"{\"out\": [1, -0.5],\n \"in\": [3, 4.5, 2]}"},
		"JSON lines":                   {"{\"score\": 3, \"member\": true}\n{\"score\": 1, \"member\": false}\n{\"member\": true, \"score\": 4.5}\n{\"score\": -0.5, \"member\": false}\n{\"score\": 2, \"member\": 1}\n"},
		"two files":                    {"3\n4.5\n2\n", "1\n-0.5\n"},
		"NPZ":                          {npz(false, entry{"in.npy", npy(1, "<f8", false, []int{3}, in)}, entry{"out.npy", npy(1, "<f4", false, []int{2}, out)})},
		"NPZ, score and member":        {npz(true, entry{"score.npy", npy(1, "<f8", false, []int{5}, []float64{3, 1, 4.5, -0.5, 2})}, entry{"member.npy", npy(1, "|b1", false, []int{5}, []float64{1, 0, 1, 0, 1})})},
		"score and member, JSON array": {`{"scores": [3, 1, 4.5, -0.5, 2], "member": [true, false, true, false, true]}`},
	} {
		s, err := scores(t, data...)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if got := s.Sorted; !slices.Equal(got[0], audit.Ascending(in)) || !slices.Equal(got[1], audit.Ascending(out)) || s.Matrix != nil {
			t.Errorf("%s: %v, matrix %v", name, got, s.Matrix)
		}
	}
}

func TestScoreMatrix(t *testing.T) {
	want := recorded.Matrix{Runs: 2, Canaries: 3, Score: []float64{1, 2, 3, 4, 5, 6}, Member: []bool{true, false, false, false, true, false}}
	sided := want
	sided.Member = []bool{true, true, false, true, true, false}
	for _, x := range []struct {
		name, data string
		want       recorded.Matrix
	}{
		{"arrays", npz(false, entry{"score.npy", npy(1, "<f8", false, []int{2, 3}, want.Score)}, entry{"member.npy", npy(1, "|b1", true, []int{2, 3}, []float64{1, 0, 0, 0, 1, 0})}), want},
		{"JSON", `{"score": [[1,2,3],[4,5,6]], "member": [[1,0,0],[0,1,0]]}`, want},
		{"rows", "run,score,member\na,1,1\nb,4,0\na,2,0\na,3,0\nb,5,1\nb,6,0\n", want},
		{"two matrices", npz(true, entry{"in.npy", npy(1, "<f8", false, []int{2, 2}, []float64{1, 2, 4, 5})}, entry{"out.npy", npy(1, "<f8", false, []int{2, 1}, []float64{3, 6})}), sided},
		{"two matrices, JSON", `{"in": [[1,2],[4,5]], "out": [[3],[6]]}`, sided},
	} {
		s, err := scores(t, x.data)
		if err != nil {
			t.Errorf("%s: %v", x.name, err)
			continue
		}
		if s.Matrix == nil || fmt.Sprint(*s.Matrix) != fmt.Sprint(x.want) {
			t.Errorf("%s: %v, want %v", x.name, s.Matrix, x.want)
		}
		for class, member := range []bool{recorded.In: true, recorded.Out: false} {
			var of []float64
			for i, x := range s.Matrix.Score {
				if s.Matrix.Member[i] == member {
					of = append(of, x)
				}
			}
			if got := s.Sorted[class]; !slices.Equal(got, of) {
				t.Errorf("%s: %v, want %v", x.name, got, of)
			}
		}
	}
}

func TestBadScores(t *testing.T) {
	for _, x := range []struct{ name, data, want string }{
		{"only members", "score,member\n1,1\n2,1\n", "of one class: all canaries were in"},
		{"only others", "score,member\n1,0\n2,0\n", "of one class: all canaries were out"},
		{"one array", `{"in": [1, 2]}`, "one class of scores"},
		{"one column", "in,x\n1,2\n", "one class of scores"},
		{"empty cells", "run,score,member\n,,\n", "without a value"},
		{"an empty column", "in,out\n1,\n2,\n", `column "out" is empty`},
		{"no membership", "score\n1\n2\n", "add a column member"},
		{"NaN", "score,member\n1,0\nNaN,1\n", "line 3, column 1 (score)"},
		{"NaN in JSON", "{\"in\": [1, 2],\n\"out\": [NaN]}", `line 2 is "NaN`},
		{"membership in thirds", "score,member\n1,0\n2,0.5\n", `column "member", row 2 is "0.5"`},
		{"a gap", "in,out\n1,2\n,3\n4,5\n", "line 3, column 1 (in)"},
		{"words", `{"in": ["a", "b"], "out": [1]}`, "of words"},
		{"runs of different size", "run,score,member\n1,1,1\n1,2,0\n2,1,1\n", "run number 2 with 1 canaries, the first with 2"},
		{"shapes", `{"score": [[1,2]], "member": [[1]]}`, "the same shape"},
		{"lengths", "score,member\n1,0\n2,1\n3,\n", "the same shape"},
		{"rows", `{"in": [[1],[2]], "out": [[1]]}`, "2 runs in and 1 out"},
		{"one dimension and two", `{"in": [[1],[2]], "out": [1]}`, "one array of one dimension"},
		{"rows of several numbers", `{"in": [{"a": 1, "b": 2}, {"a": 3, "b": 4}], "out": [{"a": 1, "b": 2}]}`, "of 2 columns, must be one column of scores"},
		{"other columns", "a,b\n1,2\n", `"a", "b"`},
	} {
		must.Input(t, must.Err(scores(t, x.data)), x.want, x.name)
	}
}

func TestScoreNotes(t *testing.T) {
	for _, x := range []struct{ data, want string }{
		{"in,out\n2,2\n2,2\n2,\n", "all 5 scores are 2"},
		{"in,out\n" + strings.Repeat("1,0\n", 50), "ties: 100 scores have only 2 different values"},
		{"in,out\n" + strings.Repeat("0,1\n", 50), "a higher score means in"},
		{"in,out\n5,1\n6,\n", "2 scores of canaries that were in, 1 of"},
	} {
		s := must.Get(scores(t, x.data))(t)
		hasNote(t, s.Notes, x.want)
	}
}

// Columns with names of their own, and losses, of which a lower one speaks for in, give
// the scores that columns score and member give.
func TestScoreColumns(t *testing.T) {
	read := func(data string, columns recorded.ScoreColumns) (*recorded.Scores, error) {
		f := must.Get(recorded.Read(strings.NewReader(data), recorded.Options{Name: "losses", Scores: true}))(t)
		return recorded.ReadScores([]*recorded.File{f}, columns)
	}
	named := recorded.ScoreColumns{Score: "loss", Member: "is_member", Lower: true}
	for _, data := range []string{"loss,is_member,x\n-3,1,7\n0,0,7\n-4.5,1,7\n", `{"loss": [-3, 0, -4.5], "is_member": [1, 0, 1]}`} {
		s := must.Get(read(data, named))(t)
		if in, out := s.Sorted[recorded.In], s.Sorted[recorded.Out]; !slices.Equal(in, []float64{3, 4.5}) || !slices.Equal(out, []float64{0}) || !strings.Contains(s.Notes[0], "a lower score") {
			t.Errorf("%s: in %v, out %v, %q", data, in, out, s.Notes)
		}
	}
	s := must.Get(read("run,loss,is_member\n1,-3,1\n1,1,0\n2,-2,1\n2,0,0\n", named))(t)
	if want := []float64{3, -1, 2, 0}; !slices.Equal(s.Matrix.Score, want) {
		t.Errorf("of two runs %v, want %v", s.Matrix.Score, want)
	}
	for says, columns := range map[string]recorded.ScoreColumns{
		`"losses", must be a column of losses: "loss", "is_member"`: {Score: "losses", Member: "is_member"},
		"name the column of the scores":                             {},
	} {
		must.Refuse(t, must.Err(read("loss,is_member\n1,1\n2,0\n", columns)), says, columns)
	}
}
