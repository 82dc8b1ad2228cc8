// Package importrules holds the tests of how the packages stand to each other.
package importrules

import (
	"bytes"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/dpscope/dpscope/internal/child"
	"github.com/dpscope/dpscope/internal/must"
)

const module = "github.com/dpscope/dpscope/"

// outside are the packages that see a file, a process, the network, a clock or the
// browser, or need one that does, with the reason. Every other package is pure.
var outside = map[string]string{
	"bench/...":               "a command: measures time, starts a browser",
	"cmd/dpscope":             "a command: files, signals, exit codes",
	"dptest":                  "runs inside go test, and reads its flags and its clock",
	"site/e2e/...":            "drives a browser",
	"host/edge":               "a program of the edge: the host as a Worker",
	"host/edge/edgetest":      "of tests: starts the Worker",
	"host/serve":              "the server of the site's files",
	"internal/cli":            "what commands share: standard error, the terminal, the clock",
	"internal/testsize":       "of tests: reads the environment",
	"internal/canarytest":     "of tests",
	"internal/child":          "of tests: starts the go command",
	"internal/importrules":    "of tests",
	"internal/recordings":     "reads files",
	"internal/mutate":         "of tests",
	"internal/timings":        "a command of the tests: standard input",
	"internal/must":           "of tests",
	"internal/shares":         "what commands share: parts of an audit, their files and their merge",
	"internal/training":       "what commands share: starts the user's program",
	"mechanisms/google":       "Google's library draws its noise from the system's generator, and logs",
	"mechanisms/user/command": "starts the user's program",
	"mechanisms/user/module":  "runs the user's module in processes of their own; in the browser, against a clock",
	"mechanisms/user/process": "such processes",
	"python/wheel":            "a command: writes the Python package, and compiles the binary in it",
	"host":                    "answers requests; store, clock and chance are given to it",
	"host/client":             "asks a host",
	"host/folder":             "keeps files",
	"host/replay":             "replays what a host keeps, by and by, in processes of their own",
	"site/...":                "builds the site: files, the go command, a server",
	"core/catalogue":          "holds Google's library",
	"wasm/view":               "a program of the browser: the instrument",
	"wasm/worker":             "a program of the browser: coordinator and tasks",
}

// room says what packages may import of the module. The first room that names a
// package is the one that it is in.
type room struct {
	packages []string
	may      []string
	why      string // it may import no more
}

