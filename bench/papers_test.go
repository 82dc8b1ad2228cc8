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
		for _, part := range p.parts {
			t.Run(p.name+"/"+part.name, func(t *testing.T) {
				if rows := p.written(part.name, page); len(rows) == 0 || rows[0][1] == "" {
					t.Fatalf("not on the page: a row with the command")
				}
				if !part.quick {
					testsize.Long(t)
				}
				lines := part.lines(p, &papersRun{lab: lab{t.Context(), 1, t.Logf}, page: page})
				if len(lines) == 0 {
					t.Error("no figure")
				}
				for _, line := range lines {
					if cells := strings.Split(line, " | "); cells[3] == "" || cells[4] == "" {
						t.Errorf("row without a figure: %s", line)
					}
				}
				if text := strings.Join(lines, ""); !strings.Contains(page, text) {
					t.Errorf("not on the page: go run ./bench papers\n%s", text)
				}
			})
		}
	}
}
