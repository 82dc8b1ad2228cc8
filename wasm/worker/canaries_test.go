package main

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/core"
	"github.com/dpscope/dpscope/core/canary"
	"github.com/dpscope/dpscope/core/engine"
	"github.com/dpscope/dpscope/core/report"
	"github.com/dpscope/dpscope/internal/must"
	"github.com/dpscope/dpscope/mechanisms/source"
	"github.com/dpscope/dpscope/wasm/scene/plot"
)

func canaryPlan(n, k int) canary.Plan {
	return canary.Plan{Version: canary.PlanVersion, Source: "gaussian-sum", Claim: &audit.Claim{Kind: audit.Approximate, Epsilon: 2, Delta: 1e-5}, Runs: n, K: k, Seed: 1}
}

// filesFor are the files of a request with this one, if there is one.
func filesFor(file []byte) []userFile {
	if file == nil {
		return nil
	}
	return []userFile{textFile("file", string(file))}
}

// A canary audit whose tasks go through messages is that of this process, with any
// number of workers, and with a file; its course grows to the end; it verifies.
// The seeds are fixed: there is no chance in it.
func TestCanariesThroughMessages(t *testing.T) {
	cat := testCatalogue()
	vectors := canaryPlan(60, 2)
	vectors.Design = source.Vectors
	for _, c := range []struct {
		plan canary.Plan
		file []byte
	}{{canaryPlan(200, 5), nil}, {vectors, []byte("1,0,0\n0,2,0\n0,0,3\n")}} {
		g := core.Env{File: c.file, Pool: engine.LocalPool(1), Generator: audit.Generator{Name: "dpscope", Version: audit.Version, CoreSHA256: "sum"}}
		want := must.Get(must.Get(core.Resolve(c.plan, g))(t).Run(t.Context(), g))(t).(canary.Report)
		for _, workers := range []int{1, 3} {
			p := newPage(t, cat, workers)
			answer := answerTo[reported](p, "run", c.plan, filesFor(c.file)...)
			got := readIn[canary.Report](t, answer)
			want.Timing = got.Timing
			if y, _ := audit.Canonical(want); answer.Text != string(y) {
				t.Errorf("%d workers: the report is another than that of this process", workers)
			}
			if len(answer.Facts) < 10 || len(answer.Tables) != 2 || answer.Tables[1].Name != report.Membership || len(answer.Tables[0].Lines) != len(got.Tables[0].Rows) || answer.Error != "" {
				t.Errorf("%d facts, tables %+v, error %q", len(answer.Facts), answer.Tables, answer.Error)
			}
			before, own := 0, -1.0
			for _, point := range answer.Course {
				if point.Runs <= before || len(point.Bounds) == 0 {
					t.Errorf("course: %+v after %d", point, before)
				}
				before = point.Runs
				for _, b := range point.Bounds {
					if b.Interval == got.Plan.Interval {
						own = b.Epsilon
					}
				}
			}
			if before != c.plan.Runs || own != *got.LowerBound || len(answer.Course) < 5 {
				t.Errorf("a course of %d points that ends after %d runs at %v, want %v", len(answer.Course), before, own, *got.LowerBound)
			}
			told, scored := 0, map[int]int{}
			for _, m := range p.told {
				var v canaryProgress
				must.Do(t, json.Unmarshal([]byte(m.JSON), &v))
				if v.Planned != c.plan.Runs || v.Runs > v.Total {
					t.Errorf("told %+v", v)
				}
				if len(v.Bounds) > 0 {
					told++
				}
				for _, s := range v.Scored {
					scored[s.First] += len(s.Scores)
				}
				if len(scored) > 0 && (v.Say == nil || !strings.HasPrefix(v.Say.Sentence, "So far ")) {
					t.Errorf("of %v runs it says %+v", scored, v.Say)
				}
			}
			all := 0
			for _, n := range scored {
				all += n
			}
			if all != got.Plan.Explore*(got.Plan.K+got.Plan.M) {
				t.Errorf("%d scores were told of, want those of %d runs that explored", all, got.Plan.Explore)
			}
			for text, points := range map[string]int{answer.Text: all, answer.Text + " ": len(got.Evidence.Runs.ScoreSample.In) * (got.Plan.K + got.Plan.M)} { // what came, or what the report keeps
				if still := answerTo[struct{ Words, Sentence string }](p, "picture", pictureRequest{Of: "planted", Text: text, Request: plot.Request{Width: 700}}); !strings.HasPrefix(still.Words, plot.Grouped(points)+" canaries of") || still.Sentence != answer.Say.Sentence {
					t.Errorf("the still says %q, %q, want %d points", still.Words, still.Sentence, points)
				}
			}
			if told != len(answer.Course) {
				t.Errorf("bounds were told %d times, the course has %d points", told, len(answer.Course))
			}
			opened := answerTo[reported](p, "open", answer.Text)
			if opened.Text != answer.Text || len(opened.Course) != 0 || !reflect.DeepEqual(opened.Facts, answer.Facts) {
				t.Error("opened it is another report")
			}
			if v := answerTo[verified](p, "verify", answer.Text, filesFor(c.file)...); !v.OK || v.Summary != got.Summary {
				t.Errorf("it does not verify: %q", v.Differences)
			}
			if c.file != nil {
				if r := answerTo[refusal](p, "verify", answer.Text, textFile("other", "1,2\n")); r.Field != "data" || !strings.Contains(r.Found, "SHA-256") {
					t.Errorf("with another file: %+v", r)
				}
			}
		}
	}
}
