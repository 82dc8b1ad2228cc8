package train

import (
	"fmt"
	"strings"
	"testing"

	"github.com/dpscope/dpscope/internal/must"
)

// A preview names the columns as ReadCSV does, whichever column holds the label.
func TestLook(t *testing.T) {
	for _, c := range []struct{ text, label, want string }{
		{"age,kind,height\n30, no,1.5\n\n40,yes,1.8\n50,no,1.7\n", "kind", "[age kind height] true 1 [no yes] [[30 no 1.5] [40 yes 1.8]]"},
		{"age,height,kind\n30,1.5,no\n40,1.6,yes\n", "", "[age height kind] true 2 [no yes] [[30 1.5 no] [40 1.6 yes]]"},
		{"1,2,x\n3,4,y\n", "", "[column 1 column 2 column 3] false 2 [x y] [[1 2 x] [3 4 y]]"},
		{"x,1.5,2\ny,3,4\n", "1", "[column 1 column 2 column 3] false 0 [x y] [[x 1.5 2] [y 3 4]]"},
	} {
		p, err := Look([]byte(c.text), c.label, 2)
		if err != nil {
			t.Errorf("%q: %v", c.text, err)
			continue
		}
		if got := fmt.Sprint(p.Names, p.Header, p.Label, p.Labels, p.Head); got != c.want {
			t.Errorf("%q with label %q: %s, want %s", c.text, c.label, got, c.want)
		}
		d, err := ReadCSV([]byte(c.text+c.text[strings.Index(c.text, "\n")+1:]), CSV{Label: c.label, Lower: 0, Upper: 100})
		if err != nil {
			t.Errorf("%q: %v", c.text, err)
			continue
		}
		var features []string
		for i, name := range p.Names {
			if i != p.Label {
				features = append(features, name)
			}
		}
		if fmt.Sprint(d.Features) != fmt.Sprint(features) {
			t.Errorf("%q: features %q, previewed %q", c.text, d.Features, features)
		}
	}
	for text, want := range map[string]string{"": "empty", "\n\n": "empty", "1\n2\n": "one column"} {
		must.Refuse(t, must.Err(Look([]byte(text), "", 2)), want, text)
	}
	must.Refuse(t, must.Err(Look([]byte("a,b\n1,2\n"), "c", 2)), "label", "a label that is not there")
}
