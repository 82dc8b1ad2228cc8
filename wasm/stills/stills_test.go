package stills

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dpscope/dpscope/core"
	"github.com/dpscope/dpscope/core/report"
	"github.com/dpscope/dpscope/internal/must"
	"github.com/dpscope/dpscope/wasm/scene"
)

// TestKeep: what is kept of a report of any kind draws the pictures that the report does,
// is a function of what it was kept of, and is a part of it.
func TestKeep(t *testing.T) {
	files := must.Get(filepath.Glob("../../core/testdata/reports/*.json"))(t)
	kinds := map[string]bool{}
	for _, file := range files {
		data := must.Get(os.ReadFile(file))(t)
		for _, k := range core.Kinds() {
			r, err := k.Parse(data)
			if err != nil {
				continue
			}
			kept := Keep(r)
			if again := Keep(mustRead(t, kept)); !bytes.Equal(again, kept) {
				t.Errorf("%s: what is kept of what was kept has %d bytes of %d", file, len(again), len(kept))
			}
			if whole, err := json.Marshal(r); err != nil || len(kept) >= len(whole) {
				t.Errorf("%s: %d bytes of %d are kept, %v", file, len(kept), len(whole), err)
			}
			views := scene.ReportViews(r)
			drawn, err := Of(r)
			if err != nil || len(drawn) != len(views) {
				t.Fatalf("%s: %d pictures of %d views, %v", file, len(drawn), len(views), err)
			}
			for i, v := range views {
				kinds[k.Name] = true
				p, err := Draw(kept, v.ID)
				if err != nil {
					t.Errorf("%s: %v", file, err)
					continue
				}
				if p.Wide != drawn[i].Wide || p.Narrow != drawn[i].Narrow || p.Words != drawn[i].Words {
					t.Errorf("%s: the kept report has another picture %s", file, v.ID)
				}
				if p.Headline != r.Head().Headline || !strings.HasPrefix(string(p.Wide), "<svg ") || p.Wide == p.Narrow {
					t.Errorf("%s: %s: headline %q", file, v.ID, p.Headline)
				}
				if choices := v.Choices; len(choices) > 1 {
					if other, err := Draw(kept, v.ID+":"+choices[1].ID); err != nil || other.Wide == p.Wide {
						t.Errorf("%s: %s by %s is the same, %v", file, v.ID, choices[1].ID, err)
					}
				}
			}
			must.Refuse(t, must.Err(Draw(kept, "nothing")), `no picture "nothing", must be one of `, file)
		}
	}
	if len(kinds) < len(core.Kinds()) {
		t.Errorf("pictures of kinds %v only", kinds)
	}
	for _, bad := range []string{"", "{}", `{"kind": "suite"}`, `{"kind": "pair", "claim": 1}`} {
		if _, err := Draw([]byte(bad), "outputs"); err == nil {
			t.Errorf("%q has a picture", bad)
		}
	}
}

func mustRead(t *testing.T, kept []byte) report.View {
	t.Helper()
	return must.Get(read(kept))(t)
}