// rooms is the order of imports. Patterns are the go command's: x/... is x and all
// below it.
var rooms = []room{
	{p("audit/stream/..."), nil,
		"random streams and elementary functions are the same whatever is audited"},
	{p("bounds/accounting"), p("audit/...", "bounds"),
		"a curve is worth the same whoever asks"},
	{p("bounds/plain"), p("audit", "audit/phrase", "bounds"),
		"a report of counts that no run made"},
	{p("bounds/..."), p("bounds", "audit", "audit/stream"),
		"a bound is a theorem about counts, whatever made them; the published forms lean on ours and none of ours on them; the wealth of a bet decides which outputs are drawn next, so it needs elementary functions of the same bits everywhere; what one claim implies of another belongs to claims"},
	{p("audit/phrase"), nil,
		"how numbers are written"},
	{p("audit/settings"), p("audit"),
		"a setting is a text for a field of a plan, whatever the plan is of"},
	{p("audit"), p("audit/stream"),
		"values are below all that makes or reads them; a mechanism draws from a stream"},
	{p("core/finders/poison"), p("audit", "audit/stream/..."),
		"an attack sees the learner's table and its twin without noise, which come as values"},
	{p("core/finders"), p("audit", "audit/stream/...", "core/finders/poison"),
		"searches see values, and nothing of the audit that asks them"},
	{p("estimators/..."), p("audit", "audit/stream/..."),
		"learners see outputs, and nothing of the audit that asks them"},
	{p("mechanisms/learners"), p("audit", "bounds/accounting", "audit/stream/...", "mechanisms/train"),
		"what learns by DP-SGD learns as a model with canaries does"},
	{p("mechanisms", "mechanisms/google"), p("audit", "audit/stream"),
		"a mechanism does not know that it is audited"},
	{p("mechanisms/train"), p("audit", "bounds/accounting", "audit/stream/...", "mechanisms/recorded/csv"),
		"a model that is trained does not know how it is audited"},
	{p("mechanisms/source"), p("audit", "bounds/accounting", "audit/stream/...", "mechanisms/train", "mechanisms/recorded/csv"),
		"what canaries are planted in does not know how it is audited"},
	{p("mechanisms/recorded/csv"), p("audit"),
		"readers of text say where it is wrong, not what it is for"},
	{p("mechanisms/recorded"), p("audit", "audit/stream/...", "mechanisms/recorded/..."),
		"files of outputs are mechanisms too"},
	{p("mechanisms/user/process"), nil,
		"starts and ends processes, whatever they answer"},
	{p("mechanisms/user/..."), p("audit", "audit/phrase", "audit/stream", "mechanisms/recorded/...", "mechanisms/user/..."),
		"a user's program is a mechanism too, and answers in the form of files"},
	{p("core/engine"), p("audit", "audit/phrase"),
		"it runs tasks of any kind of audit, and so knows none"},
	{p("core/report"), p("audit/...", "bounds", "core/engine"),
		"what reports of all kinds share, and so nothing of one kind"},
	{p("core/report/format"), p("audit/...", "core/report"),
		"a format sees a report by its head, facts and text, so that every kind has every format"},
	{p("core/pair/threshold"), p("audit", "audit/stream", "bounds", "core/report"),
		"events of a score, by explored scores and counts"},
	{p("core/pair/chart"), p("audit", "audit/phrase", "audit/stream", "audit/stream/linalg", "bounds", "core/pair/threshold"),
		"pictures as counts: they decide nothing"},
	{p("core/pair"), p("core/pair/threshold", "core/pair/chart", "audit/...", "audit/stream/...", "bounds/...", "estimators/classifier", "core/report", "core/engine"),
		"finders, learners and mechanisms come to it as a catalogue; what it bets by is not for a user to choose"},
	{p("core/membership"), p("audit/...", "audit/stream", "bounds", "core/report"),
		"how scores of canaries are judged, whatever audit they are of"},
	{p("core/canary"), p("audit/...", "audit/stream/...", "bounds", "core/report", "core/engine", "core/membership", "mechanisms/source", "mechanisms/train"),
		"one kind of audit does not know another"},
	{p("core/scores"), p("audit/...", "audit/stream/...", "bounds", "core/report", "core/engine", "mechanisms/source", "core/membership", "mechanisms/recorded"),
		"scores of others are judged as the canaries' own are"},
	{p("core/suite"), p("audit/...", "core/report", "core", "core/engine", "core/pair", "core/canary", "core/scores"),
		"a file of audits of any kind"},
	{p("core/calibration"), p("audit/...", "bounds/accounting", "bounds", "audit/stream", "core/engine", "core/pair"),
		"many audits of mechanisms"},
	{p("core"), p("audit", "core/report", "core/engine", "core/pair", "core/canary", "core/scores", "mechanisms/source"),
		"joins the kinds"},
	{p("wasm/scene/plot"), nil,
		"a grammar of pictures: axes, marks and tables, whatever they show"},
	{p("wasm/scene"), p("audit", "bounds", "bounds/accounting", "core/report", "core/membership", "core/pair", "core/pair/chart", "wasm/scene/plot"),
		"pictures are drawn of what a report holds"},
	{p("wasm/stills"), p("core/report", "core/report/format", "core/pair", "core/canary", "core/scores", "wasm/scene/..."),
		"joins reports to their pictures, for programs that write pages"},
	{p("core/catalogue"), p("audit", "core/finders", "estimators", "mechanisms", "mechanisms/google", "mechanisms/learners"),
		"lists what is registered"},
	{p("wasm/view"), p("wasm/scene/..."),
		"paints and hears; what there is to paint, tests can measure in scene"},
	{p("wasm/worker"), p("audit", "audit/phrase", "audit/settings", "bounds/accounting", "core/report", "core/...", "mechanisms/recorded", "mechanisms/learners", "mechanisms/source", "mechanisms/train", "mechanisms/user", "mechanisms/user/module", "core/catalogue", "wasm/scene/...", "internal/typescript"),
		"what is registered comes to it as a catalogue; on the host it writes its messages as TypeScript"},
	{p("dptest"), p("audit", "audit/stream", "core/finders", "estimators", "core/engine", "core/pair", "core/suite"),
		"users import it in their tests, and get no command, site or laboratory with it"},
	{p("host"), p("audit/...", "core/report", "core/report/format", "core", "core/pair", "core/suite", "internal/packed"),
		"a host shows what reports say, and runs none"},
	{p("host/client"), p("audit", "host"),
		"asks a host for what it stores, and judges nothing of it"},
	{p("host/replay"), p("audit/...", "core/report", "core", "core/engine", "core/suite", "mechanisms/user/process", "host"),
		"it replays as the command does, and knows no folder and no network"},
	{p("host/folder"), p("host"),
		"a store sees keys and values"},
	{p("host/edge"), p("host", "core/catalogue"),
		"the handlers with another store"},
	{p("host/serve"), nil,
		"serves files, and knows no audit"},
	{p("host/edge/edgetest"), p("internal/must"),
		"starts a Worker for tests, and knows no audit"},
	{p("python/wheel"), p("audit", "internal/try"),
		"packs what the go command built"},
	{p("bench/gallery/google"), p("audit", "internal/try"),
		"answers as a program of its own would, with the library alone"},
	{p("internal/cli"), p("audit/...", "core/finders", "estimators", "mechanisms", "mechanisms/google", "mechanisms/learners"),
		"what commands share, whatever they audit"},
	{p("internal/shares"), p("audit", "core/report", "core", "core/pair", "core/canary", "core/suite", "internal/cli"),
		"a part of an audit of any kind, or of several, whatever starts it"},
	{p("internal/training"), p("audit", "core", "mechanisms/source", "internal/cli", "internal/shares", "mechanisms/user/command"),
		"a program that trains, whatever command asks it"},
	{p("internal/canarytest"), p("audit", "audit/stream", "mechanisms/source"),
		"of tests"},
	{p("internal/recordings"), p("audit", "mechanisms/recorded"),
		"reads files, whatever they are for"},
	{p("docs/examples/..."), p("audit", "audit/stream"),
		"what documents show is what a user would write"},
	{p("internal/..."), nil,
		"tools that would do for any other module"},
	{p("site/pages"), p("audit", "core/report/format", "internal/packed", "internal/try"),
		"reads pages of text, and is given what draws their pictures; of audits it knows how their settings are written"},
	{p("site/types", "site/e2e/..."), p("internal/must", "internal/try"),
		"checks scripts, or drives a browser, and knows no audit"},
	{p("site/build", "bench/...", "cmd/dpscope"), p("..."),
		"programs, which nothing imports"},
}

