package packed

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"reflect"
	"strings"
	"testing"

	"github.com/dpscope/dpscope/internal/must"
)

var example = Code{
	Code:     strings.Repeat("def mechanism(rows, random):\n    return 'é 🎲'\n", 20),
	Language: "python", Settings: map[string]string{"epsilon": "1", "rows": "0:5"},
}

// TestPack: what is packed comes back, and what is cut or changed does not.
func TestPack(t *testing.T) {
	link, err := Pack(example)
	if err != nil || len(link) > 300 {
		t.Fatal(len(link), err)
	}
	var back Code
	if err := Unpack(link, &back); err != nil || !reflect.DeepEqual(back, example) {
		t.Fatal(back, err)
	}
	bad := func(text, says string) {
		t.Helper()
		must.Refuse(t, Unpack(text, new(Code)), says, text)
	}
	for end := 4; end < len(link); end++ {
		bad(link[:end], "incomplete")
	}
	bad("", "nothing that can be read")
	bad("2"+link[1:], "newer version")
	data := "bm90IGRlZmxhdGVk"
	bad("1."+check(data)+"."+data, "unpacked")
	long := must.Get(Pack(strings.Repeat(" ", 2<<20)))(t)
	bad(long, "unfolds to more")
}

// TestPageReads: the page reads what is written here, and the other way round.
func TestPageReads(t *testing.T) {
	node := must.Have(t, "node")
	page := must.Get(os.ReadFile("../../site/page/packed.js"))(t)
	link := must.Get(Pack(example))(t)
	script := string(page) + "\nconsole.log(await pack(await unpackCode(" + string(must.Get(json.Marshal(link))(t)) + ")));"
	run := exec.Command(node, "--input-type=module")
	run.Stdin = strings.NewReader(script)
	var said bytes.Buffer
	run.Stderr = &said
	out, err := run.Output()
	if err != nil {
		t.Fatal(err, said.String())
	}
	var back Code
	if err := Unpack(strings.TrimSpace(string(out)), &back); err != nil || !reflect.DeepEqual(back, example) {
		t.Error(back, err)
	}
}
