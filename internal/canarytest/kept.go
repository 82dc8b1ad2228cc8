package canarytest

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/dpscope/dpscope/core/engine"
	"github.com/dpscope/dpscope/core/report"
)

// Kept holds every report of this kind that is kept against what follows from its plan and its evidence. verify parses it and verifies it quickly;
// file is that of the user, nil where the audit had none. For tests of packages in core.
func Kept(t *testing.T, kind string, verify func(data, file []byte) (report.View, engine.Verification, error)) {
	if runtime.GOOS == "js" {
		t.Skip("needs files")
	}
	read := func(pattern string) map[string][]byte {
		files, err := filepath.Glob("../testdata/reports/" + pattern)
		if err != nil {
			t.Fatal(err)
		}
		out := map[string][]byte{}
		for _, file := range files {
			if out[file], err = os.ReadFile(file); err != nil {
				t.Fatal(err)
			}
		}
		return out
	}
	inputs, verified := map[string][]byte{}, 0
	for _, data := range read("inputs/*") {
		sum := sha256.Sum256(data)
		inputs[hex.EncodeToString(sum[:])] = data
	}
	for name, data := range read("*.json") {
		var head struct {
			Kind string
			Plan struct{ Data any } // one file, or of an audit of scores several
		}
		var parts map[string]json.RawMessage
		if json.Unmarshal(data, &head) != nil || json.Unmarshal(data, &parts) != nil || head.Kind != kind {
			continue
		}
		sum, _ := head.Plan.Data.(string)
		view, v, err := verify(data, inputs[sum])
		if err != nil && strings.Contains(err.Error(), "has nothing to replay") {
			continue
		}
		if err != nil || !v.OK() || !v.Recomputed {
			t.Errorf("%s: %v, %q", name, err, v.Differences)
			continue
		}
		verified++
		for _, part := range []string{"claim", "confidence", "limitations", "lowerBound", "pValue", "plan", "power", "subject", "tables", "termination", "verdict", "warnings"} {
			if !slices.Contains(v.Checked, part) && parts[part] != nil {
				t.Errorf("%s: %s is not compared, only %q", name, part, v.Checked)
			}
		}
		r, text := view.Head(), report.Text(view)
		if strings.Contains(text, "\nLower bounds on epsilon, each with 95 % confidence where ") != (len(r.Tables) > 0) || r.StatedClaim == "" || r.Quantity != "epsilon" {
			t.Errorf("%s: %s", name, text)
		}
	}
	if verified == 0 {
		t.Error("no report is kept of the kind ", kind)
	}
}