func p(patterns ...string) []string { return patterns }

// within says whether a pattern names the package.
func within(pkg string, patterns []string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool { return matches(pkg, p) })
}

func matches(pkg, pattern string) bool {
	if above, ok := strings.CutSuffix(pattern, "..."); ok {
		return strings.HasPrefix(pkg+"/", above)
	}
	return pkg == pattern
}

// platform is what a package imports there, its tests aside, and where it is pure all
// that it needs.
type platform struct {
	name    string
	imports map[string][]string
	needs   map[string][]string
}

// platforms are the browser and this machine.
var platforms []platform

// listed is platforms.
func listed(t *testing.T) []platform {
	t.Helper()
	if platforms != nil {
		return platforms
	}
	for _, on := range [][2]string{{"js", "wasm"}, {runtime.GOOS, runtime.GOARCH}} {
		pl := platform{on[0] + "/" + on[1], map[string][]string{}, map[string][]string{}}
		cmd := child.Go(t, "list", "-f", `{{.ImportPath}} {{join .Imports " "}}|{{join .Deps " "}}`, module+"...")
		cmd.Env = append(os.Environ(), "GOOS="+on[0], "GOARCH="+on[1])
		list, err := cmd.Output()
		if err != nil {
			t.Fatalf("%v: %v", cmd.Args, err)
		}
		for line := range strings.Lines(string(list)) {
			imports, needs, _ := strings.Cut(strings.TrimSpace(line), "|")
			names := strings.Fields(imports)
			pkg := strings.TrimPrefix(names[0], module)
			pl.imports[pkg], pl.needs[pkg] = names[1:], strings.Fields(needs)
		}
		platforms = append(platforms, pl)
	}
	return platforms
}

// What a pure package may not import, and what may not come with its imports either:
// fmt needs os, but nothing pure needs the network. Addresses are text.
var (
	forbidden      = p("os/...", "net/...", "syscall/...", "time", "log/...", "math/rand/...", "unsafe", "io/ioutil", "embed", "testing/...", "github.com/hajimehoshi/...")
	forbiddenBelow = p("net/...", "os/exec", "os/signal", "crypto/tls", "testing/...", "github.com/hajimehoshi/...")
	allowed        = p("net/url", "net/netip")
)

