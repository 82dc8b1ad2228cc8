package typescript

import (
	"reflect"
	"strings"
	"testing"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/internal/must"
)

type inner struct {
	Words []string `json:"words,omitempty"`
}

type outer struct {
	inner
	Skipped  int            `json:"-"`
	Relation audit.Relation `json:"relation"`
	Pairs    [2]float64
	Data     []byte           `json:"data"`
	Maybe    *bool            `json:"maybe"`
	Named    map[string][]int `json:"$named"`
	hidden   int
}

func TestType(t *testing.T) {
	w := Writer{Root: "../.."}
	if got := w.Type([]outer{{hidden: 1}}); got != "Outer[]" {
		t.Errorf("%s, must be Outer[]", got)
	}
	all := w.Declarations()
	must.Say(t, all,
		"export interface Outer {\n  words?: string[];\n  relation: Relation;\n  Pairs: [number, number];\n  data: string;\n  maybe: boolean | null;\n  \"$named\": Record<string, number[]>;\n}\n",
		"export type Relation = \"given\" | ")
}

// What reflection cannot say is refused, where nothing else says it.
func TestRefused(t *testing.T) {
	for name, do := range map[string]func(*Writer){
		"writes its own JSON": func(w *Writer) { w.Type(audit.ParamValue{}) },
		"would both be Claim": func(w *Writer) {
			w.Names = map[reflect.Type]string{reflect.TypeFor[audit.Pair](): "Claim"}
			w.Type(audit.Claim{})
			w.Type(audit.Pair{})
		},
		"has no JSON form": func(w *Writer) { w.Type(func() {}) },
	} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if p, _ := recover().(string); !strings.Contains(p, name) {
					t.Errorf("%q, must say %q", p, name)
				}
			}()
			do(&Writer{Root: "../.."})
		})
	}
}
