package main

import (
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// go test lists the same fuzz tests; it is asked of one package, as it has to
// build it.
func TestFind(t *testing.T) {
	targets, err := find([]string{"../../..."})
	if err != nil {
		t.Fatal(err)
	}
	byPackage := map[string][]string{}
	for _, x := range targets {
		byPackage[x.pkg] = append(byPackage[x.pkg], x.name)
		if isAudit := strings.HasSuffix(x.pkg, "/dptest"); isAudit != (x.skip != "") {
			t.Errorf("%s of %s is left out: %q", x.name, x.pkg, x.skip)
		}
	}
	const module = "github.com/dpscope/dpscope/"
	out, err := exec.Command("go", "test", "-list", "^Fuzz", module+"core/suite").Output()
	if err != nil {
		t.Fatal(err)
	}
	want := slices.DeleteFunc(strings.Fields(string(out)), func(w string) bool { return !strings.HasPrefix(w, "Fuzz") })
	if got := byPackage[module+"core/suite"]; len(got) == 0 || !slices.Equal(got, want) {
		t.Errorf("core/suite: %v, go test lists %v", got, want)
	}
	if got := byPackage[module+"mechanisms/recorded"]; len(got) < 4 {
		t.Errorf("mechanisms/recorded: %v", got)
	}
}

func TestEnough(t *testing.T) {
	const line = "fuzz: elapsed: 3s, execs: 373 (124/sec), new interesting: 57 (total: 63)\n"
	for _, c := range []struct{ said, want string }{
		{"fuzz: elapsed: 0s, gathering baseline coverage: 6/6 completed, now fuzzing with 1 workers\n" + line + strings.Replace(line, "373", "17900", 1) + "PASS\n", ""},
		{strings.Replace(line, "373", "1000", 1), ""},
		{line, "tried 373 inputs, must try at least 1000"},
		{strings.Replace(line, "373", "5000", 1) + strings.Replace(line, "373", "8", 1), "tried 8 inputs"},
		{"ok\n", "does not say"},
		{"", "does not say"},
	} {
		err := enough(target{pkg: "p", name: "FuzzX"}, c.said)
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%q: %v, want %q", c.said, err, c.want)
		}
	}
}