// TestPureCore: every package but those named outside sees no browser, file, network,
// process or clock, here and in the browser, and needs no package that does.
func TestPureCore(t *testing.T) {
	patterns := slices.Collect(maps.Keys(outside))
	unused := maps.Clone(outside)
	for _, pl := range listed(t) {
		pure := 0
		for pkg, imports := range pl.imports {
			for pattern := range outside {
				if matches(pkg, pattern) {
					delete(unused, pattern)
				}
			}
			if within(pkg, patterns) {
				continue
			}
			pure++
			for _, imp := range imports {
				if pkg == "audit/stream" && imp == "math/rand/v2" {
					continue // its generator with a key; all others draw from a stream
				}
				if within(imp, forbidden) && !within(imp, allowed) {
					t.Errorf("%s: %s imports %s; do without it, or name the package in outside with the reason", pl.name, pkg, imp)
				}
			}
			for _, dep := range pl.needs[pkg] {
				if within(dep, forbiddenBelow) && !within(dep, allowed) {
					t.Errorf("%s: %s needs %s", pl.name, pkg, dep)
				}
				if own, ok := strings.CutPrefix(dep, module); ok && within(own, patterns) {
					t.Errorf("%s: %s is pure and needs %s, which is not", pl.name, pkg, own)
				}
			}
		}
		if pure < 20 {
			t.Errorf("%s: go list names %d pure packages", pl.name, pure)
		}
	}
	for pattern := range unused {
		t.Errorf("outside names %s, which is no package", pattern)
	}
}

// TestImportOrder: every package is in a room and imports what its room may; and what
// rooms may, they do.
func TestImportOrder(t *testing.T) {
	used := map[string]bool{} // room and pattern
	for _, pl := range listed(t) {
		for pkg, imports := range pl.imports {
			at := slices.IndexFunc(rooms, func(r room) bool { return within(pkg, r.packages) })
			if at < 0 {
				t.Errorf("%s is in no room; say in rooms what it may import", pkg)
				continue
			}
			r := rooms[at]
			for _, pattern := range r.packages {
				if matches(pkg, pattern) {
					used[r.why+pattern] = true
				}
			}
			for _, imp := range imports {
				own, ok := strings.CutPrefix(imp, module)
				if !ok {
					continue
				}
				if !within(own, r.may) {
					t.Errorf("%s: %s may not import %s: %s", pl.name, pkg, own, r.why)
				}
				for _, pattern := range r.may {
					if matches(own, pattern) {
						used[r.why+"may "+pattern] = true
					}
				}
			}
		}
	}
	for _, r := range rooms {
		for _, pattern := range r.packages {
			if !used[r.why+pattern] {
				t.Errorf("rooms names %s, of which no package is left", pattern)
			}
		}
		for _, pattern := range r.may {
			if !used[r.why+"may "+pattern] {
				t.Errorf("%v need not be allowed %s: none imports it", r.packages, pattern)
			}
		}
	}
}

// tree are the folders at the top, from the ground up.
var tree = strings.Fields("audit bounds estimators mechanisms core dptest internal host wasm site cmd bench python beam docs")

// TestTree: there is no other folder, and each imports only what stands before it.
func TestTree(t *testing.T) {
	for _, pl := range listed(t) {
		for pkg, imports := range pl.imports {
			top, _, _ := strings.Cut(pkg, "/")
			at := slices.Index(tree, top)
			if at < 0 {
				t.Errorf("%s is in no folder of the tree", pkg)
			}
			for _, imp := range imports {
				own, ok := strings.CutPrefix(imp, module)
				if below, _, _ := strings.Cut(own, "/"); ok && slices.Index(tree, below) > at {
					t.Errorf("%s imports %s, which stands after it", pkg, own)
				}
			}
		}
	}
}

// TestNoLargeRoom: no folder at the top, and none in core, holds more than a fifth of the Go
// code without its tests.
func TestNoLargeRoom(t *testing.T) {
	if runtime.GOOS == "js" {
		t.Skip("reads the source")
	}
	root := filepath.Join("..", "..")
	lines, all := map[string]int{}, 0
	must.Do(t, filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if e.IsDir() {
			if name := e.Name(); path != root && (name[0] == '.' || slices.Contains([]string{"testdata", "dist", "bin", "node_modules"}, name)) {
				return filepath.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		below, err := filepath.Rel(root, filepath.Dir(path))
		if err != nil {
			return err
		}
		n := bytes.Count(text, []byte("\n"))
		parts := strings.Split(filepath.ToSlash(below), "/")
		at := parts[0]
		if at == "core" && len(parts) > 1 {
			at += "/" + parts[1]
		}
		lines[at] += n
		all += n
		return nil
	}))
	if all < 30_000 {
		t.Fatalf("%d lines of Go below %s", all, root)
	}
	for at, n := range lines {
		t.Logf("%6d lines, %4.1f %%: %s", n, 100*float64(n)/float64(all), at)
		if 5*n > all {
			t.Errorf("%s holds %d of %d lines of Go: more than a fifth; split it by purpose", at, n, all)
		}
	}
}
