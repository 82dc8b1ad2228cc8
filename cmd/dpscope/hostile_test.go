package main

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/dpscope/dpscope/internal/cli"
	"github.com/dpscope/dpscope/internal/must"
	"github.com/dpscope/dpscope/internal/testsize"
)

// hostileCommand is a command with arguments with which it is done at once.
type hostileCommand struct {
	args []string
	file bool   // it reads a file
	only string // where something would go on without end: the one flag that is always given, with a value that is refused
}

var hostileCommands = func() []hostileCommand {
	few := []string{"-samples", "200", "-trials", "1", "-explore", "200"}
	all := []hostileCommand{
		{args: append([]string{"audit", "-mechanism", "laplace-mean"}, few...)},
		{args: append([]string{"audit", "-mechanism", "gaussian-mean", "-guarantee", "renyi", "-alpha", "2", "-epsilon", "1"}, few...)},
		{args: append([]string{"audit", "-mechanism", "svt4", "-epsilon", "1", "-until-refuted"}, few...)},
		{args: append([]string{"audit", "-epsilon", "1"}, few...)},
		{args: []string{"canaries", "-epsilon", "1", "-n", "8", "-k", "2", "-d", "8", "-explore", "4", "-m", "2"}},
		{args: []string{"one-run", "-epsilon", "1", "-delta", "1e-5", "-m", "20", "-source", "gaussian-sum"}},
		{args: []string{"scores", "-epsilon", "1", "-delta", "1e-5"}, file: true},
		{args: []string{"account"}},
		{args: []string{"verify"}, file: true},
		{args: []string{"list"}},
		{args: []string{"serve"}, only: "-dir=/nowhere/at/all"},
		{args: []string{"bench", "nothing"}},
		{args: []string{"version"}},
		{args: []string{"help"}},
		{args: []string{"\x1b[2Jnothing"}},
	}
	for _, account := range []string{"gaussian -sigma 1", "gaussian -sigma 1 -rate 0.1 -steps 100 -at-epsilon 1", "laplace -scale 1", "randomised-response -p 0.7", "pure -epsilon 1 -at-epsilon 1", "approximate -epsilon 1 -step-delta 1e-7 -steps 9", "renyi -alpha 8 -epsilon 1", "zcdp -rho 1", "gaussian-dp -mu 1 -group 3"} {
		all = append(all, hostileCommand{args: strings.Fields("account -mechanism " + account)})
	}
	return all
}()

