package main

import (
	"os"
	"strings"
	"testing"

	"github.com/dpscope/dpscope/internal/must"
	"github.com/dpscope/dpscope/internal/testsize"
)

// TestPapers computes the quick parts of docs/papers.md again, all of them at full size,
// and holds their lines to the page.
func TestPapers(t *testing.T) {
	data := must.Get(os.ReadFile("../" + papersPage))(t)
	page := string(data)
	for _, p := range papers {
		for _, part := range p.Parts {
			t.Run(p.Name+"/"+part.Name, func(t *testing.T) {
				if !strings.Contains(page, "| "+part.Name+" | `"+part.Command+"` |") {
					t.Fatalf("not on the page: go run ./bench papers")
				}
				if !part.Quick {
					testsize.Long(t)
				}
				rows := part.Rows(&papersRun{lab: lab{t.Context(), 1, t.Logf}})
				if len(rows) == 0 {
					t.Error("no figure")
				}
				for i, row := range rows {
					if row.Published == "" || row.Ours == "" {
						t.Errorf("row %q without a figure: %+v", row.What, row)
					}
					if line := part.line(i, row); !strings.Contains(page, line+"\n") {
						t.Errorf("not on the page: go run ./bench papers\n%s", line)
					}
				}
			})
		}
	}
}
