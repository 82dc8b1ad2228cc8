package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dpscope/dpscope/internal/must"
)

// docs/coming-from.md shows the ends of docs/examples/from as they are, and the audits
// that it says find their faults.
func TestComingFrom(t *testing.T) {
	page := must.Get(os.ReadFile("../../docs/coming-from.md"))(t)
	python := "/usr/bin/python3"
	numpy := exec.Command(python, "-c", "import numpy").Run() == nil
	for name, flags := range map[string]string{
		"statdp":     "-relation l-infinity -rows 5 -domain 0:2",
		"auditorium": "-rows 1:5",
		"estimator":  "-relation replace -rows 3 -domain 0:1,-1:1",
	} {
		path := must.Get(filepath.Abs("../../docs/examples/from/" + name + ".py"))(t)
		source := must.Get(os.ReadFile(path))(t)
		_, loop, _ := strings.Cut(string(source), "\nfor line in sys.stdin:")
		if loop == "" || !strings.Contains(string(page), "for line in sys.stdin:"+loop) {
			t.Errorf("the page does not show the end of %s.py as it is", name)
		}
		must.Say(t, string(page), "-exec 'python3 docs/examples/from/"+name+".py' -epsilon 1 "+flags+"\n")
		if !numpy {
			t.Logf("%s.py was not run: no numpy for %s", name, python)
			continue
		}
		args := append(strings.Fields("audit -epsilon 1 -samples 3000 -format json "+flags), "-exec", fmt.Sprintf("%s '%s'", python, path))
		code, out, errs := dpscope(t, args...)
		var report struct{ Verdict string }
		if err := json.Unmarshal([]byte(out), &report); err != nil || code != 1 || report.Verdict != "violation" {
			t.Errorf("%s: exit code %d, verdict %q, %v: %s", name, code, report.Verdict, err, errs)
		}
	}
}