// Values that a flag may be given. None asks for much work that is allowed.
var (
	long         = strings.Repeat("9", 5000)
	hostileTexts = []string{"", " ", "x", "-", "--", "=", "0:1", "1:0", "0:1,0:1", "NaN:NaN", "-1e308:1e308", "0:inf", "5", "0:0", ":", ",", "{}", "[", "null", `{"first": [], "second": [[0]]}`, `{"first": [[1e308]], "second": [[-1e308]]}`,
		"\x1b[31mred", "a\nb", "\x00", "\xff\xfe", "é", long, strings.Repeat("x", 5000), "add-remove", "replace", "l-infinity", "text", "json", "sarif", "dp", "renyi", "zcdp", "gdp", "auto", "random", "forest", "laplace-mean", "svt4", "gaussian", "laplace", "gaussian-dp", "c1=real", "c1=words", "=", "a=", "=b", "scale=0", "scale=NaN", "scale=1e300", "scale=-1", "n=1e9", "2,4,8", "8,4", "1e300,2e300", "sh", "true", "'", `"`, `\`, "/", "/dev/null", "../", "none.json"}
	oddNumbers     = []string{"0", "-0", "1", "2", "0.5", "1e-5", "1e-10", "1e-50", "1e-200", "1e-300", "5e-324", "0x1p-1074", "0.999999999999", "32", "100", "1e50", "1e300", "1e308"}
	hostileNumbers = []string{"-1", "-1e300", "NaN", "nan", "inf", "-Inf", "+Inf", "1_0", "1e", "1,5", "1.5", "1e30", long, "٣"}
	// Of what costs time: few, or so many that they are refused.
	hostileCounts = []string{"0", "-0", "1", "-1", "2", "3", "7", "1e1", "0x3", "1_0", "1.5", "NaN", "Inf", "-Inf", "1e30", "-1e30", "1e300", "9223372036854775807", "-9223372036854775808", "9223372036854775808", "", "x", "1e", long, "٣"}
)

// costly are the flags that say how much is done.
var costly = map[string]bool{"samples": true, "explore": true, "trials": true, "n": true, "m": true, "k": true, "d": true, "workers": true, "tail": true, "guesses": true, "gdp-guesses": true}

// flagsOf are the names of a command's flags, and what values they take, as its help
// has them.
func flagsOf(t *testing.T, command []string) (names []string, kinds map[string]string) {
	var out, stderr bytes.Buffer
	run(append(slices.Clone(command), "-h"), nil, &out, &stderr)
	kinds = map[string]string{}
	for _, m := range regexp.MustCompile(`(?m)^  -([a-z0-9-]+)( \S+)?`).FindAllStringSubmatch(stderr.String()+out.String(), -1) {
		names = append(names, m[1])
		kinds[m[1]] = strings.TrimSpace(m[2])
	}
	slices.Sort(names)
	return names, kinds
}

// hostileArgs draws a command and flags.
func hostileArgs(r *rand.Rand, c hostileCommand, flags []string, kinds map[string]string, file string) []string {
	args := slices.Clone(c.args)
	pick := func(from []string) string { return from[r.IntN(len(from))] }
	for n := 1; n == 1 || r.IntN(3) == 0; n++ {
		if len(flags) == 0 {
			break
		}
		name := pick(flags)
		from := hostileTexts
		switch {
		case name == "exec":
			args = append(args, "-exec", pick([]string{"", " ", "'", "false", "/nowhere", "sh -c 'exit 3'", "\x1b[2J", "printf '\\033[2J'", "sh -c 'printf \"\\033[2J\\n\" >&2; exit 1'"}))
			continue
		case name == "output":
			args = append(args, "-output", pick([]string{"", "x", "=", "text=", "sarif=/nowhere/x", "/dev/full.json", "\x1b.json", long + ".json"}))
			continue
		case kinds[name] == "":
			args = append(args, "-"+name+pick([]string{"", "", "=true", "=x", "="}))
			continue
		case costly[name]:
			from = hostileCounts
		case kinds[name] == "float" || kinds[name] == "number":
			if from = oddNumbers; r.IntN(5) == 0 {
				from = hostileNumbers
			}
		}
		if r.IntN(20) == 0 {
			from = hostileTexts
		}
		args = append(args, "-"+name, pick(from))
	}
	switch r.IntN(20) {
	case 0:
		args = append(args, "-no-such-flag\x1b[2J")
	case 1:
		args = append(args, pick(hostileTexts))
	}
	if c.only != "" {
		args = append(args, c.only)
	}
	if c.file {
		args = append(args, pick([]string{file, file, file, "/nowhere", "/", "", "-", "\x1b"}))
	}
	return args
}

// TestHostileFlags: whatever a command is called with, it ends with one of its
// exit codes, and with words where that says that something is wrong.
func TestHostileFlags(t *testing.T) {
	t.Chdir(t.TempDir())
	file := filepath.Join(t.TempDir(), "scores.csv")
	must.Do(t, os.WriteFile(file, []byte("member,score\n"+strings.Repeat("1,0.5\n0,0.25\n1,2\n0,-1\n", 10)), 0o600))
	r := rand.New(rand.NewPCG(14, 4))
	for _, c := range hostileCommands {
		flags, kinds := flagsOf(t, c.args[:1])
		calls := min(10*len(flags)+5, testsize.Of(15, 100))
		for range calls {
			args := hostileArgs(r, c, flags, kinds, file)
			if why := hostileCall(args); why != "" {
				t.Errorf("%.300q: %.1500s", args, why)
			}
		}
	}
}

// TestHostileParameters: no parameter of a mechanism takes an audit down.
func TestHostileParameters(t *testing.T) {
	r := rand.New(rand.NewPCG(14, 5))
	for _, m := range catalogue.Listing().Mechanisms {
		if len(m.Params) == 0 {
			continue
		}
		value := oddNumbers[r.IntN(len(oddNumbers))]
		if r.IntN(5) == 0 {
			value = hostileNumbers[r.IntN(len(hostileNumbers))]
		}
		p := m.Params[r.IntN(len(m.Params))]
		if why := hostileCall([]string{"audit", "-mechanism", m.Name, "-epsilon", "1", "-samples", "100", "-explore", "100", "-trials", "1", "-param", p.Name + "=" + value}); why != "" {
			t.Errorf("%s, %s = %.100s: %.1500s", m.Name, p.Name, value, why)
		}
	}
	// Distances so small that the library would draw without end.
	if why := hostileCall(strings.Fields("audit -mechanism google-bounded-sum -epsilon 1 -samples 100 -explore 100 -trials 1 -param upper=5e-324")); why != "" {
		t.Error(why)
	}
}

// hostileCall runs the command; it returns what is wrong with how it ends.
func hostileCall(args []string) string {
	var out, stderr bytes.Buffer
	code, trace := -1, ""
	late := time.AfterFunc(time.Minute, func() { panic(fmt.Sprintf("still running: %.500q", args)) })
	defer late.Stop()
	func() {
		defer func() {
			if why := recover(); why != nil {
				trace = fmt.Sprintf("panic: %v\n%s", why, debug.Stack())
			}
		}()
		code = run(args, strings.NewReader("no report"), &out, &stderr)
	}()
	said := stderr.String()
	unseen := func(r rune) bool { return r != '\n' && r != '\t' && !unicode.IsPrint(r) }
	switch {
	case trace != "":
		return trace
	case code < cli.ExitOK || code > cli.ExitInconclusive:
		return fmt.Sprintf("exit code %d", code)
	case code == cli.ExitUsage && !strings.HasPrefix(said, "dpscope: ") && !strings.HasPrefix(said, "dpscope audits"):
		return fmt.Sprintf("exit code 2 and the words %q", said)
	case strings.Contains(said, "goroutine ") || strings.Contains(said, "panic"):
		return said
	case strings.ContainsFunc(said, unseen):
		return fmt.Sprintf("control characters in %.500q", said)
	case len(said) > 4000 && !slices.Contains(args, "-h"):
		return fmt.Sprintf("an error of %d bytes: %.500q", len(said), said)
	case code == cli.ExitOK && slices.Contains([]string{"audit", "canaries", "one-run", "scores", "account"}, args[0]) && regexp.MustCompile(`\b(NaN|Inf)\b`).MatchString(out.String()):
		return fmt.Sprintf("NaN or infinity in %.1500q", out.String())
	}
	return ""
}
