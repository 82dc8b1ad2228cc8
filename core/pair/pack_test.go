package pair

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/dpscope/dpscope/internal/must"
)

// TestPacked: packed counts come back, and no other text unpacks.
func TestPacked(t *testing.T) {
	for _, n := range [][]int{{}, {0}, {1, 0, 127, 0, 0, 128, MaxSamples, 0}} {
		text, err := json.Marshal(packed(n))
		var back packed
		if err == nil {
			err = json.Unmarshal(text, &back)
		}
		if err != nil || !slices.Equal(back, n) {
			t.Errorf("%v comes back as %v (%v)", n, back, err)
		}
	}
	for _, text := range []string{`"gA=="`, `"AYA="`, `"gICAgICAgICAAQ=="`, `"AQEB"`, `"AQAA"`, `1`} { // cut off, cut off behind a 1, 2^63, beyond the last, a count of 0, no text
		must.Refuse(t, json.Unmarshal([]byte(text), new(packed)), "", text, "unpacks")
	}
}
